"""What a system that looks at nothing would reach on the same outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import Factory, define, frozen

from yb_eval.metrics.base import JudgementMetric, label_text, rate
from yb_eval.model import Declared, Measurement, Outcome


@define(slots=True)
class ConstantState:
    """Outcomes with an expected label, and for each label how often it would have been right."""

    n: int = 0
    right: Counter[str] = Factory(Counter)


@frozen(slots=True, kw_only=True)
class BestConstant(JudgementMetric):
    """`best_constant_accuracy`: the accuracy of always giving the one label that is right most often.

    The denominator is the scored outcomes that have an expected label. With `acceptable`, a label among
    `details["acceptable"]` is right too. Details: that label (the first in text order among equals). Wilson interval,
    the label taken as given.
    """

    acceptable: bool = False

    @property
    def declares(self) -> Sequence[Declared]:
        help = "Accuracy of the best constant prediction."
        return (self.declare("best_constant_accuracy", help, better=None),)

    def start(self) -> ConstantState:
        return ConstantState()

    def add(self, state: ConstantState, outcomes: Sequence[Outcome]) -> ConstantState:
        with_label = [judged for judged in self.scored(outcomes) if judged.expected is not None]
        state.n += len(with_label)
        state.right.update([label_text(judged.expected) for judged in with_label])
        if self.acceptable:
            for judged in with_label:
                others = set(map(label_text, judged.details.get("acceptable") or ()))
                state.right.update(others - {label_text(judged.expected)})
        return state

    def merge(self, left: ConstantState, right: ConstantState) -> ConstantState:
        left.n += right.n
        left.right.update(right.right)
        return left

    def finish(self, state: ConstantState) -> Sequence[Measurement]:
        name = self.named("best_constant_accuracy")
        best = min(state.right, key=lambda label: (-state.right[label], label), default="")
        details = {"label": best} if state.n else {}
        return (
            rate(name, state.right[best], state.n, empty="no scored outcome has an expected label", details=details),
        )
