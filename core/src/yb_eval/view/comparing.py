"""Two stored runs of a suite as one document: the later one's report, with its comparison made with the earlier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import asdict, frozen

from yb_eval.model import Comparison
from yb_eval.record import Baseline, Store, StoredRun, compare, read_log, records
from yb_eval.record.baseline import baseline_of
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
    comparison = {**asdict(found), "measurements": _changes(left, measured, report.get("declared") or {}, found)}
    merged = {**report, "measurements": measured, "comparison": comparison}
    view = RunView(document={"suites": [merged]})
    sides = (_side("Before", before), _side("After", after))
    return Compared(suite, *sides, suite_section(view, 0))


def _side(title: str, run: StoredRun) -> Side:
    return Side(title, run.run_id, run.manifest["report"], str(run.manifest["envelope"].get("started") or ""))


def _changes(
    left: Baseline, measured: Mapping[str, Any], declared: Mapping[str, Any], found: Comparison
) -> dict[str, Any]:
    """The change of each measurement that both runs have, with the paired interval where its metric declares one."""
    changes = {}
    for name, now in measured.items():
        then = left.measurements[name]
        if then.value is not None and now["value"] is not None:
            changes[name] = {
                "value": now["value"],
                "baseline": then.value,
                "change": now["value"] - then.value,
                "interval": _interval(declared.get(name) or {}, found),
            }
    return changes


def _interval(declared: Mapping[str, Any], found: Comparison) -> tuple[float, float] | None:
    pair = found.judgements.get(declared.get("judgement") or "")
    if pair is None or declared.get("pairing") is None:
        return None
    return pair.interval if declared["pairing"] == "correct" else pair.score_interval
