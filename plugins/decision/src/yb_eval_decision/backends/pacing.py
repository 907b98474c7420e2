"""How a network backend is asked: how long, how often again, how many at once, and when not at all for a while."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self

from attrs import evolve, field, frozen

from yb_eval import UsageError
from yb_eval.digest import sha256_hex
from yb_eval.targets.settings import MEBIBYTE, Settings, at_least, positive

CONCURRENCY_VARIABLE = "YB_EVAL_DECISION_CONCURRENCY"


@frozen(slots=True, kw_only=True)
class Pace:
    """None of this enters a fingerprint: it bounds the work, not the answers.

    `timeout`: seconds a request may take with all its retries and the pauses between them (waiting for its turn is not
    counted). `retries`: attempts beyond the first; the pause before them starts at `backoff` seconds and doubles, or is what
    the server asks for (Retry-After), never more than `longest_wait`. `concurrency`: the most requests under way at once;
    how many there are adapts below that (see `Turns`). `answer_limit`: bytes an answer may have. After `failures` requests in
    a row have failed for the backend's own reasons it is left alone for `cool_down` seconds (see `Breaker`).

    `clock` (seconds, monotonic), `now` (seconds since 1970, for dates in Retry-After) and `sleep` are there for tests.
    """

    timeout: float = field(default=60.0, validator=positive)
    connect_timeout: float = field(default=10.0, validator=positive)
    retries: int = field(default=3, validator=at_least(0))
    backoff: float = field(default=0.5, validator=positive)
    longest_wait: float = field(default=30.0, validator=positive)
    concurrency: int = field(default=16, validator=at_least(1))
    answer_limit: int = field(default=16 * MEBIBYTE, validator=at_least(1))
    failures: int = field(default=8, validator=at_least(1))
    cool_down: float = field(default=15.0, validator=positive)
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @classmethod
    def of(cls, settings: Settings | None = None) -> Self:
        """The pace that a run's settings ask for. A backend asks several requests of one batch at once, so `jobs` (batches
        at once) can only raise `concurrency`; YB_EVAL_DECISION_CONCURRENCY sets it. Raises `UsageError` for a value of
        it that is no number."""
        pace = cls()
        if settings is not None:
            pace = evolve(
                pace,
                timeout=settings.timeout,
                connect_timeout=min(settings.connect_timeout, settings.timeout),
                retries=settings.retries,
                backoff=settings.backoff,
                longest_wait=settings.longest_wait,
                concurrency=max(pace.concurrency, settings.jobs),
                answer_limit=max(1, settings.answer_limit),
            )
        text = os.environ.get(CONCURRENCY_VARIABLE, "").strip()
        if not text:
            return pace
        if not text.isascii() or not text.isdecimal() or not 1 <= int(text[:6]) <= 1_000:
            raise UsageError("it is no number of requests", where=CONCURRENCY_VARIABLE, hint="1 to 1000")
        return evolve(pace, concurrency=int(text))

    def pause(self, attempt: int, body: bytes, asked: float | None) -> float:
        """Seconds before another attempt, after `attempt` failed ones (1, 2, ...): half of the growing pause and a share of the
        other half that depends on the request, so that requests that failed together do not come back together and a
        run is the same each time. `asked` is what the server's Retry-After says."""
        share = int(sha256_hex(body + attempt.to_bytes(4, "big"))[:8], 16) / 0xFFFFFFFF
        grown = self.backoff * 2.0 ** min(attempt - 1, 32)
        return min(max(grown * (0.5 + 0.5 * share), asked or 0.0), self.longest_wait)


class Breaker:
    """Open after `failures` requests in a row that failed for the backend's own reasons, or at once when what failed will not
    mend itself (a refused key). While it is open nothing is asked. After `cool_down` seconds one request tries; its success
    closes the breaker, its failure opens it again. Belongs to one event loop."""

    def __init__(self, failures: int, cool_down: float, clock: Callable[[], float]) -> None:
        self._limit, self._cool_down, self._clock = failures, cool_down, clock
        self._failed = 0
        self._opened: float | None = None
        self._trying = False
        self.last = ""

    def admits(self) -> bool:
        """Whether a request may be made now. One that is admitted reports back with `succeeded`, `failed` or `gave_up`."""
        if self._opened is None:
            return True
        if self._trying or self._clock() - self._opened < self._cool_down:
            return False
        self._trying = True
        return True

    @property
    def open(self) -> bool:
        return self._opened is not None and not self._trying

    def succeeded(self) -> None:
        self._failed, self._opened, self._trying = 0, None, False

    def failed(self, reason: str, *, at_once: bool = False) -> None:
        self._failed += 1
        self.last = reason
        if self._trying or at_once or self._failed >= self._limit:
            self._opened = self._clock()
        self._trying = False

    def gave_up(self) -> None:
        """A request ended without saying anything of the backend: it was cancelled."""
        self._trying = False


class Turns:
    """How many requests may be under way at once: additive increase, multiplicative decrease, as TCP adapts its window
    (Chiu and Jain, 1989). It starts at `start`, halves when the server says that it is too much (once for all requests that
    were under way then), and grows by one after as many successes in a row as it is wide. Belongs to one event loop."""

    def __init__(self, most: int, start: int = 8) -> None:
        self._most = most
        self.width = min(start, most)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._successes = 0
        self._epoch = 0

    async def take(self) -> int:
        """Waits for a turn. The number it gives is for `too_much`."""
        if self._taken >= self.width or self._waiting:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():
                    self._taken -= 1
                    self._wake()
                else:
                    with contextlib.suppress(ValueError):
                        self._waiting.remove(turn)
                raise
        else:
            self._taken += 1
        return self._epoch

    def give_back(self) -> None:
        self._taken -= 1
        self._wake()

    def went_well(self) -> None:
        self._successes += 1
        if self._successes >= self.width and self.width < self._most:
            self.width += 1
            self._successes = 0
            self._wake()

    def too_much(self, epoch: int) -> int:
        """The server says so to a request of this epoch; gives the epoch that the request is in from now on."""
        self._successes = 0
        if epoch == self._epoch:
            self.width = max(1, self.width // 2)
            self._epoch += 1
        return self._epoch

    def _wake(self) -> None:
        while self._waiting and self._taken < self.width:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
