"""The mean, for the `reduce` of one's own evals."""

from __future__ import annotations

from collections.abc import Iterable


def mean(values: Iterable[float]) -> float | None:
    """The arithmetic mean of numbers or truth values; `None` of nothing, so that a result made of it is unmeasured."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else None
