"""Several suites as one gated run: all plans are fixed first, then the suites run, then there is one verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

from attrs import define, evolve, field, frozen

from yb_eval.envelope import observe
from yb_eval.errors import (
    NOTHING_KEPT,
    DatasetError,
    ExitCode,
    Interrupted,
    NotMeasured,
    StoreError,
    UsageError,
    YbEvalError,
)
from yb_eval.gates import exit_code
from yb_eval.gates.verdicts import worst
from yb_eval.model import Paired, VerdictWord
from yb_eval.preparation import Environment, Prepared, prepare
from yb_eval.record import Store, composed_ids, composed_plan_id
from yb_eval.record.files import atomic, writable
from yb_eval.record.manifest import COMPOSED_SCHEMA
from yb_eval.record.partial import interrupted
from yb_eval.runner import Measured, SuiteRun, cached, evaluate, judge, record
from yb_eval.runoptions import SuiteRequest
from yb_eval.statistics import holm

REPORT_SCHEMA = "yb-eval/report/1"


@frozen(slots=True)
class Observer:
    """What a caller may watch: the plans when they are fixed, and the progress of each suite (name, done, total); the total
    is `None` while it is not known."""

    planned: Callable[[str, Sequence[Prepared]], None] = lambda plan_id, prepared: None
    progress: Callable[[str, int, int | None], None] = lambda name, done, total: None
    note: Callable[[str], None] = lambda text: None


@define(slots=True)
class Run:
    """A whole run that has ended: the JSON report, and what is needed to show it."""

    report: dict[str, Any]
    store: Store
    suites: list[SuiteRun] = field(factory=list)

    @property
    def exit_code(self) -> int:
        return int(self.report["exit_code"])

    def fail(self, failure: str, *, written: bool = True) -> None:
        """Tells of something that did not succeed beside the evaluation.

        What could not be written is waited for in vain, and that is not a pass: exit code 3. With `written=False` (a
        reporter of a plugin that raises) the verdict's exit code stays."""
        self.report["failures"].append(failure)
        if written:
            self.report["exit_code"] = self.exit_code or int(ExitCode.NOT_MEASURED)


def run(
    requests: Sequence[SuiteRequest],
    environment: Environment,
    observer: Observer | None = None,
    *,
    suite_jobs: int = 1,
    fail_fast: bool = False,
) -> Run:
    """Prepares all suites, runs them, records them and writes what they were asked to write.

    Raises a `Refused` error before anything is evaluated if any suite is not fit to run. A suite that breaks while it
    runs is `unmeasured`, and the others still run. `suite_jobs` suites run at once, with the same result as one after
    another; `fail_fast` begins none after one that did not pass.
    """
    watch = observer or Observer()
    refuse_clashes(requests)
    started, clock = datetime.now(UTC), time.monotonic()
    with ExitStack() as stack:
        prepared: list[Prepared] = []
        for request in requests:
            # The last one only: by then no other can be refused, and nobody's time is lost.
            ahead = request is requests[-1] and suite_jobs == 1 and not fail_fast
            try:
                one = prepare(request, environment, ahead=_so_far(watch, request.name) if ahead else None)
            except KeyboardInterrupt as error:
                if not request.run.resume:
                    error.add_note(NOTHING_KEPT)
                raise
            stack.callback(_close, one)
            prepared.append(one)
        whole = composed_plan_id([(one.request.name, one.plan_id) for one in prepared])
        watch.planned(whole, prepared)
        environment.store.probe()
        _tell(
            environment, watch, "yb_eval_run_started", plan={"plan_id": whole, "suites": [p.content for p in prepared]}
        )
        evaluated = _evaluate_all(prepared, environment.store, watch, suite_jobs, fail_fast)
        failures = [failure for one in prepared if (failure := _close(one)) is not None]
        suites = _judge_all(evaluated)
        left_out = prepared[len(suites) :]
        prepared = prepared[: len(suites)]
        envelope = observe(started, time.monotonic() - clock)
        for one, suite in zip(prepared, suites, strict=True):
            if suite.report["run_id"] is not None:
                record(suite, one, environment.store, envelope)
        finished = _compose(whole, suites, environment.store, envelope, [one.request.name for one in left_out])
        for one in prepared:
            if one.request.run.cache:
                watch.note(f"{one.request.name}: {cached(one)}")
        for failure in failures:
            finished.fail(failure)
        for one, suite in zip(prepared, suites, strict=True):
            try:
                _write(one, suite, environment.store, watch)
            except YbEvalError as error:
                finished.fail(f"{one.request.name}: {error}")
    _tell(environment, watch, "yb_eval_run_finished", report=finished.report)
    return finished


def _so_far(watch: Observer, name: str) -> Callable[[int], None]:
    return lambda done: watch.progress(name, done, None)


def refuse_clashes(requests: Sequence[SuiteRequest]) -> None:
    """Raises `UsageError` for suites that share a name, or files to write that cannot be or would be written twice."""
    names = [request.name for request in requests]
    if not names:
        raise UsageError("no suite to run", hint="yb-eval run SUITE, or list suites in yb-eval.toml")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name!r} is run twice under one name", hint="name them apart in yb-eval.toml")
    written: dict[Path, tuple[str, str]] = {}
    for request in requests:
        run = request.run
        to_write = {"the outcomes": run.outcomes, "the recording": run.record, "the baseline": _saved(request)}
        for noun, path in to_write.items():
            if path is None:
                continue
            place = (request.base / path).absolute()
            if place in written:
                other, both = written[place]
                twice = f"{other} and {request.name} would both write it"
                what = f"{both} and {noun} cannot both be written there" if other == request.name else twice
                raise UsageError(what, where=str(path))
            written[place] = request.name, noun
            writable(request.base / path, noun)


def _evaluate_all(
    prepared: Sequence[Prepared], store: Store, watch: Observer, suite_jobs: int, fail_fast: bool
) -> list[Measured | SuiteRun]:
    """Evaluates the suites, in order, and gives those that began; one that broke is its report already."""
    stopped = Event()
    # An interrupted run of several suites had begun some of them: the others begin now.
    begun = {suite.plan_id for suite in prepared if interrupted(store, suite.plan_id)}

    def one(suite: Prepared) -> Measured | SuiteRun:
        name = suite.request.name

        def progress(done: int, total: int) -> None:
            if stopped.is_set():
                raise Interrupted(f"{name}: {done} of {total} samples are done")
            watch.progress(name, done, total)

        try:
            return evaluate(suite, store, progress, anew=bool(begun) and suite.plan_id not in begun)
        except (NotMeasured, DatasetError) as error:
            return _broken(suite, error)

    if suite_jobs > 1 and len(prepared) > 1 and not fail_fast:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(suite_jobs, thread_name_prefix="yb-eval-suite") as pool:
            try:
                return list(pool.map(one, prepared))
            except BaseException:
                # Ctrl-C reaches this thread only: the others end after the batch they are at, and their logs are kept.
                stopped.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    evaluated: list[Measured | SuiteRun] = []
    for suite in prepared:
        evaluated.append(one(suite))
        if fail_fast and _judge_all(evaluated)[-1].verdict != "pass":
            break
    return evaluated


def _judge_all(evaluated: Sequence[Measured | SuiteRun]) -> list[SuiteRun]:
    """Judges the suites. Where several p-values decide, they are Holm's: with twenty tests at 5 %, one would fail by chance."""
    tests = [
        (index, name)
        for index, one in enumerate(evaluated)
        if isinstance(one, Measured) and one.comparison is not None
        for name in sorted({name for gate in one.prepared.gates for name in getattr(gate, "tested", ())})
        if name in one.comparison.judgements
    ]
    if len(tests) > 1:
        pairs = [_pair(evaluated[index], name) for index, name in tests]
        for (index, name), pair, adjusted in zip(tests, pairs, holm([pair.p_value for pair in pairs]), strict=True):
            one = evaluated[index]
            assert isinstance(one, Measured) and one.comparison is not None, "so it was chosen"
            judgements = {**one.comparison.judgements, name: evolve(pair, adjusted_p=adjusted)}
            one.comparison = evolve(one.comparison, judgements=judgements)
    return [judge(one) if isinstance(one, Measured) else one for one in evaluated]


def _pair(one: Measured | SuiteRun, name: str) -> Paired:
    assert isinstance(one, Measured) and one.comparison is not None, "so it was chosen"
    return one.comparison.judgements[name]


def _close(prepared: Prepared) -> str | None:
    """Closes a suite's target, which publishes a recording; returns what went wrong, if something did."""
    try:
        prepared.close()
    except YbEvalError as error:
        return f"{prepared.request.name}: {error}"
    return None


def _broken(prepared: Prepared, error: YbEvalError) -> SuiteRun:
    """The report entry of a suite that did not come to its end."""
    request = prepared.request
    gate = {"gate": "the suite runs to its end", "severity": "block", "verdict": "unmeasured", "reason": str(error)}
    report = {
        "suite": request.suite.name,
        "name": request.name,
        "plan_id": prepared.plan_id,
        "run_id": None,
        "verdict": "unmeasured",
        "plugin": {"distribution": request.distribution, "version": request.version},
        "target": {
            "spec": prepared.target.spec if prepared.target else "builtin",
            "fingerprint": prepared.content["target"],
        },
        "datasets": [{**entry, "files": []} for entry in prepared.content["datasets"]],
        "counts": {"samples": prepared.snapshot.count, "scored": 0, "error": 0, "skipped": 0, "wrong": 0},
        "measurements": {},
        "declared": {},
        "gates": [gate],
        "comparison": None,
        "outcomes": None,
        "notes": ["what was finished is kept for --resume"],
        "details": {},
    }  # fmt: skip
    return SuiteRun(report, "unmeasured")


def _compose(
    plan_id: str, suites: list[SuiteRun], store: Store, envelope: Mapping[str, Any], left_out: Sequence[str]
) -> Run:
    verdict: VerdictWord = worst(suite.verdict for suite in suites)
    children = [
        {
            "name": suite.report["name"],
            "plan_id": suite.report["plan_id"],
            "run_id": suite.report["run_id"],
            "manifest": suite.manifest,
        }
        for suite in suites
    ]
    complete = not left_out and all(child["run_id"] is not None for child in children)
    run_id = composed_ids(children)[1] if complete else None
    latest = suites[0].manifest
    if complete and len(suites) > 1:
        manifest = {
            "schema": COMPOSED_SCHEMA,
            "plan_id": plan_id,
            "run_id": run_id,
            "verdict": verdict,
            "children": children,
            "envelope": dict(envelope),
        }
        latest = store.record(manifest)
    # What was the latest before must not stand for a run that did not come to its end.
    store.latest(latest if complete else None)
    report = {
        "schema": REPORT_SCHEMA,
        "plan_id": plan_id,
        "run_id": run_id,
        "verdict": verdict,
        "exit_code": int(exit_code(verdict)),
        "suites": [suite.report for suite in suites],
        "left_out": list(left_out),
        "failures": [],
        "envelope": dict(envelope),
    }
    return Run(report, store, suites)


def _write(prepared: Prepared, suite: SuiteRun, store: Store, watch: Observer) -> None:
    """Writes the outcome file and the baseline that the suite was asked for."""
    run, base = prepared.request.run, prepared.request.base
    if suite.report["outcomes"] is None:
        return
    sha256 = suite.report["outcomes"]["sha256"]
    if run.outcomes is not None:
        with store.open(sha256) as log, atomic(base / run.outcomes) as file:
            while chunk := log.read(1 << 20):
                file.write(chunk)
    saved = _saved(prepared.request)
    if saved is not None:
        path = base / saved
        why = _unfit(suite, run.force)
        if why is not None:
            watch.note(f"the baseline {path} was not saved: {why} (--force REASON saves it all the same)")
            return
        from yb_eval.record import read_log, records, write_baseline

        with store.open(sha256) as log:
            write_baseline(path, suite.report, records(read_log(log)), forced=run.force)
        watch.note(f"baseline saved: {path}")


def _saved(request: SuiteRequest) -> Path | None:
    """The file that the run is to be saved in as a baseline, if it is."""
    return None if request.run.save is None else Path(request.run.save or default_baseline(request))


def default_baseline(request: SuiteRequest) -> Path:
    """Where `--save` without a path writes: over the baseline compared with, else the suite's own place."""
    if request.run.against is not None and (request.base / request.run.against).is_file():
        return Path(request.run.against)
    return request.suite.baseline or Path("baselines") / f"{request.name}.json"


def _unfit(suite: SuiteRun, force: str | None) -> str | None:
    if force is not None:
        return None
    if suite.verdict != "pass":
        return f"the run's verdict is {suite.verdict}"
    if suite.report["counts"]["error"]:
        return "the run has errors"
    return None


def _tell(environment: Environment, watch: Observer, hook: str, **arguments: Any) -> None:
    """Calls a life-of-a-run hook of every plugin; a failure is told and changes nothing."""
    for name, result in environment.extensions.each(hook, **arguments):
        if isinstance(result, BaseException):
            watch.note(f"plugin {name!r} failed in {hook}(): {type(result).__name__}: {result}")


def stored_report(store: Store, run: Any) -> dict[str, Any]:
    """The JSON report of a stored run, as it was when it ended."""
    children = store.children(run)
    suites = [dict(child.manifest["report"]) for child in children]
    verdict: VerdictWord = worst(suite["verdict"] for suite in suites)
    return {
        "schema": REPORT_SCHEMA,
        "plan_id": run.manifest["plan_id"],
        "run_id": run.manifest["run_id"],
        "verdict": verdict,
        "exit_code": int(exit_code(verdict)),
        "suites": suites,
        "failures": [],
        "envelope": dict(run.manifest["envelope"]),
    }


def history(
    store: Store,
    suite: str,
    *,
    before: str | None = None,
    unreadable: Callable[[StoreError], object] | None = None,
) -> Iterator[dict[str, Any]]:
    """Earlier runs of a suite, oldest first; `before` leaves out the run of that id. `unreadable` is told of what
    cannot be read (see `Store.runs`)."""
    for stored in store.runs(unreadable):
        if stored.composed or stored.manifest["report"]["suite"] != suite or stored.run_id == before:
            continue
        report = stored.manifest["report"]
        yield {
            "run_id": stored.run_id,
            "name": report["name"],
            "started": stored.manifest["envelope"].get("started"),
            "verdict": report["verdict"],
            "target": report["target"]["spec"],
            "datasets": report["datasets"],
            "measurements": report["measurements"],
        }
