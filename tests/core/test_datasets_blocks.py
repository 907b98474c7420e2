"""Rows read by the block: exactly what reading them one by one gives, or the same refusal."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Literal

import orjson
import pytest
from attrs import evolve, field, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.batches import SampleBatch
from yb_eval.datasets import Batch, RowDataset, Source, jsonl
from yb_eval.datasets.batch import BlockBatch
from yb_eval.datasets.blocks import BlockCheck, cut, decode, plain_fields
from yb_eval.datasets.jsonl_file import JsonCodec, JsonlReader
from yb_eval.errors import DatasetError
from yb_eval.executors import ProcessExecutor, ThreadExecutor


@frozen(kw_only=True)
class Row:
    text: str
    label: Literal["yes", "no"] = "no"
    count: int | None = None
    note: str = field(default="", metadata={"may_be_empty": True})


class RowByRow(JsonCodec):
    """A codec of its own: such a file is never read by blocks."""


def one_by_one(source: Source) -> JsonlReader:
    return evolve(jsonl(source), codec=RowByRow())


def told(path: Path, **options: Any) -> Any:
    """The samples and the revision, or what is wrong."""
    try:
        snapshot = RowDataset(path, **options).open()
    except DatasetError as error:
        return str(error)
    return [s for batch in snapshot.samples(3) for s in batch], snapshot.revision_id, snapshot.count, snapshot.notes


def write(folder: Path, lines: list[bytes]) -> Path:
    path = folder / "rows.jsonl"
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


TEXTS = st.text(alphabet='ab"\\ \u00e9\u0434\x00\u2028{}[],:\n', max_size=6)
VALUES = st.one_of(TEXTS, st.integers(-(2**70), 2**70), st.booleans(), st.none(), st.floats(allow_nan=False))
TAGS = st.lists(st.sampled_from(["lang:ru", "kind:x", "", " y", 3]), max_size=3)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """Mostly a good row; sometimes one with a fault, or a line that only looks whole beside its neighbours."""
    import json

    row: dict[str, Any] = {"id": draw(st.text(alphabet="abcdefgx-\u0434", min_size=1, max_size=8))}
    row["text"] = draw(TEXTS)
    for name, values in {"label": st.sampled_from(["yes", "no", "", 1]), "count": VALUES, "tags": TAGS}.items():
        if draw(st.integers(0, 4)) == 0:
            row[name] = draw(values)
    if draw(st.integers(0, 15)) == 0:
        row[draw(st.sampled_from(["extra", "te\u0078t", "note"]))] = draw(VALUES)
    if draw(st.integers(0, 15)) == 0:
        del row[draw(st.sampled_from(["id", "text"]))]
    text = json.dumps(row, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    fault = draw(st.integers(0, 40))
    if fault < 8:
        odd = [text + b"\r", text[:-1], b"", b" " + text, text.replace(b'"text"', b'"id"'), text + text, text + b"," + text,
               text[:-1] + b', "deep": {"a": [1, {"b": "c"}]}}']  # fmt: skip
        return odd[fault]
    return text


@settings(max_examples=400, deadline=None)
@given(st.lists(lines(), max_size=8))
def test_blocks_and_single_rows_say_the_same(tmp_path_factory: pytest.TempPathFactory, rows: list[bytes]) -> None:
    path = write(tmp_path_factory.mktemp("rows"), rows)
    for row in (Row, None):
        assert told(path, row=row) == told(path, row=row, format=one_by_one)


@pytest.mark.parametrize(
    "halves",
    [
        [b'{"id":"a","t":[{}', b"{}]}", b'{"id":"b"},{"id":"c"}'],
        [b'{"id":"a","t":{"x":1}', b'{"y":1}}', b'{"id":"b"},{"id":"c"}'],
        [b'{"id":"a","t":"x', b'y"}', b'{"id":"b"},{"id":"c"}'],
        [b'{"id":"a"', b'"t":1}', b'{"id":"b"},{"id":"c"}'],
        [b'{"id":"a"},{"id":"b"}'],
        [b'{"id":"a"}', b"", b'{"id":"b"},{"id":"c"}'],
        [b'{"id":"a"},[1', b'2],{"id":"b"}'],
        [b'{"id":"a"},["x"', b'"y"],{"id":"b"}'],
        [b'{"id":"a"},0,{"id":"b"}'],
        [b'{"id":"a"}', b"0", b'{"id":"b"}'],
        [b'{"id":"a","tags":["x"', b'"y"]}', b'{"id":"b"},0,{"id":"c"}'],
        [b'{"id":"a","t":[1', b"2]}", b'{"id":"b"},{"id":"c"},{"id":"d"}'],
        [b'[{"id":"a"}', b'{"id":"b"}]', b'{"id":"c"},0,{"id":"d"}'],
        [b'{"id":"a"}]', b'[{"id":"b"}'],
    ],
)
def test_halves_that_would_make_whole_rows_together_are_no_rows(tmp_path: Path, halves: list[bytes]) -> None:
    path = write(tmp_path, halves)
    said = told(path)
    assert isinstance(said, str)
    assert said == told(path, format=one_by_one)


def test_a_repeated_key_is_found_among_a_thousand_good_rows(tmp_path: Path) -> None:
    good = [b'{"id":"r%d","text":"a \\"quoted\\" \\\\ word"}' % number for number in range(1_000)]
    path = write(tmp_path, [*good, b'{"id":"last","te\\u0078t":"a","text":"b"}'])
    said = told(path, row=Row)
    assert "rows.jsonl:1001: $.text: the key is repeated" in said or "the key is repeated" in said
    assert said == told(path, row=Row, format=one_by_one)


def test_plain_files_come_as_columns_and_others_do_not(tmp_path: Path) -> None:
    plain = write(tmp_path, [b'{"id":"a","text":"x"}', b'{"id":"b","text":"y","label":"yes","tags":["lang:ru"]}'])
    (batch,) = RowDataset(plain, row=Row).open().samples(10)
    assert isinstance(batch, SampleBatch)
    assert (batch.ids, batch.column("text"), batch.column("label")) == (["a", "b"], ["x", "y"], ["no", "yes"])
    assert (batch.column("count"), batch.tags) == ([None, None], [(), ("lang:ru",)])
    assert [(s.id, s.data, s.tags, s.line) for s in batch] == [
        ("a", Row(text="x"), (), 1),
        ("b", Row(text="y", label="yes"), ("lang:ru",), 2),
    ]
    with pytest.raises(KeyError):
        batch.column("nothing")
    without_id = write(tmp_path, [b'{"id":"a","text":"x"}', b'{"text":"y"}'])
    (batch,) = RowDataset(without_id, row=Row).open().samples(10)
    assert isinstance(batch, Batch)


def test_columns_say_what_the_samples_say(tmp_path: Path) -> None:
    rows = [{"id": f"r{n}", "text": f"t{n}", "count": n, **({"label": "yes"} if n % 3 else {})} for n in range(50)]
    path = write(tmp_path, [orjson.dumps(row) for row in rows])
    for batch in RowDataset(path, row=Row).open().samples(7):
        assert isinstance(batch, SampleBatch)
        assert len(batch) <= 7
        for name in ("text", "label", "count", "note"):
            assert batch.column(name) == [getattr(sample.data, name) for sample in batch]
        assert batch.ids == [sample.id for sample in batch]
        again = batch.again(2)
        assert list(again) == [sample.again(2) for sample in batch]


def test_a_block_pickles_as_its_lines_whether_or_not_it_was_decoded(tmp_path: Path) -> None:
    path = write(tmp_path, [b'{"id":"r%d","text":"x"}' % number for number in range(200)])
    snapshot = RowDataset(path, row=Row).open()
    (kept,) = snapshot.samples(1_000)
    (fresh,) = snapshot.samples(1_000)
    before = pickle.dumps(fresh)
    assert pickle.dumps(kept) == before
    assert list(fresh) == list(kept) == list(pickle.loads(before))
    assert len(before) < path.stat().st_size + 500


def test_taken_samples_are_those_of_the_block(tmp_path: Path) -> None:
    path = write(tmp_path, [b'{"id":"r%d","text":"x"}' % number for number in range(20)])
    (batch,) = RowDataset(path, row=Row).open().samples(100)
    assert isinstance(batch, BlockBatch)
    assert list(batch.take([3, 7, 19])) == [batch[3], batch[7], batch[19]]
    assert "20 samples" in repr(batch)


@settings(deadline=None)
@given(st.lists(st.binary(max_size=5).map(lambda b: b.replace(b"\n", b"")), min_size=1, max_size=40), st.integers(1, 9))
def test_a_block_is_cut_at_line_ends_into_parts_of_at_most_the_limit(rows: list[bytes], limit: int) -> None:
    parts = list(cut(11, b"\n".join(rows), limit))
    assert [line for _, part, _ in parts for line in part.split(b"\n")] == rows
    at = 11
    for first, part, count in parts:
        assert (first, count) == (at, part.count(b"\n") + 1)
        assert count <= limit
        at += count


def test_large_blocks_are_decoded_in_parts() -> None:
    block = b"\n".join(b'{"id":"r%d","text":"%s"}' % (n, b"x" * 1_000) for n in range(1_000))
    assert [row["id"] for row in decode(block)] == [f"r{n}" for n in range(1_000)]
    assert BlockCheck(plain_fields(Row))(block) is not None


def test_classes_that_do_more_than_hold_what_the_file_says_are_read_row_by_row() -> None:
    @frozen
    class Validated:
        text: str = field(validator=lambda instance, attribute, value: None)

    @frozen
    class Converted:
        text: str = field(converter=str.strip)

    @frozen
    class Listed:
        words: list[str]

    @frozen
    class Fraction:
        share: float

    @frozen
    class Finished:
        text: str

        def __attrs_post_init__(self) -> None:
            raise ValueError

    assert [plain_fields(each) for each in (Validated, Converted, Listed, Fraction, Finished)] == [None] * 5
    fields = plain_fields(Row)
    assert fields is not None
    assert list(fields) == ["text", "label", "count", "note"]


@pytest.fixture(scope="module")
def spread(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of several blocks."""
    path = tmp_path_factory.mktemp("spread") / "rows.jsonl"
    path.write_bytes(b"".join(b'{"id":"r%d","text":"%s"}\n' % (n, b"x" * 1_000) for n in range(4_000)))
    return path


@pytest.mark.parametrize("executor", [ThreadExecutor(3), ProcessExecutor(2), ProcessExecutor(1)])
def test_an_executor_that_checks_the_blocks_changes_nothing(spread: Path, executor: Any) -> None:
    alone, spread_out = (RowDataset(spread, row=Row, memory_limit=0, executor=each).open() for each in (None, executor))
    assert (spread_out.count, spread_out.revision_id) == (alone.count, alone.revision_id)
    assert [list(batch) for batch in spread_out.samples(500)] == [list(batch) for batch in alone.samples(500)]


@pytest.mark.parametrize(
    "fault", [b'{"id":"r7","text":"again"}', b'{"id":"new"}', b'{"id":"new","id":"new","text":"a"}']
)
@pytest.mark.parametrize("line", [1, 2_500])
def test_an_executor_that_checks_the_blocks_finds_the_same_faults(
    spread: Path, tmp_path: Path, fault: bytes, line: int
) -> None:
    lines = spread.read_bytes().splitlines()
    lines[line - 1] = fault
    path = write(tmp_path, lines)
    said = [RowDataset(path, row=Row, memory_limit=0, executor=each).examine()[1] for each in (None, ThreadExecutor(2))]
    assert len(said[0]) == 1
    assert [str(error) for error in said[0]] == [str(error) for error in said[1]]


def test_ids_are_compared_across_blocks_however_each_was_read(tmp_path: Path) -> None:
    filler = [b'{"id":"r%d","text":"%s"}' % (n, b"x" * 1_000) for n in range(2_000)]
    odd = b'{"id":"e\\u0301","text":"a","deep":[1]}'
    path = write(tmp_path, ['{"id":"\u00e9","text":"b"}'.encode(), *filler, odd])
    said = told(path)
    assert isinstance(said, str)
    assert "differs from another only in Unicode normalisation" in said
    assert said == told(path, format=one_by_one)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 400), unique=True, max_size=60).map(sorted), max_size=6))
def test_repeats_are_found_among_runs_of_ids_that_ascend(
    tmp_path_factory: pytest.TempPathFactory, runs: list[list[int]]
) -> None:
    path = write(tmp_path_factory.mktemp("rows"), [b'{"id":"r%d","text":"x"}' % n for run in runs for n in run])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("yb_eval.datasets.source.CHUNK", 256)
        said = told(path)
    assert said == told(path, format=one_by_one)
