"""Baselines: small JSON files that people commit, one line per sample, sorted, so that `git diff` reads well.

```
{"schema": "yb-eval/baseline/1", "suite": "routing", "run_id": "...", "plan_id": "...", "datasets": [...],
 "measurements": {
"accuracy": {...},
 },
 "samples": {
"a-1": ["scored", true, "simple"],
 }}
```

A sample is `[status, correct, predicted]`, with a score and the judgements behind it where there are any. A measurement
that is compared sample by sample has its `pairing` and `judgement`; a suite run under another name has that `name`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval.digest import sha256_hex
from yb_eval.errors import UsageError
from yb_eval.model import Measurement, Measurements
from yb_eval.record.changes import Pairing, pairings
from yb_eval.record.files import atomic
from yb_eval.record.outcomes import Record, read_log, records
from yb_eval.record.store import Store, StoredRun

SCHEMA = "yb-eval/baseline/1"


@frozen(slots=True)
class Baseline:
    """What a run is compared with. `digest` identifies it in the plan; `source` is how the user named it.

    `pairings` has the measurements that are compared sample by sample; a baseline file of old has none.
    `lf_revisions` are the revisions that its datasets would have with LF line ends, where those are others.
    """

    suite: str
    run_id: str
    datasets: tuple[tuple[str, str], ...]
    measurements: Measurements
    samples: Mapping[str, Record]
    digest: str
    source: str
    pairings: Mapping[str, Pairing] = field(factory=dict)
    lf_revisions: frozenset[str] = frozenset()


def write_baseline(
    path: Path, report: Mapping[str, Any], samples: Iterable[tuple[str, Record]], *, forced: str | None = None
) -> None:
    """Writes the baseline of a suite's run. `forced` is the reason for which a run was saved that would be refused."""
    head: dict[str, Any] = {"schema": SCHEMA}
    head |= {key: report[key] for key in ("suite", "run_id", "plan_id", "datasets")}
    if report["name"] != report["suite"]:
        head["name"] = report["name"]
    if forced:
        head["forced"] = forced
    measured = {
        name: {key: m[key] for key in ("value", "n", "interval", "reason")}
        for name, m in report["measurements"].items()
    }
    for name, by in pairings(report["declared"]).items():
        if name in measured:
            measured[name] |= {"pairing": by.pairing, "judgement": by.judgement}
    lines = sorted((sample_id, _pack(record)) for sample_id, record in samples)
    with atomic(path) as file:
        file.write(orjson.dumps(head)[:-1] + b',\n"measurements": {\n')
        file.write(_lines(sorted(measured.items())))
        file.write(b'},\n"samples": {\n')
        file.write(_lines(lines))
        file.write(b"}}\n")


def _lines(items: Iterable[tuple[str, Any]]) -> bytes:
    return b",\n".join(orjson.dumps(key) + b": " + orjson.dumps(value) for key, value in items) + b"\n"


def _pack(record: Record) -> list[Any]:
    packed: list[Any] = [record.status, record.correct, record.predicted]
    if record.score is not None or record.judgements:
        packed.append(record.score)
    if record.judgements:
        packed.append({name: _pack(judged) for name, judged in record.judgements.items()})
    return packed


def _unpack(packed: list[Any]) -> Record:
    status, correct, predicted, *rest = packed
    if status not in ("scored", "error", "skipped") or correct not in (True, False, None):
        raise ValueError(f"not a sample: {packed!r}")
    score = rest[0] if rest else None
    return Record(status, correct, predicted, score, {k: _unpack(v) for k, v in rest[1].items()} if rest[1:] else {})


def read_baseline(source: str, store: Store, suite: str, *, name: str | None = None, base: Path = Path()) -> Baseline:
    """The baseline that `source` names: a baseline file, or a run in the store.

    Of a composed run it is the part that ran `suite` under `name` (by default the suite's own), else its one part of
    that suite. Raises `UsageError` if there is none, if it is of another suite, or if it is not a baseline.
    """
    path = base / source
    found = _from_file(path, source) if path.is_file() else _from_run(source, store, suite, name)
    if found.suite != suite:
        raise UsageError(f"the baseline is of the suite {found.suite!r}, not {suite!r}", where=source)
    if not found.samples:
        raise UsageError("the baseline has no samples", where=source)
    return found


def _from_file(path: Path, source: str) -> Baseline:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=source) from error
    try:
        document = orjson.loads(data)
        if document["schema"] != SCHEMA:
            raise ValueError(f"its schema is {document['schema']!r}, not {SCHEMA!r}")
        return Baseline(
            suite=document["suite"],
            run_id=document["run_id"],
            datasets=_datasets(document),
            lf_revisions=_lf_revisions(document),
            measurements=_measurements(document["measurements"]),
            samples={sample_id: _unpack(packed) for sample_id, packed in document["samples"].items()},
            digest=sha256_hex(data),
            source=source,
            pairings=pairings(document["measurements"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        detail = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"not a baseline: {detail}", where=source, hint="write one with --save") from error


def _from_run(source: str, store: Store, suite: str, name: str | None) -> Baseline:
    try:
        run = store.find(source)
    except UsageError as error:
        raise UsageError(f"no baseline {source!r}: no such file, and {error}", hint="write one with --save") from error
    return baseline_of(run, store, suite, source, name=name)


def baseline_of(run: StoredRun, store: Store, suite: str, source: str, *, name: str | None = None) -> Baseline:
    """A stored run as a baseline; see `read_baseline` for which part of a composed run."""
    report = _part([child.manifest["report"] for child in store.children(run)], suite, name or suite, source)
    store.check(report["outcomes"]["sha256"])
    with store.open(report["outcomes"]["sha256"]) as log:
        samples = dict(records(read_log(log)))
    return Baseline(
        suite=report["suite"],
        run_id=report["run_id"],
        datasets=_datasets(report),
        lf_revisions=_lf_revisions(report),
        measurements=_measurements(report["measurements"]),
        samples=samples,
        digest=report["run_id"],
        source=source,
        pairings=pairings(report.get("declared") or {}),
    )


def _part(reports: Sequence[Mapping[str, Any]], suite: str, name: str, source: str) -> Mapping[str, Any]:
    found = [report for report in reports if report["suite"] == suite]
    chosen = [report for report in found if report["name"] == name] or found
    if len(chosen) == 1:
        return chosen[0]
    if found:
        names = ", ".join(report["name"] for report in found)
        raise UsageError(
            f"the run has {len(found)} runs of the suite {suite!r}, none named {name!r}: {names}", where=source
        )
    raise UsageError(f"the run has no run of the suite {suite!r}", where=source)


def _lf_revisions(document: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(entry["lf_revision_id"] for entry in document["datasets"] if "lf_revision_id" in entry)


def _datasets(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((entry["id"], entry["revision_id"]) for entry in document["datasets"])


def _measurements(measured: Mapping[str, Mapping[str, Any]]) -> Measurements:
    return Measurements(
        Measurement(name, m["value"], m["n"], tuple(m["interval"]) if m["interval"] else None, m["reason"])
        for name, m in measured.items()
    )


def parts_of(source: str, store: Store) -> dict[str, str]:
    """The suites of a baseline file or a stored run, by the name that each ran under, in the order that they ran.

    Raises `UsageError` if there is neither, or if the file is not a baseline.
    """
    path = Path(source)
    if not path.is_file():
        reports = [child.manifest["report"] for child in store.children(store.find(source))]
        return {report["name"]: report["suite"] for report in reports}
    try:
        document = orjson.loads(path.read_bytes())
        suite = document["suite"]
        return {str(document.get("name", suite)): str(suite)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError("not a baseline", where=source, hint="write one with --save") from error
