"""Answers kept between runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from yb_eval.targets import CachedTarget, CallableTarget, Settings, open_target


class Counting:
    """A callable that says how often it was called."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.calls = 0

    def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        return {"name": self.name, "call": self.calls, "request": request}


def cached(call: Callable[..., Any], folder: Path, *, fingerprint: str = "0" * 64) -> CachedTarget:
    return CachedTarget(CallableTarget(call, fingerprint=fingerprint), folder)


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_an_answer_is_asked_for_once(tmp_path: Path) -> None:
    call = Counting()
    first = cached(call, tmp_path)
    (live,) = first.ask([{"id": "a"}])
    assert (first.hits, first.misses, live.cached) == (0, 1, False)
    second = cached(call, tmp_path)
    (kept,) = second.ask([{"id": "a"}])
    assert (second.hits, second.misses, kept.cached) == (1, 0, True)
    assert kept.value == live.value
    assert call.calls == 1


def test_neither_another_target_nor_another_repeat_nor_another_request_sees_it(tmp_path: Path) -> None:
    said = set()
    for fingerprint in ("a" * 64, "b" * 64):
        call = Counting(fingerprint[0])
        target = cached(call, tmp_path, fingerprint=fingerprint)
        for repeat in range(3):
            for request in ({"id": 1}, {"id": 1.0}, {"id": "1"}, {"id": True}):
                said.add(json.dumps(target.ask([request], repeat=repeat)[0].value))
        assert (target.hits, target.misses, call.calls) == (0, 12, 12)
        for repeat in range(3):
            target.ask([{"id": 1}, {"id": 1.0}, {"id": "1"}, {"id": True}], repeat=repeat)
        assert (target.hits, call.calls) == (12, 12)
    assert len(said) == 24
    assert len(entries(tmp_path)) == 24


def test_the_order_of_keys_in_a_request_does_not_matter(tmp_path: Path) -> None:
    target = cached(Counting(), tmp_path)
    target.ask([{"a": 1, "b": 2}])
    target.ask([{"b": 2, "a": 1}])
    assert target.hits == 1


def test_a_batch_is_answered_in_order_from_both_sides(tmp_path: Path) -> None:
    target = cached(lambda request: request["n"], tmp_path)
    target.ask([{"n": n} for n in (1, 3, 5)])
    answers = target.ask([{"n": n} for n in range(7)])
    assert [answer.value for answer in answers] == list(range(7))
    assert [answer.cached for answer in answers] == [False, True] * 3 + [False]


def test_failures_are_never_kept(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise ValueError

    target = cached(fail, tmp_path)
    target.ask([{"id": "a"}])
    target.ask([{"id": "a"}])
    assert (target.hits, target.misses) == (0, 2)
    assert entries(tmp_path) == []


def test_null_is_an_answer_to_keep(tmp_path: Path) -> None:
    target = cached(lambda _: None, tmp_path)
    target.ask([{}])
    assert target.ask([{}])[0].cached


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: b"",
        lambda entry: b"\0" * len(entry),
        lambda entry: entry[: len(entry) // 2],
        lambda entry: b"[]",
        lambda entry: b"{}",
        lambda entry: entry.replace(b'"call":1', b'"call":2'),
        lambda entry: entry.replace(b'"key_sha256":"', b'"key_sha256":"0'),
        lambda entry: entry.replace(b'"answer":', b'"answr":'),
        lambda entry: entry + b"x",
    ],
)
def test_a_spoilt_entry_is_a_miss_and_is_written_anew(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    call = Counting()
    cached(call, tmp_path).ask([{"id": "a"}])
    (path,) = entries(tmp_path)
    path.write_bytes(spoil(path.read_bytes()))
    target = cached(call, tmp_path)
    assert target.ask([{"id": "a"}])[0].value["call"] == 2
    assert (target.hits, target.misses) == (0, 1)
    assert target.ask([{"id": "a"}])[0].cached
    assert call.calls == 2


def test_an_entry_under_the_name_of_another_is_a_miss(tmp_path: Path) -> None:
    target = cached(Counting(), tmp_path)
    target.ask([{"id": "a"}, {"id": "b"}])
    one, two = entries(tmp_path)
    one.write_bytes(two.read_bytes())
    fresh = cached(Counting(), tmp_path)
    fresh.ask([{"id": "a"}, {"id": "b"}])
    assert (fresh.hits, fresh.misses) == (1, 1)


def test_counts_hold_when_threads_ask_at_once(tmp_path: Path) -> None:
    target = cached(lambda request: request["n"], tmp_path)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda n: target.ask([{"n": n % 40}])[0].value, range(400)))
    assert answers == [n % 40 for n in range(400)]
    assert target.hits + target.misses == 400
    assert len(entries(tmp_path)) == 40
    assert not list(tmp_path.rglob("*.tmp"))


def test_a_folder_that_cannot_be_written_costs_hits_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    target = cached(Counting(), tmp_path / "file")
    assert target.ask([{"id": "a"}])[0].failure is None
    assert target.ask([{"id": "a"}])[0].value["call"] == 2
    assert target.unwritten == 2


def test_a_request_that_is_not_json_is_left_to_the_target(tmp_path: Path) -> None:
    target = cached(lambda _: "asked", tmp_path)
    assert target.ask([{"n": float("nan")}])[0].value == "asked"
    assert entries(tmp_path) == []


def test_secrets_are_not_kept_and_the_first_answer_is_the_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_API_KEY", "sk-very-secret")
    target = cached(lambda _: "key: sk-very-secret", tmp_path)
    (first,), (later,) = target.ask([{}]), target.ask([{}])
    assert first.value == later.value == "key: ***"
    assert b"sk-very" not in entries(tmp_path)[0].read_bytes()


def test_the_cache_of_the_settings_is_used_and_recorded_through(tmp_path: Path) -> None:
    call = Counting()
    given = Settings(base=tmp_path, cache=Path("kept"), record=Path("c.jsonl"))
    for _ in range(2):
        target = open_target(
            "builtin", builtins={"builtin": lambda: CallableTarget(call, fingerprint="0" * 64)}, settings=given
        )
        target.ask([{"id": "a"}])
        target.close()
        assert len((tmp_path / "c.jsonl").read_bytes().splitlines()) == 1
    assert call.calls == 1
    assert entries(tmp_path / "kept")
