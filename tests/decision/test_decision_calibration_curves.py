"""Curves and measures of calibration, held against scikit-learn and against what must hold for any input."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

from yb_eval import UsageError
from yb_eval_decision.calibration.curves import (
    Isotonic,
    Platt,
    Same,
    fit,
    fit_isotonic,
    fit_platt,
    logit,
    read_curve,
    sigmoid,
)
from yb_eval_decision.calibration.measures import auroc, reliability


def drawn(n: int, seed: int, *, steps: int = 0) -> tuple[list[float], list[bool]]:
    """Scores of an overconfident model and labels; `steps`: the scores are rounded, so that many are equal."""
    rng = random.Random(seed)
    scores, labels = [], []
    for _ in range(n):
        truth = rng.random()
        score = sigmoid(2.5 * logit(truth) - 0.7)
        scores.append(round(score * steps) / steps if steps else score)
        labels.append(rng.random() < truth)
    return scores, labels


pairs = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60)
both = pairs.filter(lambda rows: len({label for _, label in rows}) == 2)
probabilities = st.floats(0, 1)


# --- Platt ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "seed", "steps"), [(40, 1, 0), (300, 2, 0), (300, 3, 10), (2000, 4, 0)])
def test_platt_is_the_logistic_regression_on_the_logit_with_smoothed_targets(n: int, seed: int, steps: int) -> None:
    scores, labels = drawn(n, seed, steps=steps)
    ours = fit_platt(scores, labels)
    assert ours is not None
    good = sum(labels)
    targets = [(good + 1) / (good + 2) if label else 1 / (n - good + 2) for label in labels]
    # A target between 0 and 1 is a row of each label, weighted.
    x = np.array([[logit(score)] for score in scores] * 2)
    y = np.array([1] * n + [0] * n)
    weights = np.array(targets + [1 - target for target in targets])
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(x, y, sample_weight=weights)
    assert ours.a == pytest.approx(theirs.coef_[0, 0], rel=1e-4)
    assert ours.b == pytest.approx(theirs.intercept_[0], rel=1e-4, abs=1e-4)


@given(both)
def test_platt_rises_wherever_the_scores_are_in_the_right_order(rows: list[tuple[float, bool]]) -> None:
    scores, labels = [score for score, _ in rows], [label for _, label in rows]
    found = fit_platt(scores, labels)
    if found is not None:
        values = [found(step / 50) for step in range(51)]
        assert all(0 <= value <= 1 for value in values)
        assert all(left <= right for left, right in pairwise(values))


@given(st.integers(0, 10_000), st.floats(0.1, 4), st.floats(-2, 2))
def test_platt_finds_a_rising_curve_for_any_score_that_is_better_than_a_coin(seed: int, a: float, b: float) -> None:
    rng = random.Random(seed)
    truth = [rng.random() for _ in range(80)]
    labels = [rng.random() < each for each in truth]
    scores = [sigmoid(a * logit(each) + b) for each in truth]
    order = auroc(scores, labels)
    assume(order is not None and order > 0.65)
    found = fit_platt(scores, labels)
    assert found is not None
    assert found.a > 0


def test_a_score_that_falls_with_the_labels_has_no_platt_curve() -> None:
    scores, labels = drawn(200, 5)
    assert fit_platt([1 - score for score in scores], labels) is None


def test_equal_scores_have_no_curve_of_either_kind() -> None:
    assert fit_platt([0.3] * 20, [True, False] * 10) is None
    assert fit_isotonic([0.3] * 20, [True, False] * 10) is None


def test_separable_scores_do_not_run_away() -> None:
    found = fit_platt([0.1] * 20 + [0.9] * 20, [False] * 20 + [True] * 20)
    assert found is not None
    assert found(0.1) == pytest.approx(1 / 22, abs=1e-6)
    assert found(0.9) == pytest.approx(21 / 22, abs=1e-6)


def test_scores_of_0_and_1_are_finite() -> None:
    found = fit_platt([0.0, 1.0] * 20, [False, True] * 20)
    assert found is not None
    assert math.isfinite(found.a)
    assert 0 < found(0.0) < found(1.0) < 1


# --- isotonic ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "seed", "steps"), [(20, 1, 0), (200, 2, 0), (200, 3, 10), (500, 4, 25)])
def test_isotonic_is_scikit_learns(n: int, seed: int, steps: int) -> None:
    scores, labels = drawn(n, seed, steps=steps)
    ours = fit_isotonic(scores, labels)
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, labels)
    grid = [step / 500 for step in range(501)] + scores
    assert ours is not None
    assert [ours(x) for x in grid] == pytest.approx(list(theirs.predict(grid)), abs=1e-9)


@given(both)
def test_isotonic_never_falls_and_stays_within_0_and_1(rows: list[tuple[float, bool]]) -> None:
    found = fit_isotonic([score for score, _ in rows], [label for _, label in rows])
    if found is not None:
        values = [found(step / 100) for step in range(101)]
        assert all(0 <= value <= 1 for value in values)
        assert all(left <= right for left, right in pairwise(values))


@given(both)
def test_isotonic_does_not_depend_on_the_order_of_the_rows(rows: list[tuple[float, bool]]) -> None:
    forth = fit_isotonic([score for score, _ in rows], [label for _, label in rows])
    back = fit_isotonic([score for score, _ in reversed(rows)], [label for _, label in reversed(rows)])
    assert forth == back


@given(both)
def test_isotonic_makes_no_loss_worse_on_the_rows_it_was_fitted_on(rows: list[tuple[float, bool]]) -> None:
    scores, labels = [score for score, _ in rows], [label for _, label in rows]
    found = fit_isotonic(scores, labels)
    if found is not None:
        after = reliability([found(score) for score in scores], labels).brier
        assert after <= reliability(scores, labels).brier + 1e-12


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("curve", [Same(), Platt(1.5, -0.2), Isotonic((0.1, 0.4), (0.0, 0.9))])
def test_a_curve_reads_back_as_it_was(curve: Any) -> None:
    assert read_curve(curve.to_dict(), "here") == curve


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, "no kind of curve"),
        ({"kind": "plat", "a": 1, "b": 0}, "did you mean 'platt'"),
        ({"kind": "platt", "a": 1}, "has a, b, kind"),
        ({"kind": "platt", "a": 0, "b": 0}, "positive"),
        ({"kind": "platt", "a": "1", "b": 0}, "a number"),
        ({"kind": "platt", "a": True, "b": 0}, "a number"),
        ({"kind": "platt", "a": float("nan"), "b": 0}, "a number"),
        ({"kind": "isotonic", "x": [0.1], "y": [0.1]}, "two at least"),
        ({"kind": "isotonic", "x": [0.1, 0.2], "y": [0.1]}, "as many numbers"),
        ({"kind": "isotonic", "x": [0.2, 0.1], "y": [0.1, 0.2]}, "x rises"),
        ({"kind": "isotonic", "x": [0.1, 0.2], "y": [0.3, 0.2]}, "does not fall"),
        ({"kind": "isotonic", "x": [0.1, 2], "y": [0.3, 0.4]}, "within 0..1"),
        ({"kind": "isotonic", "x": 3, "y": [0.3, 0.4]}, "a list of numbers"),
        ({"kind": "none", "a": 1}, "has kind"),
    ],
)  # fmt: skip
def test_what_is_no_curve_is_refused_by_its_place(value: Any, what: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_curve(value, "here")
    assert what in str(refused.value)
    assert "here" in str(refused.value)


# --- measures ---------------------------------------------------------------------------------------------------------


@given(both)
def test_auroc_is_scikit_learns(rows: list[tuple[float, bool]]) -> None:
    scores, labels = [score for score, _ in rows], [label for _, label in rows]
    assert auroc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))


def test_auroc_of_one_class_is_none() -> None:
    assert auroc([0.1, 0.2], [True, True]) is None


@given(pairs)
def test_brier_is_scikit_learns(rows: list[tuple[float, bool]]) -> None:
    scores, labels = [score for score, _ in rows], [label for _, label in rows]
    expected = brier_score_loss([int(label) for label in labels], scores, pos_label=1)
    assert reliability(scores, labels).brier == pytest.approx(expected)


def test_ece_is_the_gap_of_the_bins_weighted_by_their_samples() -> None:
    found = reliability([0.05, 0.05, 0.95, 0.95], [False, True, True, True])
    assert found.ece == pytest.approx(0.5 * 0.45 + 0.5 * 0.05)
    assert found.bins[0] == {"low": 0.0, "high": 0.1, "n": 2, "confidence": pytest.approx(0.05), "accuracy": 0.5}
    assert found.bins[5] == {"low": 0.5, "high": 0.6, "n": 0, "confidence": None, "accuracy": None}


@given(pairs)
def test_every_sample_is_in_one_bin(rows: list[tuple[float, bool]]) -> None:
    found = reliability([score for score, _ in rows], [label for _, label in rows])
    assert sum(each["n"] for each in found.bins) == len(rows)
    assert 0 <= found.ece <= 1


@given(both, st.sampled_from(["platt", "isotonic", "none"]))
def test_a_fit_gives_a_probability_for_every_score(rows: list[tuple[float, bool]], name: Any) -> None:
    found = fit(name, [score for score, _ in rows], [label for _, label in rows])
    if found is not None:
        assert all(0 <= found(score) <= 1 for score, _ in rows)
