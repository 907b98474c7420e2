"""Intervals and paired tests, on the standard library alone.

Sources: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927); McNemar,
"Note on the sampling error of the difference between correlated proportions", Psychometrika 12 (1947), in its exact
binomial form; Efron, "Bootstrap methods", Ann. Statist. 7 (1979); Holm, "A simple sequentially rejective multiple
test procedure", Scand. J. Statist. 6 (1979). `tests/core/test_statistics.py` checks each against scipy or statsmodels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

#: The standard normal quantile at 0.975: the half width of a 95 % interval.
Z95 = 1.959963984540054

#: A bootstrap of n pairs draws n values this often; less often (never under `_FEWEST`) where that exceeds `_MAX_DRAWS`.
RESAMPLES = 2_000
_FEWEST = 500
_MAX_DRAWS = 5_000_000


def wilson(successes: float, n: float, z: float = Z95) -> tuple[float, float]:
    """The Wilson score interval of a rate, as (low, high) within 0..1.

    Both may be fractional (a mean of graded scores in 0..1 times n; an effective sample size). Raises `ValueError`
    for n < 1 or a rate outside 0..1.
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"no interval for {successes} of {n}")
    rate = successes / n
    spread = z * z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = z * math.sqrt(rate * (1 - rate) / n + spread / (4 * n)) / (1 + spread)
    # At the ends the two terms are equal and rounding must not step over.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


def mean_interval(
    total: float | Fraction, total_of_squares: float | Fraction, n: int, z: float = Z95
) -> tuple[float, float] | None:
    """The normal 95 % interval of a mean from its sums; `None` for n < 2, where there is no variance.

    Give the sums as `Fraction`s where values are large beside their spread: the difference of rounded sums loses it.
    """
    if n < 2:
        return None
    mean = total / n
    variance = max(0.0, (total_of_squares - n * mean * mean) / (n - 1))
    half = z * math.sqrt(variance / n)
    return float(mean) - half, float(mean) + half


def mcnemar_exact(broken: int, fixed: int) -> float:
    """The two-sided exact p-value that `broken` and `fixed` discordant pairs are a fair coin's (1.0 without any)."""
    if broken < 0 or fixed < 0:
        raise ValueError("counts are not negative")
    n, k = broken + fixed, min(broken, fixed)
    if n == 0:
        return 1.0
    # In logarithms: 2^n overflows a float from n = 1024 on.
    logs = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) - n * math.log(2) for i in range(k + 1)]
    peak = max(logs)
    tail = math.exp(peak) * math.fsum(math.exp(value - peak) for value in logs)
    return min(1.0, 2 * tail)


def paired_bootstrap(
    differences: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """The percentile 95 % interval of the mean of paired differences (candidate - baseline), (low, high).

    Deterministic in (`differences` as a multiset, `seed`): the order of samples does not matter. `None` for fewer than
    two pairs. Beyond 10,000 pairs it is the normal interval, to which the bootstrap's has converged by then.
    """
    n = len(differences)
    if n < 2:
        return None
    counts = sorted(Counter(differences).items())
    if n > _MAX_DRAWS // _FEWEST:
        mean = math.fsum(value * count for value, count in counts) / n
        spread = mean_interval(0.0, math.fsum(count * (value - mean) * (value - mean) for value, count in counts), n)
        return None if spread is None else (mean + spread[0], mean + spread[1])
    draws = min(resamples, max(_FEWEST, _MAX_DRAWS // n))
    values = [value for value, _ in counts]
    weights = list(accumulate(count for _, count in counts))
    import random  # a run without a baseline draws nothing

    generator = random.Random(seed)
    means = sorted(math.fsum(generator.choices(values, cum_weights=weights, k=n)) / n for _ in range(draws))
    return _percentile(means, 0.025), _percentile(means, 0.975)


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Linear interpolation between closest ranks (numpy's default)."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def paired_rate_interval(broken: int, fixed: int, n: int, z: float = Z95) -> tuple[float, float] | None:
    """The 95 % interval of the change of a rate between two runs over the same n samples, (low, high) in -1..1.

    Agresti and Min, "Simple improved confidence intervals for comparing matched proportions", Statist. Med. 24
    (2005): the Wald interval after adding half a pair to each of the four cells. `None` for n < 1.
    """
    if n < 1:
        return None
    gained, lost, total = fixed + 0.5, broken + 0.5, n + 2
    change = (gained - lost) / total
    half = z * math.sqrt(max(0.0, gained + lost - (gained - lost) ** 2 / total)) / total
    return max(-1.0, change - half), min(1.0, change + half)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given."""
    m = len(p_values)
    adjusted = [0.0] * m
    running = 0.0
    for rank, index in enumerate(sorted(range(m), key=p_values.__getitem__)):
        running = max(running, (m - rank) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


def minimum_detectable_change(n: int, discordant_share: float, *, power_z: float = 0.8416212335729143) -> float | None:
    """The smallest change of a rate that a paired test at 5 % would find with 80 % power, over n samples.

    Normal approximation of McNemar's test (Connor, Biometrics 43 (1987)), with the share of discordant pairs as
    observed (at least one pair). `None` for n < 1.
    """
    if n < 1:
        return None
    share = max(discordant_share, 1 / n)
    return min(1.0, (Z95 + power_z) * math.sqrt(share / n))
