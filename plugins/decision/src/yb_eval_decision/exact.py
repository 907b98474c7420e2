"""Sums of numbers that are the same whatever the order, and however they were divided: a report that is put together from
parts must be the report of the whole, to the last bit."""

from __future__ import annotations

from attrs import define

#: Numbers are counted in units of 2**-120: all floats from 2**-68 up are whole multiples of it, smaller ones are cut there.
_UNIT = 2**120
_UNITS = float(_UNIT)


@define(slots=True, repr=False)
class ExactSum:
    """A sum of numbers, rounded only when it is asked for."""

    _units: int = 0
    #: What is not finite, or so large that it cannot be counted.
    _beyond: float = 0.0

    def add(self, number: float) -> None:
        try:
            self._units += int(number * _UNITS)
        except (OverflowError, ValueError):
            self._beyond += number

    def merge(self, other: ExactSum) -> None:
        self._units += other._units
        self._beyond += other._beyond

    def over(self, n: int) -> float:
        """The sum divided by `n`, rounded once."""
        return self._units / (_UNIT * n) + self._beyond / n

    def __float__(self) -> float:
        return self.over(1)

    def __repr__(self) -> str:
        return f"ExactSum({float(self)})"
