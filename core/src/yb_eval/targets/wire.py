"""JSON as it crosses the border to a system under test: what goes out is canonical, what comes in is believed strictly.

orjson alone would send NaN as null, read an integer of thirty digits as a float and keep the last of two equal keys.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from typing import Any

import orjson

from yb_eval.digest import finite_json
from yb_eval.errors import shorten

#: How deep an answer may nest. Outcomes hold answers some levels down and may be 64 deep themselves.
MAX_DEPTH = 48

_LARGEST_INTEGER = 2.0**63
_FRIENDLY = orjson.OPT_SERIALIZE_NUMPY


class NotJson(ValueError):
    """Something is not the JSON that it should be; the text says what it is."""


def encode(request: Mapping[str, Any]) -> bytes:
    """The canonical bytes of a request: sorted keys, UTF-8, no spaces, no line break.

    Raises `NotJson` for what JSON cannot hold.
    """
    try:
        finite_json(request)
        return orjson.dumps(request if type(request) is dict else dict(request), option=orjson.OPT_SORT_KEYS)
    except (ValueError, TypeError) as error:
        raise NotJson(f"the request is not JSON: {error}") from None


def decode(raw: bytes) -> Any:
    """The JSON value in `raw`.

    Raises `NotJson` for anything else: NaN and infinities, numbers beyond 64 bits or a double, lone surrogates, bytes
    that are not UTF-8, repeated keys, nesting beyond `MAX_DEPTH`, anything after the value.
    """
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise NotJson(f"not JSON ({_complaint(error)})") from None
    # A key is written with one colon, so as many colons as keys means that no key was dropped as a repetition.
    if _survey(value, 0) != raw.count(b":"):
        _strictly(raw)
    return value


def _survey(value: Any, depth: int) -> float:
    """The number of keys in `value`; NaN, which equals nothing, where a number has to be looked at in its own
    digits.
    """
    kind = type(value)
    if kind is float:
        return math.nan if abs(value) >= _LARGEST_INTEGER else 0
    if kind is not dict and kind is not list:
        return 0
    if depth >= MAX_DEPTH:
        raise NotJson(f"JSON nested deeper than {MAX_DEPTH}")
    keys: float = 0
    if kind is dict:
        keys = len(value)
        value = value.values()
    for item in value:
        keys += _survey(item, depth + 1)
    return keys


def _strictly(raw: bytes) -> None:
    """The slow reading, with every key and every digit in view."""
    json.loads(raw, object_pairs_hook=_unique, parse_int=_integer)


def _unique(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise NotJson(f"JSON with the key {shorten(key)} twice in one object")
        seen.add(key)


def _integer(digits: str) -> int:
    # Nobody knows whether such a number was meant as it is written; int() of a long one would also be slow.
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise NotJson(f"JSON with an integer beyond 64 bits ({shorten(digits, 40)})")
    return 0


def mismatch(request: Mapping[str, Any], answer: Any) -> str | None:
    """What is wrong with an answer that names another request than the one it was given for."""
    if isinstance(answer, dict) and "id" in answer and "id" in request and answer["id"] != request["id"]:
        return f"the answer is for the id {shorten(answer['id'])}, the request has {shorten(request['id'])}"
    return None


def plain(value: Any) -> Any:
    """`value`, an answer of a Python callable, as JSON reads it back: tuples become lists, enum members their values,
    numpy numbers and dataclasses plain numbers and objects.

    So the same answer is judged whether it comes from a callable, another process, the cache or a cassette. Raises
    `NotJson`, saying where, for NaN, infinities, numbers beyond 64 bits, lone surrogates and objects JSON has no form
    for.
    """
    try:
        raw = orjson.dumps(value, option=_FRIENDLY)
    except TypeError as error:  # orjson.JSONEncodeError is one
        raise NotJson(_where(value, error)) from None
    if b"null" in raw:
        _no_nan(value, "$")
    read = orjson.loads(raw)
    if raw.count(b"[") + raw.count(b"{") > MAX_DEPTH:
        _survey(read, 0)
    return read


def _where(value: Any, error: Exception) -> str:
    try:
        finite_json(value)
    except ValueError as found:
        return f"not JSON: {found}"
    except RecursionError:
        return f"JSON nested deeper than {MAX_DEPTH}"
    return f"not JSON: {_complaint(error)}"


def _no_nan(value: Any, path: str) -> None:
    """Raises `NotJson` if a null that orjson wrote was a NaN or an infinity."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            _no_nan(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _no_nan(item, f"{path}[{index}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            _no_nan(getattr(value, field.name), f"{path}.{field.name}")
    elif hasattr(value, "tolist"):  # numpy's arrays and numbers
        _no_nan(value.tolist(), path)
    elif isinstance(value, float) and not math.isfinite(value):
        raise NotJson(f"not JSON: {path}: {float(value)!r} is not a finite number")


def _complaint(error: Exception) -> str:
    return str(error).replace(": line 1 column", " at column").partition(" (char")[0]
