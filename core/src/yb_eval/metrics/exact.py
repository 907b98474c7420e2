"""Exact sums of floats: the same bits whatever the order of the additions.

Every finite double is an integer number of 2^-1074. A sum kept as that integer is exact, so it can be split and merged
in any way; it is rounded once, when it is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from math import isfinite
from typing import Any

from attrs import define

from yb_eval.errors import EvaluationError, shorten
from yb_eval.statistics import mean_interval

_BITS = 1074
_UNITS = 1 << _BITS


def units(value: float) -> int:
    """`value` as an integer number of 2^-1074. Raises `EvaluationError` for what is no finite number."""
    numerator, denominator = _ratio(value)
    return numerator << (_BITS + 1 - denominator.bit_length())


def from_units(total: int) -> Fraction:
    return Fraction(total, _UNITS)


def _ratio(value: Any) -> tuple[int, int]:
    try:
        numerator, denominator = value.as_integer_ratio()
    except (AttributeError, ValueError, OverflowError):  # no number, NaN, infinite
        raise EvaluationError(f"{shorten(value)} is not a finite number") from None
    return int(numerator), int(denominator)


@define(slots=True)
class Moments:
    """Count, sum and sum of squares of numbers, exact: `total` in units of 2^-1074, `squares` of 2^-2148."""

    n: int = 0
    total: int = 0
    squares: int = 0

    def add(self, values: Iterable[float]) -> None:
        # By distinct value: graded scores and prices repeat, and counting is much cheaper than big integers.
        for value, count in Counter(values).items():
            numerator, denominator = _ratio(value)
            shift = _BITS + 1 - denominator.bit_length()
            self.n += count
            self.total += (count * numerator) << shift
            self.squares += (count * numerator * numerator) << (2 * shift)

    def merge(self, other: Moments) -> None:
        self.n += other.n
        self.total += other.total
        self.squares += other.squares

    @property
    def sum(self) -> Fraction:
        return from_units(self.total)

    @property
    def sum_of_squares(self) -> Fraction:
        return Fraction(self.squares, _UNITS * _UNITS)

    @property
    def mean(self) -> Fraction:
        """Raises `ZeroDivisionError` where there are no values."""
        return self.sum / self.n

    def interval(self) -> tuple[float, float] | None:
        """The normal 95 % interval of the mean; `None` for fewer than two values, or where it leaves the floats."""
        try:
            interval = mean_interval(self.sum, self.sum_of_squares, self.n)
        except OverflowError:
            return None
        return interval if interval is not None and all(map(isfinite, interval)) else None
