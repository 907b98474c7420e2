"""One read: the bytes that are hashed are the bytes that are evaluated."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.datasets import DataFile, RowDataset, RowSnapshot, Source
from yb_eval.datasets.source import CHUNK, normalised
from yb_eval.errors import DatasetError

SMALL = 1_000  # a memory limit that makes any test file a large one


def rows(count: int, padding: int = 100) -> bytes:
    return b"".join(b'{"id":"r%07d","x":"%s"}\n' % (index, b"x" * padding) for index in range(count))


def large(path: Path, count: int = 30_000) -> RowSnapshot:
    """A snapshot of a file of several chunks that is not kept in memory."""
    path.write_bytes(rows(count))
    assert path.stat().st_size > 3 * CHUNK
    return RowDataset(path, memory_limit=SMALL).open()


def ids(snapshot: RowSnapshot) -> list[str]:
    return [sample.id for batch in snapshot.samples(1_000) for sample in batch]


@pytest.mark.parametrize("limit", [SMALL, 10**9])
def test_a_file_is_the_same_dataset_whether_or_not_it_fits_in_memory(tmp_path: Path, limit: int) -> None:
    content = rows(30_000)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    snapshot = RowDataset(path, memory_limit=limit).open()
    assert snapshot.revision_id == hashlib.sha256(content).hexdigest()
    assert ids(snapshot) == [f"r{index:07}" for index in range(30_000)]
    assert ids(snapshot) == ids(snapshot)


@pytest.mark.parametrize("limit", [SMALL, 10**9])
def test_replacing_the_file_changes_nothing(tmp_path: Path, limit: int) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(30_000))
    snapshot = RowDataset(path, memory_limit=limit).open()
    batches = snapshot.samples(1_000)
    first = next(batches)
    other = tmp_path / "other"
    other.write_bytes(b'{"id":"intruder"}\n')
    other.rename(path)
    found = [sample.id for sample in first] + [sample.id for batch in batches for sample in batch]
    assert found == [f"r{index:07}" for index in range(30_000)]
    path.unlink()
    assert len(ids(snapshot)) == 30_000


def overwrite_a_byte(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(2 * CHUNK + 17)
        file.write(b"y")


def truncate(path: Path) -> None:
    os.truncate(path, 2 * CHUNK)


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"id":"late"}\n')


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("change", [overwrite_a_byte, truncate, append, empty])
@pytest.mark.parametrize("begun", [False, True])
def test_a_large_file_that_changes_is_refused(tmp_path: Path, change: Callable[[Path], None], begun: bool) -> None:
    path = tmp_path / "rows.jsonl"
    snapshot = large(path)
    batches = snapshot.samples(1_000)
    if begun:
        next(batches)
    change(path)
    with pytest.raises(DatasetError, match=r"rows\.jsonl: changed while it was read"):
        for batch in batches:
            assert all(sample.data["x"] == "x" * 100 for sample in batch)


def test_no_changed_byte_is_ever_seen(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    snapshot = large(path)
    path.write_bytes(path.read_bytes().replace(b"x" * 100, b"y" * 100))
    with pytest.raises(DatasetError, match="changed"):
        next(snapshot.samples(1))


def test_a_small_file_that_changes_was_read_already(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(5))
    snapshot = RowDataset(path).open()
    path.write_bytes(b"[]")
    assert len(ids(snapshot)) == 5


def test_two_passes_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    snapshot = large(tmp_path / "rows.jsonl")
    pairs = zip(snapshot.samples(700), snapshot.samples(700), strict=True)
    assert all([s.id for s in left] == [s.id for s in right] for left, right in pairs)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as file:
        for start in range(60):
            file.write(rows(900, 1_150).replace(b'"r', b'"%02d-' % start))
    assert path.stat().st_size > 60 * 2**20
    tracemalloc.start()
    try:
        snapshot = RowDataset(path).open()
        count = sum(len(batch) for batch in snapshot.samples(1_000) if batch[0].id)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == snapshot.count == 54_000
    # A chunk, its lines and a batch.
    assert peak < 12 * 2**20


def test_a_missing_file_a_folder_a_pipe_and_a_null_byte_are_one_clear_line(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.jsonl"
    os.mkfifo(fifo)
    (tmp_path / "folder.jsonl").mkdir()
    for name, words in {
        "absent.jsonl": "no such file",
        "folder.jsonl": "a folder, where a file is needed",
        "pipe.jsonl": "not a regular file",
        "nul\0.jsonl": "cannot be opened",
        "x" * 300 + ".jsonl": "cannot be opened: file name too long",
    }.items():
        with pytest.raises(DatasetError) as caught:
            RowDataset(str(tmp_path / name)).open()
        assert words in str(caught.value)
        assert str(caught.value).isprintable()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read anything")
def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(1))
    path.chmod(0)
    with pytest.raises(DatasetError, match="permission denied"):
        RowDataset(path).open()


@pytest.mark.parametrize("limit", [SMALL, 10**9])
def test_standard_input_is_a_dataset(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    content = rows(30_000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="utf-8"))
    snapshot = RowDataset("-", memory_limit=limit).open()
    assert (snapshot.id, snapshot.count) == ("stdin", 30_000)
    assert snapshot.revision_id == hashlib.sha256(content).hexdigest()
    assert ids(snapshot) == ids(snapshot) == [f"r{index:07}" for index in range(30_000)]


def test_a_bad_line_of_standard_input_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id":"a"}\n{"id":'), encoding="utf-8"))
    with pytest.raises(DatasetError, match="<stdin>:2: ends in the middle"):
        RowDataset("-").open()


def test_a_resource_inside_a_zip_file_is_a_dataset(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "wheel.zip", "w") as archive:
        archive.writestr("package/rows.jsonl", rows(3))
    with zipfile.ZipFile(tmp_path / "wheel.zip") as archive:
        inside = zipfile.Path(archive) / "package"
        assert RowDataset(inside / "rows.jsonl").open().id == "rows"
        with pytest.raises(DatasetError, match="cannot be opened"):
            RowDataset(inside / "absent.jsonl").open()


def test_gzip_larger_than_memory_is_streamed(tmp_path: Path) -> None:
    content = rows(30_000)
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(content))
    snapshot = RowDataset(path, memory_limit=SMALL).open()
    assert ids(snapshot) == [f"r{index:07}" for index in range(30_000)]


def test_a_source_gives_a_seekable_file_of_verified_bytes(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    content = b"0123456789" + bytes(range(256)) * 20_000
    path.write_bytes(content)
    source = Source.open(path, memory_limit=SMALL)
    file = source.file()
    for offset, size in ((0, 10), (CHUNK - 3, 6), (len(content) - 5, 50), (2 * CHUNK, 3 * CHUNK)):
        file.seek(offset)
        assert file.read(size) == content[offset : offset + size]
    assert file.seek(0, os.SEEK_END) == len(content)
    assert file.read() == b""
    overwrite_a_byte(path)
    file.seek(0)
    with pytest.raises(DatasetError, match="changed"):
        file.read()


@given(st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"a"]), max_size=12), st.integers(1, 4))
def test_line_ends_are_normalised_wherever_the_pieces_are_cut(parts: list[bytes], size: int) -> None:
    content = b"".join(parts)
    pieces = [content[start : start + size] for start in range(0, len(content), size)]
    expected = content.replace(b"\r\n", b"\n")
    digest = normalised(iter(pieces), "rows")
    assert (digest.size, digest.sha256) == (len(expected), hashlib.sha256(expected).hexdigest())


def test_revisions_that_differ_in_line_ends_only_can_be_told(tmp_path: Path) -> None:
    content = rows(3)
    snapshots = []
    for name, data in (
        ("lf", content),
        ("crlf", content.replace(b"\n", b"\r\n")),
        ("other", content + content[:0] + b"{}"),
    ):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(data)
        snapshots.append(RowDataset(path).open())
    lf, crlf, other = snapshots
    assert lf.revision_id != crlf.revision_id
    assert lf.normalised_revision() == crlf.normalised_revision() == lf.revision_id
    assert other.normalised_revision() != lf.normalised_revision()


def test_a_file_read_whole_has_a_limit_that_is_inclusive(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.json"
    path.write_bytes(b"x" * 100)
    assert DataFile.read(path, role="catalogue", limit=100).data == b"x" * 100
    with pytest.raises(DatasetError, match="larger than the limit of 99 bytes"):
        DataFile.read(path, role="catalogue", limit=99)
    path.write_bytes(b"")
    with pytest.raises(DatasetError, match="an empty file"):
        DataFile.read(path, role="catalogue")
