"""Where to stop answering: the curve of all thresholds, and the rule that picks one of them.

For a threshold t a triager answers with its best label when its in-scope score is >= t and says "out of scope" below.
Every t gives one *operating point*:

- in-scope accuracy: in-scope rows that were answered, and answered right / all in-scope rows (Larson et al. 2019);
- out-of-scope recall: out-of-scope rows that were refused / all out-of-scope rows;
- coverage: rows that were answered / all rows; risk: answered rows that are wrong / answered rows.

The point is chosen on calibration rows (out-of-fold training rows and the validation split), never on a test split.
"""

from __future__ import annotations

import math

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

#: The 0.95 quantile of the normal distribution.
ONE_SIDED_95 = 1.6448536269514722


@frozen(kw_only=True, eq=False)
class OperatingCurve:
    """Aligned arrays, one entry a threshold, ascending: from "answer all" (-inf) to "refuse all" (+inf).

    Rows with equal scores are accepted or refused together, so the order of rows cannot matter. A rate whose
    denominator is empty is NaN.
    """

    threshold: NDArray[np.float64]
    in_scope_accuracy: NDArray[np.float64]
    out_of_scope_recall: NDArray[np.float64]
    coverage: NDArray[np.float64]
    risk: NDArray[np.float64]


@frozen(kw_only=True)
class OperatingPoint:
    """One threshold, what it measured on the rows it was chosen on, and by which rule (a sentence)."""

    threshold: float
    in_scope_accuracy: float | None
    out_of_scope_recall: float | None
    rule: str


def operating_curve(
    score: NDArray[np.float64], correct: NDArray[np.bool_], in_scope: NDArray[np.bool_]
) -> OperatingCurve:
    """The points of every useful threshold.

    Args:
        score: (n,) how sure the triager is that the row is in scope.
        correct: (n,) whether its best in-scope label is right; whatever stands there for out-of-scope rows is not read.
        in_scope: (n,) gold.
    """
    levels = np.concatenate([[-np.inf], np.unique(score)[1:], [np.inf]]) if len(score) else np.array([-np.inf, np.inf])
    right = np.sort(score[in_scope & correct])
    outside = np.sort(score[~in_scope])
    everything = np.sort(score)
    right_kept = len(right) - np.searchsorted(right, levels, side="left")
    refused = np.searchsorted(outside, levels, side="left")
    kept = len(everything) - np.searchsorted(everything, levels, side="left")
    return OperatingCurve(
        threshold=levels,
        in_scope_accuracy=_share(right_kept, int(in_scope.sum())),
        out_of_scope_recall=_share(refused, len(outside)),
        coverage=_share(kept, len(score)),
        risk=np.where(kept > 0, (kept - right_kept) / np.maximum(kept, 1), np.nan),
    )


def choose_point(
    curve: OperatingCurve,
    *,
    in_scope_rows: int,
    out_of_scope_rows: int,
    floor: float | None,
    share: float | None = None,
) -> OperatingPoint:
    """The operating point by the rule the task asks for.

    With a `floor`: the highest out-of-scope recall among the points whose in-scope accuracy is at least the floor with
    95 % confidence (one-sided Wilson bound over the in-scope calibration rows): a point whose *estimate* sits at the
    floor falls below it on new rows half of the time. Without: the most right answers over all rows, out-of-scope rows
    counting for `share` of them (default: their share of the calibration rows). Without out-of-scope rows: answer
    everything.
    """
    accuracy, recall = curve.in_scope_accuracy, curve.out_of_scope_recall
    if not in_scope_rows or not out_of_scope_rows:
        return _point(curve, 0, "no out-of-scope rows to choose by: everything is answered")
    if floor is None:
        outside = out_of_scope_rows / (in_scope_rows + out_of_scope_rows) if share is None else share
        right = (1 - outside) * accuracy + outside * recall
        return _point(curve, _last_best(right), f"most right answers when {outside:.3f} of the rows are out of scope")
    allowed = np.flatnonzero(wilson_lower(accuracy, in_scope_rows) >= floor)
    if not len(allowed):
        return _point(curve, 0, f"no threshold keeps in-scope accuracy above {floor:g}: everything is answered")
    rule = f"highest out-of-scope recall with in-scope accuracy >= {floor:g} (one-sided 95 % Wilson bound)"
    return _point(curve, int(allowed[-1]), rule)


def wilson_lower(rate: NDArray[np.float64], rows: int, *, z: float = ONE_SIDED_95) -> NDArray[np.float64]:
    """Lower bound of each rate over `rows` rows (Wilson 1927)."""
    share = z * z / rows
    spread = z * np.sqrt(rate * (1 - rate) / rows + share / (4 * rows))
    return (rate + share / 2 - spread) / (1 + share)


def choose_cut(probability: NDArray[np.float64], gold: NDArray[np.bool_], *, beta: float) -> float:
    """The cut c of "yes when probability >= c" with the highest F-beta; ties go to the lower cut, which misses less.

    0.5 when there is nothing to choose by.
    """
    if not gold.any() or gold.all():
        return 0.5
    cuts = np.unique(probability)
    yes = np.sort(probability[gold])
    every = np.sort(probability)
    hits = len(yes) - np.searchsorted(yes, cuts, side="left")
    said = len(every) - np.searchsorted(every, cuts, side="left")
    weight = beta * beta
    scores = (1 + weight) * hits / (weight * len(yes) + said)
    return float(cuts[int(np.argmax(scores))])


def _point(curve: OperatingCurve, index: int, rule: str) -> OperatingPoint:
    return OperatingPoint(
        threshold=float(curve.threshold[index]),
        in_scope_accuracy=_known(curve.in_scope_accuracy[index]),
        out_of_scope_recall=_known(curve.out_of_scope_recall[index]),
        rule=rule,
    )


def _last_best(values: NDArray[np.float64]) -> int:
    return int(np.flatnonzero(values == values.max())[-1])


def _share(count: NDArray[np.int64], total: int) -> NDArray[np.float64]:
    return count / total if total else np.full(len(count), np.nan)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
