"""Text cut into lines: at LF, and at nothing else.

`str.splitlines` also cuts at U+0085, U+2028 and a lone CR, all of which may stand inside a value.
"""

from __future__ import annotations

from collections.abc import Iterator

from yb_eval.datasets.source import Source
from yb_eval.datasets.strict import BOM
from yb_eval.errors import DatasetError

#: The longest line, and the longest row of a CSV file, in bytes.
LINE_LIMIT = 64 * 2**20


class Lines:
    """The lines of a source, in blocks of (number of the first line, lines without their LF).

    A byte-order mark at the start is left out; `notes` says so after the first pass.
    """

    __slots__ = ("_bom", "_limit", "source")

    def __init__(self, source: Source, *, limit: int = LINE_LIMIT) -> None:
        self.source = source
        self._limit = limit
        self._bom = False

    @property
    def notes(self) -> list[str]:
        return [f"{self.source.name}: skipped the byte-order mark at the start"] if self._bom else []

    def __iter__(self) -> Iterator[tuple[int, list[bytes]]]:
        for number, block in self.blocks():
            yield number, block.split(b"\n")

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """The same lines in one piece: (number of the first line, lines with a LF between them)."""
        number = 1
        held: list[bytes] = []  # the beginning of a line whose end has not been read
        length = 0
        for piece in self.source.content():
            first = piece.find(b"\n")
            length += len(piece) if first < 0 else first
            if length > self._limit:
                raise self._too_long(number)
            if first < 0:
                held.append(piece)
                continue
            end = piece.rfind(b"\n")
            held.append(piece[:end])
            block = b"".join(held)
            yield number, self._without_bom(block) if number == 1 else block
            number += feeds(block) + 1
            held = [piece[end + 1 :]]
            length = len(held[0])
        last = b"".join(held)
        if last:
            yield number, self._without_bom(last) if number == 1 else last

    def where(self, number: int) -> str:
        return f"{self.source.name}:{number}"

    def offset(self, number: int) -> int:
        """The byte at which line `number` starts (of the decompressed text)."""
        offset = 0
        for first, lines in self:
            if first == 1 and self._bom:
                offset += len(BOM)
            inside = lines[: max(0, number - first)]
            offset += sum(map(len, inside)) + len(inside)
            if len(inside) < len(lines):
                break
        return offset

    def _without_bom(self, block: bytes) -> bytes:
        if block.startswith(BOM):
            self._bom = True
            return block[len(BOM) :]
        return block

    def _too_long(self, number: int) -> DatasetError:
        return DatasetError(f"a line of more than {self._limit:,} bytes", where=self.where(number))


def feeds(block: bytes) -> int:
    """How many line feeds there are: what `count` says, which looks at one byte after another, in a third of the time."""
    return len(block) - len(block.replace(b"\n", b""))
