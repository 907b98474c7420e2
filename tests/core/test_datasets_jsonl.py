"""JSONL files: what is read, what is refused and how the refusal reads."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.datasets import RowDataset, RowSnapshot, source
from yb_eval.errors import DatasetError
from yb_eval.model import Sample


def write(folder: Path, content: bytes, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


class Resource:
    """A file that a package holds somewhere else than in a folder, as `importlib.resources` gives it."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __str__(self) -> str:
        return "package/rows.jsonl"

    def read_bytes(self) -> bytes:
        return self.content


def read(snapshot: RowSnapshot, batch_size: int = 3) -> list[Sample]:
    return [sample for batch in snapshot.samples(batch_size) for sample in batch]


def rows_of(folder: Path, content: bytes, **options: Any) -> list[Sample]:
    return read(RowDataset(write(folder, content), **options).open())


def refusal(folder: Path, content: bytes, **options: Any) -> str:
    path = write(folder, content)
    with pytest.raises(DatasetError) as caught:
        RowDataset(path, **options).open()
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(str(path))
    return text.removeprefix(str(path))


GOOD = b'{"id":"a","x":1}\n{"id":"b","x":2}\n{"id":"c","x":3}\n'


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        GOOD.rstrip(b"\n"),
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r\n").rstrip(b"\r\n"),
        GOOD.replace(b"\n", b"\n\n\r\n \t\r\n"),
        b"\n\r\n" + GOOD,
        b"\xef\xbb\xbf" + GOOD,
        b"\xef\xbb\xbf\r\n" + GOOD,
        GOOD.replace(b",", b" ,\r").replace(b"{", b"  { "),
    ],
)
def test_line_ends_blank_lines_and_a_first_byte_order_mark_make_no_difference(tmp_path: Path, content: bytes) -> None:
    assert [(s.id, s.data["x"]) for s in rows_of(tmp_path, content)] == [("a", 1), ("b", 2), ("c", 3)]


def test_lines_are_numbered_as_an_editor_numbers_them(tmp_path: Path) -> None:
    samples = rows_of(tmp_path, b'\n{"id":"a"}\r\n\r\n\n{"id":"b"}')
    assert [sample.line for sample in samples] == [2, 5]


def test_a_byte_order_mark_is_noted_and_is_part_of_the_revision(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + GOOD
    snapshot = RowDataset(write(tmp_path, content)).open()
    assert snapshot.revision_id == hashlib.sha256(content).hexdigest()
    assert ["byte-order mark" in note for note in snapshot.notes] == [True]
    assert RowDataset(write(tmp_path, GOOD)).open().notes == []


def test_the_snapshot_says_what_was_read(tmp_path: Path) -> None:
    snapshot = RowDataset(write(tmp_path, GOOD, "golden.v2.jsonl")).open()
    assert (snapshot.id, snapshot.count) == ("golden.v2", 3)
    (file,) = snapshot.files
    assert (file.role, file.size, file.sha256) == ("rows", len(GOOD), hashlib.sha256(GOOD).hexdigest())
    assert snapshot.revision_id == file.sha256
    assert RowDataset(write(tmp_path, GOOD), dataset_id="mine", role="golden").open().id == "mine"


def test_characters_that_only_look_like_line_ends_are_data(tmp_path: Path) -> None:
    text = "a\u0085b\u2028c\u2029d\x0be\x0cf\ufeffg"
    content = json.dumps({"id": "a", "text": text + "\r\r\n"}, ensure_ascii=False).encode() + b"\n"
    content += ('{"id":"b","text":"' + "x\u0085\u2028\ufeff" + '"}').encode()
    assert [s.data["text"] for s in rows_of(tmp_path, content)] == [text + "\r\r\n", "x\u0085\u2028\ufeff"]


def test_a_line_of_50_megabytes_is_a_row(tmp_path: Path) -> None:
    long = b"x" * (50 * 2**20)
    path = write(tmp_path, b'{"id":"a"}\n{"id":"b","text":"' + long + b'"}\n{"id":"c"}\n')
    snapshot = RowDataset(path).open()
    assert [len(sample.data.get("text", "")) for sample in read(snapshot)] == [0, 50 * 2**20, 0]
    assert sum(len(batch) for batch in snapshot.samples(100)) == 3


def test_a_line_beyond_64_mebibytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    with path.open("wb") as file:
        file.write(b'{"id":"a"}\n{"text":"')
        file.truncate(70 * 2**20)
    with pytest.raises(DatasetError, match=r"rows\.jsonl:2: a line of more than 67,108,864 bytes"):
        RowDataset(path).open()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"id":"a"}\n{"id":"b", "x', ":2: ends in the middle of a value"),
        (b'{"id":"a"}\n{"id":"b"\n{"id":"c"}', ":2: ends in the middle of a value"),
        (b'{"a":1}\n\n{"a":{"b":1,"b":2}}', ":3: $.a.b: the key is repeated"),
        (b'{"a":1,"\\u0061":2}', ":1: $.a: the key is repeated"),
        (b'{"a":[0,NaN]}', ":1: $.a[1]: NaN is not JSON"),
        (b'{"a":-Infinity}', ":1: $.a: -Infinity is not JSON"),
        (b'{"a":1e999}', ":1: $.a: a number beyond the range"),
        (b'{"a":1}\r\n{"a":"\\ud800"}', ":2: $.a: a lone surrogate"),
        (b'{"a":123456789012345678901}', ":1: $.a: an integer beyond 64 bits"),
        (b'{"a":' + b"[" * 70 + b"]" * 70 + b"}", ":1: nested deeper than 64"),
        (b"[" * 200_000, ":1: nested deeper than 64"),
        (b'{"a":1}\n[1]', ":2: a row is a JSON object, not a list"),
        (b'"x"', ":1: a row is a JSON object, not a string"),
        (b"null", ":1: a row is a JSON object, not null"),
        (b'{"a":1}{"b":2}', ":1: a second value at column 8"),
        (b'{"a":1}\n{"a":"\xff"}', ":2: not UTF-8, byte 14"),
        (b"\x0c\n", ":1: not JSON at column 1"),
        (b"[\n  {\n", ":1: ends in the middle of a value"),
        (b'{"id":""}', ":1: $.id: must not be empty"),
        (b'{"id":7}', ":1: $.id: an id is a string, not an integer"),
        (b'{"id":null}', ":1: $.id: an id is a string, not null"),
        (b'{"id":"a "}', ":1: $.id: has white space at an end"),
        (b'{"id":"\\u00a0a"}', ":1: $.id: has white space at an end"),
        (b'{"id":"a\\nb"}', ":1: $.id: has a control character"),
        (b'{"id":"a\\u2028b"}', ":1: $.id: has a control character or a line break"),
        (b'{"tags":"x"}', ":1: $.tags: must be a list of strings, not a string"),
        (b'{"tags":["x",1]}', ":1: $.tags[1]: must be a string, not an integer"),
        (b'{"tags":["x",""]}', ":1: $.tags[1]: must not be empty"),
        (b'{"tags":["x","y","x"]}', ":1: $.tags[2]: the tag is repeated"),
        (b'{"tags":null}', ":1: $.tags: must be a list of strings, not null"),
        (b"", ": an empty file"),
        (b"\n\r\n  \n", ": no rows"),
        (b"\xef\xbb\xbf", ": no rows"),
    ],
)
def test_a_bad_file_is_refused_with_the_place(tmp_path: Path, content: bytes, expected: str) -> None:
    assert refusal(tmp_path, content).startswith(expected)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_unicode_encoding_is_refused_with_the_way_out(tmp_path: Path, encoding: str) -> None:
    text = refusal(tmp_path, '{"id":"a"}\n{"id":"b"}\n'.encode(encoding))
    assert "UTF-16" in text
    assert "save it as UTF-8" in text


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("first", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_in_the_middle_is_refused_with_its_byte(tmp_path: Path, first: bytes, end: bytes) -> None:
    before = first + b'{"id":"a"}' + end + end
    text = refusal(tmp_path, before + b'\xef\xbb\xbf{"id":"b"}' + end)
    assert text.startswith(f":3: a byte-order mark in the middle of the file, byte {len(before)} (")


def test_required_fields_of_rows_without_a_class(tmp_path: Path) -> None:
    assert len(rows_of(tmp_path, b'{"text":"x"}\n{"text":0}', required=["text"])) == 2
    assert refusal(tmp_path, b'{"text":"x"}\n{"txt":"y"}', required=["text"]).startswith(":2: $.text: missing field")
    assert refusal(tmp_path, b'{"text":null}', required=["text"]).startswith(":1: $.text: missing field")
    assert refusal(tmp_path, b'{"text":""}', required=["text"]).startswith(":1: $.text: must not be empty")


def test_a_message_about_hostile_data_is_one_printable_line(tmp_path: Path) -> None:
    text = refusal(tmp_path, b'{"a\\u001b[31m\\n":1,"a\\u001b[31m\\n":2}')
    assert text.isprintable()


def test_gzip_is_read_and_hashed_as_it_lies_on_disk(tmp_path: Path) -> None:
    packed = gzip.compress(GOOD[:20], mtime=0) + gzip.compress(GOOD[20:], mtime=0)
    snapshot = RowDataset(write(tmp_path, packed, "rows.jsonl.gz")).open()
    assert [s.id for s in read(snapshot)] == ["a", "b", "c"]
    assert snapshot.revision_id == hashlib.sha256(packed).hexdigest()
    assert snapshot.id == "rows"


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        (gzip.compress(GOOD, mtime=0)[:-9], "end in the middle"),
        (b"not gzip at all", "cannot be decompressed"),
        (gzip.compress(GOOD, mtime=0)[:-8] + b"\0" * 8, "cannot be decompressed"),
        (b"", "an empty file"),
    ],
)
def test_damaged_gzip_is_refused(tmp_path: Path, packed: bytes, words: str) -> None:
    with pytest.raises(DatasetError, match=words):
        RowDataset(write(tmp_path, packed, "rows.jsonl.gz")).open()


def test_a_gzip_bomb_is_refused_before_it_has_gone_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MEMORY_LIMIT", 2**20)
    for filler in (b"\n", b" "):
        path = write(tmp_path, gzip.compress(filler * (4 * 2**20), mtime=0), "rows.jsonl.gz")
        with pytest.raises(DatasetError, match=r"rows\.jsonl\.gz: grows more than 500 times when decompressed"):
            RowDataset(path).open()


def test_rows_that_compress_well_are_no_bomb(tmp_path: Path) -> None:
    content = b"".join(b'{"id":"row-%07d","text":"the same text in every row"}\n' % index for index in range(30_000))
    assert RowDataset(write(tmp_path, gzip.compress(content, mtime=0), "rows.jsonl.gz")).open().count == 30_000


def test_gzip_under_a_plain_name_is_recognised(tmp_path: Path) -> None:
    assert "compressed by gzip" in refusal(tmp_path, gzip.compress(GOOD, mtime=0))


def test_every_problem_is_listed_up_to_a_limit(tmp_path: Path) -> None:
    content = b'{"id":"a"}\n{"id":""}\n[]\n{"id":"b"}\n{"id":"a"}\n{"x":NaN}\n{"id":"a"}\n'
    dataset = RowDataset(write(tmp_path, content))
    snapshot, found = dataset.examine()
    assert snapshot is None
    assert [str(fault.where).rpartition("rows.jsonl:")[2] for fault in found] == [
        "2: $.id", "3", "6: $.x", "5: $.id", "7: $.id",
    ]  # fmt: skip
    assert [str(fault) for fault in dataset.examine(limit=2)[1]] == [str(fault) for fault in found[:2]]
    with pytest.raises(DatasetError) as caught:
        dataset.open()
    assert str(caught.value) == str(found[0])


def test_a_good_file_has_no_problems(tmp_path: Path) -> None:
    snapshot, found = RowDataset(write(tmp_path, GOOD)).examine()
    assert found == []
    assert snapshot is not None and snapshot.count == 3


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(blacklist_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
json_rows = st.dictionaries(st.text(max_size=6).filter(lambda key: key not in ("id", "tags")), values, max_size=4)


def encodable(row: Any) -> bool:
    try:
        orjson.dumps(row)
    except TypeError:
        return False
    return True


@settings(deadline=None)
@given(
    st.lists(json_rows.filter(encodable), min_size=1, max_size=8),
    st.sampled_from([b"\n", b"\r\n", b"\n\n", b" \r\n\r\n"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["orjson", "json", "ascii"]),
    st.integers(1, 9),
)
def test_whatever_was_written_reads_back(
    rows: list[dict[str, Any]], end: bytes, last: bool, bom: bool, writer: str, batch_size: int
) -> None:
    write_row = {
        "orjson": orjson.dumps,
        "json": lambda row: json.dumps(row, ensure_ascii=False).encode(),
        "ascii": lambda row: json.dumps(row, indent=None, separators=(" , ", " : ")).encode(),
    }[writer]
    content = (b"\xef\xbb\xbf" if bom else b"") + end.join(map(write_row, rows)) + (end if last else b"")
    snapshot = RowDataset(Resource(content)).open()
    batches = list(snapshot.samples(batch_size))
    assert [sample.data for batch in batches for sample in batch] == rows
    assert all(len(batch) == batch_size for batch in batches[:-1])
    assert snapshot.count == len(rows)
