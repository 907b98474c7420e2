"""Binary detection: what was found, what was missed, what was raised for nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from yb_eval.metrics.base import JudgementMetric, effective_wilson, label_text, null, rate
from yb_eval.model import Declared, Measurement, Outcome

_State = Counter[tuple[bool, bool]]


@frozen(slots=True, kw_only=True)
class Detection(JudgementMetric):
    """`tp fp fn tn`, `precision`, `recall`, `f1`, `f2`, `specificity`, `fpr`, `alerts_per_100` of one positive label.

    Everything is over the scored outcomes that have an expected label; a prediction that is not the `positive` label,
    null included, is a negative one. Denominators: precision tp + fp, recall tp + fn, specificity and fpr fp + tn, F
    tp + fp + fn, alerts all of them (100 (tp + fp) / n). A measurement whose denominator is empty is null.

    Rates have Wilson intervals; F-measures (van Rijsbergen 1979: F_b = (1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp)) the
    `effective_wilson` interval of their delta-method variance. The state counts (expected, predicted) pairs.
    """

    positive: Any = "detect"

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("tp", "True positives: expected and raised.", high=None),
            self.declare("fp", "False positives: raised and not expected.", high=None, better="lower"),
            self.declare("fn", "False negatives: expected and not raised.", high=None, better="lower"),
            self.declare("tn", "True negatives: neither expected nor raised.", high=None),
            self.declare("precision", "tp / (tp + fp)."),
            self.declare("recall", "tp / (tp + fn)."),
            self.declare("f1", "The harmonic mean of precision and recall."),
            self.declare("f2", "F-measure with recall weighted twice as much as precision."),
            self.declare("specificity", "tn / (tn + fp)."),
            self.declare("fpr", "False positive rate: fp / (fp + tn).", better="lower"),
            self.declare("alerts_per_100", "100 (tp + fp) / all.", high=100.0, better="lower"),
        )

    def start(self) -> _State:
        return Counter()

    def add(self, state: _State, outcomes: Sequence[Outcome]) -> _State:
        positive = label_text(self.positive)
        return self.tally(state, outcomes, lambda part: [(e == positive, p == positive) for e, p in self.pairs(part)])

    def merge(self, left: _State, right: _State) -> _State:
        left.update(right)
        return left

    def finish(self, state: _State) -> Sequence[Measurement]:
        tp, fp, fn, tn = state[True, True], state[False, True], state[True, False], state[False, False]
        n = tp + fp + fn + tn
        nothing = "no scored outcome has an expected label"
        named = self.named
        return (
            *(
                Measurement(named(name), count, n) if n else null(named(name), nothing)
                for name, count in (("tp", tp), ("fp", fp), ("fn", fn), ("tn", tn))
            ),
            rate(named("precision"), tp, tp + fp, empty=nothing if n == 0 else "nothing was raised"),
            rate(named("recall"), tp, tp + fn, empty=nothing if n == 0 else "nothing was expected to be raised"),
            f_measure(named("f1"), tp, fp, fn, beta=1),
            f_measure(named("f2"), tp, fp, fn, beta=2),
            rate(named("specificity"), tn, fp + tn, empty=nothing if n == 0 else "there are no negatives"),
            rate(named("fpr"), fp, fp + tn, empty=nothing if n == 0 else "there are no negatives"),
            rate(named("alerts_per_100"), tp + fp, n, empty=nothing, scale=100),
        )


def f_measure(name: str, tp: int, fp: int, fn: int, *, beta: int = 1) -> Measurement:
    """F_beta over n = tp + fp + fn; null where that is 0 (neither expected nor predicted)."""
    n = tp + fp + fn
    if n == 0:
        return null(name, "neither expected nor predicted anywhere")
    weight = beta * beta
    denominator = (1 + weight) * tp + weight * fn + fp
    value = (1 + weight) * tp / denominator
    # Delta method over multinomial counts: F is homogeneous of degree 0, so its variance is the sum of count x
    # derivative^2.
    gain, miss, alarm = (1 + weight) * (1 - value), weight * value, value
    variance = (tp * gain * gain + fn * miss * miss + fp * alarm * alarm) / (denominator * denominator)
    # The effective size that a single mistake of the dearer kind would leave; for F1 the interval is then that of
    # Wilson's on tp / (tp + fp + fn) at both ends, of which F1 is a monotone function.
    size = n * (1 + weight) / max(1, weight)
    return Measurement(name, value, n, effective_wilson(value, variance, size))
