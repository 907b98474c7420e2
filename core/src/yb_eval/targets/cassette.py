"""The file of recorded answers: one JSON line for each request and repeat, `{"answer": ..., "repeat": 0, "request":
...}`, or `"failure"` in place of `"answer"`.

Requests are canonical (sorted keys) and lines stand in an order that depends on nothing but the requests, so that a
cassette is the same file whatever the number of jobs, and `git diff` shows which answers changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import xxhash
from attrs import frozen

from yb_eval.digest import sha256_hex
from yb_eval.errors import UsageError, nearest
from yb_eval.interfaces import Answer
from yb_eval.targets.wire import NotJson, decode

_KEYS = ("answer", "failure", "repeat", "request")
_PREFIX = 64


@frozen(slots=True)
class Key:
    """Which request, and which asking of it. Sorts by the beginning of the request, which people can follow; `digest`
    (xxh3-128 of all of it) tells apart what begins alike.
    """

    prefix: bytes
    digest: bytes

    @classmethod
    def of(cls, request: Mapping[str, Any], repeat: int) -> Key:
        text = orjson.dumps([request, repeat], option=orjson.OPT_SORT_KEYS)
        return cls(text[:_PREFIX], xxhash.xxh3_128_digest(text))

    @property
    def order(self) -> tuple[bytes, bytes]:
        return self.prefix, self.digest


def shown(request: Mapping[str, Any], private: frozenset[str]) -> Mapping[str, Any]:
    """The request as a cassette has it: of `private` fields the sha256 of their JSON, enough to find the answer again."""
    if private.isdisjoint(request):
        return request
    return {
        name: {"sha256": sha256_hex(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))} if name in private else value
        for name, value in request.items()
    }


def line(request: Mapping[str, Any], repeat: int, answer: Answer) -> bytes:
    """The line that records `answer`, with its line break. How long it took is not part of it; the order of an answer's
    keys is, so that what is judged after a replay is what was judged before it."""
    name, said = (b"answer", answer.value) if answer.failure is None else (b"failure", answer.failure)
    asked = orjson.dumps(request, option=orjson.OPT_SORT_KEYS)
    return b'{"%s":%s,"repeat":%d,"request":%s}\n' % (name, orjson.dumps(said), repeat, asked)


def read_line(raw: bytes, where: str) -> tuple[Key, Answer]:
    """The entry in a line. Raises `UsageError` at `where` if it is none."""
    try:
        entry = decode(raw)
    except NotJson as error:
        raise UsageError(f"the line is {error}", where=where, hint="record it again") from None
    if not isinstance(entry, dict) or not isinstance(entry.get("request"), dict):
        raise UsageError("the line has no request object", where=where)
    for name in entry:
        if name not in _KEYS:
            raise UsageError(f"unknown key {name!r}", where=where, hint=nearest(name, _KEYS))
    repeat = entry.get("repeat", 0)
    if type(repeat) is not int or repeat < 0:
        raise UsageError("repeat is not a whole number of at least 0", where=where)
    if ("answer" in entry) == ("failure" in entry):
        raise UsageError("the line needs either an answer or a failure", where=where)
    failure = entry.get("failure")
    if "failure" in entry and not (isinstance(failure, str) and failure):
        raise UsageError("the failure is not a text", where=where)
    return Key.of(entry["request"], repeat), Answer(entry.get("answer"), failure)


def spans(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The lines of a file that are not blank: (number from 1, start, end) without their ends."""
    start = number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        if data[start:end].strip():
            yield number, start, end
        start = end + 1
