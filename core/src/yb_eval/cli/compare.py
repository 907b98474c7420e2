"""`yb-eval compare A B`: which samples flipped, and what that does to the measurements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click
from attrs import asdict

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.errors import ExitCode, UsageError, printable, shorten
from yb_eval.model import Comparison, Paired
from yb_eval.record import Baseline, Store, compare, read_baseline
from yb_eval.record.baseline import parts_of
from yb_eval.record.changes import Change, changes, smallest_seen

#: The text names this many of the added and of the removed samples; JSON has all.
_NAMED = 5


@click.command("compare")
@click.argument("before")
@click.argument("after")
@click.option(
    "--suite", metavar="NAME", help="What to compare where the runs are of several: a suite, or the name of one."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(before: str, after: str, suite: str | None, as_json: bool, store: Store) -> int:
    """Compare two runs sample by sample. Each is a run id, `latest`, or a baseline file.

    Ends with 3 if they cannot be compared: that is never the same as no difference.
    """
    name, of_suite = _chosen(suite, parts_of(before, store), parts_of(after, store))
    left, right = (read_baseline(source, store, of_suite, name=name) for source in (before, after))
    same = {revision for _, revision in left.datasets} == {revision for _, revision in right.datasets}
    found = compare(left.samples, sorted(right.samples.items()), baseline_run_id=left.run_id, same_revision=same)
    moved = _moved(left, right, found)
    if as_json:
        import orjson

        document = {"suite": of_suite, "name": name, **_document(found, moved)}
        emit([orjson.dumps(document, option=orjson.OPT_INDENT_2).decode(), "\n"])
    else:
        emit(f"{line}\n" for line in _text(name, left, right, found, moved))
    return 0 if found.comparable else int(ExitCode.NOT_MEASURED)


def _chosen(name: str | None, before: dict[str, str], after: dict[str, str]) -> tuple[str, str]:
    """The name to compare, and its suite. `before` and `after` are the two sides' suites by name."""
    if name is None:
        # A suite that ran under different names is still one suite.
        names = before.keys() & after.keys() or set(before.values()) & set(after.values())
        if len(names) != 1:
            said = ", ".join(sorted(names)) or "none"
            raise UsageError(f"the suites that both runs have: {said}", hint="choose one with --suite")
        (name,) = names
    suites = sorted({side[name] for side in (before, after) if name in side})
    if len(suites) > 1:
        raise UsageError(f"{name!r} is the suite {suites[0]!r} in one run and {suites[1]!r} in the other")
    return name, suites[0] if suites else name


def _moved(left: Baseline, right: Baseline, found: Comparison) -> list[Change]:
    """What is worth a line: each measurement that differs, and each that is compared by pairs."""
    before, after = ({name: m.value for name, m in side.measurements.items()} for side in (left, right))
    made = changes(before, after, {**left.pairings, **right.pairings}, found)
    return [one for one in made if one.before != one.after or one.interval is not None]


def _document(found: Comparison, moved: Sequence[Change]) -> dict[str, Any]:
    document = asdict(found)
    for name, pair in found.judgements.items():
        document["judgements"][name]["minimum_detectable_change"] = smallest_seen(pair)
    whole = smallest_seen(found.judgements.get(""))
    return {**document, "measurements": [asdict(one) for one in moved], "minimum_detectable_change": whole}


def _text(name: str, left: Baseline, right: Baseline, found: Comparison, moved: Sequence[Change]) -> Iterator[str]:
    yield f"{printable(name)}: {left.run_id[:12]} -> {right.run_id[:12]}"
    if not found.comparable:
        yield f"not comparable: {found.reason}"
        return
    if not found.same_revision:
        yield "the datasets are of different revisions: only the shared samples are compared"
    yield f"{found.shared} shared samples, {len(found.added)} added, {len(found.removed)} removed"
    for kind, ids in (("added", found.added), ("removed", found.removed)):
        if ids:
            more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
            yield f"  {kind:<7} {', '.join(map(printable, ids[:_NAMED]))}{more}"
    for judgement, pair in found.judgements.items():
        yield from _judged(f"{judgement}: " if judgement else "", pair)
    for flip in found.flips:
        label = f" [{flip.judgement}]" if flip.judgement else ""
        yield f"  {flip.kind:<7} {printable(flip.id)}{label}: {shorten(flip.before)} -> {shorten(flip.after)}"
    for one in moved:
        yield f"  {one.name}: {_number(one.before)} -> {_number(one.after)}{_difference(one)}"


def _judged(label: str, pair: Paired) -> Iterator[str]:
    counts = f"{pair.broken} broken, {pair.fixed} fixed, {pair.changed} changed, {pair.lost} lost"
    yield f"{label}{counts} (McNemar p={pair.p_value:.3g})"
    if pair.interval is not None:
        right = f"right {(pair.fixed - pair.broken) / pair.n:+.4g}{_interval(pair.interval)} of {pair.n} pairs"
        yield f"  {label}{right}; a change under {smallest_seen(pair):.3g} would go unseen"
    if pair.score_change is not None:
        yield f"  {label}score {pair.score_change:+.4g}{_interval(pair.score_interval)}"


def _difference(one: Change) -> str:
    if one.before is None or one.after is None:
        return ""
    if one.change is None:
        return " (over other samples)"
    return f" ({one.change:+.4g}{_interval(one.interval)})"


def _interval(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f", 95 % {interval[0]:+.4g}..{interval[1]:+.4g}"


def _number(value: float | None) -> str:
    return "null" if value is None else f"{value:.6g}"
