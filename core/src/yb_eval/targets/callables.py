"""Targets that live in this process: a callable that answers one request, or a batch of them."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from yb_eval.interfaces import Answer, Concurrency
from yb_eval.targets.failures import clip, failed
from yb_eval.targets.wire import NotJson, plain

if TYPE_CHECKING:
    from asyncio import Runner

Request = Mapping[str, Any]


class CallableTarget:
    """A callable as a target: what suites wrap their reference systems in, and what `python:` opens.

    `call` takes one request and returns its answer or, with `batch`, a list of requests and returns a list of as many
    answers, in order; an exception among those is that request's failure. It may be async: each thread that asks has
    an event loop of its own for as long as the target is open, and `timeout` bounds the seconds per request (a plain
    function cannot be stopped).

    Whatever `call` raises becomes a failure, `SystemExit` included; only `KeyboardInterrupt` passes. Pickles if
    `call` does.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        *,
        fingerprint: str,
        spec: str = "builtin",
        batch: bool = False,
        batch_size: int = 64,
        concurrency: Concurrency = "threads",
        timeout: float | None = None,
    ) -> None:
        self.spec = spec
        self.fingerprint = fingerprint
        self.batch_size = batch_size
        self.concurrency = concurrency
        self._call = call
        self._batch = batch
        self._loops = _Loops(timeout)

    def ask(self, requests: Sequence[Request], *, repeat: int = 0) -> Sequence[Answer]:
        return self._ask_together(requests) if self._batch else self._ask_each(requests)

    def _ask_each(self, requests: Sequence[Request]) -> list[Answer]:
        answers = []
        call = self._call
        started = perf_counter()
        for request in requests:
            try:
                said = call(request)
                if type(said) is not dict and inspect.isawaitable(said):
                    said = self._loops.wait(said, 1)
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                said = error
            ended = perf_counter()
            answers.append(_answer(said, ended - started))
            started = ended
        return answers

    def _ask_together(self, requests: Sequence[Request]) -> list[Answer]:
        started = perf_counter()
        try:
            said = self._call(list(requests))
            if inspect.isawaitable(said):
                said = self._loops.wait(said, len(requests))
            answers = None if isinstance(said, str | bytes | Mapping) or not hasattr(said, "__iter__") else list(said)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return [_answer(error, (perf_counter() - started) / len(requests)) for _ in requests]
        share = (perf_counter() - started) / max(len(requests), 1)
        if answers is not None and len(answers) == len(requests):
            return [_answer(answer, share) for answer in answers]
        # Which answer belongs to which request would be a guess.
        came = f"a {type(said).__name__}" if answers is None else f"{len(answers)} answers"
        return [Answer(None, f"{came} came back for a batch of {len(requests)} requests", share) for _ in requests]

    def close(self) -> None:
        self._loops.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loops": self._loops.timeout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _loops=_Loops(state["_loops"]))


def _answer(said: Any, seconds: float) -> Answer:
    if isinstance(said, BaseException):
        return Answer(None, failed(said), seconds)
    try:
        return Answer(plain(said), None, seconds)
    except NotJson as error:
        return Answer(None, clip(f"the answer is {error}"), seconds)


class _Loops:
    """One event loop for each thread that asks, made when first needed."""

    def __init__(self, timeout: float | None) -> None:
        self.timeout = timeout
        self._mine = threading.local()
        self._lock = threading.Lock()
        self._all: list[Runner] = []

    def wait(self, awaitable: Any, requests: int) -> Any:
        """The result of `awaitable`, or `TimeoutError` after the time limit of so many requests."""
        limit = None if self.timeout is None else self.timeout * requests
        return self._runner().run(_bounded(awaitable, limit))

    def _runner(self) -> Runner:
        runner: Runner | None = getattr(self._mine, "runner", None)
        if runner is None:
            import asyncio

            runner = self._mine.runner = asyncio.Runner()
            with self._lock:
                self._all.append(runner)
        return runner

    def close(self) -> None:
        with self._lock:
            runners, self._all = self._all, []
            self._mine = threading.local()
        for runner in runners:
            # One that is still running belongs to a thread of an interrupted run; it cannot be closed from here.
            if not runner.get_loop().is_running():
                runner.close()


def _bounded(awaitable: Any, limit: float | None) -> Coroutine[Any, Any, Any]:
    import asyncio

    async def run() -> Any:
        try:
            async with asyncio.timeout(limit) as clock:
                return await awaitable
        except TimeoutError:
            if clock.expired():
                raise TimeoutError(f"no answer within {limit:g} s") from None
            raise

    return run()
