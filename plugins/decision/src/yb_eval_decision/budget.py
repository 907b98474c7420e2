"""What a run will take, told before it asks anything, and a limit on what it may cost.

Both stand on the same estimate: the bytes of a request as tokens (`tokens`), at the backend's price. It errs on the high side.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from attrs import frozen

from yb_eval import UsageError
from yb_eval_decision import tokens
from yb_eval_decision.backends.base import Backend, Price, Request, Response
from yb_eval_decision.packing import input_tokens

if TYPE_CHECKING:
    from yb_eval_decision.asking import EvalSet
    from yb_eval_decision.eval import Eval

#: Tokens that an answer takes where answers are paid for; decision models' are free.
OUTPUT_PER_QUESTION = 32


@frozen(slots=True)
class Estimate:
    """What asking would take: `samples` looked at, requests, questions, tokens, US dollars (`None`: no price is known)."""

    samples: int = 0
    requests: int = 0
    questions: int = 0
    input_tokens: int = 0
    cost_usd: float | None = None

    def __add__(self, other: Estimate) -> Estimate:
        """Both together; the cost is known where that of all requests is."""
        known = [part.cost_usd for part in (self, other) if part.requests]
        costs = [cost for cost in known if cost is not None]
        return Estimate(
            self.samples + other.samples,
            self.requests + other.requests,
            self.questions + other.questions,
            self.input_tokens + other.input_tokens,
            sum(costs) if len(costs) == len(known) else None,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "samples": self.samples, "requests": self.requests, "questions": self.questions,
            "input_tokens": self.input_tokens, "cost_usd": self.cost_usd,
        }  # fmt: skip


def estimate(
    samples: Iterable[Any],
    evals: EvalSet | Sequence[Eval],
    backend: Backend,
    *,
    isolate: bool = False,
    price: Price | None = None,
) -> Estimate:
    """What it would take to ask `evals` of `samples`, without asking anything, at `price` where the backend does not say one.
    Streams `samples`."""
    from yb_eval_decision.asking import EvalSet
    from yb_eval_decision.assessing import Batch

    known, price = EvalSet.of(evals), backend.price or price
    total = Estimate()
    for sample in samples:
        requests = Batch([sample], known, backend, isolate=isolate).requests
        taken = [request_tokens(request) for request in requests]
        cost = None if backend.waits and price is None else 0.0
        if price is not None:
            cost = sum(
                price.of(n, OUTPUT_PER_QUESTION * len(request.questions))
                for n, request in zip(taken, requests, strict=True)
            )
        questions = sum(len(request.questions) for request in requests)
        total += Estimate(1, len(requests), questions, sum(taken), cost)
    return total


def request_tokens(request: Request) -> int:
    """The estimated input tokens of a request."""
    return input_tokens(request.questions.values(), len(tokens.encode(request.state)))


class Budget:
    """US dollars that asking may cost together. Thread-safe; one may be shared by several backends and calls.

    `price` is what is reckoned with where the backend does not say one. Raises `UsageError` for a limit that is none.
    """

    def __init__(self, usd: float, *, price: Price | None = None) -> None:
        if isinstance(usd, bool) or not isinstance(usd, int | float) or not math.isfinite(usd) or usd < 0:
            raise UsageError(f"the maximum cost is a number of US dollars, not {usd!r}")
        self.usd = float(usd)
        self.price = price
        self._lock = threading.Lock()
        self._spent = 0.0
        self._reserved = 0.0

    @property
    def spent(self) -> float:
        """What was spent so far."""
        return self._spent

    def __reduce__(self) -> tuple[Any, ...]:
        # A lock does not cross processes; only backends that compute, and so cost nothing, are sent to others.
        return (_budget, (self.usd, self.price))

    def reserve(self, cost: float) -> bool:
        """Sets `cost` aside, if what is left allows it."""
        with self._lock:
            if self._spent + self._reserved + cost > self.usd:
                return False
            self._reserved += cost
            return True

    def settle(self, reserved: float, cost: float) -> None:
        """What was set aside has cost `cost`."""
        with self._lock:
            self._reserved -= reserved
            self._spent += cost


def _budget(usd: float, price: Price | None) -> Budget:
    return Budget(usd, price=price)


class MaxCost(Backend):
    """`backend`, asked only what `limit` (US dollars, or a `Budget`) allows. What would pass it is an error that says so, and
    is not sent.

    The estimated cost of a request is set aside before it is sent, and settled with what it did cost, so that requests under
    way at the same time stay within the limit together. Put a cache before it, not behind: hits cost nothing. Raises
    `UsageError` for a backend whose price nobody knows.
    """

    def __init__(self, backend: Backend, limit: Budget | float) -> None:
        self.budget = limit if isinstance(limit, Budget) else Budget(limit)
        price = backend.price or self.budget.price
        if price is None and backend.waits:
            raise UsageError(
                f"the price of {backend.spec} is not known, so no maximum cost can be kept",
                hint="give Budget(usd, price=Price(input=...))",
            )
        self.inner = backend
        self.spec, self.fingerprint = backend.spec, backend.fingerprint
        self.limits, self.price = backend.limits, price
        self.batch, self.waits = backend.batch, backend.waits

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        spending = _Spending(self.budget, self.price, requests)
        while sent := spending.next():
            try:
                spending.settle(self.inner.decide(sent))
            finally:
                spending.release()
        return spending.responses()

    async def adecide(self, requests: Sequence[Request]) -> list[Response]:
        spending = _Spending(self.budget, self.price, requests)
        while sent := spending.next():
            try:
                spending.settle(await self.inner.adecide(sent))
            finally:
                spending.release()
        return spending.responses()

    def close(self) -> None:
        self.inner.close()


class _Spending:
    """A batch of requests on its way through a limit: as many at once as it allows, in order, until none is left or the next
    would pass it."""

    def __init__(self, limit: Budget, price: Price | None, requests: Sequence[Request]) -> None:
        self._limit, self._price, self._requests = limit, price, requests
        self._responses: list[Response] = []
        self._reserved: list[float] = []

    def next(self) -> list[Request]:
        """The requests that may be sent now; their cost is set aside."""
        first = len(self._responses)
        for request in self._requests[first:]:
            cost = self._expected(request)
            if not self._limit.reserve(cost):
                break
            self._reserved.append(cost)
        return list(self._requests[first : first + len(self._reserved)])

    def settle(self, responses: Sequence[Response]) -> None:
        for response in responses[: len(self._reserved)]:
            reserved = self._reserved.pop(0)
            self._limit.settle(reserved, self._actual(response, reserved))
            self._responses.append(response)

    def release(self) -> None:
        """Gives back what was set aside for requests that got no response."""
        while self._reserved:
            self._limit.settle(self._reserved.pop(), 0.0)

    def responses(self) -> list[Response]:
        reason = f"stopped: max cost ${self._limit.usd:g} reached"
        rest = self._requests[len(self._responses) :]
        return [*self._responses, *(Response.without(request, "error", reason, retry_later=True) for request in rest)]

    def _expected(self, request: Request) -> float:
        if self._price is None:
            return 0.0
        return self._price.of(request_tokens(request), OUTPUT_PER_QUESTION * len(request.questions))

    def _actual(self, response: Response, reserved: float) -> float:
        """What it cost: as the backend says, else what was expected, for money that may have been spent is spent."""
        usage = response.usage
        if usage.cost_usd is not None:
            return usage.cost_usd
        return reserved if usage.requests else 0.0
