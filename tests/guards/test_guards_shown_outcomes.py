"""What a run shows of its data: types, places and masks. The data themselves stay in the texts."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pytest

from yb_eval import Answer, Sample
from yb_eval.record.outcomes import encode_all
from yb_eval_guards import Scanner
from yb_eval_guards.corpora import OWN
from yb_eval_guards.dataset import GuardRow, corpus_dataset
from yb_eval_guards.evaluator import GuardEvaluator, ScannerTarget

ENGINES = ["hyperscan", "re2"]
# Shorter values are words of a phrase, such as "system prompt", which evidence and types may name.
_TELLING = 10


def _scanner(engine: str, strength: str = "warn") -> Scanner:
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    return Scanner(strength=strength, engine=engine)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_value_is_in_outcomes_logs_or_on_the_terminal(
    engine: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    scanner = _scanner(engine)
    evaluator = GuardEvaluator(ScannerTarget(scanner))
    raised = 0
    for batch in corpus_dataset(OWN.path, None).open().samples(1000):
        outcomes = evaluator.evaluate(batch)
        lines = encode_all(outcomes).splitlines()
        for sample, line, outcome in zip(batch, lines, outcomes, strict=True):
            row = sample.data
            assert isinstance(row, GuardRow)
            said = orjson.loads(line)
            said.pop("id")
            shown = orjson.dumps(said).decode() + repr(outcome.details)
            for finding in scanner.scan(row.text):
                raised += 1
                for datum in (finding.value, row.text[finding.start : finding.end]):
                    assert len(datum) < _TELLING or datum not in shown
                assert finding.type in {"secret", "injection"} or not re.search(r"\d{7}", re.sub(r"[ .-]", "", shown))
    assert raised > 1000
    assert caplog.text == ""
    assert capfd.readouterr() == ("", "")


def test_each_finding_is_masked_from_its_own_text() -> None:
    texts = ["card 4111 1111 1111 1111", "card 5555 5555 5555 4444", "ИНН 7707083893", "card 4111 1111 1111 1111"]
    samples = [Sample(f"s{at}", GuardRow(text=text, type="pan", expect="detect")) for at, text in enumerate(texts)]
    made = GuardEvaluator(ScannerTarget(Scanner())).evaluate(samples)
    masks = [outcome.details["findings"][0]["masked"] for outcome in made]
    assert masks == ["*" * 14 + "11", "*" * 14 + "44", "*" * 8 + "93", "*" * 14 + "11"]
    # Equal texts are scanned once, but nothing of one outcome is another's.
    assert made[0].details["findings"] == made[3].details["findings"]
    assert made[0].details["findings"][0] is not made[3].details["findings"][0]


def test_no_more_findings_are_listed_than_a_reader_wants_and_all_their_types_are() -> None:
    text = "card 4111 1111 1111 1111, " * 30 + "ИНН 7707083893"
    (outcome,) = GuardEvaluator(ScannerTarget(Scanner())).evaluate(
        [Sample("a", GuardRow(text=text, type="pan", expect="detect"))]
    )
    assert outcome.details["found"] == ["inn", "pan"]
    assert len(outcome.details["findings"]) == 20
    assert all(set(finding["masked"]) <= {"*", "1"} for finding in outcome.details["findings"])


class _Same:
    """A target that hands out the same answer each time, as a cache in memory does."""

    spec, fingerprint, batch_size, concurrency = "same", "same", 10, "threads"

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        return [Answer(self.value) for _ in requests]

    def close(self) -> None:
        pass


def test_what_a_target_answered_is_left_as_it_was() -> None:
    value = {"findings": [{"type": "pan", "start": 5, "end": 24, "evidence": ["checksum"], "confidence": 0.9}]}
    before = orjson.dumps(value)
    texts = ["card 4111 1111 1111 1111", "card 5555 5555 5555 4444"]
    samples = [Sample(f"s{at}", GuardRow(text=text, type="pan", expect="detect")) for at, text in enumerate(texts)]
    made = GuardEvaluator(_Same(value)).evaluate(samples)  # type: ignore[arg-type]
    assert [outcome.details["findings"][0]["masked"][-2:] for outcome in made] == ["11", "44"]
    assert orjson.dumps(value) == before
