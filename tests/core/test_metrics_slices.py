"""Slices, distributions and sets."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

from yb_eval.errors import EvaluationError
from yb_eval.interfaces import Metric
from yb_eval.metrics import Accuracy, Classification, Distribution, Sets, Sliced
from yb_eval.metrics.slices import MAX_SLICES
from yb_eval.model import Measurement, Outcome
from yb_eval.statistics import wilson


def measure(metric: Metric[Any], outcomes: list[Outcome]) -> dict[str, Measurement]:
    return {each.name: each for each in metric.finish(metric.add(metric.start(), outcomes))}


TAGGED = [
    Outcome("a", correct=True, tags=("lang:ru", "kind:chat"), details={"type": "inn"}),
    Outcome("b", correct=False, tags=("lang:ru", "lang:ru"), details={"type": ["inn", "pan"]}),
    Outcome("c", correct=True, tags=("lang:en",)),
    Outcome("d", status="error", reason="timeout", tags=("lang:de",)),
]


def first_letter(outcome: Outcome) -> list[str]:
    return [outcome.id[0]]


def test_each_tag_with_the_prefix_is_a_slice() -> None:
    measured = measure(Sliced(metric=Accuracy(), keys="lang:"), TAGGED)
    assert {name: (each.value, each.n) for name, each in measured.items()} == {
        "accuracy[lang:de]": (None, 0),
        "accuracy[lang:en]": (1.0, 1),
        "accuracy[lang:ru]": (0.5, 2),
    }
    assert Sliced(metric=Accuracy()).declares[0].sliced


def test_details_and_functions_slice_as_well() -> None:
    assert list(measure(Sliced(metric=Accuracy(), by="type"), TAGGED)) == ["accuracy[inn]", "accuracy[pan]"]
    assert len(measure(Sliced(metric=Accuracy(), by=first_letter), TAGGED)) == 4


def test_slices_of_a_named_judgement_carry_its_prefix_and_slices_nest() -> None:
    outcomes = [Outcome("a", expected="bug", predicted="bug", tags=("lang:ru",))]
    measured = measure(Sliced(metric=Classification(prefix="label")), outcomes)
    assert measured["label.f1[bug][lang:ru]"].value == 1.0


def test_what_is_no_key_ends_loudly() -> None:
    with pytest.raises(EvaluationError, match="'x'"):
        measure(Sliced(metric=Accuracy(), by="type"), [Outcome("x", details={"type": 7})])


def test_only_the_largest_slices_are_measured() -> None:
    outcomes = [Outcome(str(i), correct=True, tags=(f"{i:05}",)) for i in range(MAX_SLICES + 50)]
    outcomes += [Outcome("more", correct=False, tags=(f"{MAX_SLICES + 49:05}",))]
    measured = measure(Sliced(metric=Accuracy()), outcomes)
    assert len(measured) == MAX_SLICES
    assert f"accuracy[{MAX_SLICES + 49:05}]" in measured
    assert f"accuracy[{MAX_SLICES:05}]" not in measured


def predictions(*labels: Any) -> list[Outcome]:
    return [Outcome(str(i), predicted=label) for i, label in enumerate(labels)]


@given(st.lists(st.sampled_from("abcde"), min_size=1))
def test_entropy_agrees_with_scipy(said: list[str]) -> None:
    counts = [said.count(label) for label in set(said)]
    measured = measure(Distribution(), predictions(*said))
    assert measured["entropy"].value == pytest.approx(float(entropy(counts, base=2)), abs=1e-12)
    assert (measured["entropy"].value or 0) >= 0


def test_a_constant_router_is_visible() -> None:
    measured = measure(Distribution(labels=("small", "large")), predictions(*["small"] * 19, "large"))
    assert measured["max_share"].value == 0.95
    assert measured["max_share"].details == {"label": "small", "near_constant": True}
    assert measured["share[large]"].interval == wilson(1, 20)
    constant = measure(Distribution(labels=("small", "large")), predictions("small", "small"))
    assert constant["entropy"].value == 0.0
    assert constant["share[large]"].value == 0.0


def test_a_distribution_over_nothing_is_null() -> None:
    assert all(each.value is None for each in measure(Distribution(labels=("a",)), []).values())


def sets(*pairs: tuple[list[str] | None, list[str] | None]) -> list[Outcome]:
    return [Outcome(str(i), expected=e, predicted=p) for i, (e, p) in enumerate(pairs)]


def test_sets_are_compared_per_sample_with_the_rules_for_empty_ones() -> None:
    measured = measure(
        Sets(),
        sets(
            (["a", "b"], ["b", "a", "a"]),
            (["a", "b"], ["a", "c", "d"]),
            ([], []),
            ([], ["a"]),
            (["a"], []),
            (["a"], None),
            (None, ["a"]),
        ),
    )
    assert (measured["exact_match"].value, measured["exact_match"].n) == (2 / 6, 6)
    assert (measured["set_recall"].value, measured["set_recall"].n) == ((1 + 1 / 2 + 0 + 0) / 4, 4)
    assert (measured["set_precision"].value, measured["set_precision"].n) == (pytest.approx((1 + 1 / 3 + 0) / 3), 3)
    assert (measured["set_f1"].value, measured["set_f1"].n) == (pytest.approx((1 + 2 / 5 + 1 + 0 + 0 + 0) / 6), 6)


def test_sets_without_a_denominator_are_null_with_the_reason() -> None:
    measured = measure(Sets(), sets(([], [])))
    assert measured["set_recall"].reason == "every expected set is empty"
    assert measured["set_precision"].reason == "every predicted set is empty"
    assert measured["exact_match"].value == measured["set_f1"].value == 1.0


@pytest.mark.parametrize("value", ["search", {"a": 1}, ["a", 1], 3])
def test_what_is_no_list_of_names_ends_loudly(value: Any) -> None:
    with pytest.raises(EvaluationError, match="list of names"):
        measure(Sets(), [Outcome("a", expected=["a"], predicted=value)])
