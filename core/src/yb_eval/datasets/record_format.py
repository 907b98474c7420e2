"""Formats whose library yields rows as dicts: Parquet here, Avro or a database file in a plugin.

Each row is kept as the bytes of its JSON, so that ids, batches and workers treat it like any other.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import orjson
from attrs import frozen

from yb_eval.datasets.faults import RowError
from yb_eval.datasets.format import Cells, Format, RawRow
from yb_eval.datasets.jsonl_file import JsonCodec
from yb_eval.datasets.source import Source
from yb_eval.digest import finite_json
from yb_eval.errors import DatasetError

ReadRecords = Callable[[BinaryIO], Iterable[Mapping[str, Any]]]


@frozen(slots=True)
class RecordReader:
    """Rows are numbered from 1 in the order in which `read` yields them."""

    source: Source
    read: ReadRecords
    codec: JsonCodec
    dataset_id: str | None = None
    header: Any = None
    numbered: bool = False
    notes: Sequence[str] = ()

    def rows(self) -> Iterator[RawRow]:
        number = 0
        try:
            for number, record in enumerate(self.read(self.source.file()), 1):
                yield number, as_json(record)
        except RowError as error:
            raise DatasetError(error.what, where=self.where(number, path=error.path), hint=error.hint) from None
        except DatasetError as error:
            raise error if error.where else DatasetError(error.what, where=self.source.name, hint=error.hint) from None
        except Exception as error:
            # The library's own words: what it raises on a damaged file is not known here.
            what = f"cannot be read after row {number}: {type(error).__name__}: {error}"
            raise DatasetError(what, where=self.source.name) from error

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        place = f"{self.source.name}: row {number}"
        return place if path == "$" else f"{place}: {path}"

    def offset(self, number: int) -> int | None:
        return None


def records(read: ReadRecords, *, cells: Cells = "json") -> Format:
    """A format from a function that reads a binary, seekable file as dicts of JSON values.

    `read` is called once for each pass over the rows. Dates and times become ISO 8601 strings.
    `cells="columns"` says that a null stands for an absent value.
    """

    def format_of_records(source: Source) -> RecordReader:
        return RecordReader(source, read, JsonCodec(cells))

    return format_of_records


def as_json(record: Mapping[str, Any]) -> bytes:
    """The JSON text of a row. Raises `RowError` for a value that JSON does not have (NaN, bytes, a decimal)."""
    row = {key: value.isoformat() if isinstance(value, _TIMES) else value for key, value in record.items()}
    try:
        finite_json(row)
        return orjson.dumps(row)
    except ValueError as error:
        path, _, what = str(error).partition(": ")
        raise RowError(what, path=path, hint="a missing value is null" if "finite" in what else None) from None
    except TypeError as error:
        raise RowError(f"cannot be written as JSON: {error}") from None


_TIMES = (datetime.date, datetime.time)
