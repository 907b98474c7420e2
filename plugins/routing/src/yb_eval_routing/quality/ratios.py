"""Ratios of two means over the same samples, and the metrics that are such ratios."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import sqrt
from typing import Literal

from attrs import Factory, define, frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric, Moments
from yb_eval.model import Judged
from yb_eval.statistics import Z95

#: The numerator and denominator of one sample; `None` where the sample is not among those counted.
Parts = Callable[[Judged], tuple[float, float] | None]


@define(slots=True)
class RatioState:
    """Exact sums of the numerators, of the denominators and of their sums, from which the products follow."""

    above: Moments = Factory(Moments)
    below: Moments = Factory(Moments)
    both: Moments = Factory(Moments)


@frozen(slots=True, kw_only=True)
class Ratio(JudgementMetric):
    """The sum of numerators / the sum of denominators over the scored outcomes for which `parts` gives a pair.

    The 95 % interval is the delta method's for a ratio of means (Cochran, Sampling Techniques, 3rd ed. 1977, section
    2.11). There is none where the denominator's own interval holds 0 (no finite interval exists: Fieller, J. R. Statist.
    Soc. B 16 (1954)), and a sum of denominators that is not positive gives null with the reason `empty`.
    """

    name: str
    help: str
    parts: Parts
    empty: str
    low: float | None = 0.0
    high: float | None = 1.0
    better: Literal["higher", "lower"] | None = "higher"

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare(self.name, self.help, low=self.low, high=self.high, better=self.better),)

    def start(self) -> RatioState:
        return RatioState()

    def add(self, state: RatioState, outcomes: Sequence[Outcome]) -> RatioState:
        pairs = [pair for judged in self.scored(outcomes) if (pair := self.parts(judged)) is not None]
        state.above.add(above for above, _ in pairs)
        state.below.add(below for _, below in pairs)
        state.both.add(above + below for above, below in pairs)
        return state

    def merge(self, left: RatioState, right: RatioState) -> RatioState:
        left.above.merge(right.above)
        left.below.merge(right.below)
        left.both.merge(right.both)
        return left

    def finish(self, state: RatioState) -> Sequence[Measurement]:
        name, n = self.named(self.name), state.below.n
        if state.below.sum <= 0:
            return (Measurement(name, None, n, reason=self.empty),)
        ratio = state.above.sum / state.below.sum
        return (Measurement(name, self._within(ratio), n, self._interval(state, ratio)),)

    def _interval(self, state: RatioState, ratio: Fraction) -> tuple[float, float] | None:
        n, mean = state.below.n, state.below.mean
        if n < 2:
            return None
        spread = state.below.sum_of_squares - n * mean * mean
        if mean * mean * n * (n - 1) <= Fraction(Z95) ** 2 * spread:
            return None
        product = (state.both.sum_of_squares - state.above.sum_of_squares - state.below.sum_of_squares) / 2
        residual = state.above.sum_of_squares - 2 * ratio * product + ratio * ratio * state.below.sum_of_squares
        half = Z95 * sqrt(max(0.0, float(residual / (n * (n - 1))))) / float(mean)
        return self._within(float(ratio) - half), self._within(float(ratio) + half)

    def _within(self, value: Fraction | float) -> float:
        number = float(value)
        low = number if self.low is None else max(self.low, number)
        return low if self.high is None else min(self.high, low)


def recovered_gap(judged: Judged) -> tuple[float, float] | None:
    """PGR at the operating point: the gain of the samples sent to the strong model, of the gain of all."""
    gain = judged.details["strong"] - judged.details["weak"]
    if judged.predicted is None:
        return None
    return (gain if judged.predicted == "strong" else 0.0), gain


def against_the_best(judged: Judged) -> tuple[float, float] | None:
    """The chosen model's score, of the better one's: over all samples, the router's misses among them."""
    if judged.score is None:
        return None
    return judged.score, max(judged.details["weak"], judged.details["strong"])


def against_the_cheapest(judged: Judged) -> tuple[float, float] | None:
    """What the cheapest right model would have cost, of what was paid: over the samples the router got right."""
    paid = judged.details.get("cost_usd")
    if paid is None or not judged.correct or judged.expected is None:
        return None
    return judged.details[f"{judged.expected}_cost_usd"], paid
