"""What is wrong with one row, before it is known which file and line the row came from."""

from __future__ import annotations

import re
from typing import Any

import orjson

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_QUOTABLE = re.compile(r"[^\W\d][\w .:/-]{0,39}\Z")
_LONG_NUMBER = re.compile(r"\d{4}")


class RowError(Exception):
    """A row that cannot be used. A format raises it; the dataset adds the file and the place.

    `path` is a JSON path inside the row. `line` counts from 1 inside the row's own text (a CSV row may span several
    lines); `byte`, from 0, is given where only it helps to find the fault.
    """

    def __init__(
        self, what: str, *, path: str = "$", hint: str | None = None, line: int = 1, byte: int | None = None
    ) -> None:
        super().__init__(what)
        self.what = what
        self.path = path
        self.hint = hint
        self.line = line
        self.byte = byte


def step(path: str, key: str | int) -> str:
    """The JSON path of the item `key` of the value at `path`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if _PLAIN_KEY.match(key):
        return f"{path}.{key}"
    shown = key if len(key) <= 40 else key[:39] + "…"
    # A key that orjson cannot write holds a lone surrogate, which may be the very fault that is reported.
    return f"{path}[{orjson.dumps(shown.encode('utf-8', 'replace').decode()).decode()}]"


def named(value: Any) -> str:
    """What a JSON value is, in words and without its content: a row may hold personal data."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, words in (
        (str, "a string"), (int, "an integer"), (float, "a number"), (list, "a list"), (dict, "an object"),
    ):  # fmt: skip
        if isinstance(value, kind):
            return words
    return f"a {type(value).__name__}"


def quoted(value: Any) -> str:
    """A short label in quotes; what may be more than a label (long, or with a long number) only by its kind."""
    if isinstance(value, str) and _QUOTABLE.match(value) and not _LONG_NUMBER.search(value):
        return repr(value)
    return str(value) if type(value) is int and abs(value) < 10_000 else named(value)
