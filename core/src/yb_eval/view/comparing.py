"""Two stored runs of a suite as one document: the later one's report, with its comparison made with the earlier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import asdict, frozen

from yb_eval.record import Store, StoredRun, compare, read_log, records
from yb_eval.record.baseline import baseline_of
from yb_eval.record.changes import changes, pairings
from yb_eval.reports.html.sections import SuiteSection, suite_section
from yb_eval.reports.view import RunView


@frozen(slots=True)
class Side:
    """One of the two runs, for the head of the page."""

    title: str
    run_id: str
    report: Mapping[str, Any]
    started: str


@frozen(slots=True)
class Compared:
    suite: str
    before: Side
    after: Side
    section: SuiteSection


def suites_of(store: Store, run: StoredRun) -> dict[str, StoredRun]:
    """The run's parts by the name of their suite; a suite that was composed twice is left out, for it is ambiguous."""
    names = [(str(child.manifest["report"]["suite"]), child) for child in store.children(run)]
    found = dict(names)
    return {name: found[name] for name in found if sum(1 for other, _ in names if other == name) == 1}


def compared(store: Store, suite: str, before: StoredRun, after: StoredRun) -> Compared:
    """Compares two runs of `suite`, each a part's own (see `suites_of`), whose digests have been verified."""
    left = baseline_of(before, store, suite, before.run_id)
    report = after.manifest["report"]
    revisions = {revision for _, revision in left.datasets}, {d["revision_id"] for d in report["datasets"]}
    with store.open(report["outcomes"]["sha256"]) as log:
        found = compare(
            left.samples,
            records(read_log(log)),
            baseline_run_id=before.run_id,
            same_revision=revisions[0] == revisions[1],
        )
    # What only one run measured (its own comparison with a baseline, say) has no place beside the other.
    measured = {name: entry for name, entry in report["measurements"].items() if name in left.measurements}
    moved = changes(
        {name: then.value for name, then in left.measurements.items()},
        {name: entry["value"] for name, entry in measured.items()},
        {**left.pairings, **pairings(report.get("declared") or {})},
        found,
    )
    comparison = {
        **asdict(found),
        "measurements": {
            one.name: {"value": one.after, "baseline": one.before, "change": one.change, "interval": one.interval}
            for one in moved
            if one.change is not None
        },
    }
    merged = {**report, "measurements": measured, "comparison": comparison}
    view = RunView(document={"suites": [merged]})
    sides = (_side("Before", before), _side("After", after))
    return Compared(suite, *sides, suite_section(view, 0))


def _side(title: str, run: StoredRun) -> Side:
    return Side(title, run.run_id, run.manifest["report"], str(run.manifest["envelope"].get("started") or ""))
