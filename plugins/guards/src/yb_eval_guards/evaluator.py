"""Asking a guard, and judging what it finds. No outcome ever holds a datum: only its type, place and mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from yb_eval import Answer, Outcome, Sample, Target
from yb_eval.digest import identify
from yb_eval.targets import AnswerError, expect_list, expect_object
from yb_eval_guards.dataset import row_of
from yb_eval_guards.finding import Finding
from yb_eval_guards.scanner import Scanner

#: Rises when the judging of findings changes.
_JUDGING = 1

#: Findings listed in one outcome; a text full of numbers must not flood the log.
_LISTED = 20


@frozen(slots=True)
class ScannerTarget:
    """Our own detectors as a target.

    `GuardEvaluator` asks `scanner` directly; `ask` serves those who look at answers (recording, the cache).
    """

    scanner: Scanner
    spec: str = "builtin"
    batch_size: int = 2_000
    concurrency: Any = "processes"
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
        "masked": finding.masked,
        "evidence": list(finding.evidence),
        "confidence": finding.confidence,
    }


@frozen(slots=True)
class GuardEvaluator:
    """Scans texts and compares `detect`/`clean` with the label."""

    target: Target
    fingerprint: str = field(init=False)

    @fingerprint.default
    def _fingerprint(self) -> str:
        return identify("evaluator", {"target": self.target.fingerprint, "judging": _JUDGING})

    @property
    def batch_size(self) -> int:
        return self.target.batch_size

    @property
    def concurrency(self) -> Any:
        return self.target.concurrency

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        samples = list(samples)
        texts = [row_of(sample.data).text for sample in samples]
        if isinstance(self.target, ScannerTarget):
            # The same findings without a request and an answer for each text: a third of the time of a scan.
            found = self.target.scanner.scan_many(texts)
            return [
                _outcome(sample, [_described(finding) for finding in findings] if findings else ())
                for sample, findings in zip(samples, found, strict=True)
            ]
        requests = [{"id": sample.id, "text": text} for sample, text in zip(samples, texts, strict=True)]
        answers = self.target.ask(requests, repeat=samples[0].repeat if samples else 0)
        return [self._judge(sample, text, answer) for sample, text, answer in zip(samples, texts, answers, strict=True)]

    def _judge(self, sample: Sample, text: str, answer: Answer) -> Outcome:
        if answer.failure is not None:
            return Outcome.error(sample, answer.failure, expected=row_of(sample.data).expect)
        try:
            return _outcome(sample, _read(answer.value, len(text)))
        except AnswerError as error:
            return Outcome.error(sample, error.reason, expected=row_of(sample.data).expect)


def _outcome(sample: Sample, findings: Sequence[Mapping[str, Any]]) -> Outcome:
    row = row_of(sample.data)
    details: dict[str, Any] = {"type": row.type}
    if findings:
        details["found"] = sorted({finding["type"] for finding in findings})
        details["findings"] = list(findings[:_LISTED])
    predicted = "detect" if findings else "clean"
    return Outcome(
        sample.id,
        "scored",
        predicted == row.expect,
        row.expect,
        predicted,
        tags=(*sample.tags, f"type:{row.type}"),
        details=details,
        repeat=sample.repeat,
    )


def _read(answer: Any, length: int) -> list[dict[str, Any]]:
    """The findings of an answer, checked; of each only what shows no datum. Raises `AnswerError`."""
    read = []
    for index, said in enumerate(expect_list(expect_object(answer), "findings")):
        finding = expect_object(said)
        kind, start, end = finding.get("type"), finding.get("start"), finding.get("end")
        if not isinstance(kind, str) or not kind:
            raise AnswerError(f"findings[{index}].type is no name")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= length:
            raise AnswerError(f"findings[{index}]: {start!r}..{end!r} is no place in a text of {length} characters")
        read.append({"type": kind[:40], "start": start, "end": end})
    return read
