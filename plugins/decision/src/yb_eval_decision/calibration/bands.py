"""Bands: the scores that leave a question undecided, from a curve, for a cascade that asks somebody better."""

from __future__ import annotations

from yb_eval_decision.calibration.curves import Curve
from yb_eval_decision.eval import Eval

#: Halvings of a search: beyond them a float has no more digits.
_HALVINGS = 60


def band_of(curve: Curve, sure: float) -> tuple[float, float]:
    """The open range of raw scores whose calibrated probability lies between 1 - `sure` and `sure`. Its ends are 0 or 1 where
    the curve does not get there."""
    low = _last(curve, 1.0 - sure)
    high = _first(curve, sure)
    return (low, high) if low <= high else (high, low)


def _first(curve: Curve, level: float) -> float:
    """The lowest score at which the curve reaches `level`; 1 where it does not."""
    if curve(1.0) < level:
        return 1.0
    low, high = 0.0, 1.0
    if curve(low) >= level:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if curve(middle) >= level else (middle, high)
    return high


def _last(curve: Curve, level: float) -> float:
    """The highest score at which the curve is at most `level`; 0 where it is nowhere."""
    if curve(0.0) > level:
        return 0.0
    low, high = 0.0, 1.0
    if curve(high) <= level:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) <= level else (low, middle)
    return low


def orientation(one: Eval) -> str | None:
    """How the probability of the eval's question gives its score: `p`, `1-p`, or `None` where no single question does (a share of
    claims, a rubric, a choice)."""
    from yb_eval_decision.evals.parted import PartedEval, PartedScoreEval
    from yb_eval_decision.kinds import NoulEval

    if isinstance(one, PartedScoreEval) or not isinstance(one, NoulEval | PartedEval):
        return None
    return "p" if one.positive_is_good else "1-p"
