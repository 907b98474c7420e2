"""From measured values to places in a drawing, and the ranges that drawings show."""

from __future__ import annotations

import math
from collections.abc import Iterable

from attrs import frozen

#: The parts of 0..1 that a plot of a rate can show. Few and fixed, so that most rows of a table share one.
_WINDOWS = (
    (0.99, 1.0), (0.0, 0.01), (0.95, 1.0), (0.0, 0.05), (0.9, 1.0), (0.0, 0.1), (0.8, 1.0), (0.0, 0.2), (0.5, 1.0),
    (0.0, 0.5), (0.0, 1.0),
)  # fmt: skip

_MARGIN = 0.15
_SAME = 1e-9


@frozen(slots=True)
class Scale:
    """Maps low..high to left..right (either way round), clamped to it."""

    low: float
    high: float
    left: float
    right: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.left + min(max(share, 0.0), 1.0) * (self.right - self.left), 2)


def window(values: Iterable[float], *, low: float | None, high: float | None) -> tuple[float, float]:
    """The smallest tidy range that shows all of `values` (at least one) of a quantity between `low` and `high`."""
    least, most = _ends(values)
    if low == 0 and high == 1:
        for lowest, highest in _WINDOWS:
            if lowest <= least and most <= highest:
                return lowest, highest
    size = max(abs(least), abs(most))
    # Values closer than a float can tell steps between are one value to a drawing.
    margin = (most - least if most - least > size * _SAME else size) * _MARGIN or 1.0
    start, end = least - margin, most + margin
    if low is not None and (start < low or least - low < (most - low) / 2):
        start = low
    if high is not None and end > high:
        end = high
    step = _tidy((end - start) / 4)
    return math.floor(start / step + 1e-9) * step, math.ceil(end / step - 1e-9) * step


def _ends(values: Iterable[float]) -> tuple[float, float]:
    known = list(values)
    return min(known), max(known)


def _tidy(step: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is not below `step`."""
    power: float = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= step * (1 - 1e-9))


def tick(value: float) -> str:
    """The label of a tidy number: as short as it is exact enough."""
    return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:.3g}"
