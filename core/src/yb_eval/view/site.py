"""The pages of a store: what each shows, put into its template. Nothing here writes, and nothing knows of HTTP but the
status that a page goes out with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import Factory, define, field, frozen

from yb_eval.composition import stored_report
from yb_eval.errors import StoreError, UsageError, shorten
from yb_eval.record import Store, StoredRun, read_log
from yb_eval.reports.html.page import report_script, report_values
from yb_eval.reports.html.shell import environment, policy, resource
from yb_eval.reports.view import RunView
from yb_eval.view import trends
from yb_eval.view.comparing import compared, suites_of
from yb_eval.view.index import SCAN, VERDICTS, Entry, Index

_PACKAGE = "yb_eval.view"
_HISTORY = 60


@frozen(slots=True)
class Page:
    """A whole page, the policy that it stands under, and the status it goes out with."""

    text: str
    policy: str
    status: int = 200


class Problem(Exception):
    """What was asked for cannot be shown: `title` says so in a few words, `text` and `hint` in a line each."""

    def __init__(self, status: int, title: str, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.status, self.title, self.text, self.hint = status, title, text, hint


def _index(site: Site) -> Index:
    return Index(site.store)


@define(slots=True)
class Site:
    """The pages of the store at `store`. Each method reads what is there now."""

    store: Store
    index: Index = field(init=False, default=Factory(_index, takes_self=True))

    def runs(self, *, suite: str | None = None, verdict: str | None = None, after: str | None = None) -> Page:
        """The list of runs, and before its first page a card for each suite."""
        refs = self.index.refs()
        suites = self.index.suites(refs)
        asked = {"suite": suite, "verdict": verdict, "after": after}
        cards = [trends.card(self.index, name, entries) for name, entries in suites.items()]
        listing = self.index.listing(refs, suite=suite, verdict=verdict, after=after)
        values: dict[str, Any] = {
            "listing": listing,
            "cards": cards,
            "asked": asked,
            "scan": SCAN,
            "root": str(self.store.root),
        }
        return _page("runs.html.j2", here="runs", **values)

    def trends(self, *, suite: str | None = None) -> Page:
        """The trends of a suite, by default of the one that ran last."""
        suites = self.index.suites(self.index.refs())
        name = suite if suite is not None else next(iter(suites), None)
        if name is not None and name not in suites:
            raise Problem(404, "No such suite", f"No run of the suite {name!r} is among the newest of this store.")
        series = list(trends.series(self.index, suites[name])) if name is not None else []
        return _page("trends.html.j2", here="trends", suites=list(suites), suite=name, series=series)

    def run(self, run_id: str) -> Page:
        """One run: the HTML report, made of what was verified just now."""
        found = self._found(run_id)
        self.store.verify(found)
        report = stored_report(self.store, found)
        for suite in report["suites"]:
            if suite["verdict"] not in VERDICTS:
                raise StoreError(f"the run of {suite['suite']!r} has no verdict but {shorten(suite['verdict'])}")
        earlier = self._earlier(report)
        style, script = _style(), report_script()
        values = report_values(self._view(report, earlier))
        values |= {"here": "run", "style": style, "script": script, "policy": policy(style, script)}
        values["earlier_runs"] = [
            (section, runs[0].ref.run_id) for section, runs in zip(values["sections"], earlier, strict=True) if runs
        ]
        return Page(_render("run.html.j2", values), values["policy"])

    def compare(self, *, before: str, after: str, suite: str | None = None) -> Page:
        """Two runs, sample by sample. Of several suites that both have, the one to compare is asked for."""
        left, right = self._found(before), self._found(after)
        for run in (left, right):
            self.store.verify(run)
        sides = suites_of(self.store, left), suites_of(self.store, right)
        both = [name for name in sides[1] if name in sides[0]]
        if suite is None and len(both) == 1:
            suite = both[0]
        if suite is not None and suite not in both:
            raise Problem(404, "Not comparable", f"The two runs do not both have the suite {suite!r}.")
        if not both:
            said = " and ".join(", ".join(side) or "none" for side in sides)
            raise Problem(404, "Not comparable", f"The two runs have no suite in common: {said}.")
        made = compared(self.store, suite, sides[0][suite], sides[1][suite]) if suite is not None else None
        ids = {"before": left.run_id, "after": right.run_id}
        return _page("compare.html.j2", here="compare", made=made, suites=both, suite=suite, ids=ids)

    def chosen(self, runs: list[str]) -> tuple[str, str]:
        """The two runs that were ticked in the list as (before, after): the one that began first is before."""
        if len(runs) != 2:
            raise Problem(400, "Choose two runs", f"A comparison is of two runs, not of {len(runs)}.")
        before, after = sorted(map(self._found, runs), key=lambda run: str(run.manifest["envelope"].get("started")))
        return before.run_id, after.run_id

    def problem(self, error: Exception) -> Page:
        """The page that says why there is no other."""
        if isinstance(error, StoreError):
            hint = "The other runs can still be looked at. yb-eval verify --all checks the whole store."
            error = Problem(500, "It does not verify", str(error), hint)
        if isinstance(error, UsageError):
            error = Problem(404, "No such run", str(error))
        if not isinstance(error, Problem):
            said = f"{type(error).__name__}: {error}"
            error = Problem(
                500, "It cannot be shown", said, "What is stored is not of the shape that this version writes."
            )
        return _page("problem.html.j2", error.status, here="problem", problem=error)

    def _found(self, run_id: str) -> StoredRun:
        found = self.store.find(run_id)
        if run_id != "latest" and not found.run_id.startswith(run_id):
            raise StoreError(f"the ref of {run_id[:12]} leads to another run", where=str(self.store.root))
        return found

    def _earlier(self, report: Mapping[str, Any]) -> list[list[Entry]]:
        """For each suite of a run, the runs of that suite that began before it, newest first."""
        started = str(report["envelope"].get("started") or "")
        runs = self.index.suites(self.index.refs())
        return [
            [entry for entry in runs.get(suite["suite"], ()) if entry.row is not None and entry.row.started < started]
            for suite in report["suites"]
        ]

    def _view(self, report: Mapping[str, Any], earlier: Sequence[Sequence[Entry]]) -> RunView:
        def outcomes(index: int) -> Iterator[Mapping[str, Any]]:
            with self.store.open(report["suites"][index]["outcomes"]["sha256"]) as log:
                yield from read_log(log)

        def history(index: int) -> list[Mapping[str, Any]]:
            whole = [entry for entry in earlier[index] if entry.row is not None and not entry.row.part]
            return [_told(entry) for entry in whole[:_HISTORY][::-1]]

        return RunView(document=report, outcomes=outcomes, history=history)


def _told(entry: Entry) -> Mapping[str, Any]:
    row = entry.row
    assert row is not None, "a suite's runs are those that were read"
    return {
        "run_id": entry.ref.run_id,
        "started": row.started,
        "verdict": row.verdict,
        "target": row.target,
        "measurements": row.measured,
    }


def _style() -> str:
    return resource("report.css") + "\n" + resource("view.css", _PACKAGE)


def _page(template: str, status: int = 200, **values: Any) -> Page:
    style, script = _style(), resource("theme.js") + "\n" + resource("view.js", _PACKAGE)
    allowed = policy(style, script, form_action="'self'")
    return Page(_render(template, {**values, "style": style, "script": script, "policy": allowed}), allowed, status)


def _render(template: str, values: Mapping[str, Any]) -> str:
    return environment(_PACKAGE).get_template(template).render(values)
