"""A backend: what answers requests, wherever it runs.

A request is a state and the questions about it; a response has one answer for each of them, in order. Whatever goes wrong
is a `NoAnswer` in the response and never an exception, so one bad sample cannot end a run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from attrs import field, frozen

from yb_eval_decision.answers import Answer, NoAnswer, NoAnswerState
from yb_eval_decision.questions import Question
from yb_eval_decision.results import Usage


@frozen(slots=True)
class Request:
    """A `state` (JSON values by name) and the `questions` about it, by id.

    `repeat` counts how often the same was asked before in a run with repeats: a cache keeps them apart.
    """

    state: Mapping[str, Any]
    questions: Mapping[str, Question]
    repeat: int = 0


@frozen(slots=True, kw_only=True)
class Response:
    """One answer for each question of a request, in order.

    `model` is the model and version that answered, as it says itself. `decided_by` names, by question id, who gave the
    answer, where that is not the backend alone (a cascade). `retry_later` marks a failure that has nothing to do with the
    request (the backend is down): it is not cached.
    """

    answers: Mapping[str, Answer]
    usage: Usage = field(factory=Usage)
    model: str | None = None
    decided_by: Mapping[str, str] = field(factory=dict)
    retry_later: bool = False

    @classmethod
    def without(
        cls,
        request: Request,
        state: NoAnswerState,
        reason: str,
        *,
        usage: Usage | None = None,
        retry_later: bool = False,
    ) -> Response:
        """A response in which every question has no answer, for one reason."""
        none = NoAnswer(state, reason)
        return cls(answers=dict.fromkeys(request.questions, none), usage=usage or Usage(), retry_later=retry_later)


@frozen(slots=True, kw_only=True)
class Limits:
    """What one request may hold; `None` is no limit. Tokens are estimated (`tokens.estimate`)."""

    request_tokens: int | None = None
    questions: int | None = None
    options: int = 255
    levels: int = 10
    body_bytes: int | None = None


@frozen(slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    output: float = 0.0

    def of(self, input_tokens: int, output_tokens: int) -> float:
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000


class Backend:
    """The base of all backends. A backend that computes here gives `decide`; one that waits for a network also gives
    `adecide` (see `backends.remote`).

    `spec` is what the user wrote, safe to show; `fingerprint` (64 hex characters) identifies what answers, as far as it can be
    told without asking: it enters plan ids and cache keys. `limits` and `price` are of one request. `batch` is how many
    requests it likes to be given at once. Thread-safe; closing twice is fine.
    """

    spec: str = "backend"
    fingerprint: str = ""
    limits: Limits = Limits()
    price: Price | None = None
    batch: int = 64
    #: Whether `decide` waits (for a network) rather than computes.
    waits: bool = False

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        """One response for each request, in order. Does not raise for what a request or the system behind does."""
        raise NotImplementedError

    async def adecide(self, requests: Sequence[Request]) -> list[Response]:
        """`decide`, from a running event loop, which goes on meanwhile."""
        import asyncio  # which takes longer to import than all that a run without it needs

        return await asyncio.to_thread(self.decide, requests)

    def reckon(self, price: Price) -> None:
        """Has costs reckoned at `price` where the backend's own is not known."""
        if self.price is None and self.waits:
            self.price = price

    def close(self) -> None:
        """Lets go of connections and threads."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
