"""`yb-eval compare A B`: which samples flipped, and what that does to the measurements."""

from __future__ import annotations

from typing import Any

import click
from attrs import asdict

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.errors import ExitCode, UsageError, printable, shorten
from yb_eval.model import Comparison, Measurements
from yb_eval.record import Baseline, Store, compare, read_baseline


@click.command("compare")
@click.argument("before")
@click.argument("after")
@click.option("--suite", help="The suite to compare, where the runs are of several.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(before: str, after: str, suite: str | None, as_json: bool, store: Store) -> int:
    """Compare two runs sample by sample. Each is a run id, `latest`, or a baseline file.

    Ends with 3 if they cannot be compared: that is never the same as no difference.
    """
    name = suite or _common_suite(before, after, store)
    left, right = (read_baseline(source, store, name) for source in (before, after))
    same = {revision for _, revision in left.datasets} == {revision for _, revision in right.datasets}
    found = compare(left.samples, sorted(right.samples.items()), baseline_run_id=left.run_id, same_revision=same)
    if as_json:
        import orjson

        changes = [{"name": n, "before": a, "after": b} for n, a, b in _changes(left.measurements, right.measurements)]
        document = {"suite": name, **asdict(found), "measurements": changes}
        emit([orjson.dumps(document, option=orjson.OPT_INDENT_2).decode(), "\n"])
    else:
        emit(f"{line}\n" for line in _text(name, left, right, found))
    return 0 if found.comparable else int(ExitCode.NOT_MEASURED)


def _common_suite(before: str, after: str, store: Store) -> str:
    both = _suites(before, store) & _suites(after, store)
    if len(both) != 1:
        said = ", ".join(sorted(both)) or "none"
        raise UsageError(f"the suites that both runs have: {said}", hint="choose one with --suite")
    return both.pop()


def _suites(source: str, store: Store) -> set[str]:
    from pathlib import Path

    from yb_eval.record.baseline import baseline_suite

    if Path(source).is_file():
        return {baseline_suite(Path(source))}
    return {child.manifest["report"]["suite"] for child in store.children(store.find(source))}


def _changes(before: Measurements, after: Measurements) -> list[tuple[str, Any, Any]]:
    pairs = [(name, before[name].value, after[name].value) for name in after if name in before]
    return [(name, old, new) for name, old, new in pairs if old != new]


def _text(suite: str, left: Baseline, right: Baseline, found: Comparison) -> list[str]:
    lines = [f"{suite}: {left.run_id[:12]} -> {right.run_id[:12]}"]
    if not found.comparable:
        return [*lines, f"not comparable: {found.reason}"]
    if not found.same_revision:
        lines.append("the datasets are of different revisions: only the shared samples are compared")
    lines.append(f"{found.shared} shared samples, {len(found.added)} added, {len(found.removed)} removed")
    for name, pair in found.judgements.items():
        label = f"{name}: " if name else ""
        lines.append(
            f"{label}{pair.broken} broken, {pair.fixed} fixed, {pair.changed} changed, {pair.lost} lost "
            f"(McNemar p={pair.p_value:.3g})"
        )
    for flip in found.flips:
        judgement = f" [{flip.judgement}]" if flip.judgement else ""
        lines.append(
            f"  {flip.kind:<7} {printable(flip.id)}{judgement}: {shorten(flip.before)} -> {shorten(flip.after)}"
        )
    for name, old, new in _changes(left.measurements, right.measurements):
        lines.append(f"  {name}: {_number(old)} -> {_number(new)}")
    return lines


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.6g}"
