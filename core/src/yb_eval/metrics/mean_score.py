"""The mean of graded scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from attrs import frozen

from yb_eval.errors import EvaluationError, shorten
from yb_eval.metrics.base import JudgementMetric, null
from yb_eval.metrics.exact import Moments
from yb_eval.model import Declared, Measurement, Outcome


@frozen(slots=True, kw_only=True)
class MeanScore(JudgementMetric):
    """The mean of graded scores, with the normal 95 % interval of a mean (within the scale; `None` under two scores).

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
        interval = state.interval()
        if interval is not None:
            # A mean lies on the scale, so its bounds do.
            low, high = interval
            interval = (
                low if self.low is None else max(low, self.low),
                high if self.high is None else min(high, self.high),
            )
        return (Measurement(name, float(state.mean), state.n, interval),)
