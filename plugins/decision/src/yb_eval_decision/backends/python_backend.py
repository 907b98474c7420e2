"""`python:package.module:attribute`: a callable of the user's as a backend.

It is called with `{"state": {...}, "questions": {id: {"type": ..., "instructions": ..., "criteria": ...}}}` (or, with a
`batch = True` attribute, with a list of those), may be async, and returns what a System One service would: `{"answers":
{id: ...}, "model": ...}`, or the answers by id alone. An answer that is a number or a bool is a noul's probability.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from yb_eval.digest import identify
from yb_eval.interfaces import Answer as TargetAnswer
from yb_eval.targets import Settings, open_target
from yb_eval_decision.backends.base import Backend, Request, Response
from yb_eval_decision.questions import Question, wire_question
from yb_eval_decision.results import Usage
from yb_eval_decision.validation import read_answers

T = TypeVar("T")


class PythonBackend(Backend):
    """A callable found by name, with core's rules for `python:` targets: imported from the working folder first, fingerprinted
    by its sources; whatever it raises is an error of its request. A batch is asked in the order it is given."""

    def __init__(self, spec: str, settings: Settings | None = None) -> None:
        """Raises `UsageError` saying what is missing."""
        self._target = open_target(spec, builtins={}, settings=settings)
        self.spec = self._target.spec
        self.fingerprint = identify("decision-backend", {"class": "PythonBackend", "target": self._target.fingerprint})
        self.batch = max(self._target.batch_size, 16)
        #: As core has it for its `python:` targets: asked from several threads unless the callable says otherwise.
        self.waits = self._target.concurrency != "processes"
        self._alone = self._target.concurrency == "serial"
        self._aside = _Aside()

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        if not requests:
            return []
        asked = [{"state": dict(request.state), "questions": _wire(request.questions)} for request in requests]
        answers = self._aside.run(lambda: list(self._target.ask(asked)), alone=self._alone)
        return [self._read(request, answer) for request, answer in zip(requests, answers, strict=True)]

    def close(self) -> None:
        self._aside.run(self._target.close)
        self._aside.close()

    def _read(self, request: Request, answer: TargetAnswer) -> Response:
        usage = Usage(
            requests=1, questions=len(request.questions), latency_ms=(answer.seconds or 0.0) * 1000, backend=self.spec
        )
        if answer.failure is not None:
            return Response.without(request, "error", f"{self.spec}: {answer.failure}", usage=usage)
        said: Any = answer.value
        model = None
        if (
            isinstance(said, Mapping)
            and isinstance(said.get("answers"), Mapping)
            and "answers" not in request.questions
        ):
            model = said["model"] if isinstance(said.get("model"), str) else None
            said = said["answers"]
        if isinstance(said, Mapping):
            said = {id: _short(request.questions.get(id), value) for id, value in said.items()}
        return Response(answers=read_answers(request.questions, said), usage=usage, model=model)


class _Aside:
    """Where work is done that must not meet the event loop of the thread that asks for it: an async callable needs a thread
    whose loop is its own. Another process gets a new one of these."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def run(self, work: Callable[[], T], *, alone: bool = False) -> T:
        """The result of `work`, done here where no loop is running, else in a thread that is kept for it; `alone`: when no
        other such work is being done."""
        if alone:
            with self._turn:
                return self.run(work)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return work()
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, "yb-eval python backend")
            pool = self._pool
        return pool.submit(work).result()

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Aside, ())


def _wire(questions: Mapping[str, Question]) -> dict[str, Any]:
    return {id: wire_question(question) for id, question in questions.items()}


def _short(question: Question | None, value: Any) -> Any:
    if question is not None and question.type == "noul" and isinstance(value, bool | int | float):
        return {"type": "noul", "noul": float(value)}
    return value
