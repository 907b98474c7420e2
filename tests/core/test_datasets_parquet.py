"""Parquet, and other formats whose library yields dicts."""

from __future__ import annotations

import datetime
import hashlib
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import pytest
from attrs import frozen

from yb_eval.datasets import RowDataset, RowError, records
from yb_eval.datasets.record_format import as_json
from yb_eval.errors import DatasetError
from yb_eval.model import Sample


def write(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = folder / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, **options)
    return path


def read(dataset: RowDataset) -> list[Sample]:
    return [sample for batch in dataset.open().samples(100) for sample in batch]


@pytest.mark.parametrize("limit", [100, 10**9])
def test_a_parquet_file_is_read_by_row_groups(tmp_path: Path, limit: int) -> None:
    rows = [
        {"id": f"r{i}", "text": f"привет {i}", "n": i, "tags": ["k:v"], "meta": {"x": [i, None]}} for i in range(5_000)
    ]
    path = write(tmp_path, rows, row_group_size=700)
    dataset = RowDataset(path, memory_limit=limit)
    snapshot = dataset.open()
    assert snapshot.revision_id == hashlib.sha256(path.read_bytes()).hexdigest()
    samples = read(dataset)
    assert [sample.data for sample in samples] == rows
    assert (samples[3].id, samples[3].tags, samples[3].line) == ("r3", ("k:v",), None)


def test_a_null_cell_is_an_absent_value(tmp_path: Path) -> None:
    @frozen
    class Row:
        text: str
        note: str = "none"
        count: int | None = None

    rows = [
        {"id": None, "text": "x", "note": None, "count": 3, "tags": None},
        {"id": "b", "text": "y", "note": "n", "count": None},
    ]
    samples = read(RowDataset(write(tmp_path, rows), row=Row))
    assert [sample.data for sample in samples] == [Row("x", "none", 3), Row("y", "n", None)]
    assert samples[0].id.startswith("x-")


def test_a_bad_row_is_named_by_its_number(tmp_path: Path) -> None:
    @frozen
    class Row:
        text: str

    with pytest.raises(DatasetError, match=r"rows\.parquet: row 2: \$\.text: must be a string, not null"):
        RowDataset(write(tmp_path, [{"text": "x"}, {"text": None}]), row=Row).open()
    with pytest.raises(
        DatasetError, match=r"rows\.parquet: row 2: \$\.n: nan is not a finite number \(a missing value is null\)"
    ):
        RowDataset(write(tmp_path, [{"n": 1.0}, {"n": float("nan")}])).open()
    with pytest.raises(DatasetError, match=r"row 3: \$\.id: the id 'a' is repeated; it is first at .*row 1"):
        RowDataset(write(tmp_path, [{"id": "a"}, {"id": "b"}, {"id": "a"}])).open()
    with pytest.raises(DatasetError, match="no rows"):
        RowDataset(write(tmp_path, [{"id": "a"}][:0] or [])).open()


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "rows.parquet"
    parquet.write_table(pyarrow.Table.from_arrays([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(DatasetError, match=r"rows\.parquet: two columns are named 'a'"):
        RowDataset(path).open()


def test_a_damaged_file_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, [{"id": "a"}])
    path.write_bytes(path.read_bytes()[:-6])
    with pytest.raises(DatasetError) as caught:
        RowDataset(path).open()
    assert "cannot be read after row 0" in str(caught.value)
    assert str(caught.value).isprintable()


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1")
    with pytest.raises(DatasetError, match=r"needs pyarrow \(pip install 'yb-eval-core\[parquet\]'\)"):
        RowDataset(path).open()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (float("inf"), "not a finite number"),
        (b"x", "a bytes is not JSON"),
        (Decimal("1.5"), "a Decimal is not JSON"),
        (2**70, "beyond 64 bits"),
        ("\ud800", "a lone surrogate"),
        ({1: 2}, "is not a string"),
        (MappingProxyType({}), "cannot be written as JSON"),
    ],
)
def test_a_value_that_json_does_not_have_is_refused(value: Any, words: str) -> None:
    with pytest.raises(RowError, match=words):
        as_json({"v": value})


def test_times_become_iso_8601() -> None:
    row = {"at": datetime.datetime(2026, 11, 30, 12, 0, tzinfo=datetime.UTC), "on": datetime.date(2026, 11, 30)}
    assert as_json(row) == b'{"at":"2026-11-30T12:00:00+00:00","on":"2026-11-30"}'


def test_a_plugin_makes_a_format_from_a_function_that_yields_dicts(tmp_path: Path) -> None:
    def read_pairs(file: BinaryIO) -> Iterator[dict[str, Any]]:
        for line in file:
            key, _, value = line.decode().strip().partition("=")
            yield {"id": key, "value": value}

    path = tmp_path / "rows.pairs"
    path.write_bytes(b"a=1\nb=2\n")
    samples = read(RowDataset(path, formats={".pairs": records(read_pairs)}))
    assert [(sample.id, sample.data["value"]) for sample in samples] == [("a", "1"), ("b", "2")]


def test_a_library_that_fails_is_one_line_with_the_row(tmp_path: Path) -> None:
    def fail(file: BinaryIO) -> Iterator[dict[str, Any]]:
        yield {"id": "a"}
        raise OSError("disk\nfull")

    path = tmp_path / "rows.x"
    path.write_bytes(b"x")
    with pytest.raises(DatasetError) as caught:
        RowDataset(path, format=records(fail)).open()
    assert str(caught.value) == f"{path}: cannot be read after row 1: OSError: disk\\nfull"
