"""CSV and TSV: a header, then a row of text cells a record (RFC 4180, with LF or CRLF)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from attrs import frozen

from yb_eval.datasets.faults import RowError
from yb_eval.datasets.format import Cells, RawRow
from yb_eval.datasets.lines import LINE_LIMIT, Lines
from yb_eval.datasets.source import Source
from yb_eval.datasets.strict import encoding_fault
from yb_eval.errors import DatasetError, shorten

# The module's own limit, 128 KiB a cell, is process-wide: raised here, where workers that decode a batch come by too.
csv.field_size_limit(max(LINE_LIMIT, csv.field_size_limit()))


@frozen(slots=True)
class TableCodec:
    """A record as a dict of its cells by column; every value is a string."""

    columns: tuple[str, ...]
    delimiter: str
    cells: Cells = "text"

    def check(self, raw: bytes) -> dict[str, Any]:
        values = _cells(raw, self.delimiter)
        if len(values) != len(self.columns):
            raise RowError(f"{len(values)} cells in a row, where the header has {len(self.columns)}")
        return dict(zip(self.columns, values, strict=True))

    def decode(self, raw: bytes) -> dict[str, Any]:
        (values,) = csv.reader([raw.decode("utf-8")], delimiter=self.delimiter, strict=True)
        return dict(zip(self.columns, values, strict=True))


@frozen(slots=True)
class TableReader:
    """Line ends inside quoted cells are data; blank lines between records are skipped. A row's number is the line it
    starts on."""

    lines: Lines
    codec: TableCodec
    heading: bytes
    dataset_id: str | None = None
    header: Any = None
    numbered: bool = True

    @property
    def notes(self) -> Sequence[str]:
        return self.lines.notes

    def rows(self) -> Iterator[RawRow]:
        records = _records(self.lines, self.codec.delimiter)
        if next(records, (0, b""))[1] != self.heading:
            # The header was read before the file was hashed.
            raise self.lines.source.changed()
        yield from records

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        place = self.lines.where(number + line - 1)
        return place if path == "$" else f"{place}: {path}"

    def offset(self, number: int) -> int | None:
        return self.lines.offset(number)


def _columns(lines: Lines, delimiter: str) -> tuple[tuple[str, ...], bytes]:
    """The names in the header, and its bytes."""
    for number, raw in _records(lines, delimiter):
        where = lines.where(number)
        try:
            columns = _cells(raw, delimiter)
        except RowError as error:
            raise DatasetError(error.what, where=where, hint=error.hint) from None
        break
    else:
        raise DatasetError("an empty file", where=lines.source.name, hint="a header and one row are the least")
    if len(columns) == 1:
        other = next((mark for mark in ",;\t" if mark != delimiter and mark in columns[0]), None)
        if other is not None:
            raise DatasetError(
                "a header of one column", where=where, hint=f"columns are separated by {delimiter!r}, not by {other!r}"
            )
    for index, column in enumerate(columns):
        if not column.strip():
            raise DatasetError(f"column {index + 1} has no name", where=where, hint="name it in the header")
        if column in columns[:index]:
            raise DatasetError(f"two columns are named {shorten(column, 60)}", where=where, hint="rename one")
    return tuple(columns), raw


def _records(lines: Lines, delimiter: str) -> Iterator[RawRow]:
    """Cuts at the line ends outside quotes, with the csv module itself as the judge of what is inside."""
    numbered = ((number, line) for first, block in lines for number, line in enumerate(block, first))
    for start, line in numbered:
        if line in (b"", b"\r"):
            continue
        if b'"' not in line:
            yield start, line.removesuffix(b"\r")
            continue
        parts = [line]
        try:
            next(csv.reader(_record_text(numbered, parts, lines.where(start)), delimiter=delimiter, strict=True))
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise DatasetError('a cell is opened with " and never closed', where=lines.where(start)) from None
            # Whatever else is wrong, the codec finds it again and says so.
        yield start, b"\n".join(parts).removesuffix(b"\r")


def _record_text(following: Iterator[RawRow], parts: list[bytes], where: str) -> Iterator[str]:
    """The lines of one record for the csv module, which takes as many as the record has; they are kept in `parts`."""
    size = 0
    line = parts[0]
    while True:
        size += len(line) + 1
        if size > LINE_LIMIT:
            raise DatasetError(f"a row of more than {LINE_LIMIT:,} bytes", where=where, hint='is a " never closed?')
        yield line.decode("utf-8", "replace") + "\n"
        taken = next(following, None)
        if taken is None:
            return
        line = taken[1]
        parts.append(line)


def _cells(raw: bytes, delimiter: str) -> list[str]:
    fault = encoding_fault(raw)
    if fault is not None:
        raise fault
    try:
        records = list(csv.reader([raw.decode("utf-8")], delimiter=delimiter, strict=True))
    except csv.Error as error:
        if "new-line character" in str(error):
            raise RowError(
                "a lone CR outside quotes", hint="end lines with LF or CRLF; put the cell in quotes"
            ) from None
        raise RowError(f"not a row of cells: {error}") from None
    if len(records) != 1:
        raise RowError("not a row of cells")
    return records[0]


def _table(source: Source, *, delimiter: str) -> TableReader:
    lines = Lines(source)
    columns, heading = _columns(lines, delimiter)
    return TableReader(lines, TableCodec(columns, delimiter), heading)


#: The formats of `.csv` and `.tsv` files.
csv_table = partial(_table, delimiter=",")
tsv_table = partial(_table, delimiter="\t")
