"""What was read before, by the bytes of what it was read from.

Values are told apart as exactly as Python can: true, 1 and 1.0 have different bytes, and so have two orders of the same keys.
A value that changes has other bytes from then on.
"""

from __future__ import annotations

import marshal
from typing import Any

#: Bytes of a key and its value that are kept, and of all together.
_LARGEST, _TOGETHER = 64 * 1024, 4 * 1024 * 1024
_PLAIN = frozenset({str, bool, int, float, type(None)})


def written(value: Any) -> bytes | None:
    """`value` as bytes; None where it is large, or holds what is no builtin value (then somebody's object decides what
    it reads as)."""
    try:
        # Version 2 writes equal values in equal bytes: later ones also write which strings are the same object.
        found = marshal.dumps(value, 2)
    except ValueError:
        return None
    return found if len(found) <= _LARGEST else None


def is_json(value: Any, depth: int = 100) -> bool:
    """Whether `value` is made of exactly the types that JSON is read into. Besides them, marshal takes whatever has a
    buffer for bytes: of what is written, only JSON is certain to be what it was."""
    if type(value) is dict:
        return depth > 0 and all(type(key) is str and is_json(item, depth - 1) for key, item in value.items())
    if type(value) is list:
        return depth > 0 and all(is_json(item, depth - 1) for item in value)
    return type(value) in _PLAIN


class Known:
    """Values by key, both bytes, of bounded size: what is too much begins anew. Thread-safe."""

    def __init__(self) -> None:
        self._values: dict[bytes, bytes] = {}
        self._size = 0

    def get(self, key: bytes) -> bytes | None:
        return self._values.get(key)

    def keep(self, key: bytes, value: bytes) -> None:
        size = len(key) + len(value)
        if size > _LARGEST:
            return
        if self._size + size > _TOGETHER:
            self._values, self._size = {}, 0
        self._values[key] = value
        self._size += size
