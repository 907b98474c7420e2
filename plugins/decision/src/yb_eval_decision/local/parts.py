"""The texts that a JSON value holds: one for each record, long text and list, with the names of the fields above it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

#: Levels of a JSON value that are told apart; what lies deeper is read as text.
_DEPTH = 24
#: Fields up to which a JSON object is one statement; a bigger one is read part by part.
_RECORD = 60
#: Fields of an inner object that still belong to the statement of the outer one.
_INNER = 12
#: Longer names of fields are not remembered.
_LONGEST_NAME = 64

_CAMEL = re.compile(r"(?<=[a-zа-я])(?=[A-ZА-Я])")


def flat(value: Any) -> str:
    """The text that a JSON value holds, a line for each record and long text."""
    return "\n".join(texts_of(value))


def texts_of(value: Any) -> Iterator[str]:
    """The texts of a value, in order. A text that is itself JSON is read as what it holds."""
    return _parts(value, "", 0)


def _parts(value: Any, name: str, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        inner = _json(value) if value[:1] in "{[" and depth < _DEPTH else None
        if inner is None:
            yield f"{name} {value}" if name else value
        else:
            yield from _parts(inner, name, depth + 1)
    elif depth >= _DEPTH or not _inner(value):
        yield f"{name} {_scalar(value)}".strip()
    elif isinstance(value, Mapping):
        flat, nested = _fields(value, depth)
        for at in range(0, len(flat), _RECORD):
            yield "; ".join([name, *flat[at : at + _RECORD]] if name else flat[at : at + _RECORD]).replace("\n", " ")
        for label, item in nested:
            yield from _parts(item, f"{name} {label}".strip(), depth + 1)
    else:
        scalars = [_scalar(item) for item in value if not (_inner(item) or _long(item))]
        if scalars:
            yield f"{name} {', '.join(scalars)}".strip()
        for item in value:
            if _inner(item) or _long(item):
                yield from _parts(item, name, depth + 1)


def _fields(value: Mapping[Any, Any], depth: int) -> tuple[list[str], list[tuple[str, Any]]]:
    """The fields of an object that make one statement, those of inner objects among them, and the ones that do not: lists
    and long texts."""
    flat: list[str] = []
    nested: list[tuple[str, Any]] = []
    for key, item in value.items():
        label = _label(key) if type(key) is str and len(key) <= _LONGEST_NAME else _label.__wrapped__(str(key))
        if not _inner(item):
            if isinstance(item, str) and len(item) > 200:
                nested.append((label, item))
            else:
                flat.append(f"{label} {_scalar(item)}")
        elif isinstance(item, Mapping) and depth < _DEPTH and len(item) <= _INNER:
            inner, more = _fields(item, depth + 1)
            flat += [f"{label} {one}" for one in inner]
            nested += [(f"{label} {name}", one) for name, one in more]
        else:
            nested.append((label, item))
    return flat, nested


@lru_cache(maxsize=1 << 12)
def _label(key: str) -> str:
    """The name of a field in words: `dueDate` and `due_date` as `due Date` and `due date`."""
    return _CAMEL.sub(" ", key).replace("_", " ")


def _inner(item: Any) -> bool:
    """Whether a value has values of its own. What JSON has most is told by its type: asking `Mapping` takes ten times as long."""
    kind = type(item)
    if kind is str or kind is int or kind is float or kind is bool or item is None:
        return False
    return kind is dict or kind is list or isinstance(item, Mapping | list | tuple)


def _long(item: Any) -> bool:
    return isinstance(item, str) and len(item) > 60


def _scalar(value: Any) -> str:
    if type(value) is str:
        return value
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    try:
        return str(value)
    except (RecursionError, ValueError):  # nested without end; an integer of more digits than Python writes
        return ""


def _json(text: str) -> Any:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict | list) else None
