"""How good probabilities are against labels: order, loss, and whether they are true. One probability and one label a sample."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from attrs import frozen

#: Equal-width bins of the reliability diagram.
BINS = 10


def auroc(scores: Sequence[float], passes: Sequence[bool]) -> float | None:
    """The chance that a sample that should pass scores above one that should not; ties count half. `None` without both.

    By ranks: H. Mann and D. Whitney, "On a test of whether one of two random variables is stochastically larger than the
    other", Ann. Math. Statist. 18 (1947).
    """
    good = sum(passes)
    bad = len(passes) - good
    if not good or not bad:
        return None
    ordered = sorted(zip(scores, passes, strict=True))
    rank_sum, place = 0.0, 0
    while place < len(ordered):
        end = place
        while end < len(ordered) and ordered[end][0] == ordered[place][0]:
            end += 1
        middle = (place + 1 + end) / 2
        rank_sum += middle * sum(each for _, each in ordered[place:end])
        place = end
    return (rank_sum - good * (good + 1) / 2) / (good * bad)


@frozen(slots=True)
class Reliability:
    """`brier`: mean (p - y)^2 (Brier, Monthly Weather Review 78, 1950). `ece`: the mean over samples of the gap between a bin's
    mean probability and its share of samples that should pass (Guo et al., ICML 2017). `bins` as the HTML report draws
    them."""

    brier: float
    ece: float
    bins: tuple[dict[str, Any], ...]

    def to_dict(self) -> dict[str, Any]:
        return {"brier": self.brier, "ece": self.ece, "bins": [dict(each) for each in self.bins]}


def reliability(probabilities: Sequence[float], passes: Sequence[bool]) -> Reliability:
    """Of one sample or more."""
    n = len(probabilities)
    edges = [index / BINS for index in range(1, BINS)]
    held: list[list[tuple[float, bool]]] = [[] for _ in range(BINS)]
    for p, each in zip(probabilities, passes, strict=True):
        held[bisect_right(edges, p)].append((p, each))
    bins, gap = [], 0.0
    for index, inside in enumerate(held):
        total, good = math.fsum(p for p, _ in inside), sum(each for _, each in inside)
        gap += abs(total - good)
        bins.append({
            "low": index / BINS, "high": (index + 1) / BINS, "n": len(inside),
            "confidence": total / len(inside) if inside else None, "accuracy": good / len(inside) if inside else None,
        })  # fmt: skip
    brier = math.fsum((p - each) ** 2 for p, each in zip(probabilities, passes, strict=True)) / n
    return Reliability(brier, gap / n, tuple(bins))
