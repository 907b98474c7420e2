"""Several outcomes per sample: pass@k, pass^k, flaky samples, averages."""

from __future__ import annotations

from itertools import combinations, groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.errors import EvaluationError, UsageError
from yb_eval.interfaces import Metric
from yb_eval.metrics import Accuracy, Repeats, average
from yb_eval.metrics.consecutive import LISTED as FLAKY_LISTED
from yb_eval.model import Measurement, Measurements, Outcome
from yb_eval.statistics import wilson


def measure(metric: Metric[Any], outcomes: list[Outcome]) -> dict[str, Measurement]:
    return {each.name: each for each in metric.finish(metric.add(metric.start(), outcomes))}


def attempts(marks: dict[str, list[bool | None]]) -> list[Outcome]:
    """`None` stands for an error."""
    return [
        Outcome(name, status="error", reason="timeout", repeat=i)
        if mark is None
        else Outcome(name, correct=mark, repeat=i)
        for name, row in marks.items()
        for i, mark in enumerate(row)
    ]


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=8), st.integers(1, 5))
def test_pass_at_k_and_pass_hat_k_are_means_over_all_choices_of_k_attempts(rows: list[list[bool]], k: int) -> None:
    measured = measure(Repeats(repeats=5, ks=(k,)), attempts({str(i): list(row) for i, row in enumerate(rows)}))
    any_right = [sum(map(any, chosen)) / len(chosen) for row in rows if (chosen := list(combinations(row, k)))]
    all_right = [sum(map(all, chosen)) / len(chosen) for row in rows if (chosen := list(combinations(row, k)))]
    assert measured[f"pass_at[{k}]"].value == pytest.approx(sum(any_right) / len(rows))
    assert measured[f"pass_hat[{k}]"].value == pytest.approx(sum(all_right) / len(rows))
    assert measured[f"pass_at[{k}]"].n == len(rows)


def test_an_error_is_no_attempt_and_too_few_attempts_leave_a_sample_out() -> None:
    measured = measure(
        Repeats(repeats=3), attempts({"a": [True, None, True], "b": [False, True, False], "c": [None] * 3})
    )
    assert (measured["pass_at[1]"].value, measured["pass_at[1]"].n) == ((1 + 1 / 3) / 2, 2)
    assert (measured["pass_hat[2]"].value, measured["pass_hat[2]"].n) == (0.5, 2)
    assert (measured["pass_at[3]"].value, measured["pass_at[3]"].n) == (1.0, 1)


def test_flaky_samples_are_rated_and_listed() -> None:
    measured = measure(
        Repeats(repeats=2), attempts({"b": [True, False], "a": [False, True], "c": [True, True], "d": [True]})
    )
    flaky = measured["flaky_rate"]
    assert (flaky.value, flaky.n, flaky.details) == (2 / 3, 3, {"ids": ["a", "b"]})
    assert flaky.interval == wilson(2, 3)
    assert measured["repeat_variance"].value == (0.5 + 0.5 + 0) / 3


def test_the_list_of_flaky_samples_is_bounded() -> None:
    rows: dict[str, list[bool | None]] = {f"{i:04}": [True, False] for i in range(300, 0, -1)}
    metric = Repeats(repeats=2)
    outcomes = attempts(rows)
    halves = [metric.add(metric.start(), part) for part in (outcomes[:301], outcomes[301:])]
    measured = {each.name: each for each in metric.finish(metric.merge(*halves))}
    assert measured["flaky_rate"].value == 1.0
    assert measured["flaky_rate"].details["ids"] == sorted(rows)[:FLAKY_LISTED]


def test_the_state_does_not_grow_with_the_samples() -> None:
    metric = Repeats(repeats=2)
    state = metric.add(metric.start(), attempts({str(i): [True, True] for i in range(5000)}))
    assert len(state.finished) == 1
    assert state.flaky == []


def test_one_repeat_has_no_flaky_samples_and_says_why() -> None:
    measured = measure(Repeats(repeats=1), attempts({"a": [True]}))
    assert measured["flaky_rate"].value is None
    assert measured["repeat_variance"].reason
    assert measured["pass_at[1]"].value == 1.0


def test_outcomes_of_one_sample_that_do_not_stand_together_end_loudly() -> None:
    first, second = attempts({"a": [True, False]})
    other = Outcome("b", correct=True)
    with pytest.raises(EvaluationError, match="'a'"):
        measure(Repeats(repeats=2), [first, other, second])


@given(st.lists(st.lists(st.booleans() | st.none(), min_size=1, max_size=4), max_size=5), st.data())
def test_batches_may_cut_a_sample_anywhere(rows: list[list[bool | None]], data: st.DataObject) -> None:
    outcomes = attempts({str(i): row for i, row in enumerate(rows)})
    metric = Repeats(repeats=4)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(outcomes)), max_size=6)))
    state = metric.start()
    for a, b in zip([0, *cuts], [*cuts, len(outcomes)], strict=True):
        state = metric.merge(state, metric.add(metric.start(), outcomes[a:b]))
    assert metric.finish(state) == metric.finish(metric.add(metric.start(), outcomes))


def test_k_goes_up_by_doubling_to_the_number_of_repeats() -> None:
    assert Repeats(repeats=1).ks == (1,)
    assert Repeats(repeats=6).ks == (1, 2, 4, 6)
    assert Repeats(repeats=8).ks == (1, 2, 4, 8)


@pytest.mark.parametrize("options", [{"repeats": 0}, {"repeats": 2, "ks": (3,)}, {"repeats": 2, "ks": (1, 1)}])
def test_impossible_repeats_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Repeats(**options)


def test_the_average_of_one_repeat_is_itself() -> None:
    one = Measurements([Measurement("accuracy", 0.5, 2, (0.1, 0.9), details={"x": 1})])
    assert average([one]) is one


def test_an_average_is_the_exact_mean_with_mean_bounds_and_the_mean_n_rounded_down() -> None:
    values = (0.1, 0.2, 0.3)
    repeats = [Measurements([Measurement("a", v, 3 + i, (v - 0.1, v + 0.1))]) for i, v in enumerate(values)]
    made = average([*repeats, Measurements([Measurement("a", 0.4, 4, (0.3, 0.5))])])["a"]
    assert made.value == 0.25
    assert made.n == 4
    assert made.interval == pytest.approx((0.15, 0.35))
    assert made.details == {"repeats": [0.1, 0.2, 0.3, 0.4]}


def test_an_average_of_counts_is_a_count_where_it_can_be() -> None:
    def of(*counts: int) -> Any:
        return average([Measurements([Measurement("tp", count, 9)]) for count in counts])["tp"].value

    assert (of(2, 4), type(of(2, 4))) == (3, int)
    assert of(2, 3) == 2.5


def test_a_null_in_one_repeat_makes_the_average_null_with_the_reason() -> None:
    made = average(
        [
            Measurements([Measurement("recall", 1.0, 3, (0.4, 1.0)), Measurement("f1[bug]", 1.0, 2)]),
            Measurements([Measurement("recall", None, reason="nothing expected")]),
        ]
    )
    assert made["recall"].value is None
    assert made["recall"].reason == "in repeat 1: nothing expected"
    assert made["f1[bug]"].reason == "in repeat 1: not measured"
    assert list(made) == ["recall", "f1[bug]"]


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=9))
def test_accuracy_averaged_over_repeats_is_pass_at_one(rows: list[list[bool]]) -> None:
    outcomes = attempts({str(i): list(row) for i, row in enumerate(rows)})
    by_repeat = groupby(sorted(outcomes, key=lambda o: o.repeat), key=lambda o: o.repeat)
    folded = average([Measurements(measure(Accuracy(), list(group)).values()) for _, group in by_repeat])
    assert folded["accuracy"].value == pytest.approx(measure(Repeats(repeats=3), outcomes)["pass_at[1]"].value)
