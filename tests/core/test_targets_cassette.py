"""Recording answers and replaying them."""

from __future__ import annotations

import json
import os
import random
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.errors import StoreError, UsageError
from yb_eval.interfaces import Answer
from yb_eval.targets import CallableTarget, Settings, open_target
from yb_eval.targets.record import RecordingTarget
from yb_eval.targets.replay import ReplayTarget


class Scripted:
    """A target whose answers are given; counts what it is asked."""

    spec, fingerprint, batch_size, concurrency = "scripted", "1" * 64, 4, "processes"

    def __init__(self, answers: Mapping[tuple[bytes, int], Answer]) -> None:
        self.answers = answers
        self.asked: list[tuple[bytes, int]] = []
        self.closed = 0

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        keys = [(orjson.dumps(request, option=orjson.OPT_SORT_KEYS), repeat) for request in requests]
        self.asked += keys
        return [self.answers[key] for key in keys]

    def close(self) -> None:
        self.closed += 1


def echo(**more: Any) -> CallableTarget:
    return CallableTarget(lambda request: {"said": request}, fingerprint="0" * 64, **more)


def replayed(path: Path) -> ReplayTarget:
    return ReplayTarget(path, spec=f"replay:{path.name}")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
exchanges = st.lists(
    st.tuples(
        st.dictionaries(texts, values, max_size=3),
        st.integers(0, 3),
        st.builds(Answer, value=values) | st.builds(lambda text: Answer(failure=text), texts.filter(bool)),
    ),
    min_size=1,
    max_size=8,
    unique_by=lambda exchange: (orjson.dumps(exchange[0], option=orjson.OPT_SORT_KEYS), exchange[1]),
)


@settings(max_examples=25, deadline=None)
@given(exchanges, st.randoms(use_true_random=False))
def test_a_replay_answers_what_was_recorded_and_the_file_does_not_depend_on_the_order(
    exchanged: list[tuple[dict[str, Any], int, Answer]], shuffle: random.Random
) -> None:
    answers = {
        (orjson.dumps(request, option=orjson.OPT_SORT_KEYS), repeat): answer for request, repeat, answer in exchanged
    }
    with tempfile.TemporaryDirectory() as folder:
        written = []
        for name in ("one.jsonl", "two.jsonl"):
            recording = RecordingTarget(Scripted(answers), Path(folder) / name)  # type: ignore[arg-type]
            for request, repeat, answer in exchanged:
                assert recording.ask([request], repeat=repeat) == [answer]
            recording.close()
            written.append((Path(folder) / name).read_bytes())
            shuffle.shuffle(exchanged)
        assert written[0] == written[1]
        replay = replayed(Path(folder) / "one.jsonl")
        for request, repeat, answer in exchanged:
            (again,) = replay.ask([request], repeat=repeat)
            assert repr(again) == repr(answer)
        assert sorted(os.listdir(folder)) == ["one.jsonl", "two.jsonl"]


def test_the_file_is_the_same_whatever_the_concurrency(tmp_path: Path) -> None:
    written = set()
    for jobs in (1, 2, 8):
        path = tmp_path / f"{jobs}.jsonl"
        target = open_target("b", builtins={"b": echo}, settings=Settings(record=path, base=tmp_path))
        with ThreadPoolExecutor(jobs) as threads:
            list(threads.map(target.ask, [[{"id": f"n{n % 50}"}] for n in range(100)]))
        target.close()
        written.add(path.read_bytes())
    assert len(written) == 1
    assert [line["request"]["id"] for line in lines(path)] == sorted(f"n{n}" for n in range(50))


def test_a_request_that_is_not_recorded_is_a_failure(tmp_path: Path) -> None:
    recording = RecordingTarget(echo(), tmp_path / "c.jsonl")
    recording.ask([{"id": "a"}])
    recording.close()
    replay = replayed(tmp_path / "c.jsonl")
    assert replay.ask([{"id": "b"}])[0].failure == 'not recorded in c.jsonl: \'{"id":"b"}\''
    assert replay.ask([{"id": "a"}], repeat=2)[0].failure == 'not recorded in c.jsonl (repeat 2): \'{"id":"a"}\''
    assert "the request is not JSON" in (replay.ask([{"id": float("inf")}])[0].failure or "")
    replay.close()


def test_a_repeated_request_is_asked_once_and_has_one_answer(tmp_path: Path) -> None:
    turn = iter(range(10))
    recording = RecordingTarget(CallableTarget(lambda _: next(turn), fingerprint="0" * 64), tmp_path / "c.jsonl")
    assert [recording.ask([{"id": "a"}])[0].value for _ in range(3)] == [0, 0, 0]
    assert [answer.value for answer in recording.ask([{"id": "b"}, {"id": "b"}])] == [1, 1]
    assert recording.ask([{"id": "a"}], repeat=1)[0].value == 3
    recording.close()
    assert len(lines(tmp_path / "c.jsonl")) == 3


def test_a_recording_in_another_process_would_be_lost_so_threads_are_asked_for(tmp_path: Path) -> None:
    recording = RecordingTarget(Scripted({}), tmp_path / "c.jsonl")  # type: ignore[arg-type]
    assert recording.concurrency == "threads"
    recording.close()


def test_a_killed_recording_keeps_what_it_had_and_resumes(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    killed = RecordingTarget(echo(), path)
    killed.ask([{"id": "a"}, {"id": "b"}])
    partial = path.with_name("c.jsonl.partial")
    left = partial.read_bytes()
    killed.close()
    path.unlink()
    partial.write_bytes(left + b'{"answer": {"sa')

    scripted = Scripted({(b'{"id":"c"}', 0): Answer("c")})
    resumed = RecordingTarget(scripted, path, resume=True)  # type: ignore[arg-type]
    assert resumed.ask([{"id": "a"}, {"id": "c"}])[0].value == {"said": {"id": "a"}}
    resumed.close()
    assert scripted.asked == [(b'{"id":"c"}', 0)]
    assert [line["request"]["id"] for line in lines(path)] == ["a", "b", "c"]
    assert scripted.closed == 1
    assert os.listdir(tmp_path) == ["c.jsonl"]


def test_a_finished_recording_is_extended_with_resume_and_replaced_without(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    for ids, resume, expected in [("a", False, ["a"]), ("b", True, ["a", "b"]), ("c", False, ["c"])]:
        recording = RecordingTarget(echo(), path, resume=resume)
        recording.ask([{"id": ids}])
        recording.close()
        assert [line["request"]["id"] for line in lines(path)] == expected


def test_the_last_recording_stands_until_the_next_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"the last one")
    recording = RecordingTarget(echo(), path)
    recording.ask([{"id": "a"}])
    assert path.read_bytes() == b"the last one"
    recording.close()
    assert len(lines(path)) == 1


def test_two_runs_cannot_record_to_one_file(tmp_path: Path) -> None:
    first = RecordingTarget(echo(), tmp_path / "c.jsonl")
    with pytest.raises(UsageError, match="another run is recording"):
        RecordingTarget(echo(), tmp_path / "c.jsonl")
    first.ask([{"id": "a"}])
    first.close()
    assert len(lines(tmp_path / "c.jsonl")) == 1


def test_a_recording_that_cannot_be_written_ends_the_run_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="the recording cannot be written"):
        RecordingTarget(echo(), tmp_path / "file" / "c.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_leaves_the_last_recording_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"the last one")
    recording = RecordingTarget(echo(), path)
    recording.ask([{"id": "a"}])
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(StoreError, match="No space left on device"):
        recording.close()
    assert path.read_bytes() == b"the last one"
    assert path.with_name("c.jsonl.partial").exists()
    assert not path.with_name("c.jsonl.lock").exists()


def test_an_answer_after_the_end_is_not_lost_silently(tmp_path: Path) -> None:
    recording = RecordingTarget(echo(), tmp_path / "c.jsonl")
    recording.close()
    with pytest.raises(StoreError, match="after the recording was closed"):
        recording.ask([{"id": "a"}])


def test_secrets_are_written_nowhere_and_a_replay_still_finds_its_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOT_API_KEY", 'sk-"quoted"-secret')
    request = {"id": "a", "text": 'my key is sk-"quoted"-secret'}
    recording = RecordingTarget(echo(), tmp_path / "c.jsonl")
    (live,) = recording.ask([request])
    assert b"quoted" not in (tmp_path / "c.jsonl.partial").read_bytes()
    recording.close()
    assert b"quoted" not in (tmp_path / "c.jsonl").read_bytes()
    assert live.value == {"said": {"id": "a", "text": "my key is ***"}}
    assert replayed(tmp_path / "c.jsonl").ask([request])[0].value == live.value


def test_failures_are_replayed_as_failures(tmp_path: Path) -> None:
    def fail(_: object) -> None:
        raise ValueError("bad")

    recording = RecordingTarget(CallableTarget(fail, fingerprint="0" * 64), tmp_path / "c.jsonl")
    recording.ask([{"id": "a"}])
    recording.close()
    assert lines(tmp_path / "c.jsonl") == [{"failure": "ValueError: bad", "repeat": 0, "request": {"id": "a"}}]
    assert replayed(tmp_path / "c.jsonl").ask([{"id": "a"}])[0].failure == "ValueError: bad"


def test_entries_that_contradict_each_other_are_refused_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"request":{"a":1},"answer":1}\n\n{"request":{"a":1},"answer":2,"repeat":0}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"c\.jsonl:3: it answers the request of line 1 otherwise"):
        replayed(path)


def test_the_same_entry_twice_is_no_contradiction(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text('{"request":{"a":1,"b":2},"answer":1}\r\n{"answer":1,"request":{"b":2,"a":1}}', encoding="utf-8")
    assert replayed(path).ask([{"a": 1, "b": 2}])[0].value == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "nothing is recorded in it"),
        ("\n \n", "nothing is recorded in it"),
        ("nonsense", r"c\.jsonl:1: the line is not JSON"),
        ('{"request":{},"answer":1}\n{"request":{},"answ', r"c\.jsonl:2: the line is not JSON"),
        ("[]", r"c\.jsonl:1: the line has no request object"),
        ('{"request":1,"answer":1}', "no request object"),
        ('{"request":{}}', "either an answer or a failure"),
        ('{"request":{},"answer":1,"failure":"x"}', "either an answer or a failure"),
        ('{"request":{},"failure":""}', "the failure is not a text"),
        ('{"request":{},"failure":null}', "the failure is not a text"),
        ('{"request":{},"answer":NaN}', "the line is not JSON"),
        ('{"request":{},"answer":1,"answer":2}', "twice"),
        ('{"request":{},"answer":1,"repeat":-1}', "repeat is not a whole number"),
        ('{"request":{},"answer":1,"repeat":true}', "repeat is not a whole number"),
        ('{"request":{},"anser":1}', "did you mean 'answer'"),
    ],
)
def test_a_line_that_is_no_entry_is_refused_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "c.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        replayed(tmp_path / "c.jsonl")


def test_a_null_answer_is_an_answer(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"request":{},"answer":null}', encoding="utf-8")
    assert replayed(tmp_path / "c.jsonl").ask([{}]) == [Answer(None)]


def test_the_fingerprint_of_a_replay_is_that_of_its_bytes_whatever_the_name(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"request":{},"answer":1}')
    (tmp_path / "b.jsonl").write_bytes(b'{"request":{},"answer":1}')
    (tmp_path / "c.jsonl").write_bytes(b'{"request":{},"answer":2}')
    a, b, c = (replayed(tmp_path / f"{name}.jsonl").fingerprint for name in "abc")
    assert a == b != c


def test_a_replay_answers_from_the_bytes_it_was_identified_by(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"request":{},"answer":1}')
    replay = replayed(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_bytes(b'{"request":{},"answer":2}')
    assert replay.ask([{}])[0].value == 1


def test_replay_is_opened_from_the_working_folder_and_never_into_itself(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"request":{"id":1},"answer":1}')
    target = open_target("replay:a.jsonl", builtins={}, settings=Settings(base=tmp_path, record=Path("b.jsonl")))
    target.ask([{"id": 1}])
    target.close()
    assert lines(tmp_path / "b.jsonl") == [{"answer": 1, "repeat": 0, "request": {"id": 1}}]
    with pytest.raises(UsageError, match="cannot be replayed into itself"):
        open_target("replay:a.jsonl", builtins={}, settings=Settings(base=tmp_path, record=Path("a.jsonl")))
    with pytest.raises(UsageError, match="No such file"):
        open_target("replay:nothing.jsonl", builtins={}, settings=Settings(base=tmp_path))
    with pytest.raises(UsageError, match="names no file"):
        open_target("replay:", builtins={}, settings=Settings(base=tmp_path))


def test_no_thread_or_descriptor_is_left(tmp_path: Path) -> None:
    threads = threading.active_count()
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").is_dir() else 0
    recording = RecordingTarget(echo(), tmp_path / "c.jsonl")
    recording.ask([{"id": "a"}])
    recording.close()
    recording.close()
    assert threading.active_count() == threads
    if before:
        assert len(os.listdir("/proc/self/fd")) == before
