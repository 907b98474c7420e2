"""Calibration and selective prediction, against scikit-learn and by brute force."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk

from yb_eval.errors import EvaluationError
from yb_eval.interfaces import Metric
from yb_eval.metrics import Calibration, Selective
from yb_eval.model import Measurement, Outcome
from yb_eval.statistics import wilson

Rows = list[tuple[float, bool]]


def measure(metric: Metric[Any], rows: list[tuple[Any, Any]]) -> dict[str, Measurement]:
    outcomes = [Outcome(str(i), confidence=c, correct=right) for i, (c, right) in enumerate(rows)]
    return {each.name: each for each in metric.finish(metric.add(metric.start(), outcomes))}


confidences = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0])
rows_of_both = st.lists(st.tuples(confidences, st.booleans()), min_size=1, max_size=40)


@settings(deadline=None)
@given(rows_of_both, st.integers(1, 20))
def test_calibration_error_is_the_weighted_gap_per_bin(rows: Rows, bins: int) -> None:
    measured = measure(Calibration(bins=bins), rows)
    confidence, right = np.array([c for c, _ in rows]), np.array([r for _, r in rows], dtype=float)
    edges = np.array([i / bins for i in range(1, bins)])
    index = np.digitize(confidence, edges)
    gaps = [abs(right[index == b].mean() - confidence[index == b].mean()) * (index == b).mean() for b in set(index)]
    assert measured["ece"].value == pytest.approx(sum(gaps), abs=1e-12)
    assert measured["brier"].value == pytest.approx(sk.brier_score_loss(right, confidence, pos_label=1), abs=1e-12)
    shown = measured["ece"].details["bins"]
    assert [each["n"] for each in shown] == [int((index == b).sum()) for b in range(bins)]
    assert (shown[0]["low"], shown[-1]["high"]) == (0.0, 1.0)


def test_full_confidence_falls_into_the_last_bin_and_edges_into_the_upper_one() -> None:
    shown = measure(Calibration(bins=10), [(1.0, True), (0.3, True), (0.29999, False), (0.0, False)])["ece"].details[
        "bins"
    ]
    assert [each["n"] for each in shown] == [1, 0, 1, 1, 0, 0, 0, 0, 0, 1]
    assert shown[1] == {"low": 0.1, "high": 0.2, "n": 0, "confidence": None, "accuracy": None}


@pytest.mark.parametrize("metric", [Calibration(), Selective()], ids=["calibration", "selective"])
def test_without_confidence_everything_is_null(metric: Metric[Any]) -> None:
    rows = [(None, True), (0.5, None)]
    measured = measure(metric, rows)
    assert measured
    assert all(each.value is None and each.reason and each.n == 0 for each in measured.values())


@pytest.mark.parametrize("confidence", [1.0001, -0.1, math.nan, math.inf, "0.5"])
@pytest.mark.parametrize("metric", [Calibration(), Selective()], ids=["calibration", "selective"])
def test_a_confidence_outside_its_range_ends_loudly(metric: Metric[Any], confidence: Any) -> None:
    with pytest.raises(EvaluationError, match="confidence"):
        measure(metric, [(confidence, True)])


def points(rows: Rows) -> list[tuple[float, int, int]]:
    """(threshold, accepted, wrong) at each distinct confidence, by definition."""
    found = []
    for threshold in sorted({c for c, _ in rows}, reverse=True):
        accepted = [right for c, right in rows if c >= threshold]
        found.append((threshold, len(accepted), accepted.count(False)))
    return found


@settings(deadline=None)
@given(rows_of_both)
def test_the_area_under_the_risk_coverage_curve_is_the_mean_risk_over_ranks(rows: Rows) -> None:
    measured = measure(Selective(), rows)
    risk_of = {threshold: wrong / accepted for threshold, accepted, wrong in points(rows)}
    assert measured["aurc"].value == pytest.approx(math.fsum(risk_of[c] for c, _ in rows) / len(rows))
    n = len(rows)
    assert measured["aurc"].details["curve"] == [[k / n, e / k] for _, k, e in points(rows)]
    assert measured["aurc"].details["thresholds"] == [threshold for threshold, _, _ in points(rows)]


@settings(deadline=None)
@given(rows_of_both)
def test_the_generalised_area_is_what_the_paper_derives_from_the_auroc_of_failures(rows: Rows) -> None:
    """AUGRC = (1 - AUROC) acc (1 - acc) + (1 - acc)^2 / 2 (Traub et al. 2024, eq. 7), ties counted half."""
    right = [r for _, r in rows]
    accuracy = sum(right) / len(right)
    auroc = sk.roc_auc_score(right, [c for c, _ in rows]) if 0 < accuracy < 1 else 0.0
    derived = (1 - auroc) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert measure(Selective(), rows)["augrc"].value == pytest.approx(derived, abs=1e-12)


@settings(deadline=None)
@given(rows_of_both, st.sampled_from([0.1, 0.5, 0.8, 1.0]), st.sampled_from([0.0, 0.1, 0.5]))
def test_operating_points_are_the_best_that_some_threshold_reaches(rows: Rows, coverage: float, risk: float) -> None:
    measured = measure(Selective(coverages=(coverage,), risks=(risk,)), rows)
    n = len(rows)
    threshold, accepted, wrong = next(p for p in points(rows) if p[1] / n >= coverage)
    at_coverage = measured[f"risk_at_coverage[{coverage:g}]"]
    assert (at_coverage.value, at_coverage.n) == (wrong / accepted, accepted)
    assert at_coverage.interval == wilson(wrong, accepted)
    assert at_coverage.details == {"threshold": threshold}
    within = [accepted / n for _, accepted, wrong in points(rows) if wrong / accepted <= risk]
    assert measured[f"coverage_at_risk[{risk:g}]"].value == max(within, default=0.0)


def test_row_order_does_not_matter_where_confidences_tie() -> None:
    rows = [(0.9, True), (0.5, False), (0.5, True), (0.5, True)]
    assert measure(Selective(), rows) == measure(Selective(), rows[::-1])


def test_a_long_curve_is_thinned_evenly_and_keeps_its_end() -> None:
    generator = random.Random(1)
    rows = [(generator.random(), generator.random() < 0.8) for _ in range(5000)]
    curve = measure(Selective(), rows)["aurc"].details["curve"]
    assert len(curve) == 200
    assert curve[-1] == [1.0, sum(not right for _, right in rows) / 5000]
    gaps = [b[0] - a[0] for a, b in itertools.pairwise(curve)]
    assert max(gaps) <= 0.01


def test_a_name_for_each_operating_point_that_a_gate_can_write() -> None:
    names = list(measure(Selective(coverages=(0.8, 1.0), risks=(0.05,)), [(0.5, True)]))
    assert names == ["aurc", "augrc", "risk_at_coverage[0.8]", "risk_at_coverage[1]", "coverage_at_risk[0.05]"]
