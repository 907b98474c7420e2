"""Batches of a dataset in other processes, for backends that compute: Python runs one thread at a time.

What is sent to a process once is who asks what of whom; what is sent for a batch are its rows, unread; what comes back is the
report of the batch, which is merged into that of the whole, or one for each row where somebody wants to see them.
"""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve, frozen

from yb_eval import EvaluationError, UsageError
from yb_eval.errors import printable
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.assessing import assess
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.dataset_report import DatasetReport, RowReport
from yb_eval_decision.eval import Eval
from yb_eval_decision.rows import Raw, Row

#: The rows of a batch, and how many failures of each eval are still wanted: their evidence is most of what would come back.
Batch = tuple[list[Raw | Row], list[int]]
#: A row, without its sample, and its report.
Found = tuple[Row, RowReport]
#: Characters of an error's message.
_MESSAGE = 200
_GUARD = "put what a script runs under `if __name__ == '__main__':`"
_SERIAL = "concurrency=1, or waits = True in a backend that waits rather than computes"


def computes(backend: Backend) -> bool:
    """Whether more processes answer more: the backend computes, and keeps nothing that all batches share (a cache, a cost
    limit)."""
    from yb_eval_decision.budget import MaxCost
    from yb_eval_decision.cache import CachedBackend

    return not backend.waits and not isinstance(backend, MaxCost | CachedBackend)


@frozen(slots=True)
class Work:
    """Evals, backend and how to ask: `rows` wants the report of each row, `digests` what rows of a file of results need."""

    evals: tuple[Eval, ...]
    backend: Backend
    isolate: bool
    digests: bool
    rows: bool

    def on(self, evals: EvalSet, batch: Batch) -> DatasetReport | list[Found]:
        """What a batch comes to; `evals` are its own, made ready."""
        given, rooms = batch
        rows = [one if isinstance(one, Row) else one.row(self.digests) for one in given]
        reports = assess([row.sample for row in rows], evals, self.backend, isolate=self.isolate)
        found = [RowReport(row.index, row.id, row.metadata, report) for row, report in zip(rows, reports, strict=True)]
        if self.rows:
            return [(evolve(row, sample=None), report) for row, report in zip(rows, found, strict=True)]
        whole = DatasetReport(evals.names)
        for tally, room in zip(whole, rooms, strict=True):
            tally.keeps = room
        for report in found:
            whole.add(report)
        return whole


class Worker:
    """Work that was made ready to be sent. Batches and what they come to are bytes, so that whatever cannot be sent, or not be
    read at the other end, is told in one line there and then. Raises `UsageError`."""

    def __init__(self, work: Work) -> None:
        # A process that is only just importing the script of its parent would write to the same files, and start others.
        if getattr(multiprocessing.current_process(), "_inheriting", False):
            raise UsageError("this script is imported by a process that it started", hint=_GUARD)
        self._packed = _packed(work, "the evals and the backend")
        self._ready: tuple[Work, EvalSet] | None = None

    def __call__(self, batch: bytes) -> bytes:
        if self._ready is None:
            work: Work = _unpacked(self._packed)
            self._ready = work, EvalSet(work.evals)
        work, evals = self._ready
        return _packed(work.on(evals, _unpacked(batch)), "the results")


def on_processes(
    worker: Callable[[bytes], bytes], batches: Iterator[Batch], jobs: int
) -> Iterator[DatasetReport | list[Found]]:
    """What each of `batches` comes to, in order. Raises `UsageError` for what cannot be sent, `EvaluationError` where a process
    dies."""
    from yb_eval.executors import ProcessExecutor

    begun = False
    try:
        for found in ProcessExecutor(jobs).map(worker, (_packed(batch, "the samples") for batch in batches)):
            begun = True
            yield pickle.loads(found)  # noqa: S301 - our own process wrote it
    except EvaluationError as error:
        hint = "out of memory? try a lower concurrency" if begun else f"{_GUARD}; out of memory? try concurrency=1"
        raise EvaluationError(error.what, hint=hint) from error


def _packed(value: Any, what: str) -> bytes:
    try:
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # whatever a class of the user's raises
        reason = _line(error)
        raise UsageError(f"{what} cannot be sent to other processes: {reason}", hint=_SERIAL) from error


def _unpacked(packed: bytes) -> Any:
    try:
        return pickle.loads(packed)  # noqa: S301 - our own parent wrote it
    except Exception as error:
        reason = _line(error)
        hint = f"define classes and functions in a module, or {_SERIAL}"
        raise UsageError(f"another process cannot read what it was sent: {reason}", hint=hint) from None


def _line(error: Exception) -> str:
    text = printable(str(error).strip()) or type(error).__name__
    return text if len(text) <= _MESSAGE else text[: _MESSAGE - 1] + "…"
