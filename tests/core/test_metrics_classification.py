"""Detection and classification, against scikit-learn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from yb_eval.errors import UsageError
from yb_eval.interfaces import Metric
from yb_eval.metrics import NO_ANSWER, BestConstant, Classification, Detection, label_text
from yb_eval.metrics.classification import MAX_LABELS
from yb_eval.model import Measurement, Outcome
from yb_eval.statistics import wilson


def measure(metric: Metric[Any], outcomes: list[Outcome]) -> dict[str, Measurement]:
    return {each.name: each for each in metric.finish(metric.add(metric.start(), outcomes))}


def outcomes_of(expected: list[Any], predicted: list[Any]) -> list[Outcome]:
    return [Outcome(str(i), expected=e, predicted=p) for i, (e, p) in enumerate(zip(expected, predicted, strict=True))]


labels = st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=40)


@settings(deadline=None)
@given(labels)
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.filterwarnings("ignore:A single label was found")
def test_classification_agrees_with_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    expected, predicted = [list(side) for side in zip(*pairs, strict=True)]
    measured = measure(Classification(), outcomes_of(expected, predicted))
    names = sorted({*expected, *predicted})
    assert measured["confusion"].details["labels"] == names
    assert measured["confusion"].details["rows"] == sk.confusion_matrix(expected, predicted, labels=names).tolist()
    assert measured["confusion"].value == sum(e != p for e, p in pairs)
    macro = sk.f1_score(expected, predicted, average="macro", zero_division=0)
    assert measured["macro_f1"].value == pytest.approx(macro)
    assert measured["balanced_accuracy"].value == pytest.approx(sk.balanced_accuracy_score(expected, predicted))
    precision, recall, f1, support = sk.precision_recall_fscore_support(
        expected, predicted, labels=names, zero_division=np.nan
    )
    for i, name in enumerate(names):
        for key, theirs in (("precision", precision[i]), ("recall", recall[i]), ("f1", f1[i])):
            ours = measured[f"{key}[{name}]"].value
            assert ours is None if np.isnan(theirs) else ours == pytest.approx(theirs)
        assert measured[f"recall[{name}]"].n == support[i]


@settings(deadline=None)
@given(labels)
def test_macro_f1_over_a_label_set_agrees_with_scikit_learn(pairs: list[tuple[str, str]]) -> None:
    """A class that occurs nowhere counts 0; a label outside the set is no class."""
    expected, predicted = [list(side) for side in zip(*pairs, strict=True)]
    measured = measure(Classification(labels=("b", "a", "never")), outcomes_of(expected, predicted))
    macro = sk.f1_score(expected, predicted, labels=["b", "a", "never"], average="macro", zero_division=0)
    assert measured["macro_f1"].value == pytest.approx(macro)
    assert measured["f1[never]"].value is None
    outside = sum(e not in "ab" or p not in "ab" for e, p in pairs)
    assert measured["macro_f1"].details.get("outside", 0) == outside
    assert measured["confusion"].details["labels"][:3] == ["b", "a", "never"]
    assert sum(map(sum, measured["confusion"].details["rows"])) == len(pairs)


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_detection_agrees_with_scikit_learn(pairs: list[tuple[bool, bool]]) -> None:
    expected, predicted = [list(side) for side in zip(*pairs, strict=True)]
    measured = measure(Detection(positive=True), outcomes_of(expected, predicted))
    tn, fp, fn, tp = sk.confusion_matrix(expected, predicted, labels=[False, True]).ravel().tolist()
    assert [measured[name].value for name in ("tp", "fp", "fn", "tn")] == [tp, fp, fn, tn]
    undefined = {"zero_division": np.nan}
    theirs = {
        "precision": sk.precision_score(expected, predicted, **undefined),
        "recall": sk.recall_score(expected, predicted, **undefined),
        "specificity": sk.recall_score(expected, predicted, pos_label=False, **undefined),
        "f1": sk.f1_score(expected, predicted, **undefined),
        "f2": sk.fbeta_score(expected, predicted, beta=2, **undefined),
    }
    for name, value in theirs.items():
        ours = measured[name].value
        assert ours is None if np.isnan(value) else ours == pytest.approx(value), name
    if fp + tn:
        assert measured["fpr"].value == fp / (fp + tn)
    assert measured["alerts_per_100"].value == pytest.approx(100 * sum(predicted) / len(pairs))


def test_detection_states_its_denominators_and_intervals() -> None:
    outcomes = outcomes_of(
        ["detect"] * 9 + ["clean"] * 11, ["detect"] * 7 + ["clean"] * 2 + ["detect"] + ["clean"] * 10
    )
    measured = measure(Detection(), [*outcomes, Outcome("x", status="error", reason="timeout", expected="detect")])
    assert {name: measured[name].n for name in ("tp", "precision", "recall", "f1", "fpr", "alerts_per_100")} == {
        "tp": 20, "precision": 8, "recall": 9, "f1": 10, "fpr": 11, "alerts_per_100": 20,
    }  # fmt: skip
    assert measured["precision"].interval == wilson(7, 8)
    assert measured["recall"].interval == wilson(7, 9)
    low, high = measured["f2"].interval or (0.0, 0.0)
    assert low < (measured["f2"].value or 0) < high


def test_nothing_raised_makes_precision_null_and_recall_zero() -> None:
    measured = measure(Detection(), outcomes_of(["detect", "clean"], [None, "clean"]))
    assert measured["precision"].value is None
    assert measured["precision"].reason == "nothing was raised"
    assert measured["recall"].value == 0.0
    assert measured["f1"].value == 0.0


def test_a_perfect_small_sample_does_not_get_an_interval_without_width() -> None:
    measured = measure(Classification(), outcomes_of(["a", "a", "a", "b", "b"], ["a", "a", "a", "b", "b"]))
    assert measured["macro_f1"].interval == measured["balanced_accuracy"].interval == wilson(4, 4)
    assert measure(Detection(), outcomes_of(["detect"] * 4, ["detect"] * 4))["f2"].interval == wilson(5, 5)


@pytest.mark.parametrize("n", [1, 5, 100])
def test_no_mistake_has_a_higher_lower_bound_of_f1_than_one(n: int) -> None:
    """And it is what Wilson's interval of tp / (tp + fp + fn) becomes as F1, a monotone function of that share."""
    measured = measure(Detection(), outcomes_of(["detect"] * n, ["detect"] * n))["f1"]
    share = wilson(n, n)[0]
    assert (measured.interval or (0, 0))[0] == pytest.approx(2 * share / (1 + share))
    missed = measure(Detection(), outcomes_of(["detect"] * n, ["clean", *["detect"] * (n - 1)]))["f1"]
    assert (missed.interval or (0, 0))[0] < (measured.interval or (0, 0))[0]


def resampled(expected: list[str], predicted: list[str], score: Any) -> float:
    generator = np.random.default_rng(7)
    e, p = np.array(expected), np.array(predicted)
    draws = generator.integers(0, len(e), (1500, len(e)))
    return float(np.std([score(e[draw], p[draw]) for draw in draws]))


@pytest.mark.parametrize("name", ["macro_f1", "balanced_accuracy", "f1", "f2"])
def test_the_intervals_of_averages_have_the_width_that_resampling_gives(name: str) -> None:
    generator = random.Random(3)
    kinds = ["a", "a", "a", "b", "b", "c"]
    expected = [generator.choice(kinds) for _ in range(400)]
    predicted = [e if generator.random() < 0.75 else generator.choice(kinds) for e in expected]
    scores = {
        "macro_f1": lambda e, p: sk.f1_score(e, p, average="macro"),
        "balanced_accuracy": sk.balanced_accuracy_score,
        "f1": lambda e, p: sk.f1_score(e == "a", p == "a"),
        "f2": lambda e, p: sk.fbeta_score(e == "a", p == "a", beta=2),
    }
    metric: Metric[Any] = Detection(positive="a") if name in ("f1", "f2") else Classification()
    low, high = measure(metric, outcomes_of(expected, predicted))[name].interval or (0.0, 0.0)
    assert high - low == pytest.approx(2 * 1.96 * resampled(expected, predicted, scores[name]), rel=0.1)


def test_a_null_prediction_is_a_miss_for_its_class_and_a_false_alarm_for_none() -> None:
    measured = measure(Classification(), outcomes_of(["a", "a", "b"], ["a", None, "b"]))
    assert measured["confusion"].details == {
        "labels": ["a", "b", NO_ANSWER],
        "rows": [[1, 0, 1], [0, 1, 0], [0, 0, 0]],
    }
    assert measured["recall[a]"].value == 0.5
    assert measured["precision[a]"].value == measured["precision[b]"].value == 1.0
    assert f"recall[{NO_ANSWER}]" not in measured
    assert measured["macro_f1"].value == pytest.approx((2 / 3 + 1) / 2)


def test_a_null_expected_label_is_not_counted() -> None:
    assert measure(Classification(), outcomes_of([None, "a"], ["a", "a"]))["confusion"].n == 1


def test_an_acceptable_prediction_takes_the_place_of_the_expected_label() -> None:
    outcomes = [
        Outcome("1", expected="a", predicted="b", details={"acceptable": ["b"]}),
        Outcome("2", expected="a", predicted="c", details={"acceptable": ["b"]}),
    ]
    assert measure(Classification(acceptable=True), outcomes)["confusion"].value == 1
    assert measure(Classification(acceptable=True), outcomes)["recall[b]"].value == 1.0
    assert measure(Classification(), outcomes)["confusion"].value == 2


def test_labels_are_compared_as_text_so_true_is_not_one() -> None:
    assert [label_text(value) for value in (True, 1, 1.0, "true", None, ["b", "a"])] == [
        "true", "1", "1.0", "true", NO_ANSWER, '["b","a"]',
    ]  # fmt: skip
    assert measure(Classification(), outcomes_of([True, 1], [1, True]))["confusion"].value == 2


def test_a_matrix_of_too_many_labels_gives_way_to_the_most_frequent_confusions() -> None:
    names = [f"{i:03}" for i in range(MAX_LABELS + 1)]
    measured = measure(Classification(), outcomes_of([*names, "000", "000"], [*names, "001", "001"]))
    assert "rows" not in measured["confusion"].details
    assert measured["confusion"].details["frequent"] == [["000", "001", 2]]
    assert measured["macro_f1"].value is not None
    assert "f1[000]" not in measured


def test_a_label_set_with_a_repetition_is_refused() -> None:
    with pytest.raises(UsageError, match="once"):
        Classification(labels=("a", "a"))


def test_the_best_constant_policy_gives_the_most_frequent_label() -> None:
    outcomes = outcomes_of(["b", "a", "b", "a", "c"], [None] * 5)
    best = measure(BestConstant(), outcomes)["best_constant_accuracy"]
    assert (best.value, best.n, best.details) == (0.4, 5, {"label": "a"})


def test_the_best_constant_policy_may_use_an_acceptable_label() -> None:
    outcomes = [Outcome(str(i), expected=e, details={"acceptable": ["mid", e]}) for i, e in enumerate("abc")]
    best = measure(BestConstant(acceptable=True), outcomes)["best_constant_accuracy"]
    assert (best.value, best.details) == (1.0, {"label": "mid"})
