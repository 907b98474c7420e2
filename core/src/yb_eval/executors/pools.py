"""The executors that do several batches at once: on threads, on processes."""

from __future__ import annotations

import pickle
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from attrs import frozen

from yb_eval.collecting import seldom
from yb_eval.errors import EvaluationError, UsageError

if TYPE_CHECKING:
    # Not quick to import, and most runs have one job.
    from concurrent.futures import Executor as Pool
    from concurrent.futures import Future

#: How many items each job may be ahead of the one that is waited for.
_WINDOW = 2


@frozen(slots=True)
class ThreadExecutor:
    """Several items at once on threads: for work that waits."""

    jobs: int

    def map(self, work: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
        from concurrent.futures import ThreadPoolExecutor

        return _ordered(ThreadPoolExecutor(self.jobs, thread_name_prefix="yb-eval"), work, items, self.jobs)


@frozen(slots=True)
class ProcessExecutor:
    """Several items at once on processes: for work that computes.

    The work is pickled once and sent to each worker as it starts. Workers are spawned, not forked: a fork of a
    process that has threads can deadlock."""

    jobs: int

    def map(self, work: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        try:
            packed = pickle.dumps(work)
        except Exception as error:
            raise UsageError(
                f"this evaluation cannot run on processes: {error}", hint="use --executor threads, or --jobs 1"
            ) from error
        pool = ProcessPoolExecutor(
            self.jobs, multiprocessing.get_context("spawn"), initializer=_receive, initargs=(packed,)
        )
        return _ordered(pool, _apply, items, self.jobs)


_received: Callable[[Any], Any] | None = None


def _receive(packed: bytes) -> None:
    global _received
    # Ctrl-C reaches the whole process group; the parent decides what becomes of the workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr  # what a target prints is not the result
    _received = pickle.loads(packed)  # noqa: S301 - our own parent wrote it


def _apply(item: Any) -> Any:
    assert _received is not None
    with seldom():
        return _received(item)


def _ordered(pool: Pool, work: Callable[[Any], Any], items: Iterator[Any], jobs: int) -> Iterator[Any]:
    from concurrent.futures.process import BrokenProcessPool

    waiting: deque[Future[Any]] = deque()
    try:
        waiting.extend(pool.submit(work, item) for item in islice(items, jobs * _WINDOW))
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(items, 1))
            yield result
    except BrokenProcessPool as error:
        raise EvaluationError("a worker process died", hint="out of memory? try fewer --jobs") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
