"""What the offline model is trained on and what it is evaluated on are not the same texts."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "datasets" / "decision"
#: Sentences that are shorter say little: "Yes, that is right." may stand anywhere.
_TELLING = 25


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value.strip()
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _sentences(texts: Iterable[str]) -> set[str]:
    pieces = (piece.strip() for text in texts for piece in re.split(r"(?<=[.!?])\s+|\n|\\n", text))
    return {piece for piece in pieces if len(piece) >= _TELLING}


def _evaluated(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HOME / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def training() -> Iterator[list[Any]]:
    """The rows of every task of the local model, held-out ones included."""
    sys.path.insert(0, str(ROOT / "scripts"))
    sys.path.insert(0, str(ROOT / "plugins" / "decision" / "src"))
    texts, pairs = importlib.import_module("decision_local.texts"), importlib.import_module("decision_local.pairs")
    yield [*pairs.support(), *pairs.relevance(), *texts.injection(), *texts.indirect_injection(), *texts.jailbreak(),
           *texts.replies("refusal"), *texts.replies("noncommittal")]  # fmt: skip
    sys.path.remove(str(ROOT / "plugins" / "decision" / "src"))
    sys.path.remove(str(ROOT / "scripts"))


def test_the_training_data_are_there_to_be_compared(training: list[Any]) -> None:
    assert len({row.split for row in training}) == 2
    assert len(training) > 1000


@pytest.mark.parametrize("name", ["traces", "rag"])
def test_no_sentence_of_ours_is_in_the_training_data(name: str, training: list[Any]) -> None:
    learnt = _sentences(text for row in training for text in _texts(dict(row.parts)))
    asked = _sentences(text for row in _evaluated(name) for text in _texts(row["sample"]))
    assert len(asked) > 100
    assert asked & learnt == set()


def test_the_model_is_fitted_on_no_text_of_the_public_set(training: list[Any]) -> None:
    fitted = {text for row in training if row.split == "fit" for text in _texts(dict(row.parts))}
    assert [row["id"] for row in _evaluated("injection-public") if not fitted.isdisjoint(_texts(row["sample"]))] == []


def test_the_overlap_with_the_held_out_part_is_the_one_that_the_readme_names(training: list[Any]) -> None:
    held = {text for row in training for text in _texts(dict(row.parts))}
    public = _evaluated("injection-public")
    both = sum(not held.isdisjoint(_texts(row["sample"])) for row in public)
    told = (HOME / "README.md").read_text(encoding="utf-8")
    assert f"{both} of\nthe {len(public)} rows" in told
