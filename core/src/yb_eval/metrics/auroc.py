"""AUROC: how well a score tells one kind of sample from the other, whatever the threshold."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import isfinite
from typing import Any

from attrs import Factory, define, frozen

from yb_eval.errors import EvaluationError, shorten
from yb_eval.metrics.base import JudgementMetric, effective_wilson, label_text, null
from yb_eval.model import Declared, Measurement, Outcome


def _doubles() -> array[float]:
    return array("d")


@define(slots=True)
class AurocState:
    """The scores of the positive and of the negative outcomes: 8 bytes each."""

    positive: array[float] = Factory(_doubles)
    negative: array[float] = Factory(_doubles)


@frozen(slots=True, kw_only=True)
class Auroc(JudgementMetric):
    """`auroc`: the probability that the score of a positive outcome is above that of a negative one, equals counting half.

    Over the scored outcomes that have a score and an expected label; positive are those whose expected label is
    `positive`, or in it where it is a frozenset. n is their number; null where either kind is missing. Details: how many
    there are of each.

    The interval is the `effective_wilson` one of DeLong's variance (DeLong, DeLong and Clarke-Pearson, Biometrics 44
    (1988)): S10 / m + S01 / n over the m positives' and n negatives' shares of pairs won. Where no variance is seen
    (all pairs won), the size is that of the rarer kind.
    """

    positive: Any = True

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("auroc", "P(score of a positive > score of a negative), equals counting half."),)

    def start(self) -> AurocState:
        return AurocState()

    def add(self, state: AurocState, outcomes: Sequence[Outcome]) -> AurocState:
        labels = self.positive if isinstance(self.positive, frozenset) else (self.positive,)
        positive = frozenset(map(label_text, labels))
        for judged in self.scored(outcomes):
            score, expected = judged.score, judged.expected
            if score is None or expected is None:
                continue
            if not isfinite(score):
                raise EvaluationError(f"the score {shorten(score)} is not a finite number")
            (state.positive if label_text(expected) in positive else state.negative).append(score)
        return state

    def merge(self, left: AurocState, right: AurocState) -> AurocState:
        left.positive.extend(right.positive)
        left.negative.extend(right.negative)
        return left

    def finish(self, state: AurocState) -> Sequence[Measurement]:
        name = self.named("auroc")
        m, n = len(state.positive), len(state.negative)
        if not m or not n:
            kinds = "no sample is scored" if m == n else "all samples are of one kind"
            return (null(name, f"{kinds}: {m} positive, {n} negative"),)
        positive, negative = sorted(state.positive), sorted(state.negative)
        # Twice the pairs won, in whole numbers: the order of the samples cannot matter.
        won = [bisect_left(negative, score) + bisect_right(negative, score) for score in positive]
        lost = [bisect_left(positive, score) + bisect_right(positive, score) for score in negative]
        value = sum(won) / (2 * m * n)
        variance = _variance(won, 2 * n) + _variance(lost, 2 * m)
        interval = effective_wilson(value, variance, m + n, unseen=min(m, n))
        return (Measurement(name, value, m + n, interval, details={"positive": m, "negative": n}),)


def _variance(pairs: Sequence[int], scale: int) -> float:
    """The variance of the mean of `pairs` / `scale`; 0 for a single one."""
    k = len(pairs)
    if k < 2:
        return 0.0
    total, squares = sum(pairs), sum(pair * pair for pair in pairs)
    return (k * squares - total * total) / (k * (k - 1)) / k / (scale * scale)
