"""What the page shows of one suite, as plain values for the template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval.reports import findings
from yb_eval.reports.families import Family, family_of
from yb_eval.reports.findings import Threshold
from yb_eval.reports.html import charts
from yb_eval.reports.html.heat import HeatMap, heat_map
from yb_eval.reports.html.scales import tick, window
from yb_eval.reports.view import Json, RunView

_FLIPS = 200
_SLICES = 60
_TRENDS = 6
_RUNS = 60


@frozen(slots=True)
class Measured:
    """A row of the table of measurements."""

    name: str
    help: str
    measurement: Json
    plot: charts.IntervalPlot | None
    change: Json | None
    verdict: str | None

    @property
    def is_count(self) -> bool:
        """Whether there is nothing to draw: a value without interval or gate."""
        return self.verdict is None and self.measurement["value"] is not None and not self.measurement.get("interval")


@frozen(slots=True)
class SliceTable:
    """The slices of one dimension: a row per key, worst first; a cell per measurement (its entry and plot, or None).

    All plots of a measurement have one scale, so that they can be compared; `measures` says where it begins and ends.
    """

    dimension: str
    measures: tuple[tuple[str, tuple[str, str] | None], ...]
    rows: tuple[tuple[str, tuple[tuple[Json, charts.IntervalPlot | None] | None, ...]], ...]
    left_out: int


@frozen(slots=True)
class Figure:
    """A chart with the numbers behind it, for those who do not see it."""

    name: str
    chart: Any
    data: Sequence[Any]


@frozen(slots=True)
class SuiteSection:
    index: int
    suite: Json
    name: str
    summary: tuple[str, ...]
    measured: tuple[Measured, ...]
    counted: tuple[Measured, ...]
    compared: Json | None
    broken: tuple[Json, ...]
    moved: tuple[Json, ...]
    broken_count: int
    moved_count: int
    heat_maps: tuple[HeatMap, ...]
    calibrations: tuple[Figure, ...]
    curves: tuple[Figure, ...]
    family: SliceTable | None
    slices: tuple[SliceTable, ...]
    trends: tuple[charts.Trend, ...]


def suite_section(view: RunView, index: int) -> SuiteSection:
    suite = view.document["suites"][index]
    limits = findings.thresholds(suite)
    broken = list(findings.flips(suite, "broken"))
    moved = [flip for kind in ("fixed", "changed") for flip in findings.flips(suite, kind)]
    whole = {name: m for name, m in suite["measurements"].items() if findings.split_slice(name)[1] is None}
    family = family_of(suite)
    # What a gate looks at stands among the first, family or not.
    listed = {name: m for name, m in whole.items() if family is None or name not in family.names or name in limits}
    measured = sorted(_measured(suite, listed, limits), key=lambda row: row.verdict is None)
    return SuiteSection(
        index=index,
        suite=suite,
        name=findings.name_of(suite),
        summary=tuple(findings.summary(suite)),
        measured=tuple(row for row in measured if not row.is_count),
        counted=tuple(row for row in measured if row.is_count),
        compared=findings.compared(suite),
        broken=tuple(broken[:_FLIPS]),
        moved=tuple(moved[:_FLIPS]),
        broken_count=len(broken),
        moved_count=len(moved),
        heat_maps=tuple(_heat_maps(suite)),
        calibrations=tuple(_calibrations(suite)),
        curves=tuple(_curves(suite)),
        family=_family_table(suite, family, limits) if family is not None else None,
        slices=tuple(_slices(suite, limits)),
        trends=tuple(_trends(view, index, whole, limits)),
    )


def _declared(suite: Json, name: str) -> Json:
    found: Json = (suite.get("declared") or {}).get(findings.split_slice(name)[0]) or {}
    return found


def _measured(suite: Json, whole: dict[str, Json], limits: dict[str, list[Threshold]]) -> Iterator[Measured]:
    changes = (findings.compared(suite) or {}).get("measurements") or {}
    for name, measurement in whole.items():
        declared, change = _declared(suite, name), changes.get(name)
        thresholds = limits.get(name, [])
        plot = charts.interval_plot(measurement, declared, thresholds, change["baseline"] if change else None)
        words = {threshold.verdict for threshold in thresholds}
        verdict = next((word for word in ("fail", "unmeasured", "pass") if word in words), None)
        yield Measured(name, declared.get("help") or "", measurement, plot, change, verdict)


def _details(suite: Json, key: str) -> Iterator[tuple[str, Json]]:
    """Measurements whose details have `key`."""
    for name, measurement in suite["measurements"].items():
        details = measurement.get("details")
        if details and key in details:
            yield name, details


def _heat_maps(suite: Json) -> Iterator[HeatMap]:
    for name, details in _details(suite, "labels"):  # "rows" alone may be any table of a suite's own
        if details.get("rows"):
            yield heat_map(name, details["labels"], details["rows"])


def _calibrations(suite: Json) -> Iterator[Figure]:
    for name, details in _details(suite, "bins"):
        chart = charts.reliability(details["bins"])
        if chart is not None:
            yield Figure(name, chart, [entry for entry in details["bins"] if entry["n"]])


def _curves(suite: Json) -> Iterator[Figure]:
    for name, details in _details(suite, "curve"):
        chart = charts.risk_coverage(details["curve"])
        if chart is not None:
            step = max(len(details["curve"]) // 10, 1)
            yield Figure(name, chart, details["curve"][step - 1 :: step])


def _slices(suite: Json, limits: dict[str, list[Threshold]]) -> Iterator[SliceTable]:
    dimensions: dict[str, dict[str, dict[str, Json]]] = {}
    measures: dict[str, dict[str, None]] = {}
    for name, measurement in suite["measurements"].items():
        base, key = findings.split_slice(name)
        if key is None:
            continue
        dimension, colon, label = key.partition(":")
        dimension, label = (dimension, label) if colon else ("", key)
        dimensions.setdefault(dimension, {}).setdefault(label, {})[base] = measurement
        measures.setdefault(dimension, {})[base] = None
    for dimension, labels in dimensions.items():
        columns = _telling(measures[dimension], labels.values())
        ranked = sorted(labels.items(), key=lambda item: _badness(suite, columns[0], item[1].get(columns[0])))
        kept = ranked[:_SLICES]
        ranges = {base: _range(suite, base, [row.get(base) for _, row in kept]) for base in columns}
        rows = []
        for label, row in kept:
            gated = {base: limits.get(f"{base}[{dimension}:{label}]", []) for base in columns}
            cells = (_slice_cell(suite, base, row.get(base), gated[base], ranges[base]) for base in columns)
            rows.append((label, tuple(cells)))
        heads = ((base, (tick(ends[0]), tick(ends[1])) if ends else None) for base, ends in ranges.items())
        yield SliceTable(dimension, tuple(heads), tuple(rows), len(ranked) - len(kept))


def _telling(measures: Iterable[str], rows: Iterable[Mapping[str, Json]]) -> tuple[str, ...]:
    """The measurements that some slice has a value of; all of them where none has."""
    rows, columns = list(rows), tuple(measures)
    known = tuple(base for base in columns if any(base in row and row[base]["value"] is not None for row in rows))
    return known or columns


def _family_table(suite: Json, family: Family, limits: dict[str, list[Threshold]]) -> SliceTable:
    """The judgements that share measurements, as a table like that of slices, in their order; counts have no plot."""
    measurements = suite["measurements"]
    ranges: dict[int, tuple[float, float] | None] = {}
    for place in range(len(family.measures)):
        own = [name for _, names in family.rows if (name := names[place]) is not None]
        counted = all(_declared(suite, name).get("high") is None for name in own)
        ranges[place] = None if counted else _range(suite, own[0], [measurements[name] for name in own])
    rows = []
    for judgement, names in family.rows:
        cells = [
            None
            if name is None
            else (measurements[name], None)
            if ranges[place] is None
            else _slice_cell(suite, name, measurements[name], limits.get(name, []), ranges[place])
            for place, name in enumerate(names)
        ]
        rows.append((judgement, tuple(cells)))
    heads = (
        (family.measures[place], (tick(ends[0]), tick(ends[1])) if ends else None) for place, ends in ranges.items()
    )
    return SliceTable("judgement", tuple(heads), tuple(rows), len(family.silent))


def _range(suite: Json, base: str, measurements: Sequence[Json | None]) -> tuple[float, float] | None:
    """The range that shows a measurement in all slices, `None` where no slice has a value."""
    known = [m for m in measurements if m is not None and m["value"] is not None]
    values = [value for m in known for value in (m["value"], *(m.get("interval") or ()))]
    declared = _declared(suite, base)
    return window(values, low=declared.get("low"), high=declared.get("high")) if values else None


def _badness(suite: Json, base: str, measurement: Json | None) -> tuple[bool, float]:
    """Sorts the worst value first, missing ones last."""
    if measurement is None or measurement["value"] is None:
        return True, 0.0
    value: float = measurement["value"]
    return False, -value if findings.better(suite, base) == "lower" else value


def _slice_cell(
    suite: Json,
    base: str,
    measurement: Json | None,
    thresholds: list[Threshold],
    within: tuple[float, float] | None,
) -> tuple[Json, charts.IntervalPlot | None] | None:
    if measurement is None:
        return None
    return measurement, charts.interval_plot(measurement, _declared(suite, base), thresholds, within=within)


def _trends(
    view: RunView, index: int, whole: dict[str, Json], limits: dict[str, list[Threshold]]
) -> Iterator[charts.Trend]:
    """The measurements that gates look at, over the runs of the same target (another's are not a trend)."""
    suite = view.document["suites"][index]
    spec = suite["target"]["spec"]
    earlier = [run for run in view.history(index) if run.get("target", spec) == spec][-_RUNS:]
    gated = [name for name in whole if name in limits] or list(whole)[:1]
    for name in gated[:_TRENDS]:
        runs = [(str(run.get("started") or "")[:10], _value(run, name), run["verdict"] == "fail") for run in earlier]
        runs.append(("this run", whole[name]["value"], suite["verdict"] == "fail"))
        made = charts.trend(name, runs, _declared(suite, name), limits.get(name, []))
        if made is not None:
            yield made


def _value(run: Json, name: str) -> float | None:
    measurement = (run.get("measurements") or {}).get(name)
    return measurement.get("value") if isinstance(measurement, dict) else measurement
