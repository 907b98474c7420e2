"""AUROC against scikit-learn, and its laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from yb_eval import Outcome
from yb_eval.errors import EvaluationError
from yb_eval.metrics import Auroc
from yb_eval.testing import check_metric

PAIRS = st.lists(st.tuples(st.booleans(), st.integers(0, 8).map(lambda n: n / 8)), min_size=2, max_size=60)


def outcomes(pairs):
    return [
        Outcome(str(place), expected=expected, predicted=score >= 0.5, correct=None, score=score)
        for place, (expected, score) in enumerate(pairs)
    ]


def measured(made, metric=None):
    metric = metric or Auroc()
    (found,) = metric.finish(metric.add(metric.start(), made))
    return found


@given(PAIRS)
def test_it_is_what_scikit_learn_says_ties_included(pairs):
    found = measured(outcomes(pairs))
    if len({expected for expected, _ in pairs}) < 2:
        assert found.value is None and found.reason
        return
    assert found.value == pytest.approx(roc_auc_score([e for e, _ in pairs], [s for _, s in pairs]))
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1
    assert found.n == len(pairs)


@given(PAIRS)
def test_swapping_the_kinds_mirrors_it(pairs):
    found, mirrored = measured(outcomes(pairs)), measured(outcomes(pairs), Auroc(positive=False))
    if found.value is not None:
        assert found.value + mirrored.value == pytest.approx(1)


def test_the_interval_narrows_with_more_samples_and_never_collapses():
    few = measured(outcomes([(True, 0.9), (False, 0.1)] * 5))
    many = measured(outcomes([(True, 0.9), (False, 0.1)] * 500))
    assert few.value == many.value == 1.0
    assert few.interval[0] < many.interval[0] < 1.0


def test_the_variance_is_delongs():
    # Three positives, two negatives: structural components by hand.
    pairs = [(True, 0.9), (True, 0.4), (True, 0.7), (False, 0.5), (False, 0.2)]
    won = [1.0, 0.5, 1.0]
    lost = [2 / 3, 1.0]
    mean = sum(won) / 3
    variance = sum((w - mean) ** 2 for w in won) / 2 / 3 + sum((x - mean) ** 2 for x in lost) / 1 / 2
    size = max(1.0, min(5, mean * (1 - mean) / variance))
    found = measured(outcomes(pairs))
    from yb_eval.statistics import wilson

    assert found.interval == pytest.approx(wilson(mean * size, size))


def test_what_is_not_scored_or_has_no_score_is_left_out():
    made = [
        *outcomes([(True, 0.9), (False, 0.1)]),
        Outcome("e", "error", expected=True, reason="lost"),
        Outcome("s", expected=True, predicted=True, score=None),
        Outcome("u", expected=None, predicted=True, score=0.3),
    ]
    assert measured(made).n == 2


def test_a_score_that_is_no_number_ends_the_run():
    with pytest.raises(EvaluationError):
        measured(outcomes([(True, math.nan), (False, 0.1)]))


def test_the_laws_of_metrics_hold():
    check_metric(Auroc(), outcomes([(True, 0.9), (False, 0.1), (True, 0.3), (False, 0.3)] * 5))


def test_several_labels_may_be_the_positive_ones():
    pairs = [("good", 0.9), ("fair", 0.8), ("bad", 0.1), ("awful", 0.3)]
    assert measured(outcomes(pairs), Auroc(positive=frozenset({"good", "fair"}))).value == 1.0
    assert measured(outcomes(pairs), Auroc(positive="bad")).value == 0.0
