"""How the measurements of a suite went, run by run: a series for each target, for another's runs are no trend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval.reports import findings
from yb_eval.reports.html import charts
from yb_eval.view.index import Entry, Index, Key, Row

#: Runs in a drawing.
RUNS = 60

_OTHERS = 24


@frozen(slots=True)
class Series:
    """The runs of one target, newest first, drawn oldest first. `gated` are drawings of what gates look at, `others` of
    the rest; `names` are the measurements to tell in a table. `partial` counts the runs that are left out."""

    target: str
    entries: tuple[Entry, ...]
    names: tuple[str, ...]
    gated: tuple[charts.Trend, ...]
    others: tuple[charts.Trend, ...]
    partial: int
    revisions: int

    @property
    def single(self) -> bool:
        return len(self.entries) == 1

    @property
    def newest(self) -> Row:
        row = self.entries[0].row
        assert row is not None, "a series is made of rows that were read"
        return row


@frozen(slots=True)
class Card:
    """A suite at a glance: its newest run (of the whole dataset, where there is one), the first measured key
    measurement of that, and how it went over the runs of the same target."""

    suite: str
    runs: int
    newest: Row
    key: Key | None
    drawing: charts.Trend | None


def series(index: Index, entries: Sequence[Entry]) -> Iterator[Series]:
    """The series of a suite's runs (newest first, as `Index.suites` gives them). Runs of a part of the dataset are
    only counted: their numbers are of other samples."""
    targets: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.row is not None:
            targets.setdefault(entry.row.target, []).append(entry)
    for target, found in targets.items():
        whole = [entry for entry in found if entry.row is not None and not entry.row.part][:RUNS]
        if whole:
            yield _series(index, target, whole, sum(1 for entry in found if entry.row is not None and entry.row.part))


def card(index: Index, suite: str, entries: Sequence[Entry]) -> Card:
    """The card of a suite's runs (newest first, as `Index.suites` gives them)."""
    rows = [entry.row for entry in entries if entry.row is not None]
    whole = [row for row in rows if not row.part] or rows
    newest = whole[0]
    key = next((key for key in newest.keys if key.value is not None), None)
    same = [row for row in whole if row.target == newest.target][:RUNS]
    drawing = _drawn(key.name, same[::-1], index.report(newest)) if key is not None else None
    return Card(suite, len(entries), newest, key, drawing)


def _series(index: Index, target: str, entries: list[Entry], partial: int) -> Series:
    rows = [entry.row for entry in entries if entry.row is not None]
    report = index.report(rows[0])
    limits = findings.thresholds(report)
    names = [name for name in rows[0].measured if name in limits and _tells(name, rows)] or list(rows[0].measured)[:1]
    rest = [name for name in rows[0].measured if name not in names]
    drawn = {name: _drawn(name, rows[::-1], report) for name in (*names, *rest[:_OTHERS])}
    return Series(
        target=target,
        entries=tuple(entries),
        names=tuple(names[:4]),
        gated=tuple(drawing for name in names if (drawing := drawn[name]) is not None),
        others=tuple(drawing for name in rest[:_OTHERS] if (drawing := drawn[name]) is not None),
        partial=partial,
        revisions=len({row.datasets for row in rows}),
    )


def _tells(name: str, rows: Sequence[Row]) -> bool:
    """Whether there is something to see: a count of errors that is always zero shows nothing."""
    return name != "errors" or any(row.errors for row in rows)


def _drawn(name: str, rows: Sequence[Row], report: Mapping[str, Any]) -> charts.Trend | None:
    """The trend over `rows`, oldest first, with a gap where the dataset's revision changed: a line through both would
    join numbers of different samples."""
    points: list[tuple[str, float | None, bool]] = []
    for place, row in enumerate(rows):
        if place and row.datasets != rows[place - 1].datasets:
            points.append(("", None, False))
        points.append((row.started[:16].replace("T", " "), row.measured.get(name), row.verdict == "fail"))
    declared = (report.get("declared") or {}).get(name) or {}
    return charts.trend(name, points, declared, findings.thresholds(report).get(name, []))
