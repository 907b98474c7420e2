"""Running evals on one sample or on a dataset.

Nothing here starts an event loop: backends that speak over a network have their own, so `evaluate` works in plain code, in
threads, and inside a running loop (a notebook, a server), where `aevaluate` lets that loop go on meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yb_eval import UsageError
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.assessing import aassess as aassess
from yb_eval_decision.assessing import assess as assess
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.course import Course, OnResult
from yb_eval_decision.dataset_report import DatasetReport
from yb_eval_decision.opened import opened
from yb_eval_decision.results import EvalReport

if TYPE_CHECKING:
    from yb_eval_decision.answer_store import ResponseCache
    from yb_eval_decision.budget import Budget

#: Evals as they may be given: made, by name (`"agent.grounded"`), as a YAML file or inline; one or many.
Evals = Any


def evaluate(
    sample: Any,
    evals: Evals,
    *,
    backend: Backend | str | None = None,
    cache: ResponseCache | str | None = None,
    isolate: bool = False,
    keep_sample: bool = False,
    max_cost: Budget | float | None = None,
) -> EvalReport:
    """The report of `evals` on one `sample` (see `Sample`).

    `evals` are evals, names, YAML files or inline mappings. `backend` is a backend, a spec such as `"kev://localhost:8009"`, or
    nothing: the default one. Backends opened by spec are shared by the process and closed at its end. `cache` is a file in which
    answers are kept; `max_cost` US dollars beyond which nothing is asked. Raises `UsageError` for arguments that
    cannot be used, never for the sample's sake.
    """
    known = made(evals)
    with opened(backend, cache=cache, max_cost=max_cost) as ready:
        return assess([sample], known, ready, isolate=isolate, keep_sample=keep_sample)[0]


async def aevaluate(
    sample: Any,
    evals: Evals,
    *,
    backend: Backend | str | None = None,
    cache: ResponseCache | str | None = None,
    isolate: bool = False,
    keep_sample: bool = False,
    max_cost: Budget | float | None = None,
) -> EvalReport:
    """`evaluate`, in a running event loop, which goes on meanwhile."""
    known = made(evals)
    with opened(backend, cache=cache, max_cost=max_cost) as ready:
        return (await aassess([sample], known, ready, isolate=isolate, keep_sample=keep_sample))[0]


def made(evals: Evals) -> EvalSet:
    """The evals that are meant: evals as they are, all else through the registry. Raises `UsageError`."""
    from yb_eval_decision.eval import Eval

    if isinstance(evals, EvalSet):
        return evals
    given = [evals] if isinstance(evals, str | Mapping | Eval) or not hasattr(evals, "__iter__") else list(evals)
    if any(isinstance(one, str | Mapping) or hasattr(one, "__fspath__") for one in given):
        from yb_eval_decision.registry import resolve_evals

        given = list(resolve_evals(given))
    if not given:
        raise UsageError("no evals are given", hint="evaluate(sample, [Grounded(), ...])")
    return EvalSet(given)


def evaluate_dataset(
    data: Any,
    evals: Evals,
    *,
    backend: Backend | str | None = None,
    cache: ResponseCache | str | None = None,
    isolate: bool = False,
    max_cost: Budget | float | None = None,
    limit: int | None = None,
    batch: int | None = None,
    concurrency: int | None = None,
    on_result: OnResult | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    keep: bool = False,
) -> DatasetReport:
    """The report of `evals` over `data`: the path of a JSONL file, or samples, of which a few are held at a time.

    A row that cannot be read is an error of every eval, and the run goes on. `batch` samples are asked together and
    `concurrency` batches at once; without them the backend's own measure is taken. Where the backend waits (for a network), or
    answers are counted or kept for all (`cache`, `max_cost`), threads do that; where it computes, as many processes: evals,
    backend and samples are sent to them, so they must be importable and picklable, and a script must start the run under
    `if __name__ == "__main__":`, as every process imports it. Results come in the order of the rows: to
    `on_result(index, report)`, and to the JSONL file `out`, which has its name when it is complete. `resume` takes over from an
    earlier run that wrote `out` what it measured of the same rows with the same evals and backend. `keep` keeps all reports
    in memory. Otherwise as `evaluate`. Raises `UsageError` for arguments and files that cannot be used, `StoreError` where
    `out` cannot be written.
    """
    from yb_eval.executors import SerialExecutor, ThreadExecutor
    from yb_eval_decision.processes import on_processes

    known = made(evals)
    with opened(backend, cache=cache, max_cost=max_cost) as ready:
        with Course(
            known, ready, isolate, limit, batch, concurrency, on_result, out, resume, keep, processes=True
        ) as course:
            if course.worker is not None:
                for found in on_processes(course.worker, course.sent(data), course.concurrency):
                    course.receive(found)
            else:
                jobs = course.concurrency
                executor = SerialExecutor() if jobs == 1 else ThreadExecutor(jobs)
                for done in executor.map(course.ask, course.batches(data)):
                    course.take(done)
        return course.report


async def aevaluate_dataset(
    data: Any,
    evals: Evals,
    *,
    backend: Backend | str | None = None,
    cache: ResponseCache | str | None = None,
    isolate: bool = False,
    max_cost: Budget | float | None = None,
    limit: int | None = None,
    batch: int | None = None,
    concurrency: int | None = None,
    on_result: OnResult | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    keep: bool = False,
) -> DatasetReport:
    """`evaluate_dataset`, in a running event loop, which goes on meanwhile. A backend that computes does so on threads here:
    for more than one processor take `evaluate_dataset`, on a thread of its own (`asyncio.to_thread`)."""
    import asyncio

    known = made(evals)
    with opened(backend, cache=cache, max_cost=max_cost) as ready:
        with Course(known, ready, isolate, limit, batch, concurrency, on_result, out, resume, keep) as course:
            batches = course.batches(data)
            waiting = deque(asyncio.ensure_future(course.aask(one)) for one in islice(batches, course.concurrency))
            try:
                while waiting:
                    done = await waiting.popleft()
                    waiting.extend(asyncio.ensure_future(course.aask(one)) for one in islice(batches, 1))
                    course.take(done)
            finally:
                for task in waiting:
                    task.cancel()
                await asyncio.gather(*waiting, return_exceptions=True)
        return course.report
