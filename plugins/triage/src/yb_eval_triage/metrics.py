"""What is measured of a triager. Most of it is core's, folded over the judgements `label`, `severity`, `escalate` and
`handoff`; here stands what is triage's own: scope, abstentions, contradictions, hand-offs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import field, frozen

from yb_eval import Declared, Judgement, Measurement, Metric, Outcome
from yb_eval.metrics import (
    Accuracy,
    BestConstant,
    Calibration,
    Classification,
    Detection,
    ExpectedCost,
    JudgementMetric,
    Ordinal,
    Rate,
    Selective,
    Sliced,
)
from yb_eval.model import Judged
from yb_eval.statistics import wilson
from yb_eval_triage.dataset import task_of
from yb_eval_triage.evaluator import NOBODY
from yb_eval_triage.task import Task

#: Levels too low from which on under-triage is severe.
SEVERE = 2


def task_metrics(task: Task, prefix: str, *, handoffs: bool) -> list[Metric[Any]]:
    """The metrics of one task; `prefix` (`ops.`, or nothing) stands in front of all their names."""
    label: dict[str, Any] = {"judgement": f"{prefix}label", "prefix": prefix[:-1]}
    severity: dict[str, Any] = {"judgement": f"{prefix}severity"}
    escalate: dict[str, Any] = {"judgement": f"{prefix}escalate"}
    slices = TagsOf(prefix[:-1])
    accuracy = Accuracy(**label)
    metrics: list[Metric[Any]] = [
        accuracy,
        Classification(acceptable=True, **label),
        MicroF1(**label),
        BestConstant(acceptable=True, **label),
        Answers(task=prefix[:-1] or None, prefix=prefix[:-1], consistency=task.severity is not None),
        Calibration(**label),
        SelectiveAnswers(**label),
        _sliced(accuracy, slices),
    ]
    if task.out_of_scope is not None:
        metrics.append(Scope(outside=task.out_of_scope, **label))
    if task.severity is not None:
        levels = len(task.severity.levels)
        matrix = task.severity.cost
        dearest = max(max(row) for row in matrix)
        under = Rate(name="under_triage_rate", numerator=too_low, better="lower", **severity)
        severe = Rate(name="severe_under_triage_rate", numerator=far_too_low, better="lower", **severity)
        metrics += [
            Ordinal(levels=levels, critical=task.severity.critical or None, severe=SEVERE, **severity),
            # Silence costs as much as the dearest mistake: a triager must not improve by saying nothing.
            ExpectedCost(levels=levels, matrix=matrix, no_answer=dearest, **severity),
            _sliced(under, slices),
            _sliced(severe, slices),
        ]
    if task.escalation is not None:
        found = Rate(name="recall", numerator=predicted_yes, denominator=expected_yes, **escalate)
        metrics += [Detection(positive=True, **escalate), _sliced(found, slices)]
    if handoffs:
        metrics.append(HandOffs(judgement=f"{prefix}handoff"))
    return metrics


def too_low(judged: Judged) -> bool | None:
    """Whether the predicted severity is below the gold one."""
    return None if judged.predicted is None else bool(judged.predicted < judged.expected)


def far_too_low(judged: Judged) -> bool | None:
    return None if judged.predicted is None else bool(judged.expected - judged.predicted >= SEVERE)


def expected_yes(judged: Judged) -> bool:
    return judged.expected is True


def predicted_yes(judged: Judged) -> bool:
    return judged.predicted is True


@frozen(slots=True)
class TagsOf:
    """The tags of the outcomes of one task, for slicing; the tag that names the task is none of them."""

    task: str

    def __call__(self, outcome: Outcome) -> Iterable[str]:
        if task_of(outcome.tags) != self.task:
            return ()
        return outcome.tags[:-1]


def _sliced(metric: Metric[Any], slices: TagsOf) -> Sliced:
    return Sliced(metric=metric, by=slices) if slices.task else Sliced(metric=metric)


@frozen(slots=True, kw_only=True)
class SelectiveAnswers(Selective):
    """`Selective`, in which an abstention with a confidence is a wrong answer that is accepted last.

    At full coverage it is an error; where something may be left out, it is left out first.
    """

    def scored(self, outcomes: Sequence[Outcome]) -> list[Judged]:
        return [
            Judgement(correct=judged.correct, confidence=0.0)
            if judged.confidence is not None and "abstained" in judged.details
            else judged
            for judged in Selective.scored(self, outcomes)
        ]


@frozen(slots=True, kw_only=True)
class MicroF1(JudgementMetric):
    """`f1`, over all labels together: 2 right / (scored outcomes with a gold label + those that were answered).

    The accuracy where every item is answered; higher where some are not, for an abstention is no false alarm. It is
    the whole that the `f1[label]` of the classes are held against. Its interval is Wilson's at n = the outcomes with a
    gold label.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("f1", "Micro-averaged over the labels: 2 right / (all + answered)."),)

    def start(self) -> Counter[str]:
        return Counter()

    def add(self, state: Counter[str], outcomes: Sequence[Outcome]) -> Counter[str]:
        for judged in self.scored(outcomes):
            if judged.expected is not None:
                state["n"] += 1
                state["answered"] += judged.predicted is not None
                state["right"] += judged.correct is True
        return state

    def merge(self, left: Counter[str], right: Counter[str]) -> Counter[str]:
        left.update(right)
        return left

    def finish(self, state: Counter[str]) -> Sequence[Measurement]:
        n, name = state["n"], self.named("f1")
        if not n:
            return (Measurement(name, None, reason="no scored outcome has an expected label"),)
        value = 2 * state["right"] / (n + state["answered"])
        return (Measurement(name, value, n, wilson(value * n, n)),)


@frozen(slots=True, kw_only=True)
class Answers:
    """`abstention_rate`, and with `consistency` `contradiction_rate`, of all scored outcomes of a task: no gold needed.

    A contradiction is an answer whose parts cannot all be right by the task file: a severity outside the label's
    range, an escalation that the severity forbids, or none where it demands one.
    """

    task: str | None = None
    prefix: str = ""
    consistency: bool = True

    @property
    def declares(self) -> Sequence[Declared]:
        made = [Declared(self._name("abstention_rate"), "Items handed back unanswered / answers.", better=None)]
        if self.consistency:
            help = "Answers whose label, severity and escalation contradict each other / answers."
            made.append(Declared(self._name("contradiction_rate"), help, better="lower"))
        return made

    def start(self) -> Counter[str]:
        return Counter()

    def add(self, state: Counter[str], outcomes: Sequence[Outcome]) -> Counter[str]:
        for outcome in outcomes:
            if outcome.status == "scored" and (self.task is None or task_of(outcome.tags) == self.task):
                state["n"] += 1
                if outcome.details:
                    state["abstained"] += "abstained" in outcome.details
                    state["contradictory"] += "contradictions" in outcome.details
        return state

    def merge(self, left: Counter[str], right: Counter[str]) -> Counter[str]:
        left.update(right)
        return left

    def finish(self, state: Counter[str]) -> Sequence[Measurement]:
        made = [_share(self._name("abstention_rate"), state["abstained"], state["n"])]
        if self.consistency:
            made.append(_share(self._name("contradiction_rate"), state["contradictory"], state["n"]))
        return made

    def _name(self, name: str) -> str:
        return f"{self.prefix}.{name}" if self.prefix else name


@frozen(slots=True, kw_only=True)
class Scope(JudgementMetric):
    """What becomes of items inside and outside of the task's scope, over scored outcomes with a gold label.

    - `in_scope_accuracy`: in-scope rows with the right label / in-scope rows (Larson et al., EMNLP 2019: a refusal of
      an in-scope row is an error)
    - `oos_recall`: out-of-scope rows that are called so / out-of-scope rows
    - `oos_precision`: the same / rows called out of scope
    - `false_acceptance_rate`: out-of-scope rows that get an in-scope label / out-of-scope rows. An abstention is
      neither recalled nor accepted.
    - `false_rejection_rate`: in-scope rows that are called out of scope / in-scope rows
    """

    outside: str

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("in_scope_accuracy", "Right / rows in scope."),
            self.declare("oos_recall", "Called out of scope / rows out of scope."),
            self.declare("oos_precision", "Rightly called out of scope / called out of scope."),
            self.declare("false_acceptance_rate", "Given an in-scope label / rows out of scope.", better="lower"),
            self.declare("false_rejection_rate", "Called out of scope / rows in scope.", better="lower"),
        )

    def start(self) -> Counter[tuple[bool, bool, bool]]:
        return Counter()

    def add(
        self, state: Counter[tuple[bool, bool, bool]], outcomes: Sequence[Outcome]
    ) -> Counter[tuple[bool, bool, bool]]:
        outside = self.outside
        # (gold is outside, said to be outside, answered and right - of gold outside: answered with an in-scope label)
        state.update(
            [
                (
                    judged.expected == outside,
                    judged.predicted == outside,
                    judged.predicted is not None
                    and (judged.predicted != outside if judged.expected == outside else judged.correct is True),
                )
                for judged in self.scored(outcomes)
                if judged.expected is not None
            ]
        )
        return state

    def merge(
        self, left: Counter[tuple[bool, bool, bool]], right: Counter[tuple[bool, bool, bool]]
    ) -> Counter[tuple[bool, bool, bool]]:
        left.update(right)
        return left

    def finish(self, state: Counter[tuple[bool, bool, bool]]) -> Sequence[Measurement]:
        def count(gold: bool | None = None, said: bool | None = None, third: bool | None = None) -> int:
            asked = (gold, said, third)
            return sum(
                many
                for key, many in state.items()
                if all(want is None or want == have for want, have in zip(asked, key, strict=True))
            )

        named = self.named
        inside, outside = count(gold=False), count(gold=True)
        no_inside, no_outside = "no row is in scope", "no row is out of scope"
        return (
            _share(named("in_scope_accuracy"), count(gold=False, third=True), inside, no_inside),
            _share(named("oos_recall"), count(gold=True, said=True), outside, no_outside),
            _share(named("oos_precision"), count(gold=True, said=True), count(said=True), "no row was called so"),
            _share(named("false_acceptance_rate"), count(gold=True, third=True), outside, no_outside),
            _share(named("false_rejection_rate"), count(gold=False, said=True), inside, no_inside),
        )


@frozen(slots=True, kw_only=True)
class HandOffs(JudgementMetric):
    """Whether items get to whom they belong, over scored outcomes with a gold label.

    An item *needs* a hand-off if its label belongs to somebody; where an acceptable label may be kept it needs none.

    - `right_target_rate`: items that end with the right one, or are rightly kept / all
    - `precision`: handed on and with the right one / handed on
    - `recall`: the same / items that need a hand-off
    - `missing_rate`: kept / items that need one
    - `wrong_target_rate`: handed on, but to another / items that need one
    - `needless_rate`: handed on / items that need none
    - `broken_promise_rate`: said to be handed on and kept / items said to be handed on. `broken_promises` counts them.
    - `loop_rate`: items that came to one agent twice / items handed on
    - `hops_mean`: hand-offs / items handed on
    """

    prefix: str | None = field(default=None)

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("right_target_rate", "Ends with the right one, or is rightly kept / all.", pairing="correct"),
            self.declare("precision", "With the right one / handed on."),
            self.declare("recall", "With the right one / items that need a hand-off."),
            self.declare("missing_rate", "Kept / items that need a hand-off.", better="lower"),
            self.declare("wrong_target_rate", "With another / items that need a hand-off.", better="lower"),
            self.declare("needless_rate", "Handed on / items that need no hand-off.", better="lower"),
            self.declare("broken_promise_rate", "Kept / items said to be handed on.", better="lower"),
            self.declare("broken_promises", "Items said to be handed on and kept.", high=None, better="lower"),
            self.declare("loop_rate", "Items that one agent got twice / items handed on.", better="lower"),
            self.declare("hops_mean", "Hand-offs / items handed on.", high=None, better="lower"),
        )

    def start(self) -> Counter[str]:
        return Counter()

    def add(self, state: Counter[str], outcomes: Sequence[Outcome]) -> Counter[str]:
        for judged in self.scored(outcomes):
            needed = NOBODY not in (judged.expected, *judged.details.get("acceptable", ()))
            handed = judged.predicted != NOBODY
            right = judged.correct is True
            state["n"] += 1
            state["right"] += right
            state["needed"] += needed
            state["handed"] += handed
            state["handed right"] += handed and right
            state["needed right"] += needed and right
            state["missing"] += needed and not handed
            state["wrong"] += needed and handed and not right
            state["needless"] += handed and not needed and not right
            state["promised"] += judged.details["promised"]
            state["broken"] += judged.details["promised"] and not handed
            state["looped"] += judged.details["loops"] > 0
            state["hops"] += len(judged.details["path"])
        return state

    def merge(self, left: Counter[str], right: Counter[str]) -> Counter[str]:
        left.update(right)
        return left

    def finish(self, state: Counter[str]) -> Sequence[Measurement]:
        named, n = self.named, state["n"]
        needed, handed, promised = state["needed"], state["handed"], state["promised"]
        none_needed, none_handed = "no item needs a hand-off", "no item was handed on"
        return (
            _share(named("right_target_rate"), state["right"], n),
            _share(named("precision"), state["handed right"], handed, none_handed),
            _share(named("recall"), state["needed right"], needed, none_needed),
            _share(named("missing_rate"), state["missing"], needed, none_needed),
            _share(named("wrong_target_rate"), state["wrong"], needed, none_needed),
            _share(named("needless_rate"), state["needless"], n - needed, "every item needs a hand-off"),
            _share(named("broken_promise_rate"), state["broken"], promised, "no hand-off was announced"),
            Measurement(named("broken_promises"), state["broken"], n)
            if n
            else Measurement(named("broken_promises"), None, reason=_NOTHING),
            _share(named("loop_rate"), state["looped"], handed, none_handed),
            Measurement(named("hops_mean"), state["hops"] / handed, handed)
            if handed
            else Measurement(named("hops_mean"), None, reason=none_handed),
        )


_NOTHING = "no outcome was scored"


def _share(name: str, count: int, n: int, empty: str = _NOTHING) -> Measurement:
    """A rate with its Wilson interval; null with the reason `empty` where n is 0."""
    return Measurement(name, count / n, n, wilson(count, n)) if n else Measurement(name, None, reason=empty)
