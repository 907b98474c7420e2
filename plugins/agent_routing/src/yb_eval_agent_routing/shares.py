"""Folds that core has no metric for: means of shares, ratios of sums, weighted scores."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from attrs import frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric, Moments
from yb_eval.metrics.base import mean_share, null
from yb_eval.model import Pairing


@frozen(slots=True, kw_only=True)
class MeanShare(JudgementMetric):
    """The mean of a number in 0..1 in the outcomes' details, over the scored outcomes that carry it.

    With the `effective_wilson` interval of a mean share. Null, with the reason `empty`, where none carries it.
    `pairing="score"` is for the detail that is the outcomes' score too.
    """

    name: str
    detail: str
    help: str
    empty: str
    better: Literal["higher", "lower"] | None = "higher"
    pairing: Pairing | None = None

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare(self.name, self.help, better=self.better, pairing=self.pairing),)

    def start(self) -> Moments:
        return Moments()

    def add(self, state: Moments, outcomes: Sequence[Outcome]) -> Moments:
        found = [judged.details.get(self.detail) for judged in self.scored(outcomes)]
        state.add(value for value in found if value is not None)
        return state

    def merge(self, left: Moments, right: Moments) -> Moments:
        left.merge(right)
        return left

    def finish(self, state: Moments) -> Sequence[Measurement]:
        name = self.named(self.name)
        return (mean_share(name, state.n, state.sum, state.sum_of_squares, empty=self.empty),)


@frozen(slots=True, kw_only=True)
class Saving(JudgementMetric):
    """`token_saving` = 1 - routed / all: of the tokens that sending every tool with each call costs, the share saved.

    Sums over the scored outcomes; below 0 where routing costs more. Null where there are no tools at all. The state
    holds both sums, exact.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        help = "1 - tokens sent for tools / tokens of sending every tool with each call."
        return (self.declare("token_saving", help, low=None),)

    def start(self) -> list[int]:
        return [0, 0, 0]

    def add(self, state: list[int], outcomes: Sequence[Outcome]) -> list[int]:
        for judged in self.scored(outcomes):
            state[0] += 1
            state[1] += judged.details["routed_tokens"]
            state[2] += judged.details["all_tokens"]
        return state

    def merge(self, left: list[int], right: list[int]) -> list[int]:
        left[:] = [mine + other for mine, other in zip(left, right, strict=True)]
        return left

    def finish(self, state: list[int]) -> Sequence[Measurement]:
        n, routed, everything = state
        name = self.named("token_saving")
        if not everything:
            return (null(name, "no tools are offered, so there is nothing to save" if n else "nothing was scored"),)
        return (Measurement(name, float(1 - Fraction(routed, everything)), n),)


@frozen(slots=True, kw_only=True)
class WeightedHit(JudgementMetric):
    """`cost_weighted_score`: the mean of hit - weight x (tokens of needless groups / tokens of all tools).

    Over the scored outcomes; between -weight and 1. The weight stands in the details.
    """

    weight: float

    @property
    def declares(self) -> Sequence[Declared]:
        help = f"hit - {self.weight:g} x the share of all tools' tokens that were delivered needlessly."
        return (self.declare("cost_weighted_score", help, low=-self.weight),)

    def start(self) -> Moments:
        return Moments()

    def add(self, state: Moments, outcomes: Sequence[Outcome]) -> Moments:
        state.add(j.details["hit"] - self.weight * j.details["extra_share"] for j in self.scored(outcomes))
        return state

    def merge(self, left: Moments, right: Moments) -> Moments:
        left.merge(right)
        return left

    def finish(self, state: Moments) -> Sequence[Measurement]:
        name = self.named("cost_weighted_score")
        if not state.n:
            return (null(name, "nothing was scored"),)
        interval = state.interval()
        if interval is not None:
            interval = (max(-self.weight, interval[0]), min(1.0, interval[1]))
        return (Measurement(name, float(state.mean), state.n, interval, details={"weight": self.weight}),)
