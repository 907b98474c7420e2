"""Counts, rates, means and amounts; exact sums."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.errors import EvaluationError, PluginError
from yb_eval.interfaces import Metric
from yb_eval.metrics import (
    Accuracy,
    Amount,
    Counts,
    Detection,
    MeanScore,
    Moments,
    Rate,
    Sliced,
    acceptable,
    declarations,
    wrong,
)
from yb_eval.model import Judged, Judgement, Measurement, Outcome
from yb_eval.statistics import wilson


def measure(metric: Metric[Any], outcomes: list[Outcome]) -> dict[str, Measurement]:
    return {each.name: each for each in metric.finish(metric.add(metric.start(), outcomes))}


def long_prompt(judged: Judged) -> bool | None:
    return None if judged.predicted is None else len(judged.predicted) > 3


MIXED = [
    Outcome("a", correct=True, score=1.0),
    Outcome("b", correct=False, score=0.25),
    Outcome("c", correct=True),
    Outcome("d", score=0.5),
    Outcome("e", status="error", reason="timeout"),
    Outcome("f", status="skipped", reason="no gold"),
]


def test_counts_have_all_outcomes_as_their_denominator() -> None:
    measured = measure(Counts(), MIXED)
    assert {name: each.value for name, each in measured.items()} == {
        "samples": 6,
        "scored": 4,
        "errors": 1,
        "skipped": 1,
        "coverage": 4 / 6,
    }
    assert {each.n for each in measured.values()} == {6}
    assert measured["coverage"].interval == wilson(4, 6)


def test_no_samples_at_all_make_zero_errors_null_and_not_zero() -> None:
    measured = measure(Counts(), [])
    assert measured["samples"].value == 0
    assert all(measured[name].value is None for name in ("scored", "errors", "skipped", "coverage"))


def test_counts_of_a_judgement_leave_out_outcomes_that_do_not_have_it() -> None:
    outcomes = [
        Outcome("a", judgements={"label": Judgement(correct=True)}),
        Outcome("b", judgements={"severity": Judgement(correct=True)}),
        Outcome("c", judgements={"label": Judgement(status="error", reason="no label in the answer")}),
        Outcome("d", status="error", reason="timeout"),
    ]
    measured = measure(Counts(judgement="label"), outcomes)
    assert (measured["label.samples"].value, measured["label.errors"].value) == (3, 2)


def test_accuracy_is_over_outcomes_that_are_right_or_wrong() -> None:
    accuracy = measure(Accuracy(), MIXED)["accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.interval) == (2 / 3, 3, wilson(2, 3))


def test_accuracy_without_right_or_wrong_outcomes_is_null_with_a_reason() -> None:
    accuracy = measure(Accuracy(), MIXED[3:])["accuracy"]
    assert accuracy.value is None
    assert accuracy.n == 0
    assert accuracy.reason


def test_a_prefix_replaces_the_name_of_the_judgement() -> None:
    assert list(measure(Accuracy(judgement="label", prefix="routing"), [])) == ["routing.accuracy"]
    assert list(measure(Accuracy(judgement="label", prefix=""), [])) == ["accuracy"]
    assert Accuracy(judgement="label", prefix="").declares[0].judgement == "label"


def test_mean_score_is_exact_and_has_the_interval_of_a_mean() -> None:
    mean = measure(MeanScore(), MIXED)["mean_score"]
    assert mean.value == (1.0 + 0.25 + 0.5) / 3
    assert mean.n == 3
    deviation = math.sqrt(sum((x - mean.value) ** 2 for x in (1.0, 0.25, 0.5)) / 2)
    assert mean.interval == pytest.approx(
        (mean.value - 1.959963984540054 * deviation / 3**0.5, mean.value + 1.959963984540054 * deviation / 3**0.5)
    )


def test_the_bounds_of_a_mean_stay_on_the_scale_it_was_given() -> None:
    mean = measure(MeanScore(low=0.0, high=1.0), [Outcome("a", score=1.0), Outcome("b", score=0.0)])["mean_score"]
    assert mean.interval is not None
    assert 0.0 <= mean.interval[0] < 0.5 < mean.interval[1] <= 1.0


def test_an_interval_on_a_scale_does_not_collapse_where_all_scores_are_equal() -> None:
    mean = measure(MeanScore(low=0.0, high=10.0), [Outcome(str(i), score=10.0) for i in range(3)])["mean_score"]
    assert mean.value == 10.0
    assert mean.interval == pytest.approx(tuple(10 * bound for bound in wilson(3, 3)))


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, "0.5", 1.5])
def test_a_score_that_is_no_number_on_the_scale_ends_loudly(score: Any) -> None:
    with pytest.raises((EvaluationError, TypeError)):
        measure(MeanScore(low=0.0, high=1.0), [Outcome("a", score=score)])
    if score != 1.5:
        with pytest.raises(EvaluationError):
            measure(MeanScore(), [Outcome("a", score=score)])


def test_a_rate_counts_a_boolean_of_the_details_or_the_answers_of_a_function() -> None:
    outcomes = [
        Outcome("a", predicted="long", details={"refused": True}),
        Outcome("b", predicted="no", details={"refused": False}),
        Outcome("c", details={}),
        Outcome("d", status="error", reason="timeout", details={"refused": True}),
    ]
    refused = measure(Rate(name="refusal_rate", count="refusals", numerator="refused"), outcomes)
    assert (refused["refusal_rate"].value, refused["refusal_rate"].n, refused["refusals"].value) == (0.5, 2, 1)
    long = pickle.loads(pickle.dumps(Rate(name="long_rate", numerator=long_prompt, denominator="refused")))
    assert (measure(long, outcomes)["long_rate"].value, measure(long, outcomes)["long_rate"].n) == (1.0, 1)


def test_a_rate_over_what_is_not_boolean_ends_loudly() -> None:
    with pytest.raises(EvaluationError, match="'yes'"):
        measure(Rate(name="x", numerator="refused"), [Outcome("a", details={"refused": "yes"})])


def test_mismatches_and_acceptable_predictions_are_rates() -> None:
    outcomes = [
        Outcome("a", correct=True, expected="low", predicted="low"),
        Outcome("b", correct=False, expected="low", predicted="mid", details={"acceptable": ["mid", "low"]}),
        Outcome("c", correct=False, expected="low", predicted="high", details={"acceptable": ["mid"]}),
    ]
    assert measure(Rate(name="m", count="mismatches", numerator=wrong), outcomes)["mismatches"].value == 2
    assert measure(Rate(name="acceptable_rate", numerator=acceptable), outcomes)["acceptable_rate"].value == 2 / 3


def test_amounts_are_summed_over_every_outcome_that_carries_them() -> None:
    outcomes = [
        Outcome("a", details={"cost_usd": 0.01}),
        Outcome("b", status="error", reason="timeout", details={"cost_usd": 0.2}),
        Outcome("c", details={"cost_usd": None}),
        Outcome("d"),
    ]
    measured = measure(Amount(detail="cost_usd"), outcomes)
    assert measured["cost_usd_total"].value == float(Fraction(0.01) + Fraction(0.2))
    assert measured["cost_usd_mean"].n == 2
    assert measured["cost_usd_mean"].interval is not None
    assert measured["cost_usd_mean"].interval[0] == 0.0


@pytest.mark.parametrize("amount", [-0.01, True, "1", math.nan, math.inf])
def test_what_is_no_amount_ends_loudly(amount: Any) -> None:
    with pytest.raises(EvaluationError):
        measure(Amount(detail="cost_usd"), [Outcome("a", details={"cost_usd": amount})])


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_moments_are_the_exact_sums(values: list[float]) -> None:
    moments = Moments()
    moments.add(values)
    assert moments.n == len(values)
    assert moments.sum == sum(map(Fraction, values), Fraction(0))
    assert moments.sum_of_squares == sum((Fraction(value) ** 2 for value in values), Fraction(0))


def test_the_interval_of_nearly_equal_large_numbers_does_not_cancel() -> None:
    moments = Moments()
    moments.add([1e15, 1e15 + 1, 1e15 + 2])
    low, high = moments.interval() or (0.0, 0.0)
    assert (low, high) == pytest.approx((1e15 + 1 - 1.96 / 3**0.5, 1e15 + 1 + 1.96 / 3**0.5), abs=0.13)
    assert high > low


def test_declarations_join_a_metric_with_all_its_sliced_twins() -> None:
    joined = declarations(
        [
            Sliced(metric=Detection(), keys="lang:"),
            Detection(),
            Sliced(metric=Detection(), keys="kind:"),
            Accuracy(),
        ]
    )
    assert joined["recall"].sliced
    assert not joined["accuracy"].sliced


def test_two_metrics_that_measure_one_name_are_refused() -> None:
    with pytest.raises(PluginError, match="accuracy"):
        declarations([Accuracy(), Accuracy()])
