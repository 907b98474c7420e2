"""Running suites from the command line: announce the plan, show progress, print and write the reports."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from yb_eval import composition
from yb_eval.cli.logs import log
from yb_eval.cli.output import beside, color, emit, note, width
from yb_eval.configuration import WholeOptions
from yb_eval.errors import ExitCode, StoreError, UsageError, YbEvalError, nearest
from yb_eval.plugins import describe, load_extensions
from yb_eval.preparation import Environment, Prepared
from yb_eval.record import Store, read_log
from yb_eval.record.files import atomic, writable
from yb_eval.reports import Reporter, RunView
from yb_eval.reports.wording import plural
from yb_eval.runoptions import SuiteRequest


def run_and_report(requests: Sequence[SuiteRequest], options: WholeOptions) -> int:
    """Runs the suites, prints the report on stdout, writes the others, and returns the exit code."""
    log.configured = options.log_format
    extensions = load_extensions()
    for name, reason in extensions.broken.items():
        note(f"warning: {name}: {reason}")
    reporters = extensions.provide("yb_eval_reporters")
    wanted = [_wanted(text, reporters) for text in options.report]
    store = Store(options.store)
    if options.dry_run:
        from yb_eval.dryrun import as_text, foresee

        with beside():
            foreseen = foresee(requests, Environment.of(store, extensions))
        emit([json.dumps(foreseen, indent=2) + "\n"] if options.json else as_text(foreseen))
        return int(ExitCode.PASS)
    progress = Progress()

    def planned(plan_id: str, prepared: Sequence[Prepared]) -> None:
        progress.end()
        _planned(plan_id, prepared)

    observer = composition.Observer(planned=planned, progress=progress, note=note)
    try:
        environment = Environment.of(store, extensions)
        with beside():
            run = composition.run(
                requests, environment, observer, suite_jobs=options.suite_jobs, fail_fast=options.fail_fast
            )
    finally:
        progress.end()
    view = view_of(run.report, store)
    # JSON last: it says which of the others failed, and what the command ends with.
    for one in sorted(wanted, key=lambda one: one.kind == "json"):
        try:
            _write(one, view)
        except ReporterFailed as failed:
            run.fail(str(failed), written=False)
        except YbEvalError as error:
            run.fail(f"{one.label}: {error.what}")
    if run.report["left_out"]:
        note(f"not run, because of --fail-fast: {', '.join(run.report['left_out'])}")
    for failure in run.report["failures"]:
        note(failure, "error")
    emit(reporters["json" if options.json else "text"](view))
    return run.exit_code


def view_of(report: dict[str, Any], store: Store) -> RunView:
    """The report as reporters see it, with its outcomes and history read from the store."""

    def outcomes(index: int) -> Iterable[dict[str, Any]]:
        kept = report["suites"][index]["outcomes"]
        if kept is None:
            return
        with store.open(kept["sha256"]) as log:
            yield from read_log(log)

    said: set[str] = set()

    def left_out(error: StoreError) -> None:
        # A run that is well is shown, whatever became of another; each report and each suite looks at the history.
        if str(error) not in said:
            said.add(str(error))
            note(f"warning: not in the history: {error}")

    def history(index: int) -> list[dict[str, Any]]:
        suite = report["suites"][index]
        revisions = {data["revision_id"] for data in suite["datasets"]}
        earlier = composition.history(store, suite["suite"], before=suite["run_id"], unreadable=left_out)
        # Numbers over other data are no part of this history.
        return [
            run
            for run in earlier
            if run["name"] == suite["name"]
            and {data["revision_id"] for data in run["datasets"]} == revisions
            and run["datasets"][0]["count"] == suite["datasets"][0]["count"]
        ]

    return RunView(document=report, outcomes=outcomes, history=history, color=color(), width=width())  # type: ignore[arg-type]


def _planned(plan_id: str, prepared: Sequence[Prepared]) -> None:
    note(f"plan {plan_id}")
    for one in prepared:
        note(
            f"  {one.request.name}: {plural(one.snapshot.count, 'sample')} of {one.snapshot.id}@{one.snapshot.revision_id[:12]}"
        )


@frozen(slots=True)
class Wanted:
    """A report that was asked for. `otel` goes to a collector and has no path."""

    kind: str
    path: Path | None
    reporter: Reporter

    @property
    def label(self) -> str:
        return f"report {self.path or self.kind}"


def _wanted(text: str, reporters: dict[str, Reporter]) -> Wanted:
    kind, equals, path = text.partition("=")
    if kind not in reporters:
        raise UsageError(f"unknown report format {kind!r}", where="--report", hint=nearest(kind, reporters))
    if not equals and kind == "otel":
        return Wanted(kind, None, reporters[kind])
    if not path:
        raise UsageError("a report needs a place", where=f"--report {text}", hint=f"--report {kind}=PATH")
    writable(Path(path), "a report")
    return Wanted(kind, Path(path), reporters[kind])


class ReporterFailed(Exception):
    """A reporter raised: its own fault, which changes no verdict."""


def _write(wanted: Wanted, view: RunView) -> None:
    """Writes one report. Raises `ReporterFailed`, or a `YbEvalError` for a report that cannot be written."""
    plain = RunView(document=view.document, outcomes=view.outcomes, history=view.history)
    try:
        with atomic(wanted.path or Path(os.devnull)) as file:
            for piece in wanted.reporter(plain):
                file.write(piece.encode("utf-8", "backslashreplace"))
    except YbEvalError:
        raise
    except (Exception, SystemExit) as error:  # a plugin's sys.exit(0) must not end a failed run with 0
        raise ReporterFailed(f"{wanted.label}: the reporter failed: {describe(error)}") from error


@define(slots=True)
class Progress:
    """A line on the terminal for work over a second; nothing in a pipe or in CI. A JSON log gets one line a second."""

    started: float = field(factory=time.monotonic)
    shown: bool = False
    last: float = 0.0

    def __call__(self, name: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        said = f"{name}: {done} samples so far" if total is None else f"{name}: {done} of {total} samples"
        if log.json:
            if now - max(self.started, self.last) >= 1:
                self.last = now
                known: dict[str, str | int] = {} if total is None else {"total": total}
                note(said, None, event="progress", suite=name, done=done, **known)
            return
        quiet = not sys.stderr.isatty() or "CI" in os.environ
        if quiet or now - self.started < 1 or (now - self.last < 0.1 and done != total):
            return
        self.shown, self.last = True, now
        sys.stderr.write(f"\r\x1b[K{said}")
        sys.stderr.flush()

    def end(self) -> None:
        if self.shown:
            self.shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
