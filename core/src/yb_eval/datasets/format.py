"""What a file format is: how the bytes of a file become rows.

A `Format` is a function of a `Source` that returns a `Reader`; the reader cuts the file into rows without decoding
them, and its `Codec` decodes one. The codec is small and can be pickled: it travels to the worker that decodes a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

from yb_eval.datasets.source import Source

#: A row as it is cut: its number (a line, an index) and its bytes.
RawRow = tuple[int, bytes]

#: What a format can say. `json`: typed values, absence is absence. `text`: all values are strings, an empty one stands
#: for absence. `columns`: typed values, null stands for absence.
Cells = Literal["json", "text", "columns"]


class Codec(Protocol):
    """How one row is decoded."""

    @property
    def cells(self) -> Cells: ...

    def check(self, raw: bytes) -> dict[str, Any]:
        """The row, read strictly. Raises `RowError` for whatever is not entirely right."""

    def decode(self, raw: bytes) -> dict[str, Any]:
        """The row, read fast: only called for bytes that `check` has accepted."""


class Reader(Protocol):
    """One file in its format.

    `dataset_id` is the name the file gives itself, if it does; `header` what stands beside the rows (a document's other
    fields). `numbered` says whether the rows' numbers are line numbers.
    """

    @property
    def codec(self) -> Codec: ...
    @property
    def dataset_id(self) -> str | None: ...
    @property
    def header(self) -> Any: ...
    @property
    def numbered(self) -> bool: ...
    @property
    def notes(self) -> Sequence[str]: ...

    def rows(self) -> Iterator[RawRow]:
        """The rows in the file's order; may be called again. Raises `DatasetError` where the file cannot be cut into
        rows."""

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        """The place of a fault in row `number`, for a message; `line` counts from 1 inside the row."""

    def offset(self, number: int) -> int | None:
        """The byte in the file at which row `number` starts, where that means anything."""


class BlockReader(Reader, Protocol):
    """A reader of lines of JSON, which can also hand them over many at a time; see `yb_eval.datasets.blocks`."""

    def blocks(self) -> Iterator[tuple[int, bytes]] | None:
        """All lines in blocks of (number of the first, lines with a LF between them); may be called again. `None` where
        rows can only be had one by one."""

    def cut(self, first: int, block: bytes) -> Iterator[RawRow]:
        """The rows of a block that begins with line `first`."""


Format = Callable[[Source], Reader]
