"""A part of a dataset: filter and limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from attrs import define, frozen
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.datasets import Batch, RowDataset, Selected
from yb_eval.errors import DatasetError, ExpressionError
from yb_eval.expressions import Expression
from yb_eval.model import FileDigest, Sample

ROWS: list[dict[str, Any]] = [
    {
        "id": f"r{i}",
        "n": i,
        "tags": ["lang:ru"] if i % 3 == 0 else ["lang:en"],
        "meta": {"source": "a" if i < 5 else "b"},
    }
    for i in range(10)
] + [{"id": "bare"}]


def dataset(folder: Path, rows: list[dict[str, Any]] = ROWS, **options: Any) -> RowDataset:
    path = folder / "rows.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return RowDataset(path, **options)


def selected(source: Any, text: str | None = None, limit: int | None = None, size: int = 4) -> list[str]:
    snapshot = Selected(source, Expression.parse(text) if text else None, limit).open()
    batches = list(snapshot.samples(size))
    assert all(1 <= len(batch) <= size for batch in batches)
    ids = [sample.id for batch in batches for sample in batch]
    assert snapshot.count == len(ids)
    assert ids == [sample.id for batch in snapshot.samples(3) for sample in batch]
    return ids


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"lang:ru" in tags', ["r0", "r3", "r6", "r9"]),
        ("n >= 8", ["r8", "r9"]),
        ('id == "r4"', ["r4"]),
        ("n == null", ["bare"]),
        ("n != null and n < 2", ["r0", "r1"]),
        ('meta.source == "a" and n > 3', ["r4"]),
        ('meta["source"] == "b" and not (n > 6)', ["r5", "r6"]),
        ("meta.source == null", ["bare"]),
        ("n + 1 >= 10", ["r9"]),
        ("meta.source.deeper == null and n == 1", ["r1"]),
    ],
)
def test_a_filter_names_ids_tags_and_fields(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert selected(dataset(tmp_path), text) == expected


def test_a_limit_takes_the_first_that_match(tmp_path: Path) -> None:
    assert selected(dataset(tmp_path), limit=3) == ["r0", "r1", "r2"]
    assert selected(dataset(tmp_path), limit=8, size=3) == [f"r{i}" for i in range(8)]
    assert selected(dataset(tmp_path), '"lang:ru" in tags', 2) == ["r0", "r3"]
    assert len(selected(dataset(tmp_path), limit=1_000)) == 11
    assert len(selected(dataset(tmp_path))) == 11


def test_the_revision_stays_that_of_the_whole(tmp_path: Path) -> None:
    whole = dataset(tmp_path).open()
    part = Selected(dataset(tmp_path), limit=1).open()
    assert (part.revision_id, list(part.files), part.id) == (whole.revision_id, list(whole.files), whole.id)
    assert part.normalised_revision() == whole.normalised_revision()
    assert (part.count, whole.count) == (1, 11)


def test_selecting_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"none of the 11 samples of 'rows' matches 'n > 100'"):
        Selected(dataset(tmp_path), Expression.parse("n > 100")).open()
    for limit in (0, -1):
        with pytest.raises(DatasetError, match="selects nothing"):
            Selected(dataset(tmp_path), limit=limit).open()


def test_batches_stay_lazy(tmp_path: Path) -> None:
    snapshot = Selected(dataset(tmp_path), Expression.parse("n >= 1")).open()
    assert all(isinstance(batch, Batch) for batch in snapshot.samples(4))


@frozen
class Inner:
    source: str


@frozen
class Row:
    n: int = 0
    meta: Inner | None = None

    def method(self) -> str:
        return "not a field"


def test_the_fields_of_a_class_are_names_and_nothing_else_is(tmp_path: Path) -> None:
    rows = dataset(tmp_path, row=Row)
    assert selected(rows, 'meta.source == "a" and n > 3') == ["r4"]
    assert selected(rows, "meta == null") == ["bare"]
    with pytest.raises(ExpressionError, match=r"unknown name 'tag' .*did you mean 'tags'"):
        Selected(rows, Expression.parse('"x" in tag')).open()
    with pytest.raises(ExpressionError, match="unknown name 'method'"):
        Selected(rows, Expression.parse("method == 1")).open()
    with pytest.raises(DatasetError, match="none of"):
        Selected(rows, Expression.parse("meta.__class__ != null")).open()


def test_a_filter_without_an_answer_selects_only_where_that_is_due_to_absence(tmp_path: Path) -> None:
    rows = [{"id": "a", "note": "xyz"}, {"id": "b"}, {"id": "c", "note": None}]
    assert selected(dataset(tmp_path, rows), '"x" in note') == ["a"]
    assert selected(dataset(tmp_path, rows), 'not ("q" in note)') == ["a"]
    with pytest.raises(ExpressionError, match="no answer for the sample 'a'"):
        Selected(dataset(tmp_path, [{"id": "a", "note": 5}]), Expression.parse('"x" in note')).open()
    with pytest.raises(ExpressionError, match=r"neither true nor false .*compare"):
        Selected(dataset(tmp_path), Expression.parse("id")).open()


@define
class ListSnapshot:
    values: list[Sample]
    id: str = "list"
    revision_id: str = "0" * 64
    files: Sequence[FileDigest] = ()
    notes: Sequence[str] = ()

    @property
    def count(self) -> int:
        return len(self.values)

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        for start in range(0, len(self.values), batch_size):
            yield self.values[start : start + batch_size]


@frozen
class ListDataset:
    values: list[Sample]

    def open(self) -> ListSnapshot:
        return ListSnapshot(self.values)


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.integers(0, 9),
    st.none() | st.integers(1, 12),
    st.integers(1, 8),
)
def test_any_dataset_can_be_selected_from(values: list[int], least: int, limit: int | None, size: int) -> None:
    samples = [Sample(str(index), {"n": value}) for index, value in enumerate(values)]
    expected = [sample.id for sample in samples if sample.data["n"] >= least][:limit]
    if expected:
        assert selected(ListDataset(samples), f"n >= {least}", limit, size) == expected
    else:
        with pytest.raises(DatasetError):
            selected(ListDataset(samples), f"n >= {least}", limit, size)
