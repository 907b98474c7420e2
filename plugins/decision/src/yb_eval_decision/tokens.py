"""How large a request is, before it is sent: bytes as JSON, and tokens as far as they can be told without the tokenizer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.questions import Question, wire_question

#: UTF-8 bytes of JSON that are one token. English prose has about 4, JSON, code and numbers 2.5 to 3.5, and a Cyrillic token
#: about 2 characters of 2 bytes; 3 errs on the high side, so that a limit holds and a cost is not passed.
BYTES_PER_TOKEN = 3
#: What decision models add to a request and to a question (a public measurement of Jev: about 261 and 8).
REQUEST_OVERHEAD, QUESTION_OVERHEAD = 261, 8


def encode(value: Any) -> bytes:
    """`value` as JSON, as it goes over a wire. Raises `UsageError` for what is not JSON."""
    try:
        return orjson.dumps(value)
    except TypeError:
        pass
    try:  # What orjson does not take is still JSON: integers beyond 64 bits, lone surrogates, mappings that are no dict.
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"not JSON: {error}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} {shorten(value, 60)}")


def of_bytes(size: int) -> int:
    """The estimated tokens of `size` bytes of JSON, rounded up."""
    return -(-size // BYTES_PER_TOKEN)


def estimate(value: Any) -> int:
    """The estimated tokens of a JSON value."""
    return of_bytes(len(encode(value)))


def question_bytes(question: Question) -> int:
    """The bytes of a question as JSON."""
    return len(question_json(question))


class PerQuestion:
    """A function of a question whose value is kept for the questions that evals ask of every sample. Thread-safe."""

    def __init__(self, make: Callable[[Question], bytes]) -> None:
        self._make = make
        # By identity, for hashing a question would take longer. The question is kept, so that its id is not another's.
        self._kept: dict[int, tuple[Question, bytes]] = {}

    def __call__(self, question: Question) -> bytes:
        kept = self._kept.get(id(question))
        if kept is not None and kept[0] is question:
            return kept[1]
        value = self._make(question)
        if len(self._kept) >= _KEPT:
            self._kept.clear()
        self._kept[id(question)] = (question, value)
        return value


_KEPT = 4096

#: A question as JSON, as it goes over a wire.
question_json = PerQuestion(lambda question: encode(wire_question(question)))
