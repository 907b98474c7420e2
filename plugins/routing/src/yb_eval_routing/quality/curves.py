"""The curve of a router over the share of strong calls, and what is read off it. Pure functions of numbers.

A router ranks the samples; sending the highest-ranked share x of them to the strong model instead of the weak one
gains T(x) = (sum of the gains of those samples) / n, where a sample's gain is its strong score minus its weak score.
T(0) = 0, and T(1) = D is the whole gap between the two models. No threshold parts samples of equal rank: within such a
group T is the straight line that picking among them at random has on average, so the order of rows never matters.

Sums are taken with `math.fsum` over sorted groups: the same bits for any order of the samples.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import groupby, pairwise
from math import fsum, sqrt

from attrs import frozen

from yb_eval.statistics import Z95

#: Shares and their weights in a weighted mean over a curve.
Weights = Sequence[tuple[Fraction, Fraction]]


@frozen(slots=True)
class Curve:
    """T(x) as a polyline. `counts` and `sums` are cumulative at the ends of the groups, best first, from (0, 0) on;
    `places[i]` is the group of sample i."""

    counts: Sequence[int]
    sums: Sequence[float]
    places: Sequence[int]

    @property
    def n(self) -> int:
        return self.counts[-1]

    @property
    def gap(self) -> Fraction:
        """D = T(1), the mean gain of the strong model over all samples."""
        return Fraction(self.sums[-1]) / self.n

    def group(self, share: Fraction) -> int:
        """The group in which the share of samples ends, counted from 0."""
        return max(bisect_left(self.counts, share * self.n) - 1, 0)

    def gain(self, share: Fraction) -> Fraction:
        """T(share), exactly: a router that ranks all samples alike must come out at 1/2, not a bit beside it."""
        place = self.group(share)
        before, after = self.counts[place], self.counts[place + 1]
        part = (share * self.n - before) / (after - before)
        start, end = Fraction(self.sums[place]), Fraction(self.sums[place + 1])
        return (start + part * (end - start)) / self.n


def curve(ranks: Sequence[float], gains: Sequence[float]) -> Curve:
    """The curve of samples with these ranks (higher: rather to the strong model) and gains; at least one."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__, reverse=True)
    counts, sums, places = array("q", [0]), array("d", [0.0]), array("q", bytes(8 * len(ranks)))
    for place, (_, group) in enumerate(groupby(order, key=ranks.__getitem__)):
        members = list(group)
        for index in members:
            places[index] = place
        counts.append(counts[-1] + len(members))
        sums.append(sums[-1] + fsum(gains[index] for index in members))
    return Curve(counts, sums, places)


def trapezium(bins: int) -> Weights:
    """The trapezium rule over the shares 0, 1/bins, ..., 1.

    With 10 bins: the thresholds at which RouteLLM's `evaluate` looks by default (github.com/lm-sys/RouteLLM).
    """
    return [(Fraction(i, bins), Fraction(1 if i in (0, bins) else 2, 2 * bins)) for i in range(bins + 1)]


@frozen(slots=True)
class Estimate:
    """A weighted mean of PGR over a curve, and each sample's influence on it (see `recovered`)."""

    value: float
    influence: Sequence[float]

    def minus(self, other: Estimate) -> Estimate:
        """The difference of two estimates over the same samples, in the same order: a paired comparison."""
        influence = array("d", [a - b for a, b in zip(self.influence, other.influence, strict=True)])
        return Estimate(self.value - other.value, influence)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The normal 95 % interval, its standard error from the influences; `None` for fewer than two samples."""
        n = len(self.influence)
        if n < 2:
            return None
        half = Z95 * sqrt(fsum(value * value for value in self.influence) / (n * (n - 1)))
        return self.value - half, self.value + half


def recovered(found: Curve, gains: Sequence[float], weights: Weights, *, bins: int) -> Estimate:
    """The weighted mean of PGR(x) = T(x) / D at the shares of `weights`, which sum to 1. D must be positive.

    The influences are the delta method's, for the ratio of T, an L-statistic whose thresholds are quantiles of the
    sample itself, to the mean D (Serfling, Approximation Theorems of Mathematical Statistics, 1980, ch. 8): sample i
    has

        sum_j w_j [v_ij (g_i - m_j) + m_j x_j - T(x_j)] / D - value (g_i - D) / D

    with v_ij the part of its group that lies within the share x_j, and m_j the mean gain at that quantile, read off the
    curve over one bin's width or over the whole group of equals, whichever is wider. The interval they give agrees
    with the bootstrap's (`tests/routing/test_routing_quality_curves.py`).
    """
    n, gap = found.n, float(found.gap)
    exact = [(share, weight, found.gain(share)) for share, weight in weights]
    value = sum((weight * gain for _, weight, gain in exact), Fraction(0)) / found.gap
    points = [(float(s), float(w), float(gain), _slope(found, s, bins)) for s, w, gain in exact]
    constant = fsum(weight * (slope * share - gain) for share, weight, gain, slope in points)
    factors, offsets = array("d"), array("d")
    for before, after in pairwise(found.counts):
        within = [min(max((share * n - before) / (after - before), 0.0), 1.0) for share, _, _, _ in points]
        factors.append(fsum(v * weight for v, (_, weight, _, _) in zip(within, points, strict=True)))
        offsets.append(fsum(v * weight * slope for v, (_, weight, _, slope) in zip(within, points, strict=True)))
    ratio = float(value)
    influence = array(
        "d",
        [
            (factors[place] * gain - offsets[place] + constant - ratio * (gain - gap)) / gap
            for place, gain in zip(found.places, gains, strict=True)
        ],
    )
    return Estimate(ratio, influence)


def _slope(found: Curve, share: Fraction, bins: int) -> float:
    """The mean gain of the samples around a share."""
    place, half = found.group(share), Fraction(1, 2 * bins)
    low = max(Fraction(0), min(Fraction(found.counts[place], found.n), share - half))
    high = min(Fraction(1), max(Fraction(found.counts[place + 1], found.n), share + half))
    return float((found.gain(high) - found.gain(low)) / (high - low))


def is_clear(gains: Sequence[float]) -> bool:
    """Whether the 95 % interval of the gap between the models excludes 0: without that a ratio to it has no finite
    interval (Fieller, J. R. Statist. Soc. B 16 (1954))."""
    n = len(gains)
    mean = fsum(gains) / n
    if n < 2 or mean <= 0:
        return False
    return mean > Z95 * sqrt(fsum((gain - mean) ** 2 for gain in gains) / (n * (n - 1)))


def call_share(found: Curve, level: Fraction, bins: int) -> float:
    """CPT: the smallest share of strong calls at which PGR reaches `level` (in (0, 1]), between the curve's values at
    the shares 0, 1/bins, ..., 1 by linear interpolation. D must be positive; the end of the curve reaches any level."""
    values = [found.gain(Fraction(i, bins)) / found.gap for i in range(bins + 1)]
    after = next(i for i, value in enumerate(values) if value >= level)
    before = after - 1
    return float((before + (level - values[before]) / (values[after] - values[before])) / bins)


Point = tuple[float, float]


def hull(points: Sequence[Point]) -> list[Point]:
    """The non-decreasing upper convex hull of (cost, quality) points, by rising cost.

    RouterBench's (Hu et al., arXiv 2403.12031): two routers mixed at random reach every point between theirs, and
    paying more without gaining from it is never needed, so the hull goes on flat from its best point to the dearest.
    """
    best = max(quality for _, quality in points)
    dearest = max(cost for cost, _ in points)
    found: list[Point] = []
    for point in sorted({*points, (dearest, best)}):
        if found and found[-1][0] == point[0]:
            found.pop()
        while len(found) >= 2 and _turn(found[-2], found[-1], point) >= 0:
            found.pop()
        found.append(point)
    return found


def _turn(a: Point, b: Point, c: Point) -> float:
    """Positive where the path a, b, c turns left: b lies under the line from a to c."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def mean_quality(points: Sequence[Point], low: float, high: float) -> float:
    """AIQ: the area under the hull of the points over the costs `low` to `high` / (high - low), with low < high.

    The points must reach down to `low`; beyond the dearest the hull goes on flat.
    """
    found = hull(points)
    if found[-1][0] < high:
        found.append((high, found[-1][1]))
    area = []
    for (cost, quality), (next_cost, next_quality) in pairwise(found):
        left, right = max(cost, low), min(next_cost, high)
        if left < right:
            slope = (next_quality - quality) / (next_cost - cost)
            area.append((right - left) * (quality + slope * ((left + right) / 2 - cost)))
    return fsum(area) / (high - low)


def arena_score(accuracy: float, cost_per_1000: float) -> float:
    """RouterArena's score of an accuracy (0..1) and a cost in USD per 1,000 queries (> 0), in 0..1.

    S = 1.1 A C / (0.1 A + C) with C = (log2 200 - log2 cost) / (log2 200 - log2 0.0044), the cost held within
    0.0044..200 (arXiv 2510.00202; github.com/RouteWorks/RouterArena). An accuracy of 0 scores 0.
    """
    if accuracy == 0:
        return 0.0
    # In decimals: their logarithm is correctly rounded everywhere, while a platform's log2 may differ in the last bit.
    with localcontext(Context(prec=40)):
        low, high = Decimal("0.0044"), Decimal(200)
        cost = min(max(Decimal(cost_per_1000), low), high)
        cheapness = (high.ln() - cost.ln()) / (high.ln() - low.ln())
        share = Decimal(accuracy)
        return float(Decimal("1.1") * share * cheapness / (Decimal("0.1") * share + cheapness))
