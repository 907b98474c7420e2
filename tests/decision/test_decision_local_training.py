"""The weights that ship are what the training script makes, and as good on held-out rows as is said."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "train_decision_local.py"

pytest.importorskip("sklearn")
pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def data() -> Iterator[dict]:
    before = sys.path[:]
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        import train_decision_local

        yield train_decision_local.gathered()
    finally:
        sys.path[:] = before


def test_training_makes_the_bytes_that_ship():
    done = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr


def test_a_group_is_wholly_fitted_on_or_wholly_held_out(data):
    for rows in data.values():
        parts: dict[str, set[str]] = {}
        for row in rows:
            parts.setdefault(row.group, set()).add(row.split)
        assert all(len(found) == 1 for found in parts.values())


def test_no_text_is_fitted_on_and_held_out(data):
    for task in ("injection", "jailbreak", "refusal", "noncommittal"):
        fitted = {json.dumps(row.parts, sort_keys=True) for row in data[task] if row.split == "fit"}
        held = {json.dumps(row.parts, sort_keys=True) for row in data[task] if row.split == "test"}
        # Short wordings of two templates may be the same.
        assert not [text for text in fitted & held if len(text) > 80]


def test_both_languages_and_both_answers_are_held_out_for_each_task(data):
    for rows in data.values():
        held = {(row.lang, row.label) for row in rows if row.split == "test"}
        assert held == {("en", True), ("en", False), ("ru", True), ("ru", False)}


def test_held_out_answers_are_right_nine_times_in_ten_and_given_often_enough(data):
    from decision_local.report import answered

    from yb_eval_decision.local.model import load_model
    from yb_eval_decision.local.tasks import Reader

    reader = Reader(load_model())
    for task, rows in data.items():
        held = [row for row in rows if row.split == "test"]
        given = [(answered(reader, task, row.parts), row.label) for row in held]
        decided = [(said, label) for said, label in given if said is not None]
        assert sum(said == label for said, label in decided) >= 0.9 * len(decided), task
        assert len(decided) >= 0.4 * len(held), task


def test_no_sentence_of_the_suites_traces_is_trained_on(data):
    import re

    def sentences(text: str) -> set[str]:
        return {part.strip().lower() for part in re.split(r"(?<=[.!?])\s+|\n+", text) if len(part.split()) >= 5}

    trained: set[str] = set()
    for rows in data.values():
        for row in rows:
            for value in row.parts.values():
                trained |= sentences(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))

    def texts(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                yield from texts(item)
        elif isinstance(value, str):
            yield value

    seen = 0
    for name in ("traces", "rag"):
        path = ROOT / "datasets" / "decision" / f"{name}.jsonl"
        if not path.is_file():
            pytest.skip("the suite's data are not here")
        for line in path.read_text(encoding="utf-8").splitlines():
            for text in texts(json.loads(line)["sample"]):
                seen += 1
                assert not sentences(text) & trained
    assert seen
