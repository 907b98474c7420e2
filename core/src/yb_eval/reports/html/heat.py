"""A confusion table as a heat map: rows are what was expected, columns what was predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence

from attrs import frozen

#: More labels than this do not fit a page; those with the most mistakes are shown.
MOST_LABELS = 20

_STEPS = 8
_PAIRS = 5


@frozen(slots=True)
class Cell:
    count: int
    heat: int
    right: bool
    share: float


@frozen(slots=True)
class HeatMap:
    """`rows` pairs each expected label with its cells; `heat` is 0..8, the share of the row in eighths, rounded up."""

    name: str
    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    left_out: int
    confused: tuple[tuple[str, str, int], ...]


def heat_map(name: str, labels: Sequence[str], rows: Sequence[Sequence[int]]) -> HeatMap:
    """The map of a square table of counts, with the pairs of labels that are confused most."""
    places = range(len(labels))
    mistakes = {place: sum(rows[place]) + sum(row[place] for row in rows) - 2 * rows[place][place] for place in places}
    kept = sorted(sorted(places, key=lambda place: -mistakes[place])[:MOST_LABELS])
    pairs = [(-rows[i][j], i, j) for i in places for j in places if i != j and rows[i][j]]
    return HeatMap(
        name=name,
        labels=tuple(labels[place] for place in kept),
        rows=tuple((labels[i], tuple(_cell(rows[i], i, j) for j in kept)) for i in kept),
        left_out=len(labels) - len(kept),
        confused=tuple((labels[i], labels[j], -count) for count, i, j in sorted(pairs)[:_PAIRS]),
    )


def _cell(row: Sequence[int], expected: int, predicted: int) -> Cell:
    total = sum(row)
    share = row[predicted] / total if total else 0.0
    return Cell(row[predicted], math.ceil(share * _STEPS), expected == predicted, share)
