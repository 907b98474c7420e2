"""Intervals and paired tests, against scipy and statsmodels."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from yb_eval.statistics import (
    Z95,
    holm,
    mcnemar_exact,
    mean_interval,
    minimum_detectable_change,
    paired_bootstrap,
    paired_rate_interval,
    wilson,
)

floats = st.floats(-1e6, 1e6)


def test_the_normal_quantile_is_scipys() -> None:
    assert pytest.approx(stats.norm.ppf(0.975), abs=1e-15) == Z95


@given(st.integers(1, 5000), st.data())
def test_wilson_agrees_with_statsmodels(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    assert wilson(successes, n) == pytest.approx(proportion_confint(successes, n, method="wilson"), abs=1e-12)


@given(st.floats(0, 1), st.floats(1, 1e9))
def test_wilson_stays_within_the_unit_interval_around_the_rate(rate: float, n: float) -> None:
    low, high = wilson(rate * n, n)
    assert 0 <= low <= high <= 1
    assert low - 1e-12 <= rate <= high + 1e-12


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 3), (4, 3), (math.nan, 3)])
def test_wilson_of_what_is_no_rate_is_refused(successes: float, n: int) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(successes, n)


def test_wilson_reaches_the_ends_exactly() -> None:
    assert wilson(0, 7)[0] == 0.0
    assert wilson(7, 7)[1] == 1.0


@given(st.lists(floats, min_size=2, max_size=50))
def test_the_interval_of_a_mean_is_the_normal_one(values: list[float]) -> None:
    total = sum(map(Fraction, values), Fraction(0))
    squares = sum((Fraction(value) ** 2 for value in values), Fraction(0))
    half = Z95 * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    mean = math.fsum(values) / len(values)
    low, high = mean_interval(total, squares, len(values)) or (0.0, 0.0)
    assert (low, high) == pytest.approx((mean - half, mean + half), rel=1e-6, abs=1e-6)


def test_one_value_has_no_interval() -> None:
    assert mean_interval(1.0, 1.0, 1) is None


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(0, 300))
def test_the_exact_mcnemar_test_agrees_with_statsmodels_and_the_binomial_one(broken: int, fixed: int) -> None:
    ours = mcnemar_exact(broken, fixed)
    assert ours == pytest.approx(mcnemar([[5, broken], [fixed, 5]], exact=True).pvalue, abs=1e-12)
    if broken + fixed:
        assert ours == pytest.approx(stats.binomtest(broken, broken + fixed).pvalue, abs=1e-12)


def test_mcnemar_holds_for_many_pairs_and_for_none() -> None:
    assert mcnemar_exact(0, 0) == 1.0
    assert mcnemar_exact(3000, 3200) == pytest.approx(stats.binomtest(3000, 6200).pvalue, rel=1e-9)
    assert mcnemar_exact(0, 5000) == pytest.approx(0.0, abs=1e-300)
    with pytest.raises(ValueError, match="negative"):
        mcnemar_exact(-1, 2)


def test_the_bootstrap_agrees_with_scipys_percentile_interval() -> None:
    generator = random.Random(11)
    differences = [generator.choice([-1.0, 0.0, 0.0, 0.25, 1.0]) for _ in range(200)]
    theirs = stats.bootstrap(
        (differences,), np.mean, method="percentile", n_resamples=5000, rng=np.random.default_rng(1)
    ).confidence_interval
    assert paired_bootstrap(differences, seed=3) == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_the_bootstrap_depends_on_the_seed_and_not_on_the_order() -> None:
    differences = [0.1 * i for i in range(30)]
    assert paired_bootstrap(differences, seed=1) == paired_bootstrap(differences[::-1], seed=1)
    assert paired_bootstrap(differences, seed=1) != paired_bootstrap(differences, seed=2)


def test_the_bootstrap_of_no_change_is_no_interval_around_anything_else() -> None:
    assert paired_bootstrap([0.0] * 50) == (0.0, 0.0)
    assert paired_bootstrap([0.5]) is None
    assert paired_bootstrap([]) is None


def test_beyond_ten_thousand_pairs_the_interval_is_the_normal_one() -> None:
    generator = random.Random(5)
    differences = [generator.gauss(0.01, 0.5) for _ in range(10_001)]
    half = Z95 * float(np.std(differences, ddof=1)) / math.sqrt(len(differences))
    mean = float(np.mean(differences))
    many = paired_bootstrap(differences)
    assert many == pytest.approx((mean - half, mean + half), rel=1e-9)
    assert many == paired_bootstrap(sorted(differences))


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 500))
def test_the_interval_of_a_change_of_rates_is_wald_plus_half_a_pair_in_each_cell(
    broken: int, fixed: int, same: int
) -> None:
    n = broken + fixed + same
    interval = paired_rate_interval(broken, fixed, n)
    if n == 0:
        assert interval is None
        return
    cells = np.array([same / 2 + 0.5, fixed + 0.5, broken + 0.5, same / 2 + 0.5])
    p = cells / cells.sum()
    change = p[1] - p[2]
    half = Z95 * math.sqrt(max(0.0, p[1] + p[2] - change**2) / cells.sum())
    assert interval == pytest.approx((max(-1, change - half), min(1, change + half)), abs=1e-12)
    reverse = paired_rate_interval(fixed, broken, n) or (0.0, 0.0)
    assert interval == pytest.approx((-reverse[1], -reverse[0]))


@settings(deadline=None, max_examples=25)
@given(st.lists(st.floats(0, 1), max_size=12))
def test_holms_correction_agrees_with_statsmodels(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    if p_values:
        assert adjusted == pytest.approx(multipletests(p_values, method="holm")[1].tolist(), abs=1e-12)
    else:
        assert adjusted == []


def test_the_minimum_detectable_change_shrinks_with_n_and_grows_with_discordance() -> None:
    changes = [minimum_detectable_change(n, 0.1) or 0.0 for n in (10, 100, 1000)]
    assert changes == sorted(changes, reverse=True)
    assert (minimum_detectable_change(100, 0.4) or 0) > (minimum_detectable_change(100, 0.1) or 0)
    assert minimum_detectable_change(0, 0.1) is None
    assert minimum_detectable_change(1, 1.0) == 1.0


def test_the_minimum_detectable_change_is_found_with_about_eighty_percent_power() -> None:
    n, share = 1000, 0.1
    change = minimum_detectable_change(n, share) or 0.0
    generator = np.random.default_rng(2)
    worse, better = (share + change) / 2, (share - change) / 2
    draws = generator.multinomial(n, [worse, better, 1 - share], 400)
    power = np.mean([mcnemar_exact(int(b), int(f)) < 0.05 for b, f, _ in draws])
    assert power == pytest.approx(0.8, abs=0.08)
