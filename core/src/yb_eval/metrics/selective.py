"""Selective prediction: what is gained by not answering when unsure.

Accepting the outcomes whose confidence reaches a threshold, coverage is the share accepted and risk the share of
wrong ones among them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any

from attrs import Factory, define, field, frozen, validators

from yb_eval.metrics.base import JudgementMetric, confidence_of, null, rate, slice_name
from yb_eval.model import Declared, Measurement, Outcome

#: Points of the curve that are written.
CURVE_POINTS = 200
_NOTHING = "no scored outcome has a confidence"


def _doubles() -> array[float]:
    return array("d")


def _integers() -> array[int]:
    return array("q")


@define(slots=True)
class SelectiveState:
    """The confidences of the right and of the wrong outcomes: 8 bytes each (sorting them takes 32 more at the end)."""

    right: array[float] = Factory(_doubles)
    wrong: array[float] = Factory(_doubles)


@define(slots=True)
class RiskCoverage:
    """The operating points, one per distinct confidence from the highest down: 24 bytes each.

    Point i accepts the `accepted[i]` outcomes whose confidence is at least `threshold[i]`; `wrong[i]` of them are
    wrong.
    """

    threshold: array[float] = Factory(_doubles)
    accepted: array[int] = Factory(_integers)
    wrong: array[int] = Factory(_integers)

    @classmethod
    def of(cls, state: SelectiveState) -> RiskCoverage:
        right, wrong = sorted(state.right, reverse=True), sorted(state.wrong, reverse=True)
        made = cls()
        i = j = 0
        while i < len(right) or j < len(wrong):
            threshold = max(right[i] if i < len(right) else -1.0, wrong[j] if j < len(wrong) else -1.0)
            while i < len(right) and right[i] == threshold:
                i += 1
            while j < len(wrong) and wrong[j] == threshold:
                j += 1
            made.threshold.append(threshold)
            made.accepted.append(i + j)
            made.wrong.append(j)
        return made

    @property
    def n(self) -> int:
        return self.accepted[-1]

    def steps(self) -> Iterator[tuple[int, int, int, int]]:
        """(accepted before, accepted, wrong before, wrong) of each point."""
        before = wrong_before = 0
        for accepted, wrong in zip(self.accepted, self.wrong, strict=True):
            yield before, accepted, wrong_before, wrong
            before, wrong_before = accepted, wrong

    def aurc(self) -> float:
        return min(1.0, fsum((k - before) * wrong / k for before, k, _, wrong in self.steps()) / self.n)

    def augrc(self) -> float:
        # Twice the area in units of 1/n^2: an integer.
        doubled = sum((k - before) * (wrong_before + wrong) for before, k, wrong_before, wrong in self.steps())
        return doubled / (2 * self.n * self.n)

    def at_coverage(self, coverage: float) -> int:
        """The point with the highest threshold whose coverage is at least `coverage`."""
        return bisect_left(self.accepted, coverage, key=lambda accepted: accepted / self.n)

    def at_risk(self, risk: float) -> int | None:
        """The point with the largest coverage whose risk is at most `risk`."""
        points = range(len(self.accepted))
        return next((i for i in reversed(points) if self.wrong[i] / self.accepted[i] <= risk), None)

    def thinned(self) -> dict[str, list[Any]]:
        """At most `CURVE_POINTS` points: the first in each equal part of coverage, and the last."""
        curve, thresholds = [], []
        part = 0
        for i, accepted in enumerate(self.accepted):
            reached = accepted * CURVE_POINTS // self.n
            if reached > part:
                part = reached
                curve.append([accepted / self.n, self.wrong[i] / accepted])
                thresholds.append(self.threshold[i])
        return {"curve": curve, "thresholds": thresholds}


@frozen(slots=True, kw_only=True)
class Selective(JudgementMetric):
    """`aurc`, `augrc`, `risk_at_coverage[c]` and `coverage_at_risk[r]` of confidence as a reason to answer or not.

    All are over the scored outcomes that are right or wrong and have a confidence; one outside 0..1 raises
    `EvaluationError`. Equal confidences are accepted together - no threshold parts them - so row order cannot matter.

    - `aurc` (Geifman, Uziel and El-Yaniv, ICLR 2019): the mean over ranks of the risk among the accepted, each rank
      taking the risk at the end of its group of equals. Details `{"curve": [[coverage, risk], ...], "thresholds":
      [...]}`, at most 200 points.
    - `augrc` (Traub et al., "Overcoming common flaws in the evaluation of selective classification systems", NeurIPS
      2024): the area under generalised risk (wrong and accepted, of all) over coverage, by trapezia from (0, 0); in
      0..0.5.
    - `risk_at_coverage[c]`: the risk at the highest threshold whose coverage is at least c, with its Wilson interval;
      n is what was accepted.
    - `coverage_at_risk[r]`: the largest coverage whose risk is at most r, 0 where no threshold has one.

    The areas and `coverage_at_risk` have no interval.
    """

    coverages: tuple[float, ...] = field(
        default=(0.8, 0.9), validator=validators.deep_iterable(validators.and_(validators.gt(0), validators.le(1)))
    )
    risks: tuple[float, ...] = field(
        default=(0.05,), validator=validators.deep_iterable(validators.and_(validators.ge(0), validators.lt(1)))
    )

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("aurc", "Area under the risk-coverage curve.", better="lower"),
            self.declare("augrc", "Area under the generalised-risk-coverage curve.", high=0.5, better="lower"),
            self.declare("risk_at_coverage", "Wrong / accepted at a coverage.", better="lower", sliced=True),
            self.declare("coverage_at_risk", "The largest coverage within a risk.", sliced=True),
        )

    def start(self) -> SelectiveState:
        return SelectiveState()

    def add(self, state: SelectiveState, outcomes: Sequence[Outcome]) -> SelectiveState:
        for judged in self.scored(outcomes):
            confidence = confidence_of(judged)
            if confidence is not None and judged.correct is not None:
                (state.right if judged.correct else state.wrong).append(confidence)
        return state

    def merge(self, left: SelectiveState, right: SelectiveState) -> SelectiveState:
        left.right.extend(right.right)
        left.wrong.extend(right.wrong)
        return left

    def finish(self, state: SelectiveState) -> Sequence[Measurement]:
        at_coverage = [(slice_name(self.named("risk_at_coverage"), f"{c:g}"), c) for c in self.coverages]
        at_risk = [(slice_name(self.named("coverage_at_risk"), f"{r:g}"), r) for r in self.risks]
        n = len(state.right) + len(state.wrong)
        if n == 0:
            names = [self.named("aurc"), self.named("augrc"), *(name for name, _ in at_coverage + at_risk)]
            return [null(name, _NOTHING) for name in names]
        curve = RiskCoverage.of(state)
        made = [
            Measurement(self.named("aurc"), curve.aurc(), n, details=curve.thinned()),
            Measurement(self.named("augrc"), curve.augrc(), n),
        ]
        for name, coverage in at_coverage:
            point = curve.at_coverage(coverage)
            details = {"threshold": curve.threshold[point]}
            made.append(rate(name, curve.wrong[point], curve.accepted[point], empty=_NOTHING, details=details))
        for name, risk in at_risk:
            reached = curve.at_risk(risk)
            if reached is None:
                made.append(Measurement(name, 0.0, n))
            else:
                details = {"threshold": curve.threshold[reached]}
                made.append(Measurement(name, curve.accepted[reached] / n, n, details=details))
        return made
