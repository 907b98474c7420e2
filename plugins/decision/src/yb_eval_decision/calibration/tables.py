"""A calibration report as text."""

from __future__ import annotations

from collections.abc import Iterator

from yb_eval.errors import printable
from yb_eval_decision.calibration.report import EvalCalibration, Report
from yb_eval_decision.calibration.thresholds import Rate, ThresholdRow

_HEAD = ("threshold", "passes", "false pass", "false fail", "precision", "recall")
_WIDTHS = (10, 20, 20, 20, 20, 20)


def report_text(report: Report) -> str:
    """All evals one after another; rates with their 95 % intervals."""
    seen = report.observed
    models = f", models: {', '.join(map(printable, sorted(seen.models)))}" if seen.models else ""
    lines = [
        f"backend {printable(report.backend)}{models}",
        f"data {report.revision_id[:12]}: {seen.rows} rows, {seen.unlabelled} without a label that is asked",
    ]
    for one in report.evals.values():
        lines += ["", *_eval(one)]
    return "\n".join(lines)


def _eval(one: EvalCalibration) -> Iterator[str]:
    yield (f"{one.name}: fitted on {one.fit_n} ({one.fit_passes} should pass), "
           f"reported on {one.report_n} others ({one.report_passes} should pass)")  # fmt: skip
    out = ", ".join(f"{n} {why}" for why, n in sorted(one.left_out.items()) if n)
    if out:
        yield f"  left out: {out}"
    if one.before is not None:
        after = one.after
        numbers = [f"AUROC {one.auroc:.3f}" if one.auroc is not None else "AUROC –"]
        for name in ("brier", "ece"):
            then = "" if after is None else f" -> {getattr(after, name):.3f}"
            numbers.append(f"{'Brier' if name == 'brier' else 'ECE'} {getattr(one.before, name):.3f}{then}")
        yield "  " + ", ".join(numbers)
    if one.table or one.own:
        yield "  " + _columns(_HEAD)
        rows = ([one.own] if one.own else []) + list(one.table)
        for row in rows:
            yield "  " + _columns(_cells(row, one.threshold))
    if one.threshold is not None:
        yield f"  chosen on the fit part: {one.threshold:g} (marked *)"
    if one.band is not None:
        yield f"  undecided: raw scores between {one.band[0]:.3f} and {one.band[1]:.3f}"
    for warning in one.warnings:
        yield f"  ! {warning}"


def _cells(row: ThresholdRow, chosen: float | None) -> tuple[str, ...]:
    name = "own" if row.threshold is None else f"{row.threshold:.2f}{'*' if row.threshold == chosen else ''}"
    return (name, *(_rate(rate) for rate in (row.auto_rate, row.false_pass, row.false_fail, row.precision, row.recall)))


def _rate(rate: Rate) -> str:
    interval = rate.interval
    if interval is None or rate.value is None:
        return "–"
    return f"{rate.value:.3f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def _columns(cells: tuple[str, ...]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, _WIDTHS, strict=True)).rstrip()
