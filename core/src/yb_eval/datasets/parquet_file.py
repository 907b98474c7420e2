"""Parquet, read by row groups. pyarrow (`pip install 'yb-eval-core[parquet]'`) is imported when a file is opened."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from yb_eval.datasets.record_format import RecordReader, records
from yb_eval.datasets.source import Source
from yb_eval.errors import DatasetError

#: Rows that are Python objects at one time.
_ROWS_AT_ONCE = 1_000


def parquet(source: Source) -> RecordReader:
    """The format of `.parquet` files. A null cell is an absent value."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise DatasetError(
            "reading Parquet needs pyarrow", where=source.name, hint="pip install 'yb-eval-core[parquet]'"
        ) from None
    reader = records(_read, cells="columns")(source)
    assert isinstance(reader, RecordReader)
    return reader


def _read(file: BinaryIO) -> Iterator[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile

    opened = ParquetFile(file)
    names = opened.schema_arrow.names
    if len(set(names)) != len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise DatasetError(f"two columns are named {repeated!r}", hint="rename one")
    for batch in opened.iter_batches(batch_size=_ROWS_AT_ONCE, use_threads=False):
        yield from batch.to_pylist()
