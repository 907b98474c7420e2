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
from yb_eval_triage.dataset import acceptable_of, label_of, request_of, task_of
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

    def request(self, sample: Sample) -> dict[str, Any]:
        return request_of(sample, self.task)

    def __call__(self, sample: Sample, answer: Any) -> Outcome:
        row: Mapping[str, Any] = sample.data
        said = expect_object(answer)
        if said.get("label") is None and all(said.get(name) is None for name in _MEANINGS):
            raise AnswerError(f"the answer has none of {', '.join(_MEANINGS)}: {shorten(said)}")
        label = label_of(row)
        read = self._read(said, label)
        judgements = self._judgements(row, label, read)
        if self.handoffs and label is not None:
            judgements[f"{self.prefix}handoff"] = self._handoff(label, acceptable_of(row), _handoff(said))
        if not judgements:
            return Outcome.skipped(sample, "the row has no gold label, severity or escalation")
        details: dict[str, Any] = {}
        if read.abstain:
            details["abstained"] = True
        if contradictions := self.task.contradictions(read):
            details["contradictions"] = contradictions
        return Outcome.of(sample, judgements, details=details)

    def _read(self, said: Mapping[str, Any], label: str | None) -> Answer:
        """The answer, checked. Raises `AnswerError`. What the task has no scale for is not looked at."""
        task = self.task
        # The usual type is looked at here: this runs for every answer, and a call costs more than the look.
        abstain = said.get("abstain")
        if type(abstain) is not bool:
            abstain = expect_boolean(said, "abstain", optional=True) or False
        name = said.get("label")
        if type(name) is not str or name not in task.labels:
            # Whoever abstains need not guess, and whoever hands an item on has said whose it is.
            name = expect_choice(said, "label", task.labels, optional=abstain or label is None or self.handoffs)
        severity = None if task.severity is None else said.get("severity")
        if severity is not None:
            severity = _level(severity, len(task.severity.levels) - 1)  # type: ignore[union-attr]
        escalate = None if task.escalation is None else said.get("escalate")
        if escalate is not None and type(escalate) is not bool:
            escalate = expect_boolean(said, "escalate")
        confidence = said.get("confidence")
        if confidence is not None and not (type(confidence) is float and 0.0 <= confidence <= 1.0):
            confidence = expect_probability(said, "confidence")
        return Answer(label=name, severity=severity, escalate=escalate, confidence=confidence, abstain=abstain)

    def _judgements(self, row: Mapping[str, Any], label: str | None, answer: Answer) -> dict[str, Judgement]:
        made: dict[str, Judgement] = {}
        gold, prefix = row["gold"], self.prefix
        if label is not None:
            # A label nobody should act on is no answer: at full coverage an abstention is an error.
            said = None if answer.abstain else answer.label
            acceptable = acceptable_of(row)
            details: dict[str, Any] = {"acceptable": list(acceptable)} if acceptable else {}
            if answer.abstain:
                details["abstained"] = True
            right = said is not None and (said == label or said in acceptable)
            made[f"{prefix}label"] = Judgement(
                "scored", right, label, said, confidence=answer.confidence, details=details
            )
        if (severity := gold.get("severity")) is not None:
            right = answer.severity == severity
            made[f"{prefix}severity"] = Judgement("scored", right, severity, answer.severity)
        if (escalate := gold.get("escalate")) is not None:
            right = answer.escalate is escalate
            made[f"{prefix}escalate"] = Judgement("scored", right, escalate, answer.escalate)
        return made

    def _handoff(self, label: str, acceptable: Sequence[str], said: HandOff) -> Judgement:
        names = dict.fromkeys(self.task.handoffs.to(name) or NOBODY for name in (label, *acceptable))
        expected, *others = names
        details: dict[str, Any] = {"path": list(said.path), "promised": said.promised, "loops": said.loops}
        if others:
            details["acceptable"] = others
        target = NOBODY if said.target is None else said.target
        return Judgement("scored", target in names, expected, target, details=details)


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
    """Requests and judges for the rows of several tasks: each row says by its tag which one it belongs to."""

    judges: Mapping[str, Judge]

    def request(self, sample: Sample) -> dict[str, Any]:
        return self._judge(sample).request(sample)

    def __call__(self, sample: Sample, answer: Any) -> Outcome:
        return self._judge(sample)(sample, answer)

    def _judge(self, sample: Sample) -> Judge:
        return self.judges[task_of(sample.tags) or ""]


def triage_evaluator(target: Target, tasks: Sequence[Task], *, handoffs: bool) -> TargetEvaluator:
    """The evaluator of a run over `tasks`."""
    each = {task.name: Judge(task, prefix_of(task, tasks), handoffs) for task in tasks}
    judge = TaskJudges(each) if len(tasks) > 1 else each[tasks[0].name]
    identity = {"judging": _JUDGING, "tasks": [task.identity() for task in tasks], "handoffs": handoffs}
    return TargetEvaluator(target=target, request=judge.request, judge=judge, identity=identity)


def prefix_of(task: Task, tasks: Sequence[Task]) -> str:
    """What stands in front of the names of a task's judgements and measurements: nothing if it is the only one."""
    return f"{task.name}." if len(tasks) > 1 else ""
