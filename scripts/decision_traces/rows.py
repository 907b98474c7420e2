"""One labelled row, its seeded draws and its line of JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from attrs import frozen

T = TypeVar("T")

SEED = "decision-traces/1"
GROUPS = ("agent", "security", "quality")


def draw(options: Sequence[T], *label: object) -> T:
    """One of the options, which depends on the label alone: by sha256, so that it is the same under every Python."""
    digest = hashlib.sha256("/".join([SEED, *map(str, label)]).encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


@frozen(kw_only=True, slots=True)
class Row:
    """A labelled sample. `credentials` are the parts of it that a push scanner would take for live keys."""

    id: str
    sample: Mapping[str, Any]
    labels: Mapping[str, bool | str]
    tags: tuple[str, ...]
    credentials: tuple[str, ...] = ()


class Rows:
    """Collects rows, and refuses an id or a sample that is already there."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._seen: dict[str, str] = {}

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self,
        id: str,
        sample: Mapping[str, Any],
        labels: Mapping[str, bool | str],
        tags: Iterable[str],
        credentials: Iterable[str] = (),
    ) -> None:
        """Append a row.

        Raises:
            ValueError: an id or a sample that another row has, a row without labels, a tag without a key.
        """
        row = Row(id=id, sample=sample, labels=labels, tags=tuple(tags), credentials=tuple(credentials))
        body = json.dumps(row.sample, ensure_ascii=False, sort_keys=True)
        if not row.labels or not all(":" in tag for tag in row.tags):
            raise ValueError(f"{id}: malformed row")
        for key in (id, body):
            if key in self._seen:
                raise ValueError(f"{id}: the same as {self._seen[key]}")
            self._seen[key] = id
        self._rows.append(row)


def line(row: Row) -> str:
    """The row as one line of JSON. One or two characters of every credential are written as escapes: a reader of JSON gets the
    plain text back, while a scanner that reads the bytes of the file finds no key."""
    value = {"id": row.id, "sample": row.sample, "labels": row.labels, "tags": list(row.tags)}
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for secret in row.credentials:
        written = json.dumps(secret, ensure_ascii=False)[1:-1]
        if written not in body:
            raise ValueError(f"{row.id}: a credential that is not in the row")
        broken = written[:2] + f"\\u{ord(written[2]):04x}" + written[3:].replace("@", "\\u0040")
        body = body.replace(written, broken)
    return body
