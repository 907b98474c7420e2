"""Reports as text tables. Whatever comes from data or a backend is shown on one line, its control characters escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from yb_eval.errors import printable
from yb_eval_decision.results import EvalReport, Result

if TYPE_CHECKING:
    from yb_eval_decision.dataset_report import DatasetReport, Tally

#: Characters of a detail or a reason, and answers of one eval that are listed.
_DETAIL, _ANSWERS = 100, 6


def report_table(report: EvalReport) -> str:
    """One line for each eval, the usage in the last."""
    rows = [(result.name, _said(result), _short(_beside(result))) for result in report.results]
    return "\n".join([*_aligned(rows), str(report.usage)])


def _said(result: Result) -> str:
    """What an eval found, in a few words."""
    if not result.measured:
        return result.status
    mark = "" if result.passed is None else "passed" if result.passed else "FAILED"
    number = "" if result.score is None else f"{result.score:.2f}"
    p = "" if result.probability is None else f"p={result.probability:.2f}"
    answer = printable(result.answer or "")
    return "  ".join(part for part in (f"{mark:6}" if mark else "", number, answer, p) if part)


def _beside(result: Result) -> str:
    return result.detail if result.measured else result.reason


def dataset_table(report: DatasetReport) -> str:
    """One line for each eval: measured of all it applies to, mean, pass rate with its interval; then answers and whatever was not
    measured; in the last lines usage and latency."""
    lines = _aligned([("eval", "measured", "mean", "passed", "95 %"), *(_tally(tally) for tally in report)])
    for tally in report:
        lines += _notes(tally)
    lines.append(
        f"{report.n:,} samples · {report.usage}" + (f" · {report.resumed:,} resumed" if report.resumed else "")
    )
    p50, p95 = report.latency(0.5), report.latency(0.95)
    if p50 is not None and p95 is not None and p95 >= 1:
        lines.append(f"a request took {p50:.0f} ms (median), {p95:.0f} ms (95 %)")
    return "\n".join(lines)


def _tally(tally: Tally) -> tuple[str, ...]:
    interval = tally.pass_interval
    return (
        tally.name,
        f"{tally.counts['measured']:,}/{tally.n:,}",
        "-" if tally.mean is None else f"{tally.mean:.3f}",
        "-" if tally.pass_rate is None else f"{100 * tally.pass_rate:.1f} %",
        "-" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f} %",
    )


def _notes(tally: Tally) -> list[str]:
    notes = []
    if len(tally.answers) > 1 or (tally.answers and tally.passes + tally.failing == 0):
        ranked = sorted(tally.answers.items(), key=lambda item: (-item[1], item[0]))
        shown = ", ".join(f"{printable(name)} {count:,}" for name, count in ranked[:_ANSWERS])
        more = f", {len(ranked) - _ANSWERS} more" if len(ranked) > _ANSWERS else ""
        notes.append(f"{tally.name}: {shown}{more}")
    for status in ("error", "refused", "abstained", "skipped"):
        if count := tally.counts[status]:
            notes.append(_short(f"{tally.name}: {count:,} {status} ({tally.reasons[status]})"))
    bounds = tally.pass_bounds
    if bounds is not None and tally.judged and bounds[0] != bounds[1]:
        notes.append(
            f"{tally.name}: {100 * bounds[0]:.1f} to {100 * bounds[1]:.1f} % pass, counting what was not measured"
        )
    return notes


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(len(rows[0]) if rows else 0)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _short(text: str) -> str:
    line = printable(text)
    return line if len(line) <= _DETAIL else line[: _DETAIL - 1] + "…"
