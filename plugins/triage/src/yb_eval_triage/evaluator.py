"""Asking a triager, and judging what it says of an item.

An outcome has a judgement for each part of the gold: `label`, `severity`, `escalate`, and `handoff` where hand-offs are
judged. In a run over several tasks the task's name stands in front: `ops.label`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval import Judgement, Outcome, Sample, Target
from yb_eval.errors import shorten
from yb_eval.targets import (
    AnswerError,
    TargetEvaluator,
    expect_boolean,
    expect_choice,
    expect_list,
    expect_object,
    expect_probability,
    expect_text,
)
from yb_eval_triage.dataset import TriageRow, task_of
from yb_eval_triage.task import Answer, Task

#: Rises when the judging of answers changes.
_JUDGING = 1

#: Expected of an item that should be kept, predicted of one that was: a hand-off to nobody.
NOBODY = "(nobody)"

_MEANINGS = ("label", "severity", "escalate", "abstain", "handoff", "path")


@frozen(slots=True, kw_only=True)
class HandOff:
    """Where an item went: who has it now (`None`: whoever got it first), everybody it was handed to, in order, and
    whether the text announced a hand-off."""

    target: str | None
    path: tuple[str, ...]
    promised: bool

    @property
    def loops(self) -> int:
        """Hand-offs to somebody who had the item before."""
        came_back = self.target is None and bool(self.path)
        return len(self.path) - len(set(self.path)) + came_back


@frozen(slots=True)
class Judge:
    """Compares the answers to one task's rows with the gold. `prefix` stands in front of the judgements' names."""

    task: Task
    prefix: str = ""
    handoffs: bool = False

    def __call__(self, sample: Sample, answer: Any) -> Outcome:
        row: TriageRow = sample.data
        said = expect_object(answer)
        if all(said.get(name) is None for name in _MEANINGS):
            raise AnswerError(f"the answer has none of {', '.join(_MEANINGS)}: {shorten(said)}")
        read = self._read(said, row)
        judgements = self._judgements(row, read)
        if self.handoffs and row.label is not None:
            judgements[f"{self.prefix}handoff"] = self._handoff(row, _handoff(said))
        if not judgements:
            return Outcome.skipped(sample, "the row has no gold label, severity or escalation")
        details: dict[str, Any] = {}
        if read.abstain:
            details["abstained"] = True
        if contradictions := self.task.contradictions(read):
            details["contradictions"] = contradictions
        return Outcome.of(sample, judgements, details=details)

    def _read(self, said: Mapping[str, Any], row: TriageRow) -> Answer:
        """The answer, checked. Raises `AnswerError`. What the task has no scale for is not looked at."""
        abstain = expect_boolean(said, "abstain", optional=True) or False
        # Whoever abstains need not guess, and whoever hands an item on has said whose it is.
        optional = abstain or row.label is None or (self.handoffs and said.get("label") is None)
        severity = None
        if self.task.severity is not None and said.get("severity") is not None:
            severity = _level(said["severity"], len(self.task.severity.levels) - 1)
        return Answer(
            label=expect_choice(said, "label", self.task.labels, optional=optional),
            severity=severity,
            escalate=None if self.task.escalation is None else expect_boolean(said, "escalate", optional=True),
            confidence=expect_probability(said, "confidence", optional=True),
            abstain=abstain,
        )

    def _judgements(self, row: TriageRow, answer: Answer) -> dict[str, Judgement]:
        made: dict[str, Judgement] = {}
        gold, prefix = row.gold, self.prefix
        if (label := row.label) is not None:
            # A label nobody should act on is no answer: at full coverage an abstention is an error.
            said = None if answer.abstain else answer.label
            acceptable = row.acceptable.label
            details: dict[str, Any] = {"acceptable": list(acceptable)} if acceptable else {}
            if answer.abstain:
                details["abstained"] = True
            made[f"{prefix}label"] = Judgement(
                correct=said is not None and (said == label or said in acceptable),
                expected=label,
                predicted=said,
                confidence=answer.confidence,
                details=details,
            )
        if gold.severity is not None:
            made[f"{prefix}severity"] = Judgement(
                correct=answer.severity == gold.severity, expected=gold.severity, predicted=answer.severity
            )
        if gold.escalate is not None:
            made[f"{prefix}escalate"] = Judgement(
                correct=answer.escalate is gold.escalate, expected=gold.escalate, predicted=answer.escalate
            )
        return made

    def _handoff(self, row: TriageRow, said: HandOff) -> Judgement:
        names = dict.fromkeys(
            self.task.handoffs.to(label) or NOBODY for label in (row.label or "", *row.acceptable.label)
        )
        expected, *others = names
        details: dict[str, Any] = {"path": list(said.path), "promised": said.promised, "loops": said.loops}
        if others:
            details["acceptable"] = others
        target = NOBODY if said.target is None else said.target
        return Judgement(correct=target in names, expected=expected, predicted=target, details=details)


def _level(value: Any, top: int) -> int:
    if type(value) is not int or not 0 <= value <= top:
        raise AnswerError(f"severity must be an integer from 0 to {top}, not {shorten(value)}")
    return value


def _handoff(said: Mapping[str, Any]) -> HandOff:
    """Raises `AnswerError` for a path that is not a list of names, or ends with another than the target."""
    target = expect_text(said, "handoff", optional=True)
    path = expect_list(said, "path", optional=True)
    if path is None:
        path = [] if target is None else [target]
    if not all(isinstance(name, str) and name for name in path):
        raise AnswerError(f"path must be a list of names, not {shorten(path)}")
    if target is None and "handoff" not in said and path:
        target = path[-1]
    if target is not None and (not path or path[-1] != target):
        raise AnswerError(f"handoff is {shorten(target)}, which the path {shorten(path)} does not end with")
    return HandOff(target=target, path=tuple(path), promised=expect_boolean(said, "promised", optional=True) or False)


@frozen(slots=True)
class TaskJudges:
    """Judges and requests for the rows of several tasks: each row says by its tag which one it belongs to.

    With one task there are no such tags.
    """

    judges: Mapping[str, Judge]

    def judge_of(self, sample: Sample) -> Judge:
        if len(self.judges) == 1:
            return next(iter(self.judges.values()))
        return self.judges[task_of(sample.tags) or ""]

    def request(self, sample: Sample) -> dict[str, Any]:
        row: TriageRow = sample.data
        return row.request(sample.id, self.judge_of(sample).task.name)

    def __call__(self, sample: Sample, answer: Any) -> Outcome:
        return self.judge_of(sample)(sample, answer)


def triage_evaluator(target: Target, tasks: Sequence[Task], *, handoffs: bool) -> TargetEvaluator:
    """The evaluator of a run over `tasks`."""
    judges = TaskJudges({task.name: Judge(task, prefix_of(task, tasks), handoffs) for task in tasks})
    identity = {"judging": _JUDGING, "tasks": [task.identity() for task in tasks], "handoffs": handoffs}
    return TargetEvaluator(target=target, request=judges.request, judge=judges, identity=identity)


def prefix_of(task: Task, tasks: Sequence[Task]) -> str:
    """What stands in front of the names of a task's judgements and measurements: nothing if it is the only one."""
    return f"{task.name}." if len(tasks) > 1 else ""
