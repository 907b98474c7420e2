"""The geometry of the report's drawings. Templates draw it; each drawing carries its text alternative."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from yb_eval.reports.findings import Threshold
from yb_eval.reports.html.scales import Scale, tick, window
from yb_eval.reports.view import Json
from yb_eval.reports.wording import number


@frozen(slots=True)
class IntervalPlot:
    """A value and its interval on a line, with the thresholds of gates and the region that they refuse."""

    low: str
    high: str
    dot: float
    bar: tuple[float, float] | None
    baseline: float | None
    thresholds: tuple[float, ...]
    refused: tuple[tuple[float, float], ...]
    failing: bool
    label: str

    WIDTH = 240
    _LEFT, _RIGHT = 8.0, 232.0


def interval_plot(
    measurement: Json,
    declared: Json,
    thresholds: Sequence[Threshold] = (),
    baseline: float | None = None,
    within: tuple[float, float] | None = None,
) -> IntervalPlot | None:
    """The plot of a measurement over the range `within` (by default its own), `None` where it has no value."""
    value = measurement["value"]
    if value is None:
        return None
    bounds = measurement.get("interval")
    limits = [threshold.number for threshold in thresholds]
    values = [value, *(bounds or ()), *limits, *([baseline] if baseline is not None else [])]
    shown = within or window(values, low=declared.get("low"), high=declared.get("high"))
    at = Scale(*shown, IntervalPlot._LEFT, IntervalPlot._RIGHT)
    refused = [_refused(threshold, at) for threshold in thresholds]
    said = [number(value)]
    said += [f"95 % interval {number(bounds[0])} to {number(bounds[1])}"] if bounds else []
    said += [f"gate {t.symbol} {tick(t.number)} {t.verdict}" for t in thresholds]
    said += [f"baseline {number(baseline)}"] if baseline is not None else []
    return IntervalPlot(
        low=tick(shown[0]),
        high=tick(shown[1]),
        dot=at(value),
        bar=(at(bounds[0]), round(at(bounds[1]) - at(bounds[0]), 2)) if bounds else None,
        baseline=at(baseline) if baseline is not None else None,
        thresholds=tuple(at(limit) for limit in limits),
        refused=tuple(span for span in refused if span is not None),
        failing=any(threshold.verdict != "pass" for threshold in thresholds),
        label="; ".join(said),
    )


def _refused(threshold: Threshold, at: Scale) -> tuple[float, float] | None:
    """Where the gate's comparison is false, as (x, width); none for an equality, which refuses all but a point."""
    place = at(threshold.number)
    if threshold.symbol in (">", ">="):
        return at.left, round(place - at.left, 2)
    if threshold.symbol in ("<", "<="):
        return place, round(at.right - place, 2)
    return None


@frozen(slots=True)
class Frame:
    """The axes of a square or wide chart: tick marks as (place, label) on each side."""

    width: int
    height: int
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    left: float
    right: float
    top: float
    bottom: float


def _frame(width: int, height: int, x: tuple[float, float], y: tuple[float, float]) -> tuple[Frame, Scale, Scale]:
    left, right, top, bottom = 44.0, width - 12.0, 10.0, height - 34.0
    across, up = Scale(*x, left, right), Scale(*y, bottom, top)
    middle = ((x[0] + x[1]) / 2, (y[0] + y[1]) / 2)
    frame = Frame(
        width, height,
        tuple((across(value), tick(value)) for value in (x[0], middle[0], x[1])),
        tuple((up(value), tick(value)) for value in (y[0], middle[1], y[1])),
        left, right, top, bottom,
    )  # fmt: skip
    return frame, across, up


@frozen(slots=True)
class Bin:
    x: float
    y: float
    width: float
    height: float
    dot: tuple[float, float]
    radius: float


@frozen(slots=True)
class Reliability:
    """Accuracy against confidence, bin by bin; on the diagonal the system knows how sure it may be."""

    frame: Frame
    bins: tuple[Bin, ...]
    label: str


def reliability(bins: Sequence[Json]) -> Reliability | None:
    """The reliability diagram of calibration bins, `None` where all are empty."""
    filled = [entry for entry in bins if entry["n"]]
    if not filled:
        return None
    frame, across, up = _frame(300, 290, (0.0, 1.0), (0.0, 1.0))
    most = max(entry["n"] for entry in filled)
    drawn = tuple(
        Bin(
            x=across(entry["low"]) + 1,
            y=up(entry["accuracy"]),
            width=round(across(entry["high"]) - across(entry["low"]) - 2, 2),
            height=round(frame.bottom - up(entry["accuracy"]), 2),
            dot=(across(entry["confidence"]), up(entry["accuracy"])),
            radius=round(2.5 + 4.5 * (entry["n"] / most) ** 0.5, 2),
        )
        for entry in filled
    )
    worst = max(filled, key=lambda entry: abs(entry["confidence"] - entry["accuracy"]))
    said = (
        f"Reliability diagram of {len(filled)} bins. The widest gap: confidence {number(worst['confidence'])}, "
        f"accuracy {number(worst['accuracy'])}, n {worst['n']}."
    )
    return Reliability(frame, drawn, said)


@frozen(slots=True)
class Curve:
    """A line over an area: `points` is what an SVG polyline takes."""

    frame: Frame
    points: str
    area: str
    label: str


def risk_coverage(curve: Sequence[Sequence[float]]) -> Curve | None:
    """The risk among accepted samples over the share that is accepted, `None` for an empty curve."""
    if not curve:
        return None
    highest = max(risk for _, risk in curve)
    frame, across, up = _frame(380, 290, (0.0, 1.0), window([0.0, highest], low=0.0, high=1.0))
    places = [(across(coverage), up(risk)) for coverage, risk in curve]
    line = " ".join(f"{x},{y}" for x, y in places)
    first, last = places[0][0], places[-1][0]
    (start, low), (end, high) = curve[0], curve[-1]
    said = (
        f"Risk-coverage curve: risk {number(low)} at coverage {number(start)}, {number(high)} at {number(end)}; "
        f"highest {number(highest)}."
    )
    return Curve(frame, line, f"{first},{frame.bottom} {line} {last},{frame.bottom}", said)


@frozen(slots=True)
class TrendPoint:
    x: float
    y: float
    failed: bool
    title: str


@frozen(slots=True)
class Trend:
    """One measurement over the runs of a suite, this one last; a run without a value leaves a gap."""

    name: str
    lines: tuple[str, ...]
    points: tuple[TrendPoint, ...]
    thresholds: tuple[float, ...]
    low: str
    high: str
    last: str
    label: str

    WIDTH, HEIGHT = 360, 120
    _LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 346.0, 12.0, 96.0


def trend(
    name: str,
    runs: Sequence[tuple[str, float | None, bool]],
    declared: Json,
    thresholds: Sequence[Threshold] = (),
) -> Trend | None:
    """The trend of runs given as (when, value, failed), oldest first; `None` with fewer than two values."""
    known = [value for _, value, _ in runs if value is not None]
    if len(known) < 2:
        return None
    limits = [threshold.number for threshold in thresholds]
    shown = window([*known, *limits], low=declared.get("low"), high=declared.get("high"))
    across = Scale(0, len(runs) - 1, Trend._LEFT, Trend._RIGHT)
    up = Scale(*shown, Trend._BOTTOM, Trend._TOP)
    lines: list[list[str]] = [[]]
    points = []
    for place, (when, value, failed) in enumerate(runs):
        if value is None:
            lines.append([])
            continue
        point = TrendPoint(across(place), up(value), failed, f"{when}: {number(value)}{', failed' if failed else ''}")
        points.append(point)
        lines[-1].append(f"{point.x},{point.y}")
    said = (
        f"{len(known)} runs, from {number(known[0])} to {number(known[-1])}, "
        f"lowest {number(min(known))}, highest {number(max(known))}"
    )
    return Trend(
        name=name,
        lines=tuple(" ".join(line) for line in lines if len(line) > 1),
        points=tuple(points),
        thresholds=tuple(up(limit) for limit in limits),
        low=tick(shown[0]),
        high=tick(shown[1]),
        last=number(known[-1]),
        label="; ".join([said, *(f"gate {t.symbol} {tick(t.number)}" for t in thresholds)]),
    )
