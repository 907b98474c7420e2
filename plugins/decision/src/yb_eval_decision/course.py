"""One run over a dataset, from its arguments to its report: who reads the rows, in which order, and what becomes of results."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.assessing import aassess, assess
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.dataset_report import DatasetReport, RowReport
from yb_eval_decision.processes import Batch, Found, Work, Worker, computes
from yb_eval_decision.results import EvalReport
from yb_eval_decision.rows import Raw, Row, raw_rows, read_rows

#: A row, and its report where an earlier run has it.
Known = tuple[Row, RowReport | None]
#: Called with the place of each row and its report, in the order of the rows.
OnResult = Callable[[int, EvalReport], object]
#: Batches that are asked at once where the backend waits: while the slowest requests of one end, the next is under way.
_AT_ONCE = 2


class Course:
    """One run over a dataset: batches go out, reports come in, in order."""

    def __init__(
        self,
        evals: EvalSet,
        backend: Backend,
        isolate: bool,
        limit: int | None,
        batch: int | None,
        concurrency: int | None,
        on_result: OnResult | None,
        out: str | Path | None,
        resume: bool,
        keep: bool,
        *,
        processes: bool = False,
    ) -> None:
        self._evals, self._backend, self._isolate = evals, backend, isolate
        self._limit = limit
        self._batch = _count(batch, "batch", max(1, backend.batch))
        self.concurrency = _count(concurrency, "concurrency", _AT_ONCE if backend.waits else 1)
        if on_result is not None and not callable(on_result):
            raise UsageError(f"on_result is called with index and report; this is {shorten(on_result)}")
        if out is not None and not isinstance(out, str | Path):
            raise UsageError(f"out is a file's path, not {shorten(out)}")
        self._on_result = on_result
        self.report = DatasetReport(evals.names, keep=keep)
        #: What other processes do for each batch, where they are of use.
        self.worker: Worker | None = None
        self._resume = resume
        self._sent: deque[list[Known]] = deque()
        self._file = None
        if resume and out is None:
            raise UsageError("resume goes on with a file of results", hint="out='results.jsonl'")
        if processes and self.concurrency > 1 and computes(backend):
            wanted = keep or out is not None or on_result is not None
            # Before any file is touched: a process that must not run at all finds that out here.
            self.worker = Worker(Work(evals.evals, backend, isolate, digests=out is not None, rows=wanted))
        if out is not None:
            from yb_eval_decision.results_file import ResultsFile, run_key

            self._file = ResultsFile(out, run_key(evals, backend, isolate), resume=resume)

    def batches(self, data: Any) -> Iterator[list[Known]]:
        """The rows, so many at a time that as many are to be asked as make a batch."""
        some: list[Known] = []
        for row in read_rows(data, self._limit, digests=self._file is not None):
            some.append((row, self._file.earlier(row) if self._file is not None else None))
            if len(some) >= self._batch:
                yield some
                some = []
        if some:
            yield some

    def ask(self, rows: list[Known]) -> list[tuple[Row, RowReport, bool]]:
        samples = [row.sample for row, earlier in rows if earlier is None]
        return self._together(rows, assess(samples, self._evals, self._backend, isolate=self._isolate))

    async def aask(self, rows: list[Known]) -> list[tuple[Row, RowReport, bool]]:
        samples = [row.sample for row, earlier in rows if earlier is None]
        return self._together(rows, await aassess(samples, self._evals, self._backend, isolate=self._isolate))

    def _together(self, rows: list[Known], reports: list[EvalReport]) -> list[tuple[Row, RowReport, bool]]:
        asked = iter(reports)
        return [
            (row, earlier or RowReport(row.index, row.id, row.metadata, next(asked)), earlier is not None)
            for row, earlier in rows
        ]

    def sent(self, data: Any) -> Iterator[Batch]:
        """`batches` for other processes: rows as they are given. Those of a resumed run are read here, as what an earlier run
        found stays here."""
        for rows in self._unread(data):
            # What comes back meanwhile only makes the room smaller.
            yield rows, [tally.room for tally in self.report]

    def _unread(self, data: Any) -> Iterator[list[Raw | Row]]:
        if self._resume:
            for some in self.batches(data):
                self._sent.append(some)
                yield [row for row, earlier in some if earlier is None]
            return
        rows = raw_rows(data, self._limit)
        while batch := list(islice(rows, self._batch)):
            yield [*batch]

    def receive(self, found: DatasetReport | list[Found]) -> None:
        """Takes in what another process found for the batch that was sent first of those still out."""
        if isinstance(found, DatasetReport):
            self.report.merge(found)
        elif not self._resume:
            self.take([(row, report, False) for row, report in found])
        else:
            asked = iter(found)
            self.take([
                (row, earlier, True) if earlier is not None else (row, next(asked)[1], False)
                for row, earlier in self._sent.popleft()
            ])  # fmt: skip

    def take(self, done: list[tuple[Row, RowReport, bool]]) -> None:
        for row, found, resumed in done:
            self.report.add(found, resumed=resumed)
            if self._file is not None:
                self._file.write(row, found)
            if self._on_result is not None:
                self._on_result(row.index, found.report)

    def __enter__(self) -> Course:
        self._started = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.report.wall_ms = 1000 * (time.perf_counter() - self._started)
        if self._file is not None:
            if kind is None:
                self._file.finish()
            else:
                self._file.leave()


def _count(value: int | None, what: str, otherwise: int) -> int:
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(f"{what} is a whole number from 1, not {shorten(value)}")
    return value
