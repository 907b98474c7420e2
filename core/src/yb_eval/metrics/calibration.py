"""Calibration: whether a confidence of 0.8 is right eight times in ten."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction

from attrs import Factory, define, field, frozen, validators

from yb_eval.metrics.base import JudgementMetric, confidence_of, mean_share, null
from yb_eval.metrics.exact import Moments, from_units, units
from yb_eval.model import Declared, Measurement, Outcome

_NOTHING = "no scored outcome has a confidence"


@define(slots=True)
class CalibrationState:
    """Per bin: outcomes, right ones, and the exact sum of confidences (`units`); and the squared losses."""

    n: list[int]
    right: list[int]
    confidence: list[int]
    losses: Moments = Factory(Moments)


@frozen(slots=True, kw_only=True)
class Calibration(JudgementMetric):
    """`ece` (expected calibration error) and `brier` of the confidence that the prediction is right.

    Both are over the scored outcomes that are right or wrong and have a confidence; errors are not in them. A
    confidence outside 0..1 raises `EvaluationError`.

    - `ece` = sum over bins of n_b / n |accuracy_b - mean confidence_b| (Guo et al., "On calibration of modern neural
      networks", ICML 2017), over `bins` equal-width bins [low, high), the last one closed. It has no interval.
      Details `{"bins": [{"low", "high", "n", "confidence", "accuracy"}]}`, null in an empty bin.
    - `brier` = mean (confidence - right)^2 (Brier, Monthly Weather Review 78 (1950)), with the `effective_wilson`
      interval.
    """

    bins: int = field(default=10, validator=[validators.ge(1), validators.le(1000)])

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("ece", f"Expected calibration error over {self.bins} equal-width bins.", better="lower"),
            self.declare("brier", "Mean squared difference of confidence and rightness.", better="lower"),
        )

    def start(self) -> CalibrationState:
        return CalibrationState([0] * self.bins, [0] * self.bins, [0] * self.bins)

    def add(self, state: CalibrationState, outcomes: Sequence[Outcome]) -> CalibrationState:
        edges = [index / self.bins for index in range(1, self.bins)]
        losses = []
        for judged in self.scored(outcomes):
            confidence, right = confidence_of(judged), judged.correct
            if confidence is None or right is None:
                continue
            index = bisect_right(edges, confidence)
            state.n[index] += 1
            state.right[index] += right
            state.confidence[index] += units(confidence)
            losses.append((confidence - right) * (confidence - right))
        state.losses.add(losses)
        return state

    def merge(self, left: CalibrationState, right: CalibrationState) -> CalibrationState:
        for mine, other in ((left.n, right.n), (left.right, right.right), (left.confidence, right.confidence)):
            mine[:] = [a + b for a, b in zip(mine, other, strict=True)]
        left.losses.merge(right.losses)
        return left

    def finish(self, state: CalibrationState) -> Sequence[Measurement]:
        n = sum(state.n)
        if n == 0:
            return (null(self.named("ece"), _NOTHING), null(self.named("brier"), _NOTHING))
        gap = Fraction(0)
        bins = []
        for index, count in enumerate(state.n):
            total = from_units(state.confidence[index])
            gap += abs(state.right[index] - total)
            bins.append(
                {
                    "low": index / self.bins,
                    "high": (index + 1) / self.bins,
                    "n": count,
                    "confidence": float(total / count) if count else None,
                    "accuracy": state.right[index] / count if count else None,
                }
            )
        return (
            Measurement(self.named("ece"), float(gap / n), n, details={"bins": bins}),
            mean_share(self.named("brier"), n, state.losses.sum, state.losses.sum_of_squares, empty=_NOTHING),
        )
