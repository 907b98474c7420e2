"""Rows into attrs classes, with the place and the reason where one does not fit.

Fast, until a row is refused: then a second converter, with detailed validation, finds out where and why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import attrs
from cattrs import (
    AttributeValidationNote,
    ForbiddenExtraKeysError,
    IterableValidationNote,
    StructureHandlerNotFoundError,
)
from cattrs.errors import BaseValidationError

from yb_eval.datasets.blocks import field_names
from yb_eval.datasets.exact import Hook, class_hook, exact_converter
from yb_eval.datasets.faults import RowError, step
from yb_eval.datasets.format import Cells
from yb_eval.errors import nearest

#: attrs' validators end their message with the value, which may be personal.
_VALUE_IN_MESSAGE = re.compile(r" ?\(got .*\Z", re.DOTALL)


@lru_cache(maxsize=256)
def structurer(row: type, cells: Cells = "json", ignored: frozenset[str] = frozenset()) -> Structurer:
    """The structurer of an attrs class; one a class and process."""
    return Structurer(row, cells, ignored)


class Structurer:
    """Makes instances of an attrs class from dicts.

    A field without a default is required, and if it is a `str` it must not be empty, unless its metadata say
    `{"may_be_empty": True}`. An unknown field is refused, except for those in `ignored`. With text cells numbers and
    booleans are read from strings, anything but a scalar from JSON. Where absence is a blank cell, a field with a
    default keeps its default.
    """

    def __init__(self, row: type, cells: Cells = "json", ignored: frozenset[str] = frozenset()) -> None:
        if not attrs.has(row):
            raise TypeError(f"{row!r} is not an attrs class")
        self.row = row
        self.fields = field_names(row)
        self._text = cells == "text"
        self._optional = frozenset(field.name for field in attrs.fields(row) if field.default is not attrs.NOTHING)
        self._blank = {"json": attrs.NOTHING, "text": "", "columns": None}[cells]
        self._allowed = self.fields | ignored
        self._ignored = ignored - self.fields
        self._fast = self._class_hook(detailed=False)
        self._detailed: Hook | None = None

    def structure(self, data: dict[str, Any]) -> Any:
        """The instance. Raises `RowError`, with the JSON path, for what does not fit."""
        if self._blank is not attrs.NOTHING:
            data = {k: v for k, v in data.items() if v != self._blank or k not in self._optional}
        try:
            if not self._allowed.issuperset(data):
                raise RowError("unknown field")
            return self._fast(data, self.row)
        except Exception as fault:
            raise self._explain(data, fault) from None

    def _class_hook(self, *, detailed: bool) -> Hook:
        try:
            return class_hook(self.row, exact_converter(detailed, text=self._text))
        except StructureHandlerNotFoundError as error:
            raise TypeError(f"{self.row.__name__} has a field that cannot come from JSON: {error}") from error

    def _explain(self, data: dict[str, Any], fault: Exception) -> RowError:
        if self._detailed is None:
            self._detailed = self._class_hook(detailed=True)
        try:
            self._detailed({key: item for key, item in data.items() if key not in self._ignored}, self.row)
        except Exception as error:
            return next(_faults(error, "$"))
        raise AssertionError(f"{self.row.__name__} refused a row once and took it the second time") from fault


def _faults(error: Exception, path: str) -> Iterator[RowError]:
    """What cattrs found, a class's unknown fields first: they are often the misspelt name of a missing one."""
    if isinstance(error, BaseValidationError):
        parts = sorted(error.exceptions, key=lambda part: not isinstance(part, ForbiddenExtraKeysError))
        for part in parts:
            assert isinstance(part, Exception)
            yield from _faults(part, _deeper(part, path))
    elif isinstance(error, ForbiddenExtraKeysError):
        for key in sorted(error.extra_fields):
            yield RowError("unknown field", path=step(path, key), hint=nearest(key, field_names(error.cl)))
    elif isinstance(error, KeyError) and _note(error) is not None:
        yield RowError("missing field", path=path)
    elif isinstance(error, RowError):
        yield RowError(error.what, path=path, hint=error.hint)
    else:
        # A validator of the class: its message, without what follows it in the exception's arguments.
        message = str(error.args[0]) if error.args else type(error).__name__
        yield RowError(_VALUE_IN_MESSAGE.sub("", message), path=path)


def _note(error: BaseException) -> AttributeValidationNote | IterableValidationNote | None:
    notes = getattr(error, "__notes__", [])
    return next((n for n in notes if isinstance(n, AttributeValidationNote | IterableValidationNote)), None)


def _deeper(error: Exception, path: str) -> str:
    note = _note(error)
    if isinstance(note, AttributeValidationNote):
        return step(path, note.name)
    return step(path, note.index) if note is not None else path
