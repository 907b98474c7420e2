"""JSON read strictly, at the speed of orjson.

orjson keeps the last of repeated keys and turns an integer beyond 64 bits into a float, both without a word. A cheap
count finds out whether that can have happened, and only then does Python's own parser look for the place.

The count: in valid JSON every string token, key or value, takes two quotation marks that are not escaped. The parsed
value shows how many strings are left of them; a repeated key (also one that is equal only after unescaping) is a string
token that is missing, so the numbers agree if and only if no key is repeated.
"""

from __future__ import annotations

import math
import re
from typing import Any

import orjson

from yb_eval.datasets.faults import RowError, step

#: Containers inside one another, the outermost included.
MAX_DEPTH = 64

BOM = b"\xef\xbb\xbf"

_TOO_DEEP = f"nested deeper than {MAX_DEPTH}"
_SURROGATE = re.compile("[\ud800-\udfff]")
#: What a backslash escapes: read from the left, so that the second of a pair begins nothing.
_ESCAPED = re.compile(rb"\\(.)", re.DOTALL)
_CONTAINERS = frozenset((dict, list))
_FEW = 100


def loads(raw: bytes) -> Any:
    """The value of a JSON text.

    Raises `RowError` for repeated keys, NaN and Infinity, integers beyond 64 bits, numbers beyond a double's range,
    lone surrogates, nesting deeper than `MAX_DEPTH`, and what is not JSON at all.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise explain(raw, error) from None
    if not _is_sound(raw, value):
        _find_fault(raw)
    return value


#: Values in which nothing can be lost or hidden, strings apart, which are counted.
FLAT = frozenset({str, int, bool, type(None)})


def _is_sound(raw: bytes, value: Any) -> bool:
    """Whether nothing can have been lost between `raw` and `value`. Raises `RowError` where it is nested too deep."""
    if type(value) is dict:
        kinds = list(map(type, value.values()))
        if FLAT.issuperset(kinds):  # most rows: nothing to walk into
            return string_tokens(raw) == len(value) + kinds.count(str)
    strings = depth = 0
    level: list[Any] = [value] if type(value) in _CONTAINERS else [[value]]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise RowError(_TOO_DEEP)
        below: list[Any] = []
        for container in level:
            if type(container) is dict:
                strings += len(container)
                items = container.values()
            else:
                items = container
            for item in items:
                kind = type(item)
                if kind is str:
                    strings += 1
                elif kind in _CONTAINERS:
                    below.append(item)
                # orjson reads integers of up to 64 bits as int: only a larger float can have been one.
                elif kind is float and not -9.2e18 < item < 1.8e19:
                    return False
        level = below
    return string_tokens(raw) == strings


def string_tokens(raw: bytes) -> int:
    """How many strings, keys included, are written in valid JSON: in one text, or in several one after another."""
    return (raw.count(b'"') - _escaped_quotes(raw)) // 2


def _escaped_quotes(raw: bytes) -> int:
    """How many quotation marks a backslash escapes. A few escapes are looked up one by one, many at once."""
    quotes, at = 0, raw.find(b"\\")
    for _ in range(_FEW):
        if at < 0:
            return quotes
        quotes += raw.startswith(b'"', at + 1)
        at = raw.find(b"\\", at + 2)
    return quotes + (_ESCAPED.findall(raw, at).count(b'"') if at >= 0 else 0)


class _Fault:
    """Stands in a parsed tree for what JSON does not allow there."""

    __slots__ = ("hint", "key", "what")

    def __init__(self, what: str, hint: str | None = None, key: str | None = None) -> None:
        self.what = what
        self.hint = hint
        self.key = key


def _pairs(pairs: list[tuple[str, Any]]) -> Any:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return _Fault("the key is repeated in its object", "keep one", key)
        seen.add(key)
    raise AssertionError("a dict lost an item without a repeated key")


def _integer(token: str) -> Any:
    # The length first: int() of thousands of digits raises, and of millions takes forever.
    if len(token) <= 20 and -(2**63) <= (number := int(token)) < 2**64:
        return number
    return _Fault("an integer beyond 64 bits", "write it as a string")


def _float(token: str) -> Any:
    number = float(token)
    return number if math.isfinite(number) else _Fault("a number beyond the range of a double", "write it as a string")


def _constant(token: str) -> Any:
    return _Fault(f"{token} is not JSON", "write null")


def _tree(text: str) -> Any:
    """What the text holds, with stand-ins where JSON does not allow what stands there."""
    import json  # a good file needs no second parser

    decoder: Any = json.JSONDecoder(
        object_pairs_hook=_pairs, parse_int=_integer, parse_float=_float, parse_constant=_constant
    )
    return decoder.decode(text)


def _find_fault(raw: bytes) -> None:
    """Raises `RowError` for the first fault that Python's parser lets us see in `raw`, with its JSON path."""
    try:
        tree = _tree(raw.decode("utf-8"))
    except RecursionError:
        raise RowError(_TOO_DEEP) from None
    _walk(tree, "$", 1)


def _walk(value: Any, path: str, depth: int) -> None:
    if isinstance(value, _Fault):
        raise RowError(value.what, path=path if value.key is None else step(path, value.key), hint=value.hint)
    if isinstance(value, str):
        if _SURROGATE.search(value):
            raise RowError("a lone surrogate: not a character", path=path, hint="write the pair, or U+FFFD")
        return
    if not isinstance(value, dict | list):
        return
    if depth > MAX_DEPTH:
        raise RowError(_TOO_DEEP)
    if isinstance(value, dict):
        for key, item in value.items():
            if _SURROGATE.search(key):
                raise RowError("a key with a lone surrogate: not a character", path=step(path, key))
            _walk(item, step(path, key), depth + 1)
    else:
        for index, item in enumerate(value):
            _walk(item, step(path, index), depth + 1)


def explain(raw: bytes, error: orjson.JSONDecodeError) -> RowError:
    """Why orjson refused `raw`, in words that say what to mend."""
    undecodable = encoding_fault(raw)
    if undecodable is not None:
        return undecodable
    if not raw.strip(b" \t\r\n"):
        return RowError("nothing but white space where JSON should be")
    from json import JSONDecodeError

    text = raw.decode("utf-8")
    try:
        _find_fault(raw)
    except RowError as found:
        return found
    except JSONDecodeError as found:
        place = f"at column {found.colno}"
        if found.msg == "Extra data":
            return RowError(f"a second value {place}", line=found.lineno, hint="one JSON value, no more")
        if found.msg.startswith("Unterminated string") or not text[found.pos :].strip(" \t\r\n"):
            what = f"ends in the middle of a value ({place}): cut off?"
            return RowError(what, line=found.lineno, hint="a row stands on one line, whole")
        return RowError(f"not JSON {place}: {_lower(found.msg)}", line=found.lineno)
    return RowError(f"not JSON at column {error.colno}: {error.msg}", line=error.lineno)


def encoding_fault(raw: bytes) -> RowError | None:
    """What keeps `raw` from being plain UTF-8 text, if anything does."""
    if raw.startswith(BOM):
        return RowError("a byte-order mark in the middle of the file", byte=0, hint="were two files joined? remove it")
    if raw.startswith(b"\x1f\x8b"):
        return RowError("compressed by gzip", hint="name it with .gz at the end")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:4]:
        return RowError("looks like UTF-16 or UTF-32", byte=0, hint="save it as UTF-8")
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        return RowError("not UTF-8", line=line, byte=error.start, hint="save it as UTF-8")
    return None


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:]
