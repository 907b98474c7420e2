"""JSON documents: read whole, checked whole, refused with a JSON path."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.datasets import Document, RowDataset, RowSnapshot
from yb_eval.errors import DatasetError


@frozen
class Header:
    schema_version: Literal[1]
    dataset_id: str


@frozen
class Payload:
    text: str
    type: str
    expect: Literal["detect", "clean"]


@frozen
class Revision:
    id: str
    payload: Payload


def sample(name: str = "a", **payload: Any) -> dict[str, Any]:
    return {"id": name, "payload": {"text": "x", "type": "inn", "expect": "clean", **payload}}


def revision(**changes: Any) -> dict[str, Any]:
    document = {"schema_version": 1, "dataset_id": "guards-1", "samples": [sample("a"), sample("b")]}
    return {key: value for key, value in {**document, **changes}.items() if value is not ...}


def open_revision(folder: Path, content: bytes, **limits: Any) -> RowSnapshot:
    path = folder / "revision.json"
    path.write_bytes(content)
    return RowDataset(path, row=Revision, format=Document(header=Header, **limits)).open()


def refusal(folder: Path, content: bytes, **limits: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        open_revision(folder, content, **limits)
    text = str(caught.value)
    assert text.isprintable()
    return text.removeprefix(str(folder / "revision.json"))


def test_a_revision_document_is_a_dataset_under_its_own_name(tmp_path: Path) -> None:
    content = json.dumps(revision(), indent=2).encode()
    snapshot = open_revision(tmp_path, content)
    assert (snapshot.id, snapshot.count) == ("guards-1", 2)
    assert snapshot.revision_id == hashlib.sha256(content).hexdigest()
    assert snapshot.header == Header(1, "guards-1")
    (batch,) = snapshot.samples(10)
    assert [s.data for s in batch] == [
        Revision("a", Payload("x", "inn", "clean")),
        Revision("b", Payload("x", "inn", "clean")),
    ]
    assert [s.id for s in batch] == ["a", "b"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (revision(schema_version=True), ": $.schema_version: must be 1, not true"),
        (revision(schema_version=1.0), ": $.schema_version: must be 1, not a number"),
        (revision(schema_version=2), ": $.schema_version: must be 1, not 2"),
        (revision(schema_version=...), ": $.schema_version: missing field"),
        (revision(dataset_id=""), ": $.dataset_id: must not be empty"),
        (revision(dataset_id=7), ": $.dataset_id: must be a string"),
        (revision(datasetid="x"), ": $.datasetid: unknown field (did you mean 'dataset_id'?)"),
        (revision(samples=...), ": $.samples: missing field"),
        (revision(samples={}), ": $.samples: must be a list, not an object"),
        (revision(samples=[]), ": no rows"),
        (revision(samples=[sample(), []]), ": $.samples[1]: a row is a JSON object, not a list"),
        (revision(samples=[sample(), sample("b", text="")]), ": $.samples[1].payload.text: must not be empty"),
        (revision(samples=[sample(expect="maybe")]), ": $.samples[0].payload.expect: must be one of"),
        (revision(samples=[sample(extra=1)]), ": $.samples[0].payload.extra: unknown field"),
        (revision(samples=[{"id": "a"}]), ": $.samples[0].payload: missing field"),
        (revision(samples=[{"payload": sample()["payload"]}]), ": $.samples[0].id: missing field"),
        (revision(samples=[sample("")]), ": $.samples[0].id: must not be empty"),
        (
            revision(samples=[sample(), sample("b"), sample()]),
            ": $.samples[2].id: the id 'a' is repeated; it is first at",
        ),
        ([sample()], ": the document must be an object, not a list"),
        ("x", ": the document must be an object, not a string"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(tmp_path: Path, document: Any, expected: str) -> None:
    assert refusal(tmp_path, json.dumps(document).encode()).startswith(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (b'"type": "inn"', b'"type": "inn", "text": "y"', ": $.samples[0].payload.text: the key is repeated"),
        (b'"type": "inn"', b'"type": "inn", "te\\u0078t": "y"', ": $.samples[0].payload.text: the key is repeated"),
        (b'"id": "a"', b'"id": "a", "\\u0069d": "b"', ": $.samples[0].id: the key is repeated"),
        (
            b'"schema_version": 1',
            b'"schema_version": 1, "schema_version": 1',
            ": $.schema_version: the key is repeated",
        ),
        (b'"x"', b"NaN", ": $.samples[0].payload.text: NaN is not JSON"),
        (b'"x"', b'"\\ud800"', ": $.samples[0].payload.text: a lone surrogate"),
        (b'"x"', b"1" * 30, ": $.samples[0].payload.text: an integer beyond 64 bits"),
        (b'"x"', b"[" * 70 + b"]" * 70, ": nested deeper than 64"),
    ],
)
def test_what_json_does_not_allow_is_named_by_its_path(
    tmp_path: Path, before: bytes, after: bytes, expected: str
) -> None:
    content = json.dumps(revision()).encode().replace(before, after, 1)
    assert refusal(tmp_path, content).startswith(expected)


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        (b"{}", ":5: a second value"),
        (b"]", ":5: a second value"),
        (b"x", ":5: a second value"),
        (b"\0", ":5: a second value"),
    ],
)
def test_a_second_document_behind_the_first_is_refused(tmp_path: Path, tail: bytes, expected: str) -> None:
    content = json.dumps(revision(samples=[sample()])).encode().replace(b", ", b",\n", 2) + b"\n\n" + tail
    assert refusal(tmp_path, content).startswith(expected)
    assert open_revision(tmp_path, content[: -len(tail)]).count == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "an empty file"),
        (b" \n", "an empty file"),
        (b'{"samples": [', "ends in the middle"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"[" * 100_000, "nested deeper than 64"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    assert words in refusal(tmp_path, content)


def test_a_byte_order_mark_is_accepted_with_a_note(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + json.dumps(revision()).encode()
    snapshot = open_revision(tmp_path, content)
    assert snapshot.revision_id == hashlib.sha256(content).hexdigest()
    assert len(snapshot.notes) == 1


def test_the_limits_are_inclusive(tmp_path: Path) -> None:
    content = json.dumps(revision()).encode()
    eight = content + b" " * (8 * 2**20 - len(content))
    assert open_revision(tmp_path, eight).count == 2
    assert "larger than the limit of 8,388,608 bytes" in refusal(tmp_path, eight + b" ")
    assert open_revision(tmp_path, content, sample_limit=2, size_limit=len(content)).count == 2
    assert ": $.samples: 2 rows; the limit is 1" in refusal(tmp_path, content, sample_limit=1)
    assert "larger than" in refusal(tmp_path, content, size_limit=len(content) - 1)


def test_the_general_format_takes_a_list_or_an_object_with_samples(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    for document, expected in (
        ([{"a": 1}, {"a": 2}], "rows"),
        ({"samples": [{"a": 1}, {"a": 2}], "dataset_id": "d", "z": 1}, "d"),
    ):
        path.write_text(json.dumps(document, indent=1), encoding="utf-8")
        snapshot = RowDataset(path).open()
        (batch,) = snapshot.samples(5)
        assert (snapshot.id, [s.data for s in batch]) == (expected, [{"a": 1}, {"a": 2}])
    assert snapshot.header == {"dataset_id": "d", "z": 1}
    path.write_text('{"dataset_id": 1, "samples": []}', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"\$\.dataset_id: must be a string"):
        RowDataset(path).open()
    path.write_text('[{"a": 1}, 2]', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"rows\.json: \$\[1\]: a row is a JSON object, not an integer"):
        RowDataset(path).open()


def test_white_space_enters_no_content_id(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    found = []
    for indent in (None, 4):
        path.write_text(json.dumps([{"a": 1, "b": "é"}], indent=indent, ensure_ascii=indent is None), encoding="utf-8")
        found.append([s.id for batch in RowDataset(path).open().samples(5) for s in batch])
    assert found[0] == found[1]


@given(
    st.lists(
        st.dictionaries(st.text(max_size=3).filter(lambda k: k not in ("id", "tags")), st.integers(0, 9)), min_size=1
    )
)
def test_rows_of_a_document_read_back(rows: list[dict[str, int]]) -> None:
    class Resource:
        def __str__(self) -> str:
            return "rows.json"

        def read_bytes(self) -> bytes:
            return json.dumps(rows).encode()

    snapshot = RowDataset(Resource()).open()  # type: ignore[arg-type]
    assert [s.data for batch in snapshot.samples(2) for s in batch] == rows
