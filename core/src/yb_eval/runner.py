"""The flow of one suite: batches of samples become outcomes, outcomes become measurements, measurements meet gates.

One direction, constant memory: the outcome log is written and hashed as it comes, metrics are folded batch by batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from attrs import asdict, define

from yb_eval.collecting import seldom
from yb_eval.errors import EvaluationError, StoreError
from yb_eval.gates import decide
from yb_eval.model import Comparison, Measurement, Measurements, Sample, Verdict, VerdictWord
from yb_eval.plugins import describe
from yb_eval.preparation import Prepared
from yb_eval.record import Store, compare, compared, decode, measure, read_log, records, run_id, verify_manifest
from yb_eval.record.changes import Pairing, changes, smallest_seen
from yb_eval.record.manifest import SUITE_SCHEMA
from yb_eval.record.partial import PartialLog, begin, discard, resume
from yb_eval.work import BatchWork, Fold, States

#: Called with (samples done, samples in all) as a run goes on.
Progress = Callable[[int, int], None]


@define(slots=True)
class SuiteRun:
    """A suite's run that has ended: its entry of the JSON report, and where it is kept (`None` if it is not)."""

    report: dict[str, Any]
    verdict: VerdictWord
    manifest: str | None = None


@define(slots=True)
class Measured:
    """A suite that has been evaluated and measured, and not yet judged."""

    prepared: Prepared
    measurements: Measurements
    comparison: Comparison | None
    outcomes: dict[str, Any]
    wrong: int


def evaluate(prepared: Prepared, store: Store, progress: Progress | None = None, *, anew: bool = False) -> Measured:
    """Evaluates a prepared plan, keeps the outcome log, and measures. `anew`: from its start, even with --resume.

    Raises `NotMeasured` errors for what leaves no trustworthy result; the outcomes so far are kept for `--resume`.
    """
    opened = (resume if prepared.request.run.resume and not anew else begin)(store, prepared.plan_id, prepared.content)
    with opened as log, seldom():
        states, wrong = _fold(prepared, log, progress or _silent)
        measurements = _measurements(prepared.fold, states)
        size, count = log.size, log.count
        outcomes = log.finish()
    discard(store, prepared.plan_id)
    comparison = _comparison(prepared, store, outcomes)
    return Measured(prepared, measurements, comparison, {"sha256": outcomes, "size": size, "count": count}, wrong)


def judge(measured: Measured) -> SuiteRun:
    """Holds what was measured against the gates."""
    prepared, comparison = measured.prepared, measured.comparison
    measurements = Measurements([*measured.measurements.values(), *measure(comparison, _judgements(prepared))])
    baseline = prepared.baseline.measurements if prepared.baseline is not None else None
    verdicts = [gate.check(measurements, baseline, comparison) for gate in prepared.gates]
    report = _report(prepared, measurements, verdicts, comparison)
    report["counts"]["wrong"] = measured.wrong
    report["outcomes"] = measured.outcomes
    report["run_id"] = run_id(prepared.plan_id, measured.outcomes["sha256"], report["measurements"], report["gates"])
    return SuiteRun(report, decide(verdicts))


def record(run: SuiteRun, prepared: Prepared, store: Store, envelope: Mapping[str, Any]) -> None:
    """Keeps the manifest of a run, after checking that it verifies."""
    earlier = store.other_outcomes(prepared.plan_id, run.report["outcomes"]["sha256"])
    if earlier is not None and prepared.request.suite.deterministic and run.report["target"]["spec"] == "builtin":
        run.report["notes"].append(f"not deterministic: the same plan gave other outcomes before ({earlier[:12]})")
    manifest = {
        "schema": SUITE_SCHEMA,
        "plan_id": prepared.plan_id,
        "run_id": run.report["run_id"],
        "plan": prepared.content,
        "report": run.report,
        "envelope": {**envelope, "name": run.report["name"], "observations": _observations(prepared)},
    }
    verify_manifest(orjson.loads(orjson.dumps(manifest)))
    run.manifest = store.record(manifest)


def _silent(done: int, total: int) -> None:
    pass


def _fold(prepared: Prepared, log: PartialLog, progress: Progress) -> tuple[States, int]:
    """Evaluates what is not evaluated yet; returns the metrics' states and how many outcomes are wrong."""
    fold, total = prepared.fold, prepared.snapshot.count
    states = fold.start()
    kept: list[str] = []
    wrong = 0
    if prepared.request.run.resume:  # a log that was begun anew holds nothing
        states, kept, wrong = _replayed(prepared, log)
    done = len(kept)
    if prepared.ahead is not None:
        shards = prepared.ahead.shards()
    else:
        batches = _rest(prepared.snapshot.samples(prepared.batch_size), kept)
        shards = prepared.executor.map(BatchWork(prepared.plan.evaluator, fold), batches)
    try:
        for shard in shards:
            log.write(shard.log, shard.count)
            states = fold.merge(states, shard.states)
            done += shard.count // fold.repeats
            wrong += shard.wrong
            progress(done, total)
    finally:
        close = getattr(shards, "close", None)
        if close is not None:
            close()
    if done != total:
        raise EvaluationError(f"{done} of {total} samples have an outcome")
    return states, wrong


def _replayed(prepared: Prepared, log: PartialLog) -> tuple[States, list[str], int]:
    """Folds what an earlier attempt finished; returns the ids of its samples too, to be skipped, and the wrong ones'
    number.

    Raises `StoreError` for a log that was changed, or a line of it that is no outcome.
    """
    fold = prepared.fold
    states, wrong = fold.start(), 0
    ids: list[str] = []
    for lines in log.kept(fold.repeats):
        outcomes = []
        for number, line in enumerate(lines, len(ids) * fold.repeats + 1):
            try:
                outcomes.append(decode(line))
            except ValueError as error:
                raise StoreError(str(error), where=f"{log.path}:{number}", hint="run it anew") from error
        states = fold.add(states, outcomes)
        ids += [outcome.id for outcome in outcomes[:: fold.repeats]]
        wrong += sum(outcome.correct is False for outcome in outcomes)
    return states, ids, wrong


def _rest(batches: Iterator[Sequence[Sample]], kept: Sequence[str]) -> Iterator[Sequence[Sample]]:
    """The batches after the samples whose outcomes are kept."""
    skip = 0
    for batch in batches:
        known = kept[skip : skip + len(batch)]
        if not known:
            yield batch
            continue
        if [sample.id for sample in batch[: len(known)]] != list(known):
            raise StoreError("the interrupted run's log has other samples than the dataset", hint="run it anew")
        skip += len(known)
        if len(known) < len(batch):
            yield batch[len(known) :]


def _measurements(fold: Fold, states: States) -> Measurements:
    try:
        across = [m for metric, state in zip(fold.across, states.across, strict=True) for m in metric.finish(state)]
        repeats = [
            Measurements(m for metric, state in zip(fold.each, row, strict=True) for m in metric.finish(state))
            for row in states.each
        ]
        each = repeats[0] if len(repeats) == 1 else _average(repeats)
        measured = Measurements(map(_sound, [*across, *each.values()]))
    except Exception as error:
        raise EvaluationError(f"a metric failed: {describe(error)}") from error
    announced = {entry.name for metric in (*fold.across, *fold.each) for entry in metric.declares}
    for name in measured:
        if name.partition("[")[0] not in announced:
            raise EvaluationError(f"a metric measured {name!r}, which none declares")
    return measured


def _average(repeats: Sequence[Measurements]) -> Measurements:
    from yb_eval.metrics import average

    return average(repeats)


def _sound(measurement: Measurement) -> Measurement:
    """The measurement, or a null one with the reason where its value is not a finite number."""
    value = measurement.value
    if value is None:
        return measurement if measurement.reason else Measurement(measurement.name, None, reason="no reason was given")
    if type(value) not in (int, float) or not math.isfinite(value):
        return Measurement(measurement.name, None, measurement.n, reason=f"the metric returned {value!r}")
    if measurement.interval is not None and not all(math.isfinite(bound) for bound in measurement.interval):
        return Measurement(measurement.name, None, measurement.n, reason=f"its interval is {measurement.interval!r}")
    return measurement


def _comparison(prepared: Prepared, store: Store, outcomes: str) -> Comparison | None:
    baseline = prepared.baseline
    if baseline is None:
        return None
    same = {prepared.snapshot.revision_id} == {revision for _, revision in baseline.datasets}
    with store.open(outcomes) as log:
        return compare(
            baseline.samples,
            records(read_log(log)),
            baseline_run_id=baseline.run_id,
            same_revision=same,
            seed=prepared.request.run.seed,
        )


def _line_ends(prepared: Prepared) -> list[str]:
    """Says so where the baseline's revision differs from this one in line ends only."""
    baseline = prepared.baseline
    revisions = {revision for _, revision in baseline.datasets} if baseline is not None else set()
    if baseline is None or prepared.snapshot.revision_id in revisions:
        return []
    if _lf_revision(prepared) not in revisions | baseline.lf_revisions:
        return []
    return ["the dataset differs from the baseline's in line ends only (CRLF and LF)"]


def _lf_revision(prepared: Prepared) -> str | None:
    """The revision that the dataset would have with LF line ends, at the cost of reading its files again; `None` for a
    dataset that cannot say."""
    normalised = getattr(prepared.snapshot, "normalised_revision", None)
    return normalised() if normalised is not None else None


def _judgements(prepared: Prepared) -> list[str]:
    return sorted({entry.judgement for entry in prepared.declared.values() if entry.judgement})


def _report(
    prepared: Prepared, measurements: Measurements, verdicts: Sequence[Verdict], comparison: Comparison | None
) -> dict[str, Any]:
    request, snapshot, target = prepared.request, prepared.snapshot, prepared.target
    counted = {name: measurements[name].value for name in ("scored", "errors", "skipped")}
    details = prepared.plan.details
    lf_revision = _lf_revision(prepared) if request.run.save is not None else None
    # Without a baseline the gates see why there is no `changed`; a reader need not see seven times that there is none.
    unasked = {entry.name for entry in compared(_judgements(prepared))} if comparison is None else set()
    return {
        "suite": request.suite.name,
        "name": request.name,
        "plan_id": prepared.plan_id,
        "run_id": None,
        "verdict": decide(verdicts),
        "plugin": {"distribution": request.distribution, "version": request.version},
        "target": {
            "spec": target.spec if target is not None else "builtin",
            "fingerprint": prepared.content["target"],
        },
        "datasets": [
            {
                "id": snapshot.id,
                "revision_id": snapshot.revision_id,
                "count": snapshot.count,
                "files": [asdict(file) for file in snapshot.files],
                **({} if lf_revision in (None, snapshot.revision_id) else {"lf_revision_id": lf_revision}),
            }
        ],
        "counts": {
            "samples": snapshot.count,
            "scored": counted["scored"],
            "error": counted["errors"],
            "skipped": counted["skipped"],
        },
        "measurements": {m.name: _measurement(m) for m in measurements.values() if m.name not in unasked},
        "declared": {
            entry.name: {
                "help": entry.help,
                "low": entry.low,
                "high": entry.high,
                "better": entry.better,
                "pairing": entry.pairing,
                "judgement": entry.judgement,
            }
            for entry in prepared.declared.values()
        },
        "gates": [asdict(verdict) for verdict in verdicts],
        "comparison": None if comparison is None else _compared(comparison, prepared, measurements),
        "outcomes": None,
        "notes": [*snapshot.notes, *_partial(prepared), *_line_ends(prepared)],
        "details": dict(details(measurements, comparison)) if details is not None else {},
    }


def _partial(prepared: Prepared) -> list[str]:
    run = prepared.request.run
    parts = [f"--{name} {value}" for name, value in (("filter", run.filter), ("limit", run.limit)) if value is not None]
    return [f"only a part of the dataset was evaluated ({', '.join(parts)})"] if parts else []


def _measurement(m: Measurement) -> dict[str, Any]:
    entry: dict[str, Any] = {"value": m.value, "n": m.n, "interval": m.interval, "reason": m.reason}
    return {**entry, "details": dict(m.details)} if m.details else entry


def _compared(comparison: Comparison, prepared: Prepared, measurements: Measurements) -> dict[str, Any]:
    assert prepared.baseline is not None
    before = {name: m.value for name, m in prepared.baseline.measurements.items()}
    after = {name: m.value for name, m in measurements.items()}
    paired_by = {d.name: Pairing(d.pairing, d.judgement) for d in prepared.declared.values() if d.pairing is not None}
    changed = {
        change.name: {
            "value": change.after,
            "baseline": change.before,
            "change": change.change,
            "interval": change.interval,
        }
        for change in changes(before, after, paired_by, comparison)
        if change.change is not None
    }
    least = smallest_seen(comparison.judgements.get(""))
    return {**asdict(comparison), "measurements": changed, "minimum_detectable_change": least}


def _observations(prepared: Prepared) -> dict[str, Any]:
    observed = getattr(prepared.plan.evaluator, "observations", None)
    made = dict(observed()) if observed is not None else {}
    hits = _hits(prepared)
    return made if hits is None else {**made, "cache_hits": hits[0], "cache_misses": hits[1]}


def _hits(prepared: Prepared) -> tuple[int, int] | None:
    if not prepared.request.run.cache:
        return None
    # A recording stands around the cache.
    for cache in (prepared.target, getattr(prepared.target, "target", None)):
        hits, misses = getattr(cache, "hits", None), getattr(cache, "misses", None)
        if isinstance(hits, int) and isinstance(misses, int):
            return hits, misses
    return None


def cached(prepared: Prepared) -> str:
    """How many answers of the run came from the cache, in words."""
    hits = _hits(prepared)
    if hits is None:
        return "no answer was cached: the target keeps none"
    return f"{hits[0]} of {sum(hits)} answers came from the cache"
