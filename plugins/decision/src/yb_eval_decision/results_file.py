"""The file in which the results of a dataset are written as they come, and from which an interrupted run goes on.

Lines are written to `NAME.part`; when all are there it is renamed to `NAME`, so that a file of that name is always whole. A
line carries a `key`: a sha256 of its row, of the evals and of the backend. When a run is resumed, a row whose earlier line has
the same place and key, and no error in it, is taken over; all others are asked again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import orjson

from yb_eval import StoreError, UsageError
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.dataset_report import RowReport, line_of
from yb_eval_decision.results import EvalReport, Result, Usage
from yb_eval_decision.rows import Row


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is complete. Raises `StoreError` where it cannot be written."""
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        raise StoreError(f"cannot be written: {error.strerror}", where=str(path)) from None


def run_key(evals: EvalSet, backend: Backend, isolate: bool) -> bytes:
    """What a run asks, and whom: lines of another run are not taken over."""
    asked = [[name, one.identity()] for name, one in zip(evals.names, evals.evals, strict=True)]
    return hashlib.sha256(line_of(["yb-eval/1/decision-results", backend.fingerprint, isolate, asked])).digest()


class ResultsFile:
    """Writes the results of one run, and hands back those of an earlier one (`resume`). A whole file of that name is replaced
    when the new one is whole. Raises `UsageError` where nothing can be written there."""

    def __init__(self, path: str | Path, run: bytes, *, resume: bool = False) -> None:
        self.path = Path(path)
        self._run = run
        self._part = self.path.with_name(self.path.name + ".part")
        self._earlier_path = self.path.with_name(self.path.name + ".earlier")
        self._next: tuple[int, Mapping[str, Any], bytes] | None = None
        self._earlier: Iterator[tuple[int, Mapping[str, Any], bytes]] = iter(())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if resume:
                self._set_earlier_aside()
                self._earlier = _lines(self._earlier_path)
            self._file = self._part.open("wb")
        except OSError as error:
            raise UsageError(f"cannot be written: {error.strerror}", where=str(self.path)) from None

    def _set_earlier_aside(self) -> None:
        """Gathers what earlier runs left, in the order of the rows: a run that was resumed may itself have been interrupted."""
        newest = self._part if self._part.exists() else self.path
        if not newest.exists():
            return
        if newest == self._part and self._earlier_path.exists():
            merged = self._earlier_path.with_name(self._earlier_path.name + ".part")
            with merged.open("wb") as file:
                last = -1
                for index, _, line in _lines(newest):
                    file.write(line)
                    last = index
                file.writelines(line for index, _, line in _lines(self._earlier_path) if index > last)
            os.replace(merged, self._earlier_path)
            newest.unlink()
        elif newest == self._part:
            os.replace(newest, self._earlier_path)
        else:
            # The run had ended: it stays until the new one has.
            self._earlier_path.write_bytes(b"")
            with self.path.open("rb") as source, self._earlier_path.open("wb") as copy:
                while block := source.read(1 << 20):
                    copy.write(block)

    def key(self, row: Row) -> str | None:
        """What a row's line must carry to be this row's; `None` where the row has no digest."""
        if row.digest is None:
            return None
        return hashlib.sha256(self._run + f"\0{row.index}\0{row.id}\0{row.digest}".encode()).hexdigest()

    def earlier(self, row: Row) -> RowReport | None:
        """What an earlier run found for `row`, if it can be taken over; ask for the rows in order."""
        while self._next is None or self._next[0] < row.index:
            self._next = next(self._earlier, None)
            if self._next is None:
                return None
        index, value, _ = self._next
        if index != row.index or value.get("key") is None or value["key"] != self.key(row):
            return None
        report = _read_report(value)
        if report is None or any(result.status == "error" for result in report.results):
            return None
        return RowReport(row.index, row.id, row.metadata, report)

    def write(self, row: Row, report: RowReport) -> None:
        """Writes a row's line, all of it. Raises `StoreError`."""
        try:
            self._file.write(line_of({**report.to_dict(), "key": self.key(row)}))
            self._file.flush()
        except OSError as error:
            raise StoreError(f"cannot be written: {error.strerror}", where=str(self.path)) from None

    def finish(self) -> None:
        """All rows are there: the file takes its name."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            os.replace(self._part, self.path)
            self._earlier_path.unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"cannot be written: {error.strerror}", where=str(self.path)) from None

    def leave(self) -> None:
        """The run ends early: what was written stays for `resume`."""
        self._file.close()


def _lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any], bytes]]:
    """The whole lines of an earlier file as (row, object, bytes); a last one that was cut off is left out."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            if line.endswith(b"\n") and isinstance(value, dict) and type(value.get("index")) is int:
                yield value["index"], value, line


def _read_report(value: Mapping[str, Any]) -> EvalReport | None:
    """The report of a line; `None` where it is not one of ours."""
    try:
        results = [
            Result(name=name, **{key: found[key] for key in found if key != "name"})
            for name, found in value["results"].items()
        ]
        return EvalReport(results, Usage(**value["usage"]), models=tuple(value["models"]))
    except (TypeError, KeyError, AttributeError):
        return None
