"""Asking a guard, and judging what it finds. No outcome ever holds a datum: only its type, place and mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from yb_eval import Answer, Outcome, Sample, Target
from yb_eval.batches import OutcomeBatch, SampleBatch
from yb_eval.digest import identify
from yb_eval.interfaces import Concurrency
from yb_eval.targets import AnswerError
from yb_eval_guards.answers import mask, read_findings, without_data
from yb_eval_guards.dataset import GuardRow, row_of
from yb_eval_guards.finding import Finding
from yb_eval_guards.scanner import Scanner

#: Rises when the judging of findings changes.
_JUDGING = 2

#: Findings listed in one outcome; a text full of numbers must not flood the log.
_LISTED = 20


@frozen(slots=True)
class ScannerTarget:
    """Our own detectors as a target.

    `GuardEvaluator` asks `scanner` directly; `ask` serves those who look at answers (recording, the cache).
    """

    scanner: Scanner
    spec: str = "builtin"
    batch_size: int = 10_000
    concurrency: Concurrency = "processes"
    fingerprint: str = field(init=False)

    @fingerprint.default
    def _fingerprint(self) -> str:
        return self.scanner.fingerprint

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        found = self.scanner.scan_many([request["text"] for request in requests])
        return [Answer({"findings": [_described(finding) for finding in findings]}) for findings in found]

    def close(self) -> None:
        pass


def _described(finding: Finding) -> dict[str, Any]:
    return {
        "type": finding.type,
        "kind": finding.kind,
        "start": finding.start,
        "end": finding.end,
        "evidence": list(finding.evidence),
        "confidence": finding.confidence,
    }


@frozen(slots=True)
class GuardEvaluator:
    """Scans texts and compares `detect`/`clean` with the label. An answer that is none is an error of its row."""

    target: Target
    fingerprint: str = field(init=False)

    @fingerprint.default
    def _fingerprint(self) -> str:
        return identify("evaluator", {"target": self.target.fingerprint, "judging": _JUDGING})

    @property
    def batch_size(self) -> int:
        return self.target.batch_size

    @property
    def eager(self) -> bool:
        """Our own detectors ask nobody."""
        return isinstance(self.target, ScannerTarget)

    @property
    def concurrency(self) -> Concurrency:
        return self.target.concurrency

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        if isinstance(self.target, ScannerTarget) and isinstance(samples, SampleBatch):
            return _scanned(self.target.scanner, samples)
        samples = list(samples)
        rows = [row_of(sample.data) for sample in samples]
        texts = [row.text for row in rows]
        if isinstance(self.target, ScannerTarget):
            # The same findings without a request and an answer for each text: a third of the time of a scan.
            found = self.target.scanner.scan_many(texts)
            return [
                _judged(sample, row, [_described(finding) for finding in findings])
                for sample, row, findings in zip(samples, rows, found, strict=True)
            ]
        requests = [{"id": sample.id, "text": text} for sample, text in zip(samples, texts, strict=True)]
        answers = self.target.ask(requests, repeat=samples[0].repeat if samples else 0)
        return [self._judge(sample, answer) for sample, answer in zip(samples, answers, strict=True)]

    def _judge(self, sample: Sample, answer: Answer) -> Outcome:
        row = row_of(sample.data)
        reason = answer.failure
        if reason is None:
            try:
                return _judged(sample, row, read_findings(answer.value, row.text))
            except AnswerError as error:
                reason = error.reason
        return Outcome.error(sample, without_data(reason, row.text), expected=row.expect, details={"type": row.type})


class _Numbers(dict[tuple[str, str, tuple[str, ...]], int]):
    """Numbers labels as they come."""

    def __missing__(self, label: tuple[str, str, tuple[str, ...]]) -> int:
        number = self[label] = len(self)
        return number


def _scanned(scanner: Scanner, batch: SampleBatch) -> OutcomeBatch:
    """The outcomes of a batch that gives columns: an object for each text in which something was found, and one for each
    label that the others have."""
    texts, types, expects = map(batch.column, ("text", "type", "expect"))
    ids, tags = batch.ids, batch.tags
    kinds = _Numbers()
    which = list(map(kinds.__getitem__, zip(expects, types, tags, strict=True)))
    repeat = batch.repeat
    outcomes = [_quiet("", tags, repeat, type, expect) for expect, type, tags in kinds]
    for place, findings in scanner.scan_each(texts):
        which[place] = len(outcomes)
        said = [_described(finding) for finding in findings]
        outcomes.append(_raised("", tags[place], repeat, types[place], expects[place], texts[place], said))
    return OutcomeBatch(ids, outcomes, which)


def _judged(sample: Sample, row: GuardRow, findings: list[dict[str, Any]]) -> Outcome:
    if not findings:
        return _quiet(sample.id, sample.tags, sample.repeat, row.type, row.expect)
    return _raised(sample.id, sample.tags, sample.repeat, row.type, row.expect, row.text, findings)


def _quiet(id: str, tags: tuple[str, ...], repeat: int, type: str, expect: str) -> Outcome:
    """The outcome of a row in which nothing was found."""
    # By position: this is made for nearly every row, and names would cost a third more.
    return Outcome(
        id, "scored", expect == "clean", expect, "clean", None, None, None, tags, {"type": type}, repeat=repeat
    )


def _raised(
    id: str,
    tags: tuple[str, ...],
    repeat: int,
    type: str,
    expect: str,
    text: str,
    findings: list[dict[str, Any]],
) -> Outcome:
    """The outcome of a row in which something was found; `findings` are its own from now on."""
    shown = findings[:_LISTED]
    for each in shown:
        each["masked"] = mask(each["type"], text[each["start"] : each["end"]])
    found = [findings[0]["type"]] if len(findings) == 1 else sorted({each["type"] for each in findings})
    details = {"type": type, "found": found, "findings": shown}
    return Outcome(id, "scored", expect == "detect", expect, "detect", None, None, None, tags, details, repeat=repeat)
