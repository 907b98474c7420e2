"""The mean of graded scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import frozen

from yb_eval.errors import EvaluationError, shorten
from yb_eval.metrics.base import JudgementMetric, effective_wilson, null
from yb_eval.metrics.exact import Moments
from yb_eval.model import Declared, Measurement, Outcome


@frozen(slots=True, kw_only=True)
class MeanScore(JudgementMetric):
    """The mean of graded scores, with a 95 % interval: on a scale with two ends that of `effective_wilson`, else the
    normal one of a mean (within the scale; `None` under two scores).

    The denominator is the scored outcomes that have a score. `low` and `high` are the ends of the suite's scale; a
    score beyond them, or one that is no finite number, raises `EvaluationError`.
    """

    name: str = "mean_score"
    low: float | None = None
    high: float | None = None
    better: Literal["higher", "lower"] = "higher"

    @property
    def declares(self) -> Sequence[Declared]:
        help = "The mean score of scored outcomes."
        return (self.declare(self.name, help, low=self.low, high=self.high, better=self.better, pairing="score"),)

    def start(self) -> Moments:
        return Moments()

    def add(self, state: Moments, outcomes: Sequence[Outcome]) -> Moments:
        scores = [judged.score for judged in self.scored(outcomes) if judged.score is not None]
        for score in scores:
            if (self.low is not None and score < self.low) or (self.high is not None and score > self.high):
                raise EvaluationError(f"the score {shorten(score)} is not on the scale {self.low}..{self.high}")
        state.add(scores)
        return state

    def merge(self, left: Moments, right: Moments) -> Moments:
        left.merge(right)
        return left

    def finish(self, state: Moments) -> Sequence[Measurement]:
        name = self.named(self.name)
        if state.n == 0:
            return (null(name, "no outcome has a score"),)
        return (Measurement(name, float(state.mean), state.n, self._interval(state)),)

    def _interval(self, state: Moments) -> tuple[float, float] | None:
        low, high = self.low, self.high
        if low is None or high is None:
            interval = state.interval()
            if interval is None:
                return None
            return (
                interval[0] if low is None else max(interval[0], low),
                interval[1] if high is None else min(interval[1], high),
            )
        # On a scale with two ends an interval need not collapse where all scores are equal.
        span, n = high - low, state.n
        spread = (state.sum_of_squares - state.sum * state.mean) / (n - 1) / n if n > 1 else 0
        share = (float(state.mean) - low) / span
        bounds = effective_wilson(min(1.0, max(0.0, share)), float(spread) / span**2, n)
        return low + span * bounds[0], low + span * bounds[1]
