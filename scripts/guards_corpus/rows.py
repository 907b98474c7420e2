"""One labelled row, its seeded draws and its one line of JSON."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import attrs

T = TypeVar("T")

SEED = "guards-corpus/1"
"""Changing it draws every number, key and filler anew."""

TYPES = ("inn", "snils", "ogrn", "ogrnip", "pan", "iban", "secret", "injection", "clean")
"""What a row is about; a row that is about nothing sensitive is `clean`."""


@attrs.frozen(kw_only=True, slots=True)
class Row:
    """A labelled text. `credentials` are the parts of the text that a push scanner would take for a live key."""

    id: str
    text: str
    type: str
    expect: str
    tags: tuple[str, ...]
    credentials: tuple[str, ...] = ()


class Draw:
    """A stream of choices that depends on its label alone.

    sha256 in counter mode, and not `random.Random`: the sequence is then the same under every Python version, and a
    family that grows by a row does not move the numbers of the others.
    """

    def __init__(self, label: str) -> None:
        self._label = f"{SEED}/{label}"
        self._counter = 0

    def below(self, bound: int) -> int:
        """A whole number in 0..bound-1 (the bias of the modulus is under bound / 2**64)."""
        block = hashlib.sha256(f"{self._label}/{self._counter}".encode()).digest()
        self._counter += 1
        return int.from_bytes(block[:8], "big") % bound

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.below(len(options))]

    def text(self, alphabet: str, length: int) -> str:
        """`length` characters of the alphabet."""
        return "".join(self.pick(alphabet) for _ in range(length))

    def digits(self, length: int) -> str:
        """`length` decimal digits."""
        return self.text("0123456789", length)


class Rows:
    """Collects rows under ids `family-001`, `family-002`, ... and refuses a text that is already there."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._texts: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        family: str,
        text: str,
        *,
        type: str,
        expect: str,
        tags: Iterable[str],
        credentials: Iterable[str] = (),
    ) -> None:
        """Append a row.

        Raises:
            ValueError: an unknown type or label, a tag without a key, or a text that another row has.
        """
        number = self._counts[family] = self._counts.get(family, 0) + 1
        row = Row(
            id=f"{family}-{number:03d}",
            text=text,
            type=type,
            expect=expect,
            tags=tuple(tags),
            credentials=tuple(credentials),
        )
        if type not in TYPES or expect not in ("detect", "clean") or not all(":" in tag for tag in row.tags):
            raise ValueError(f"{row.id}: malformed row {row.type!r} {row.expect!r} {row.tags!r}")
        if text in self._texts:
            raise ValueError(f"{row.id}: same text as {self._texts[text]}")
        if missing := [value for value in row.credentials if value not in text]:
            raise ValueError(f"{row.id}: {len(missing)} credential(s) not in the text")
        self._texts[text] = row.id
        self._rows.append(row)


def line(row: Row) -> str:
    """The row as one line of JSON.

    Letters stay readable; a character that an editor would hide (format, control, an odd space, a private or
    unassigned one) is written as an escape, so that a diff shows it. One character of every credential is escaped
    too: a JSON reader gets the plain text back, while a scanner that reads the file's bytes finds no key shape.
    """
    body = json.dumps(row.text, ensure_ascii=False)
    for value in sorted(set(row.credentials), key=lambda value: (-len(value), value)):
        written = json.dumps(value, ensure_ascii=False)[1:-1]
        at = _break_at(written)
        body = body.replace(written, f"{written[:at]}{_escape(written[at])}{written[at + 1 :]}")
    body = "".join(_escape(char) if _is_hidden(char) else char for char in body)
    labels = {"type": row.type, "expect": row.expect, "tags": list(row.tags)}
    rest = json.dumps(labels, ensure_ascii=False, separators=(",", ":"))
    return f'{{"id":{json.dumps(row.id)},"text":{body},{rest[1:]}'


_BREAK = re.compile(r"PRIVATE|(?<=AccountKey)=|hooks|:(?=AA)|@")


def _break_at(written: str) -> int:
    """Where a credential's shape breaks: at the word that scanners look for, otherwise inside the prefix."""
    match = _BREAK.search(written)
    return match.start() if match else 2


def _is_hidden(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] == "C" or (category[0] == "Z" and char != " ")


def _escape(char: str) -> str:
    units = char.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
