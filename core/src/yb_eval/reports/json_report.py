"""The report as JSON: the document itself, for tools. Numbers are written in full."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import orjson

from yb_eval.reports.view import RunView


def json_report(view: RunView) -> Iterator[str]:
    """The document, keys in its own order, indented by two.

    Raises `ValueError`, naming the JSON path, for NaN or an infinity: orjson would write them as null without a word,
    and null means something else. A lone surrogate, which no JSON text can carry, is replaced by U+FFFD.
    """
    document = _writable(view.document, "$")
    yield orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _writable(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} is {value}: JSON has no such number")
    if isinstance(value, dict):
        return {_writable(key, path): _writable(item, f"{path}.{key}") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(item, f"{path}[{position}]") for position, item in enumerate(value)]
    return value
