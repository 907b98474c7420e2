"""Lazy batches: the same samples however they are cut, and small to send to a worker."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.datasets import Batch, RowDataset
from yb_eval.datasets.batch import BATCH_BYTES, RowDecoder
from yb_eval.datasets.jsonl_file import JsonCodec
from yb_eval.model import FileDigest, Sample


class CountingCodec(JsonCodec):
    """Counts what is decoded."""

    decoded = 0

    def decode(self, raw: bytes) -> dict[str, Any]:
        CountingCodec.decoded += 1
        return super().decode(raw)


def write(folder: Path, rows: list[dict[str, Any]]) -> Path:
    path = folder / "rows.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def test_a_batch_is_decoded_when_it_is_looked_into_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    CountingCodec.decoded = 0
    batch = Batch(RowDecoder(CountingCodec()), [(1, b'{"id":"a"}'), (2, b'{"id":"b"}')], {})
    assert len(batch) == 2
    assert "2 samples" in repr(batch)
    assert CountingCodec.decoded == 0
    assert batch[1].id == "b"
    assert [sample.id for sample in batch] == ["a", "b"]
    assert [sample.id for sample in batch[:1]] == ["a"]
    assert batch[0] in batch
    assert CountingCodec.decoded == 2


def test_a_batch_pickles_as_bytes_whether_or_not_it_was_decoded(tmp_path: Path) -> None:
    rows = [{"text": f"text {index % 3}"} for index in range(100)]
    (batch,) = RowDataset(write(tmp_path, rows)).open().samples(1_000)
    before = pickle.dumps(batch)
    samples = list(batch)
    assert pickle.dumps(batch) == before
    assert list(pickle.loads(before)) == samples
    assert len(before) < 100 * 40 + 500
    assert len({sample.id for sample in samples}) == 100


def test_a_worker_process_decodes_what_it_is_sent(tmp_path: Path) -> None:
    rows = [{"text": f"t{index % 7}"} for index in range(50)]
    snapshot = RowDataset(write(tmp_path, rows)).open()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = list(pool.map(list, snapshot.samples(20)))
    assert there == [list(batch) for batch in snapshot.samples(20)]
    assert [len(samples) for samples in there] == [20, 20, 10]


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=25), st.integers(1, 30), st.integers(1, 30))
def test_the_samples_do_not_depend_on_how_they_are_cut(values: list[int], left: int, right: int) -> None:
    content = b"\r\n".join(b'{"v":%d}' % value for value in values)

    class Resource:
        def __str__(self) -> str:
            return "rows.jsonl"

        def read_bytes(self) -> bytes:
            return content

    snapshot = RowDataset(Resource()).open()  # type: ignore[arg-type]

    def samples(size: int) -> list[Sample]:
        batches = list(snapshot.samples(size))
        assert all(len(batch) == size for batch in batches[:-1])
        assert 1 <= len(batches[-1]) <= size
        return [sample for batch in batches for sample in batch]

    assert samples(left) == samples(right)
    assert [sample.data["v"] for sample in samples(left)] == values


def test_a_batch_closes_at_8_mebibytes(tmp_path: Path) -> None:
    rows = [{"text": str(index) + "x" * (3 * 2**20)} for index in range(7)]
    sizes = [len(batch) for batch in RowDataset(write(tmp_path, rows)).open().samples(1_000)]
    assert BATCH_BYTES == 8 * 2**20
    assert sizes == [3, 3, 1]


def test_a_batch_has_at_least_one_sample(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        next(RowDataset(write(tmp_path, [{}])).open().samples(0))


def test_part_of_a_batch_keeps_its_ids() -> None:
    rows = [(number, b'{"v":1}') for number in range(4)]
    batch = Batch(RowDecoder(JsonCodec()), rows, {1: 2, 2: 3, 3: 4})
    assert [s.id for s in batch.take([1, 3])] == [batch[1].id, batch[3].id]
    assert isinstance(batch.take([0]), Batch)


def test_a_snapshot_is_what_the_runner_asks_for(tmp_path: Path) -> None:
    @frozen
    class Row:
        text: str

    snapshot = RowDataset(write(tmp_path, [{"text": "x"}]), row=Row).open()
    assert isinstance(snapshot.id, str)
    assert len(snapshot.revision_id) == 64
    assert all(isinstance(file, FileDigest) for file in snapshot.files)
    (batch,) = snapshot.samples(10)
    assert batch[0] == Sample(batch[0].id, Row("x"), (), 1)
