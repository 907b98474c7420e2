"""What is measured of each eval, in the name of its judgement (`grounded.accuracy`).

How many samples it was asked of and what became of them, the share that passes and the mean score; against labels accuracy,
precision and recall of *failing* (the eval is there to find what is wrong), AUROC of the score, and whether its
probabilities are true (Brier, ECE).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from yb_eval import Declared, Measurement, Metric, Outcome
from yb_eval.metrics import Accuracy, Auroc, Calibration, JudgementMetric, MeanScore, Rate, Sliced
from yb_eval.metrics.base import null, rate
from yb_eval_decision.eval import Eval
from yb_eval_decision.verdicts import fails, passing

#: What became of asking, in the order of reports; the measurement of each.
_STATES = {
    "measured": "scored",
    "abstained": "abstained",
    "refused": "refused",
    "errors": "error",
    "skipped": "skipped",
}


def eval_metrics(name: str, one: Eval) -> list[Metric[Any]]:
    """The metrics of the eval `one`, whose judgement is called `name`, in the order of reports."""
    return [
        Accuracy(judgement=name),
        Rate(judgement=name, name="pass_rate", numerator="passed", help="Samples that pass / samples with a verdict."),
        Asked(judgement=name),
        MeanScore(judgement=name, low=0.0, high=1.0),
        Found(judgement=name),
        Auroc(judgement=name, positive=passing(one)),
        Calibration(judgement=name),
        Sliced(metric=Accuracy(judgement=name), keys="lang:"),
    ]


@frozen(slots=True, kw_only=True)
class Asked(JudgementMetric):
    """`asked`, and of these `measured`, `abstained`, `refused`, `errors`, `skipped`: what became of the questions.

    `asked` counts every sample that the eval was asked of, whatever came of it, and is the n of the others; without one
    they are null. `skipped` are those to which the eval does not apply. Details of what is not measured: `example`, one
    of the reasons (the first in the order of texts, so that it is the same whatever the order of samples).
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("asked", "Samples that the eval was asked of.", high=None, better=None),
            self.declare("measured", "Samples with a score or a verdict.", high=None),
            self.declare("abstained", "Samples on which the backend could not tell.", high=None, better="lower"),
            self.declare("refused", "Samples on which the backend refused.", high=None, better="lower"),
            self.declare("errors", "Samples lost to a failure.", high=None, better="lower"),
            self.declare("skipped", "Samples that the eval does not apply to.", high=None, better=None),
        )

    def start(self) -> Fates:
        return Fates(Counter(), {})

    def add(self, state: Fates, outcomes: Sequence[Outcome]) -> Fates:
        for judged in self.judged(outcomes):
            # An abstention is a skipped judgement for core; which of the two it is stands in the details.
            fate = judged.details.get("state", "skipped") if judged.status == "skipped" else judged.status
            state.note(fate, 1, judged.reason)
        return state

    def merge(self, left: Fates, right: Fates) -> Fates:
        for fate, count in right.counts.items():
            left.note(fate, count, right.reasons.get(fate))
        return left

    def finish(self, state: Fates) -> Sequence[Measurement]:
        asked = state.counts.total()
        return (
            Measurement(self.named("asked"), asked, asked),
            *(
                Measurement(
                    self.named(name),
                    state.counts[fate],
                    asked,
                    details={"example": reason} if (reason := state.reasons.get(fate)) else {},
                )
                if asked
                else null(self.named(name), "never asked")
                for name, fate in _STATES.items()
            ),
        )


@frozen(slots=True)
class Fates:
    """How many samples met each fate, and a reason for each that has one."""

    counts: Counter[str]
    reasons: dict[str, str]

    def note(self, fate: str, count: int, reason: str | None) -> None:
        self.counts[fate] += count
        if reason:
            self.reasons[fate] = min(reason, self.reasons.get(fate, reason))


@frozen(slots=True, kw_only=True)
class Found(JudgementMetric):
    """`precision` and `recall` of failing: of what the eval fails, how much is labelled so; of what is labelled failing,
    how much the eval fails. Details: tp, fp, fn, tn. Over the scored samples with a label and a verdict."""

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("precision", "Rightly failed / failed."),
            self.declare("recall", "Rightly failed / labelled as failing."),
        )

    def start(self) -> Counter[tuple[bool, bool]]:
        return Counter()

    def add(self, state: Counter[tuple[bool, bool]], outcomes: Sequence[Outcome]) -> Counter[tuple[bool, bool]]:
        state.update((fails(expected), fails(predicted)) for expected, predicted in self.pairs(outcomes))
        return state

    def merge(self, left: Counter[tuple[bool, bool]], right: Counter[tuple[bool, bool]]) -> Counter[tuple[bool, bool]]:
        left.update(right)
        return left

    def finish(self, state: Counter[tuple[bool, bool]]) -> Sequence[Measurement]:
        tp, fp, fn, tn = state[True, True], state[False, True], state[True, False], state[False, False]
        details = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        return (
            rate(self.named("precision"), tp, tp + fp, empty="nothing was failed", details=details),
            rate(self.named("recall"), tp, tp + fn, empty="nothing is labelled as failing", details=details),
        )
