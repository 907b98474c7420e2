"""The curve of a ranking over the share of strong calls: published numbers, ties, intervals, hulls."""

import itertools
import json
import math
import random
import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_datasets import path
from yb_eval_routing.quality.curves import (
    arena_score,
    call_share,
    curve,
    hull,
    is_clear,
    mean_quality,
    recovered,
    trapezium,
)
from yb_eval_routing.quality.evaluator import random_rank


def read(name):
    lines = path(f"routing/{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return rows, [float(row["strong"]["score"] - row["weak"]["score"]) for row in rows]


SETS = {name: read(name) for name in ("gsm8k", "mmlu")}
TEN = trapezium(10)


def apgr(ranks, gains, bins=10):
    return recovered(curve(ranks, gains), gains, trapezium(bins), bins=bins).value


def lengths(name):
    return [float(len(row["prompt"])) for row in SETS[name][0]]


# -------------------------------------------------------------------------------------------------- published numbers


def test_gsm8k_has_the_published_models_length_and_oracle():
    rows, gains = SETS["gsm8k"]
    n = len(rows)
    assert n == 1_319
    assert sum(row["weak"]["score"] for row in rows) / n == pytest.approx(0.638, abs=5e-4)
    assert sum(row["strong"]["score"] for row in rows) / n == pytest.approx(0.857, abs=5e-4)
    assert sum(gain > 0 for gain in gains) / n == pytest.approx(0.290, abs=5e-4)
    assert apgr(lengths("gsm8k"), gains) == pytest.approx(0.600, abs=1e-3)
    assert apgr(gains, gains) == pytest.approx(1.118, abs=5e-4)
    assert call_share(curve(lengths("gsm8k"), gains), Fraction(1, 2), 10) == pytest.approx(0.364, abs=1.5e-3)


def test_the_mmlu_sample_is_like_the_whole_set():
    """Of all 14,042 rows: weak .681, strong .806, oracle .859, APGR of length .583 and of the oracle 1.268."""
    rows, gains = SETS["mmlu"]
    n = len(rows)
    assert n == 2_000
    assert sum(row["weak"]["score"] for row in rows) / n == pytest.approx(0.681, abs=1e-3)
    assert sum(row["strong"]["score"] for row in rows) / n == pytest.approx(0.806, abs=1e-3)
    assert sum(max(row["weak"]["score"], row["strong"]["score"]) for row in rows) / n == pytest.approx(0.859, abs=1e-3)
    assert apgr(lengths("mmlu"), gains) == pytest.approx(0.583, abs=5e-3)
    assert apgr(gains, gains) == pytest.approx(1.268, abs=5e-3)


@pytest.mark.parametrize("name", SETS)
def test_a_random_ranking_is_worth_a_half_on_average(name):
    rows, gains = SETS[name]
    draws = [apgr([random_rank(seed, row["id"]) for row in rows], gains) for seed in range(100)]
    assert statistics.mean(draws) == pytest.approx(0.5, abs=0.008)
    assert all(abs(draw - 0.5) < 0.1 for draw in draws)


def test_published_scores_of_routerarenas_two_models():
    lines = path("routing/routerarena.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    prices = json.loads(path("routing/prices.json").read_text(encoding="utf-8"))
    found = {}
    for side in ("weak", "strong"):
        dollars = sum(
            row[side][f"{what}_tokens"] * prices[row[side]["model"]][f"{what}_token_price_per_million"] / 1e6
            for row in rows
            for what in ("input", "output")
        )
        accuracy = sum(row[side]["score"] for row in rows) / len(rows)
        found[side] = (accuracy, 1000 * dollars / len(rows), arena_score(accuracy, 1000 * dollars / len(rows)))
    assert found["weak"] == pytest.approx((0.523, 0.176, 0.533), abs=1e-3)
    assert found["strong"] == pytest.approx((0.690, 0.0475, 0.697), abs=1e-3)


@given(accuracy=st.floats(0.01, 1), cost=st.floats(0.001, 500))
def test_arena_score_is_the_published_formula(accuracy, cost):
    held = min(max(cost, 0.0044), 200)
    cheap = (math.log2(200) - math.log2(held)) / (math.log2(200) - math.log2(0.0044))
    expected = 1.1 * accuracy * cheap / (0.1 * accuracy + cheap) if cheap > 0 else 0.0
    assert arena_score(accuracy, cost) == pytest.approx(expected, abs=1e-9)
    assert 0 <= arena_score(accuracy, cost) <= 1


# --------------------------------------------------------------------------------------------------------------- ties


@pytest.mark.parametrize("bins", [2, 7, 10, 100])
@pytest.mark.parametrize("name", SETS)
def test_the_same_answer_to_everything_is_worth_a_half_exactly(name, bins):
    gains = SETS[name][1]
    assert apgr([0.25] * len(gains), gains, bins) == 0.5


def test_equal_ranks_count_as_the_mean_over_all_ways_to_break_them():
    ranks, gains = [3.0, 2.0, 2.0, 2.0, 1.0], [1.0, 0.0, 1.0, -1.0, 1.0]
    broken = []
    for order in itertools.permutations([0.1, 0.2, 0.3]):
        parted = [3.0, *(2.0 + part for part in order), 1.0]
        broken.append(apgr(parted, gains, bins=5))
    assert apgr(ranks, gains, bins=5) == pytest.approx(statistics.mean(broken), abs=1e-12)


SAMPLES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.1, 0.5, 2.0, 7.25]), st.sampled_from([-1.0, 0.0, 0.25, 1.0])),
    min_size=2,
    max_size=40,
).filter(lambda samples: sum(gain for _, gain in samples) > 0)


@given(samples=SAMPLES, order=st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_no_bit(samples, order):
    shuffled = list(samples)
    order.shuffle(shuffled)
    first, second = (
        recovered(curve(ranks, gains), gains, TEN, bins=10)
        for ranks, gains in (map(list, zip(*each, strict=True)) for each in (samples, shuffled))
    )
    assert (first.value, first.interval) == (second.value, second.interval)


@given(samples=SAMPLES, scale=st.sampled_from([0.5, 3.0, 1e6]), shift=st.sampled_from([-5.0, 0.0, 100.0]))
def test_only_the_order_of_the_ranks_matters(samples, scale, shift):
    ranks, gains = map(list, zip(*samples, strict=True))
    assert apgr([scale * rank + shift for rank in ranks], gains) == apgr(ranks, gains)


@given(samples=SAMPLES)
def test_no_ranking_beats_the_oracle_and_reversing_one_mirrors_it(samples):
    ranks, gains = map(list, zip(*samples, strict=True))
    assert apgr(ranks, gains) <= apgr(gains, gains) + 1e-12
    assert apgr([-rank for rank in ranks], gains) == pytest.approx(1 - apgr(ranks, gains), abs=1e-12)


@given(samples=SAMPLES, level=st.integers(1, 100))
def test_call_share_is_where_the_curve_first_reaches_the_level(samples, level):
    ranks, gains = map(list, zip(*samples, strict=True))
    found, level = curve(ranks, gains), Fraction(level, 100)
    share = call_share(found, level, 10)
    steps = [found.gain(Fraction(step, 10)) / found.gap for step in range(11)]
    before = math.ceil(share * 10 - 1e-9) - 1
    assert 0 < share <= 1
    assert all(value < level for value in steps[: before + 1]) and steps[before + 1] >= level


# ----------------------------------------------------------------------------------------------------------- intervals


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("ranking", ["length", "coarse", "oracle", "half"])
def test_the_interval_is_as_wide_as_the_bootstraps(name, ranking):
    gains = SETS[name][1]
    length = lengths(name)
    ranks = {"coarse": [rank // 150 for rank in length], "oracle": gains}.get(ranking, length)
    weights = [(Fraction(1, 2), Fraction(1))] if ranking == "half" else TEN
    low, high = recovered(curve(ranks, gains), gains, weights, bins=10).interval
    generator = random.Random(7)
    values = []
    for _ in range(300):
        chosen = generator.choices(range(len(gains)), k=len(gains))
        drawn = [gains[i] for i in chosen]
        # The oracle ranks by the gain that is drawn; any other ranking keeps its ranks.
        found = curve([ranks[i] for i in chosen], drawn)
        values.append(sum(weight * found.gain(share) for share, weight in weights) / found.gap)
    assert (high - low) / (2 * 1.96) == pytest.approx(statistics.stdev(map(float, values)), rel=0.15)


def test_the_paired_difference_of_a_ranking_and_itself_is_nothing():
    gains = SETS["gsm8k"][1]
    mine = recovered(curve(lengths("gsm8k"), gains), gains, TEN, bins=10)
    none = mine.minus(mine)
    assert (none.value, none.interval) == (0.0, (0.0, 0.0))


def test_a_gap_that_may_be_nothing_is_not_clear():
    assert is_clear(SETS["gsm8k"][1])
    assert not is_clear([1.0, -1.0, 0.0, 1.0])
    assert not is_clear([1.0])


# ---------------------------------------------------------------------------------------------------------------- hull

POINTS = st.lists(st.tuples(st.integers(0, 20).map(float), st.integers(0, 20).map(float)), min_size=1, max_size=15)


@given(points=POINTS)
def test_the_hull_rises_ever_less_and_lies_above_every_point(points):
    found = hull(points)
    costs, qualities = zip(*found, strict=True)
    assert list(costs) == sorted(set(costs)) and list(qualities) == sorted(qualities)
    slopes = [(q2 - q1) / (c2 - c1) for (c1, q1), (c2, q2) in itertools.pairwise(found)]
    assert slopes == sorted(slopes, reverse=True)
    for cost, quality in points:
        above = next(
            (
                q1 + (q2 - q1) * (cost - c1) / (c2 - c1)
                for (c1, q1), (c2, q2) in itertools.pairwise(found)
                if c1 <= cost <= c2
            ),
            qualities[-1],
        )
        assert quality <= above + 1e-9


def test_two_models_on_a_line_have_the_mean_of_their_qualities():
    assert mean_quality([(1.0, 0.4), (3.0, 0.8)], 1.0, 3.0) == pytest.approx(0.6)


def test_a_dearer_and_worse_model_adds_nothing():
    assert mean_quality([(1.0, 0.7), (3.0, 0.5)], 1.0, 3.0) == pytest.approx(0.7)


def test_a_point_above_the_line_of_two_models_raises_the_area():
    assert mean_quality([(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)], 0.0, 1.0) == pytest.approx(0.75)
