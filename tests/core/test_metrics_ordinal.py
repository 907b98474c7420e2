"""Ordered levels and the price of mistakes, against scikit-learn and by hand."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from yb_eval.errors import EvaluationError, UsageError
from yb_eval.interfaces import Metric
from yb_eval.metrics import ExpectedCost, Ordinal, linear_costs
from yb_eval.model import Measurement, Outcome
from yb_eval.statistics import wilson

Pairs = list[tuple[int, int]]


def measure(metric: Metric[Any], pairs: list[tuple[Any, Any]]) -> dict[str, Measurement]:
    outcomes = [Outcome(str(i), expected=e, predicted=p) for i, (e, p) in enumerate(pairs)]
    return {each.name: each for each in metric.finish(metric.add(metric.start(), outcomes))}


levels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@settings(deadline=None)
@given(levels)
@pytest.mark.filterwarnings("ignore")
def test_error_and_agreement_agree_with_scikit_learn(pairs: Pairs) -> None:
    expected, predicted = [list(side) for side in zip(*pairs, strict=True)]
    measured = measure(Ordinal(levels=5), pairs)
    assert measured["mae"].value == pytest.approx(sk.mean_absolute_error(expected, predicted))
    with np.errstate(all="ignore"):
        theirs = sk.cohen_kappa_score(expected, predicted, weights="quadratic", labels=list(range(5)))
    constant = len({*expected, *predicted}) == 1
    if constant:
        assert measured["qwk"].value is None
        assert measured["qwk"].reason
    else:
        assert measured["qwk"].value == pytest.approx(theirs)
    rows = sk.confusion_matrix(expected, predicted, labels=list(range(5))).tolist()
    assert measured["qwk"].details == {"labels": ["0", "1", "2", "3", "4"], "rows": rows}


def test_constant_sides_that_differ_have_a_kappa_of_zero() -> None:
    assert measure(Ordinal(levels=3), [(0, 2), (0, 2)])["qwk"].value == 0.0


@given(levels)
def test_directions_have_the_denominators_of_the_docstring(pairs: Pairs) -> None:
    measured = measure(Ordinal(levels=5, critical=3), pairs)
    critical = [(g, s) for g, s in pairs if g >= 3]
    raised = [(g, s) for g, s in pairs if s >= 3]
    shares = {
        "under_triage_rate": (sum(s < g for g, s in pairs), len(pairs)),
        "over_triage_rate": (sum(s > g for g, s in pairs), len(pairs)),
        "severe_under_triage_rate": (sum(g - s >= 2 for g, s in pairs), len(pairs)),
        "critical_under_triage_rate": (sum(s < g for g, s in critical), len(critical)),
        "missed_critical_rate": (sum(s < 3 for g, s in critical), len(critical)),
        "false_critical_rate": (sum(g < 3 for g, s in raised), len(raised)),
    }
    for name, (count, n) in shares.items():
        assert measured[name].value == (count / n if n else None), name
        assert measured[name].n == n
        assert measured[name].interval == (wilson(count, n) if n else None)


def test_words_and_levels_can_be_the_suites_own() -> None:
    tiers = Ordinal(levels=("small", "medium", "large"), under="down_tier", over="up_tier", prefix="tier")
    measured = measure(tiers, [("small", "large"), ("large", "small"), ("medium", "medium")])
    assert measured["tier.down_tier_rate"].value == measured["tier.up_tier_rate"].value == 1 / 3
    assert measured["tier.severe_down_tier_rate"].value == 1 / 3
    assert measured["tier.mae"].value == 4 / 3
    assert "tier.missed_critical_rate" not in measured


def test_rows_without_an_answer_are_counted_and_in_no_other_number() -> None:
    measured = measure(Ordinal(levels=3), [(2, None), (1, 1), (0, 1), (None, 2)])
    assert (measured["unanswered"].value, measured["unanswered"].n) == (1, 3)
    assert (measured["mae"].value, measured["mae"].n) == (0.5, 2)
    silent = measure(Ordinal(levels=3), [(2, None)])
    assert silent["mae"].value is None
    assert silent["unanswered"].value == 1


@pytest.mark.parametrize("level", [5, -1, "3", 2.0, True])
def test_what_is_no_level_ends_loudly(level: Any) -> None:
    with pytest.raises(EvaluationError, match="levels"):
        measure(Ordinal(levels=5), [(0, level)])


@pytest.mark.parametrize(
    "options",
    [{"levels": 1}, {"levels": ("a",)}, {"levels": ("a", "b", "a")}, {"levels": 3, "critical": 0}],
)
def test_a_scale_that_is_none_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Ordinal(**options)


def test_the_interval_of_a_mean_error_has_width_even_where_no_error_was_seen() -> None:
    measured = measure(Ordinal(levels=5), [(1, 1)] * 10)
    assert measured["mae"].interval == (0.0, 4 * wilson(0, 10)[1])


@given(levels, st.floats(0, 10), st.floats(0, 10))
def test_expected_cost_lies_between_nothing_and_the_worst_policy(pairs: Pairs, under: float, over: float) -> None:
    matrix = linear_costs(5, under=under, over=over)
    measured = measure(ExpectedCost(levels=5, matrix=matrix), pairs)
    worst = sum(max(matrix[g]) for g, _ in pairs)
    if worst == 0:
        assert measured["expected_cost"].value is measured["constant_cost"].value is None
        return
    cost = measured["expected_cost"]
    assert cost.value == pytest.approx(sum(matrix[g][s] for g, s in pairs) / worst, abs=1e-12)
    constants = [sum(matrix[g][level] for g, _ in pairs) for level in range(5)]
    assert measured["constant_cost"].value == pytest.approx(min(constants) / worst, abs=1e-12)
    assert 0 <= (cost.value or 0) <= 1
    assert cost.details["worst"] == pytest.approx(worst / len(pairs))


def test_the_best_constant_policy_is_named() -> None:
    measured = measure(ExpectedCost(levels=("low", "high"), matrix=((0, 1), (9, 0))), [("low", "low"), ("high", "low")])
    assert measured["constant_cost"].details == {"label": "high"}
    assert measured["constant_cost"].value == 1 / 10
    assert measured["expected_cost"].value == 9 / 10


def test_staying_silent_costs_what_it_was_said_to_cost() -> None:
    pairs = [(1, None), (0, 0)]
    matrix = ((0.0, 1.0), (4.0, 0.0))
    assert measure(ExpectedCost(levels=2, matrix=matrix), pairs)["expected_cost"].n == 1
    priced = measure(ExpectedCost(levels=2, matrix=matrix, no_answer=2.0), pairs)["expected_cost"]
    # The worst policy pays 4 for the first row, and 2 for silence on the second.
    assert (priced.value, priced.n) == (2 / 6, 2)


@pytest.mark.parametrize(
    "matrix", [((0, 1),), ((0, 1), (1,)), ((0, -1), (1, 0)), ((0, float("nan")), (1, 0)), ((0, True), (1, 0))]
)
def test_a_matrix_that_is_none_is_refused(matrix: Any) -> None:
    with pytest.raises(UsageError):
        ExpectedCost(levels=2, matrix=matrix)


def test_linear_costs_are_zero_on_the_diagonal_and_asymmetric_beside_it() -> None:
    matrix = linear_costs(3, under=5, over=2)
    for gold, said in product(range(3), repeat=2):
        assert matrix[gold][said] == (5 if said < gold else 2) * abs(gold - said)
