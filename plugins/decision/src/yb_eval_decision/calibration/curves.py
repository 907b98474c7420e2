"""Curves from a raw score to the probability that the sample should pass: Platt's, isotonic, and none.

Platt: p = 1 / (1 + exp(-(a x + b))) with x the logit of the score. J. Platt, "Probabilistic outputs for support vector machines",
Advances in Large Margin Classifiers (1999), with its smoothed targets (N+ + 1) / (N+ + 2) and 1 / (N- + 2); fitted by
Newton's method with backtracking, H.-T. Lin, C.-J. Lin and R. Weng, "A note on Platt's probabilistic outputs for support vector
machines", Machine Learning 68 (2007).

Isotonic: the nearest non-decreasing curve, by pooling adjacent violators. M. Ayer et al., "An empirical distribution function for
sampling with incomplete information", Ann. Math. Statist. 26 (1955); B. Zadrozny and C. Elkan, "Transforming classifier
scores into accurate multiclass probability estimates", KDD 2002. Between its points it is linear, beyond them level.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, Protocol

from attrs import frozen

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten

FitName = Literal["platt", "isotonic", "none"]
FITS: tuple[FitName, ...] = ("platt", "isotonic", "none")

#: Scores of 0 and 1 have no logit: they are taken for these.
_LEAST = 1e-6
_STEPS, _SMALLEST_STEP, _FLAT, _RIDGE = 100, 1e-10, 1e-9, 1e-12


class Curve(Protocol):
    """A non-decreasing function from 0..1 to 0..1."""

    def __call__(self, score: float) -> float: ...
    def to_dict(self) -> dict[str, Any]: ...


def logit(p: float) -> float:
    """log(p / (1 - p)), with p kept off 0 and 1 by 1e-6."""
    p = min(1.0 - _LEAST, max(_LEAST, p))
    return math.log(p / (1.0 - p))


def sigmoid(x: float) -> float:
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    grown = math.exp(x)
    return grown / (1.0 + grown)


@frozen(slots=True)
class Same:
    """The score as it is."""

    def __call__(self, score: float) -> float:
        return score

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "none"}


@frozen(slots=True)
class Platt:
    """1 / (1 + exp(-(a logit(score) + b))); `a` is positive."""

    a: float
    b: float

    def __call__(self, score: float) -> float:
        return sigmoid(self.a * logit(score) + self.b)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "platt", "a": self.a, "b": self.b}


@frozen(slots=True)
class Isotonic:
    """The points of the curve: `x` rises, `y` does not fall."""

    x: tuple[float, ...]
    y: tuple[float, ...]

    def __call__(self, score: float) -> float:
        x, y = self.x, self.y
        at = bisect_left(x, score)
        if at == 0:
            return y[0]
        if at == len(x):
            return y[-1]
        share = (score - x[at - 1]) / (x[at] - x[at - 1])
        # Rounding must not lead out of the two ends.
        return min(y[at], max(y[at - 1], y[at - 1] + share * (y[at] - y[at - 1])))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "isotonic", "x": list(self.x), "y": list(self.y)}


def fit(name: FitName, scores: Sequence[float], passes: Sequence[bool]) -> Curve | None:
    """The curve of that kind for scores and whether each sample should pass.

    `None` where there is none: the score does not rise with the labels. Both verdicts must occur.
    """
    if name == "none":
        return Same()
    return fit_platt(scores, passes) if name == "platt" else fit_isotonic(scores, passes)


def fit_platt(scores: Sequence[float], passes: Sequence[bool]) -> Platt | None:
    """Platt's curve, `None` where it would fall or be flat."""
    good = sum(passes)
    high, low = (good + 1) / (good + 2), 1 / (len(passes) - good + 2)
    x = [logit(score) for score in scores]
    t = [high if each else low for each in passes]
    a, b = 0.0, math.log((good + 1) / (len(passes) - good + 1))
    loss = _loss(x, t, a, b)
    for _ in range(_STEPS):
        p = [sigmoid(a * value + b) for value in x]
        off = [probability - target for probability, target in zip(p, t, strict=True)]
        weight = [probability * (1.0 - probability) for probability in p]
        g1, g2 = math.fsum(d * v for d, v in zip(off, x, strict=True)), math.fsum(off)
        if max(abs(g1), abs(g2)) < _FLAT:
            break
        h11 = _RIDGE + math.fsum(w * v * v for w, v in zip(weight, x, strict=True))
        h12 = math.fsum(w * v for w, v in zip(weight, x, strict=True))
        h22 = _RIDGE + math.fsum(weight)
        determinant = h11 * h22 - h12 * h12
        if determinant <= 0:
            break  # all scores are alike: there is no slope to find
        da, db = -(h22 * g1 - h12 * g2) / determinant, -(h11 * g2 - h12 * g1) / determinant
        slope, step = g1 * da + g2 * db, 1.0
        while step >= _SMALLEST_STEP:
            new = _loss(x, t, a + step * da, b + step * db)
            if new < loss + 1e-4 * step * slope:
                a, b, loss = a + step * da, b + step * db, new
                break
            step /= 2
        else:
            break
    return Platt(a, b) if a > 0 and min(x) < max(x) else None


def _loss(x: Sequence[float], t: Sequence[float], a: float, b: float) -> float:
    """The cross entropy, without overflow: log(1 + exp(-z)) + (1 - t) z."""
    total = []
    for value, target in zip(x, t, strict=True):
        z = a * value + b
        total.append(math.log1p(math.exp(-abs(z))) + max(-z, 0.0) + (1.0 - target) * z)
    return math.fsum(total)


def fit_isotonic(scores: Sequence[float], passes: Sequence[bool]) -> Isotonic | None:
    """The isotonic curve, `None` where it is level."""
    tied: dict[float, list[int]] = {}
    for score, each in sorted(zip(scores, passes, strict=True)):
        counted = tied.setdefault(score, [0, 0])
        counted[0] += each
        counted[1] += 1
    blocks: list[list[float]] = []  # first score, last score, passes, n
    for score, (good, n) in tied.items():
        blocks.append([score, score, good, n])
        # Pooled from n on: the share of a block must be more than that of the one before.
        while len(blocks) > 1 and blocks[-2][2] * blocks[-1][3] >= blocks[-1][2] * blocks[-2][3]:
            _, last, good_there, n_there = blocks.pop()
            blocks[-1] = [blocks[-1][0], last, blocks[-1][2] + good_there, blocks[-1][3] + n_there]
    if len(blocks) < 2:
        return None
    points: dict[float, float] = {}
    for first, last, good_share, n_block in blocks:
        points[first] = points[last] = good_share / n_block
    return Isotonic(tuple(points), tuple(points.values()))


def read_curve(value: Any, where: str) -> Curve:
    """A curve from `to_dict`. Raises `UsageError`, naming the place, for anything else."""
    kind = value.get("kind") if isinstance(value, dict) else None
    fields = {"platt": {"kind", "a", "b"}, "isotonic": {"kind", "x", "y"}, "none": {"kind"}}
    if not isinstance(kind, str) or kind not in fields:
        hint = nearest(kind, fields) if isinstance(kind, str) else "platt, isotonic or none"
        raise UsageError(f"{shorten(kind)} is no kind of curve", where=where, hint=hint)
    if set(value) != fields[kind]:
        raise UsageError(f"a curve {kind} has {', '.join(sorted(fields[kind]))}", where=where)
    if kind == "none":
        return Same()
    if kind == "platt":
        a, b = (_number(value[name], f"{where}.{name}") for name in ("a", "b"))
        if a <= 0:
            raise UsageError("a is positive: the curve rises", where=f"{where}.a")
        return Platt(a, b)
    x, y = (_numbers(value[name], f"{where}.{name}") for name in ("x", "y"))
    if len(x) != len(y) or len(x) < 2:
        raise UsageError("x and y have as many numbers, two at least", where=where)
    if any(left >= right for left, right in pairwise(x)) or any(left > right for left, right in pairwise(y)):
        raise UsageError("x rises and y does not fall", where=where)
    return Isotonic(tuple(x), tuple(y))


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"a number is expected, not {shorten(value)}", where=where)
    return float(value)


def _numbers(value: Any, where: str) -> list[float]:
    if not isinstance(value, list):
        raise UsageError(f"a list of numbers is expected, not {shorten(value)}", where=where)
    numbers = [_number(each, f"{where}[{index}]") for index, each in enumerate(value)]
    if any(not 0 <= each <= 1 for each in numbers):
        raise UsageError("the numbers are within 0..1", where=where)
    return numbers
