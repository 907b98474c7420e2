"""Reading a TOML table strictly: every fault names the file and the key, and unknown keys are refused."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")


class TaskError(Exception):
    """A task, a rule file, a row or a model that cannot be used as it stands: one line, with its place."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class TableReader:
    """A view of one TOML table that knows where it stands and remembers which keys were asked for."""

    def __init__(self, where: str, table: Mapping[str, Any], path: str = "") -> None:
        self._where = where
        self._table = table
        self._path = path
        self._asked: set[str] = set()

    def __contains__(self, key: str) -> bool:
        self._asked.add(key)
        return key in self._table

    def names(self) -> Iterator[str]:
        """All keys, each taken as known."""
        self._asked.update(self._table)
        return iter(self._table)

    def fault(self, key: str | None, what: str, hint: str | None = None) -> TaskError:
        """The error that says `what` is wrong at `key` and, in brackets, what would mend it."""
        place = ".".join(part for part in (self._path, key) if part)
        return TaskError(f"{self._where}: {place}: {what}" + (f" ({hint})" if hint else ""))

    def finish(self) -> None:
        """Refuse the keys nobody asked for."""
        for key in self._table:
            if key not in self._asked:
                close = get_close_matches(key, sorted(self._asked), n=1)
                raise self.fault(key, "unknown key", f"did you mean {close[0]!r}?" if close else None)

    def known(self, name: str, names: Collection[str]) -> None:
        """Refuse the key `name` when it is none of `names`."""
        if name not in names:
            close = get_close_matches(name, sorted(names), n=1)
            raise self.fault(name, "unknown name", f"did you mean {close[0]!r}?" if close else ", ".join(names))

    def child(self, key: str) -> TableReader:
        """The table under `key`."""
        value = self._value(key)
        if not isinstance(value, Mapping):
            raise self.fault(key, "must be a table")
        return TableReader(self._where, value, ".".join(part for part in (self._path, key) if part))

    def children(self, key: str) -> list[TableReader]:
        """The array of tables under `key`; empty when it is missing."""
        value = self._table.get(key, [])
        self._asked.add(key)
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            raise self.fault(key, "must be an array of tables")
        base = ".".join(part for part in (self._path, key) if part)
        return [TableReader(self._where, item, f"{base}[{index}]") for index, item in enumerate(value)]

    def text(self, key: str) -> str:
        """A string that is not blank."""
        value = self._value(key)
        if not isinstance(value, str) or not value.strip():
            raise self.fault(key, "must be a string that is not empty")
        return value

    def name(self, key: str) -> str:
        """A short lower-case name."""
        value = self.text(key)
        if not _NAME.match(value):
            raise self.fault(key, f"{value!r} is not a name", "lower-case letters, digits, - and _")
        return value

    def choice(self, key: str, names: Collection[str]) -> str:
        """A string that is one of `names`."""
        value = self.text(key)
        if value not in names:
            close = get_close_matches(value, sorted(names), n=1)
            hint = f"did you mean {close[0]!r}?" if close else "one of: " + ", ".join(names)
            raise self.fault(key, f"{value!r} is unknown", hint)
        return value

    def texts(self, key: str, *, at_least: int = 0) -> tuple[str, ...]:
        """An array of different strings; empty when it is missing and none is required."""
        if at_least == 0 and key not in self:
            return ()
        value = self._value(key)
        if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
            raise self.fault(key, "must be an array of strings that are not empty")
        twice = next((item for place, item in enumerate(value) if item in value[:place]), None)
        if twice is not None:
            raise self.fault(key, f"holds {twice!r} twice")
        if len(value) < at_least:
            raise self.fault(key, f"needs at least {at_least} entries")
        return tuple(value)

    def integer(self, key: str, *, default: int | None = None, low: int, high: int) -> int:
        """An integer in low..high."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.fault(key, f"must be an integer in {low}..{high}, not {value!r}")
        return value

    def number(
        self, key: str, *, default: float | None = None, low: float = -math.inf, high: float = math.inf
    ) -> float:
        """A finite number in low..high."""
        return self._number(key, self._value(key, default), low, high)

    def flag(self, key: str) -> bool:
        """True or false; false when it is missing."""
        value = self._value(key, False)
        if not isinstance(value, bool):
            raise self.fault(key, f"must be true or false, not {value!r}")
        return value

    def interval(self, key: str, *, low: int, high: int) -> tuple[int, int]:
        """`[first, last]`, both integers in low..high and in order."""
        value = self._value(key)
        whole = isinstance(value, list) and len(value) == 2 and all(type(item) is int for item in value)
        if not whole or not low <= value[0] <= value[1] <= high:
            raise self.fault(key, f"must be [first, last] within {low}..{high}")
        return value[0], value[1]

    def matrix(self, key: str, *, size: int) -> tuple[tuple[float, ...], ...]:
        """A size x size array of costs: none negative, zero on the diagonal, not zero everywhere."""
        value = self._value(key)
        if not isinstance(value, list) or len(value) != size:
            raise self.fault(key, f"must have {size} rows, one a gold severity")
        rows: list[tuple[float, ...]] = []
        for gold, row in enumerate(value):
            if not isinstance(row, list) or len(row) != size:
                raise self.fault(f"{key}[{gold}]", f"must have {size} numbers, one a predicted severity")
            cells = tuple(self._number(f"{key}[{gold}][{said}]", cell, 0.0, math.inf) for said, cell in enumerate(row))
            if cells[gold] != 0:
                raise self.fault(f"{key}[{gold}][{gold}]", "a right answer must cost 0")
            rows.append(cells)
        if not any(cell for cells in rows for cell in cells):
            raise self.fault(key, "is 0 everywhere", "a cost matrix must tell wrong answers apart")
        return tuple(rows)

    def _value(self, key: str, default: Any = None) -> Any:
        self._asked.add(key)
        value = self._table.get(key, default)
        if value is None:
            raise self.fault(key, "is missing")
        return value

    def _number(self, key: str, value: object, low: float, high: float) -> float:
        real = isinstance(value, int | float) and not isinstance(value, bool)
        if not real or not math.isfinite(value) or not low <= value <= high:  # type: ignore[arg-type,operator]
            bounds = "" if (low, high) == (-math.inf, math.inf) else f" in {low:g}..{high:g}"
            raise self.fault(key, f"must be a finite number{bounds}, not {value!r}")
        return float(value)  # type: ignore[arg-type]
