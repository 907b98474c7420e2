"""JSON values as text, for wires that know texts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson


def as_text(value: Any) -> str:
    """Instructions or a description as text: a text as it is, anything else as its JSON."""
    return value if isinstance(value, str) else orjson.dumps(_plain(value)).decode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(item) for item in value]
    return value
