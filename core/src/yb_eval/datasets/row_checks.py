"""A format whose rows must also satisfy a suite: a misspelt label is the dataset's fault, not the system's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval.datasets.format import Cells, Codec, Format, RawRow, Reader
from yb_eval.datasets.source import Source

#: Looks at a row and raises `RowError` for what is wrong with it.
RowCheck = Callable[[Mapping[str, Any]], None]


@frozen(slots=True)
class CheckedCodec:
    """A codec that also checks what the row says."""

    inner: Codec
    row_check: RowCheck

    @property
    def cells(self) -> Cells:
        return self.inner.cells

    def check(self, raw: bytes) -> dict[str, Any]:
        row = self.inner.check(raw)
        self.row_check(row)
        return row

    def decode(self, raw: bytes) -> dict[str, Any]:
        return self.inner.decode(raw)


@frozen(slots=True)
class CheckedReader:
    """A reader with such a codec."""

    inner: Reader
    codec: CheckedCodec

    @property
    def dataset_id(self) -> str | None:
        return self.inner.dataset_id

    @property
    def header(self) -> Any:
        return self.inner.header

    @property
    def numbered(self) -> bool:
        return self.inner.numbered

    @property
    def notes(self) -> Sequence[str]:
        return self.inner.notes

    def rows(self) -> Iterator[RawRow]:
        return self.inner.rows()

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        return self.inner.where(number, line=line, path=path)

    def offset(self, number: int) -> int | None:
        return self.inner.offset(number)


def checked(format: Format, check: RowCheck) -> Format:
    """`format`, each of whose rows is also handed to `check` while the dataset is read for the first time.

    `check` travels to workers with the codec, so it must pickle: a module-level function or an instance of a class."""

    def format_of_checked(source: Source) -> CheckedReader:
        reader = format(source)
        return CheckedReader(reader, CheckedCodec(reader.codec, check))

    return format_of_checked
