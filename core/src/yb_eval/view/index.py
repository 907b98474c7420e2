"""The runs of a store, newest first. A manifest is opened, and verified, when somebody looks at its row.

Names of runs and the times they were made stand in the refs, so that a page of a store of a hundred thousand runs opens
fifty manifests. Objects never change: what was read of one is kept, for as long as its file looks the same.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from attrs import Factory, define, field, frozen

from yb_eval.digest import HEX_ID
from yb_eval.errors import StoreError
from yb_eval.model import VerdictWord
from yb_eval.record import Store
from yb_eval.record.manifest import COMPOSED_SCHEMA, SUITE_SCHEMA
from yb_eval.reports import findings

#: Runs on one page of the list.
PER_PAGE = 50

#: Manifests that are opened at most to find the runs of one suite.
SCAN = 2_000

#: The words that a run's verdict may be; any other is damage.
VERDICTS: Mapping[object, VerdictWord] = {"pass": "pass", "fail": "fail", "unmeasured": "unmeasured"}

_KEPT = 20_000
_KEYS = 3


class Ref(NamedTuple):
    """A run that is stored, before anything of it is read: when it was last made, and how often."""

    name: str
    run_id: str
    times: int

    @property
    def started(self) -> str:
        """The time in the ref's name as `2026-11-30T12:00:00`, nothing where it holds none."""
        digits = self.name.partition("-")[0].replace("T", "")[:14]
        if len(digits) != 14 or not digits.isdecimal():
            return ""
        return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[8:10]}:{digits[10:12]}:{digits[12:]}"


@frozen(slots=True)
class Key:
    """A measurement to tell of a run, and what came of the gates that look at it."""

    name: str
    value: float | None
    verdict: VerdictWord | None


@frozen(slots=True)
class Row:
    """What lists and trends say of a run. `measured` has the measurements of the whole, without slices; `part` the
    options that left samples out. A composed run has only its verdict and the names of its suites."""

    sha256: str
    composed: bool
    suites: tuple[str, ...]
    started: str
    verdict: VerdictWord
    target: str
    datasets: tuple[tuple[str, str], ...]
    samples: int
    errors: int
    part: str
    keys: tuple[Key, ...]
    measured: Mapping[str, float | None]


@frozen(slots=True)
class Entry:
    """A stored run: its row, or why there is none."""

    ref: Ref
    row: Row | None
    problem: str | None = None


@frozen(slots=True)
class Listing:
    """A page of runs. `older` is the run after which the next page begins, `None` at the end of the store."""

    entries: tuple[Entry, ...]
    total: int
    older: str | None


def _reader(index: Index) -> Any:
    return lru_cache(_KEPT)(partial(_read, index.store))


@define(slots=True)
class Index:
    """The runs of `store`. Safe to use from several threads, and while runs are written."""

    store: Store
    _row: Any = field(init=False, repr=False, default=Factory(_reader, takes_self=True))

    def refs(self) -> list[Ref]:
        """Every run, the one made last first."""
        found = []
        with suppress(FileNotFoundError), os.scandir(self.store.root / "refs" / "runs") as runs:
            for run in runs:
                if HEX_ID.match(run.name) and run.is_dir(follow_symlinks=False):
                    with suppress(FileNotFoundError):
                        names = [name for name in os.listdir(run.path) if not name.startswith(".")]
                        if names:
                            found.append(Ref(max(names), run.name, len(names)))
        return sorted(found, reverse=True)

    def entry(self, ref: Ref) -> Entry:
        try:
            path = self.store.root / "refs" / "runs" / ref.run_id / ref.name
            name = path.read_text(encoding="ascii").strip()
            if not HEX_ID.match(name):
                raise StoreError("a ref does not hold an object's name", where=str(path))
            row = self._row(name, ref.run_id, _looks(self.store.object_path(name)))
        except (OSError, UnicodeDecodeError) as error:
            return Entry(ref, None, f"a ref cannot be read: {error}")
        except StoreError as error:
            return Entry(ref, None, str(error))
        return Entry(ref, row)

    def entries(self, refs: list[Ref]) -> Iterator[Entry]:
        """The first `SCAN` of `refs`, each read when it is asked for."""
        return map(self.entry, refs[:SCAN])

    def listing(
        self, refs: list[Ref], *, suite: str | None = None, verdict: str | None = None, after: str | None = None
    ) -> Listing:
        """The page of `refs` that follows the run `after`, of one suite or verdict only where asked."""
        start = next((place + 1 for place, ref in enumerate(refs) if ref.run_id == after), 0)
        found: list[Entry] = []
        end = start
        for entry in self.entries(refs[start:]):
            end += 1
            if _wanted(entry, suite, verdict):
                found.append(entry)
            if len(found) == PER_PAGE:
                break
        return Listing(tuple(found), len(refs), refs[end - 1].run_id if end < len(refs) else None)

    def suites(self, refs: list[Ref]) -> dict[str, list[Entry]]:
        """The runs of each suite among the first `SCAN` of `refs`; the suite that ran last stands first."""
        found: dict[str, list[Entry]] = {}
        for entry in self.entries(refs):
            if entry.row is not None and not entry.row.composed:
                found.setdefault(entry.row.suites[0], []).append(entry)
        return found

    def report(self, row: Row) -> Mapping[str, Any]:
        """The report in a suite's manifest."""
        report: Mapping[str, Any] = _manifest(self.store, row.sha256)["report"]
        return report


def _wanted(entry: Entry, suite: str | None, verdict: str | None) -> bool:
    row = entry.row
    if row is None:
        return suite is None and verdict is None
    return (suite is None or suite in row.suites) and (verdict is None or verdict == row.verdict)


def _looks(path: Path) -> tuple[int, int]:
    """What changes when a file does: so that a row that was read before the damage is not shown after it."""
    try:
        status = path.stat()
    except OSError as error:
        raise StoreError(f"an object cannot be read: {error.strerror}", where=str(path)) from error
    return status.st_mtime_ns, status.st_size


def _manifest(store: Store, name: str) -> Mapping[str, Any]:
    try:
        manifest = orjson.loads(store.get(name))
    except orjson.JSONDecodeError as error:
        raise StoreError("a manifest is not JSON", where=str(store.object_path(name))) from error
    if not isinstance(manifest, dict) or manifest.get("schema") not in (SUITE_SCHEMA, COMPOSED_SCHEMA):
        raise StoreError("not a manifest that this version reads", where=str(store.object_path(name)))
    return manifest


def _read(store: Store, name: str, run_id: str, looks: tuple[int, int]) -> Row:
    manifest = _manifest(store, name)
    try:
        if manifest["run_id"] != run_id:
            raise StoreError("a ref leads to another run", where=str(store.object_path(name)))
        started = str(manifest["envelope"].get("started") or "")
        if manifest["schema"] == COMPOSED_SCHEMA:
            names = tuple(str(child["name"]) for child in manifest["children"])
            return Row(name, True, names, started, VERDICTS[manifest["verdict"]], "", (), 0, 0, "", (), {})
        report, plan = manifest["report"], manifest["plan"]
        measured = {
            label: _finite(measurement["value"])
            for label, measurement in report["measurements"].items()
            if findings.split_slice(label)[1] is None
        }
        return Row(
            sha256=name,
            composed=False,
            suites=(str(report["suite"]),),
            started=started,
            verdict=VERDICTS[report["verdict"]],
            target=str(report["target"]["spec"]),
            datasets=tuple((str(dataset["id"]), str(dataset["revision_id"])) for dataset in report["datasets"]),
            samples=int(report["counts"]["samples"]),
            errors=int(report["counts"]["error"]),
            part=" ".join(f"--{o} {plan[o]}" for o in ("filter", "limit") if plan.get(o) is not None),
            keys=tuple(_keys(report, measured)),
            measured=measured,
        )
    except StoreError:
        raise
    except Exception as error:  # what others wrote may have any shape, and one bad run must not hide the others
        said = f"a manifest is not complete: {type(error).__name__}: {error}"
        raise StoreError(said, where=str(store.object_path(name))) from error


def _keys(report: Mapping[str, Any], measured: Mapping[str, float | None]) -> Iterator[Key]:
    """The measurements that gates look at, those that do not pass first; without such a gate the first there is."""
    limits = findings.thresholds(report)
    verdicts = {name: _worst(threshold.verdict for threshold in limits.get(name, ())) for name in measured}
    gated = [name for name in limits if name in measured and (name != "errors" or measured[name])]
    gated.sort(key=lambda name: verdicts[name] == "pass")
    others = [name for name in measured if name not in ("scored", "errors", "skipped")]
    for name in (gated or others[:1])[:_KEYS]:
        yield Key(name, measured[name], verdicts[name])


def _worst(words: Iterator[str]) -> VerdictWord | None:
    found = set(words)
    return next((word for word in ("fail", "unmeasured", "pass") if word in found), None)


def _finite(value: Any) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a measured value")
    number: float = value
    return number
