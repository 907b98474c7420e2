"""The base of all backends that answer over a network.

One request is: wait for a turn, ask, and ask again after what may pass, until there is an answer or no time left. Whatever
happens ends as a `Response`; a failure that is the backend's and not the request's is marked `retry_later`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, TypeVar

from attrs import evolve, field, frozen

from yb_eval.errors import printable
from yb_eval.targets.failures import clip
from yb_eval.targets.secrets import Masker
from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.backends.background import Background, Closed
from yb_eval_decision.backends.base import Backend, Limits, Price, Request, Response
from yb_eval_decision.backends.pacing import Breaker, Pace, Turns
from yb_eval_decision.results import Usage
from yb_eval_decision.validation import read_answers

T = TypeVar("T")
#: More notes than this say nothing new.
_MOST_NOTES = 20


class Failed(Exception):
    """An attempt brought no answer.

    `again`: another may, `after` seconds if the server said so. `busy`: it has too much to do. `backend`: the failure has
    nothing to do with what was asked; `lasting`: nor will it pass by itself. `unpriced`: it may have cost something.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool = False,
        after: float | None = None,
        busy: bool = False,
        backend: bool = False,
        lasting: bool = False,
        unpriced: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.after = after
        self.busy = busy
        self.backend = backend
        self.lasting = lasting
        self.unpriced = unpriced


@frozen(slots=True)
class Prepared:
    """A request as it goes out: its bytes, and what the wire wants to remember of it."""

    request: Request
    body: bytes
    more: Any = None


@frozen(slots=True, kw_only=True)
class Reply:
    """What came back: System One answers by question id, the model that says it answered, and what it took."""

    answers: Any
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    confidences: Mapping[str, Any] = field(factory=dict)


class RemoteBackend(Backend):
    """Subclasses give `prepare` and `ask`, and may give `let_go`.

    Thread-safe. `models` are the models that have answered, in the order they were first seen; `notes` says what a
    reader of the results should know, such as a model that changed meanwhile.
    """

    waits = True

    def __init__(
        self,
        *,
        spec: str,
        fingerprint: str,
        pace: Pace | None = None,
        limits: Limits | None = None,
        price: Price | None = None,
        secrets: Sequence[str] = (),
        pin: str | None = None,
    ) -> None:
        self.spec = spec
        self.fingerprint = fingerprint
        self.limits = limits or Limits()
        self.price = price
        self.pace = pace or Pace()
        self.models: tuple[str, ...] = ()
        self.notes: list[str] = []
        self._pin = pin
        self._last_model: str | None = None
        self._masker = Masker.from_environment(*secrets)
        self._start()

    def _start(self) -> None:
        self.background = Background(f"yb-eval {self.spec}"[:60])
        self._turns = Turns(self.pace.concurrency)
        self._breaker = Breaker(self.pace.failures, self.pace.cool_down, self.pace.clock)
        self.let_go()

    # What a wire gives

    def prepare(self, request: Request) -> Prepared:
        """The request as it goes out. Raises `Failed` for one that cannot."""
        raise NotImplementedError

    async def ask(self, prepared: Prepared) -> Reply:
        """One attempt, on the backend's own loop, where it is cancelled when its time is up. Raises `Failed`."""
        raise NotImplementedError

    def let_go(self) -> None:
        """Forgets connections that belong to another loop or process."""

    # What a backend gives

    @property
    def width(self) -> int:
        """How many requests may be under way at once just now."""
        return self._turns.width

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        if not requests:
            return []
        try:
            return self._background().wait(self._all(list(requests)))
        except Closed:
            return [self._closed(request) for request in requests]

    async def adecide(self, requests: Sequence[Request]) -> list[Response]:
        if not requests:
            return []
        try:
            return await self._background().join(self._all(list(requests)))
        except Closed:
            return [self._closed(request) for request in requests]

    def close(self) -> None:
        """Ends connections and the thread; requests under way get an error."""
        self.background.close()

    def _background(self) -> Background:
        if not self.background.usable:  # after a fork the thread is the parent's
            self._start()
        return self.background

    async def _all(self, requests: list[Request]) -> list[Response]:
        return list(await _together([self._one(request) for request in requests]))

    async def _one(self, request: Request) -> Response:
        if not request.questions:
            return Response(answers={})
        try:
            prepared = self.prepare(request)
        except Failed as failure:
            return self._without(request, failure, Usage(backend=self.spec))
        epoch = await self._turns.take()
        try:
            return await self._attempts(prepared, epoch)
        except asyncio.CancelledError:
            self._breaker.gave_up()
            raise
        finally:
            self._turns.give_back()

    async def _attempts(self, prepared: Prepared, epoch: int) -> Response:
        pace, breaker = self.pace, self._breaker
        if not breaker.admits():
            said = f"not asked, for requests before it failed (the last: {breaker.last})"
            return self._without(prepared.request, Failed(said, backend=True), Usage(backend=self.spec))
        started = pace.clock()
        attempt = 0
        unpriced = False
        while True:
            attempt += 1
            try:
                reply = await self._attempt(prepared, pace.timeout - (pace.clock() - started))
            except Failed as caught:
                failure = caught
            else:
                self._turns.went_well()
                breaker.succeeded()
                return self._read(prepared.request, reply, attempt, started, unpriced)
            unpriced = unpriced or failure.unpriced
            if failure.busy:
                epoch = self._turns.too_much(epoch)
            if not failure.again or attempt > pace.retries or breaker.open:
                break
            pause = pace.pause(attempt, prepared.body, failure.after)
            if pause >= pace.timeout - (pace.clock() - started):
                failure.reason += f"; no time for another attempt within {pace.timeout:g} s"
                break
            await pace.sleep(pause)
        if failure.backend:
            breaker.failed(failure.reason, at_once=failure.lasting)
        else:
            breaker.succeeded()
        if attempt > 1:
            failure.reason += f" ({attempt} attempts)"
        usage = self._usage(prepared.request, attempt, started)
        free = self.price is not None and not unpriced
        return self._without(prepared.request, failure, evolve(usage, cost_usd=0.0 if free else None))

    async def _attempt(self, prepared: Prepared, seconds: float) -> Reply:
        late = Failed(f"no answer within {self.pace.timeout:g} s", backend=True, unpriced=True)
        if seconds <= 0:
            raise late
        try:
            async with asyncio.timeout(seconds):
                return await self.ask(prepared)
        except TimeoutError:
            raise late from None
        except (Failed, asyncio.CancelledError):
            raise
        except Exception as error:  # a wire that does not expect what a server sent must not end a run
            raise Failed(f"{type(error).__name__}: {error}") from error

    def _read(self, request: Request, reply: Reply, attempts: int, started: float, unpriced: bool) -> Response:
        answers: Mapping[str, Answer] = read_answers(request.questions, reply.answers, confidences=reply.confidences)
        answers = {id: self._masked(answer) for id, answer in answers.items()}
        model = None if reply.model is None else clip(self._masker.mask(reply.model), 120)
        self._saw(model)
        cost = reply.cost_usd
        if cost is None and self.price is not None:
            cost = self.price.of(reply.input_tokens, reply.output_tokens)
        usage = evolve(
            self._usage(request, attempts, started),
            input_tokens=reply.input_tokens,
            output_tokens=reply.output_tokens,
            cost_usd=cost,
            cost_complete=not unpriced,
        )
        return Response(answers=answers, usage=usage, model=model)

    def _usage(self, request: Request, attempts: int, started: float) -> Usage:
        return Usage(
            requests=1,
            questions=len(request.questions),
            retries=attempts - 1,
            latency_ms=(self.pace.clock() - started) * 1000,
            backend=self.spec,
        )

    def _without(self, request: Request, failure: Failed, usage: Usage) -> Response:
        return Response.without(request, "error", self._shown(failure), usage=usage, retry_later=failure.backend)

    def _closed(self, request: Request) -> Response:
        return self._without(request, Failed("the backend was closed", backend=True), Usage(backend=self.spec))

    def _shown(self, failure: Failed) -> str:
        return f"{self.spec}: {clip(self._masker.mask(failure.reason))}"

    def _masked(self, answer: Answer) -> Answer:
        return evolve(answer, reason=self._masker.mask(answer.reason)) if isinstance(answer, NoAnswer) else answer

    def _saw(self, model: str | None) -> None:
        if model is None or model == self._last_model:
            return
        if self._last_model is not None:
            self.note(f"the model changed from {self._last_model!r} to {model!r} while it was asked")
        elif self._pin is not None and any(map(str.isdigit, self._pin)) and self._pin not in model:
            self.note(f"{self._pin!r} was asked for, {model!r} says that it answered")
        self._last_model = model
        if model not in self.models:
            self.models = (*self.models, model)

    def note(self, text: str) -> None:
        """Adds to `notes` what is not there yet."""
        told = printable(f"{self.spec}: {text}")
        if told not in self.notes and len(self.notes) < _MOST_NOTES:
            self.notes.append(told)


async def _together(work: list[Coroutine[Any, Any, T]]) -> list[T]:
    """`asyncio.gather`, which leaves nothing running when it is cancelled or one fails."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
