"""JSON Lines: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from attrs import frozen

from yb_eval.datasets import strict
from yb_eval.datasets.faults import RowError, named
from yb_eval.datasets.format import Cells, RawRow
from yb_eval.datasets.lines import Lines
from yb_eval.datasets.source import Source


@frozen(slots=True)
class JsonCodec:
    """A row that is the text of a JSON object."""

    cells: Cells = "json"

    def check(self, raw: bytes) -> dict[str, Any]:
        value = strict.loads(raw)
        if type(value) is not dict:
            raise RowError(f"a row is a JSON object, not {named(value)}")
        return value

    def decode(self, raw: bytes) -> dict[str, Any]:
        row: dict[str, Any] = orjson.loads(raw)
        return row


@frozen(slots=True)
class JsonlReader:
    """LF or CRLF, blank lines and a missing last line end make no difference, not even to content ids."""

    lines: Lines
    codec: JsonCodec = JsonCodec()
    dataset_id: str | None = None
    header: Any = None
    numbered: bool = True

    @property
    def notes(self) -> Sequence[str]:
        return self.lines.notes

    def rows(self) -> Iterator[RawRow]:
        for first, block in self.lines.blocks():
            yield from self.cut(first, block)

    def blocks(self) -> Iterator[tuple[int, bytes]] | None:
        """The lines as they stand, in blocks of (number of the first, lines with a LF between them); `None` where a
        codec of another kind has its own idea of a row."""
        return self.lines.blocks() if type(self.codec) is JsonCodec and self.codec.cells == "json" else None

    def cut(self, first: int, block: bytes) -> Iterator[RawRow]:
        """The rows of a block."""
        for number, raw in enumerate(block.split(b"\n"), first):
            if raw.endswith(b"\r"):
                raw = raw[:-1]
            # White space in JSON's sense; anything else on a line is for the codec to refuse.
            if not raw or (raw[0] <= 32 and not raw.strip(b" \t\r")):
                continue
            yield number, raw

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        place = self.lines.where(number + line - 1)
        return place if path == "$" else f"{place}: {path}"

    def offset(self, number: int) -> int | None:
        return self.lines.offset(number)


def jsonl(source: Source) -> JsonlReader:
    """The format of `.jsonl` files."""
    return JsonlReader(Lines(source))
