"""A built-in target that keeps its own answers is not wrapped in core's cache."""

from __future__ import annotations

from yb_eval import Answer
from yb_eval.targets import CachedTarget, Settings, open_target


class Own:
    spec, fingerprint, batch_size, concurrency = "own", "0" * 64, 1, "threads"
    keeps_answers = True
    hits, misses = 2, 1

    def ask(self, requests, *, repeat=0):
        return [Answer({}) for _ in requests]

    def close(self):
        pass


class Plain(Own):
    keeps_answers = False


def test_it_stays_as_it_is_and_another_is_wrapped(tmp_path):
    settings = Settings(cache=tmp_path / "cache")
    assert isinstance(open_target("builtin", builtins={"builtin": Own}, settings=settings), Own)
    assert isinstance(open_target("builtin", builtins={"builtin": Plain}, settings=settings), CachedTarget)


def test_a_recording_still_stands_around_it(tmp_path):
    settings = Settings(cache=tmp_path / "cache", record=tmp_path / "record.jsonl")
    target = open_target("builtin", builtins={"builtin": Own}, settings=settings)
    assert isinstance(target.target, Own)
    target.close()
