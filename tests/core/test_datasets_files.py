"""Datasets of several files, and which format a file has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import yb_eval.datasets
from yb_eval.datasets import (
    DataFile,
    MultiFile,
    RowDataset,
    Selected,
    Source,
    check_file,
    format_of,
    formats,
    jsonl,
    open_rows,
    problems,
)
from yb_eval.digest import revision_id
from yb_eval.errors import DatasetError


def write(folder: Path, **contents: bytes) -> dict[str, Path]:
    paths = {}
    for name, content in contents.items():
        paths[name] = folder / f"{name}.jsonl"
        paths[name].write_bytes(content)
    return paths


def multi(paths: dict[str, Path], *roles: str) -> MultiFile:
    return MultiFile(RowDataset(paths["rows"]), [DataFile.read(paths[role], role=role) for role in roles])


def test_the_revision_covers_every_file(tmp_path: Path) -> None:
    paths = write(tmp_path, rows=b'{"id":"a"}\n', catalogue=b"[1]", env=b"x")
    snapshot = multi(paths, "catalogue", "env").open()
    assert [file.role for file in snapshot.files] == ["rows", "catalogue", "env"]
    assert snapshot.revision_id == revision_id(snapshot.files)
    assert (snapshot.id, snapshot.count) == ("rows", 1)
    assert [s.id for batch in snapshot.samples(5) for s in batch] == ["a"]
    before = snapshot.revision_id
    assert multi(paths, "env", "catalogue").open().revision_id == before
    for name in ("rows", "catalogue", "env"):
        original = paths[name].read_bytes()
        paths[name].write_bytes(original + b"\n")
        assert multi(paths, "catalogue", "env").open().revision_id != before
        paths[name].write_bytes(original)


def test_what_the_suite_reads_is_what_is_identified(tmp_path: Path) -> None:
    paths = write(tmp_path, rows=b"{}\n", catalogue=b"[1]")
    catalogue = DataFile.read(paths["catalogue"], role="catalogue")
    paths["catalogue"].write_bytes(b"[2]")
    snapshot = MultiFile(RowDataset(paths["rows"]), [catalogue]).open()
    assert catalogue.data == b"[1]"
    assert snapshot.files[1] == catalogue.digest == Source.of(b"[1]", "x").digest("catalogue")


def test_two_files_cannot_have_one_role(tmp_path: Path) -> None:
    paths = write(tmp_path, rows=b"{}\n")
    with pytest.raises(DatasetError, match="have the role 'rows'"):
        multi(paths, "rows").open()


def test_files_that_differ_in_line_ends_only_have_one_normalised_revision(tmp_path: Path) -> None:
    found = []
    for end in (b"\n", b"\r\n"):
        snapshot = multi(write(tmp_path, rows=b"{}" + end, catalogue=b"a" + end + b"b"), "catalogue").open()
        found.append((snapshot.revision_id, snapshot.normalised_revision()))
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1] == found[0][0]


def test_a_part_of_a_dataset_of_several_files_keeps_them(tmp_path: Path) -> None:
    paths = write(tmp_path, rows=b'{"id":"a"}\n{"id":"b"}\n', catalogue=b"[1]")
    part = Selected(multi(paths, "catalogue"), limit=1).open()
    assert (part.count, len(part.files)) == (1, 2)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.jsonl", ".jsonl"), ("A.JSONL", ".jsonl"), ("a.ndjson", ".ndjson"), ("a.json", ".json"), ("a.b.csv", ".csv"),
        ("a.jsonl.gz", ".jsonl"), ("dir.csv/a.tsv", ".tsv"), ("C:\\data\\a.parquet", ".parquet"), ("-", ".jsonl"),
    ],
)  # fmt: skip
def test_the_suffix_says_which_format_a_file_has(name: str, suffix: str) -> None:
    assert format_of(name) is formats()[suffix]


@pytest.mark.parametrize("name", ["a.jsnl", "a", "a.gz", "a.txt", ".jsonl.d/a"])
def test_an_unknown_suffix_is_refused_with_what_is_known(name: str) -> None:
    with pytest.raises(DatasetError, match=r"not a kind of file .*\.jsonl"):
        format_of(name)


def test_formats_of_plugins_are_given_by_suffix_and_the_longest_wins(tmp_path: Path) -> None:
    known: dict[str, Any] = {**formats(), ".labels.json": jsonl}
    assert format_of("a.labels.json", known) is jsonl
    assert format_of("a.json", known) is known[".json"]
    path = tmp_path / "a.rows"
    path.write_bytes(b'{"id":"a"}\n')
    assert open_rows(path, formats={".rows": jsonl}).id == "a"
    with pytest.raises(DatasetError, match="not a kind of file"):
        open_rows(path)


def test_a_file_can_be_checked(tmp_path: Path) -> None:
    path = write(tmp_path, rows=b'{"id":"a"}\n')["rows"]
    assert check_file(path).count == 1
    assert problems(path) == []
    path.write_bytes(b"[]\n" * 30)
    with pytest.raises(DatasetError, match=r"rows\.jsonl:1: "):
        check_file(path)
    assert [str(fault.where).rpartition(":")[2] for fault in problems(path, limit=3)] == ["1", "2", "3"]
    assert len(problems(path)) == 20
    assert [fault.what for fault in problems(tmp_path / "absent.jsonl")] == ["no such file"]


def test_the_public_names_are_those_that_are_listed() -> None:
    assert yb_eval.datasets.__all__ == sorted(yb_eval.datasets.__all__)
    assert all(hasattr(yb_eval.datasets, name) for name in yb_eval.datasets.__all__)
