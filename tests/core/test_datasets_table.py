"""CSV and TSV."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, Literal

import pytest
from attrs import field, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.datasets import RowDataset, Source, csv_table, table
from yb_eval.errors import DatasetError
from yb_eval.model import Sample


def write(folder: Path, content: bytes | str, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows_of(folder: Path, content: bytes | str, name: str = "rows.csv", **options: Any) -> list[Sample]:
    snapshot = RowDataset(write(folder, content, name), **options).open()
    return [sample for batch in snapshot.samples(2) for sample in batch]


def refusal(folder: Path, content: bytes | str, **options: Any) -> str:
    path = write(folder, content)
    with pytest.raises(DatasetError) as caught:
        RowDataset(path, **options).open()
    assert str(caught.value).isprintable()
    return str(caught.value).removeprefix(str(path))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("last", [True, False])
def test_a_table_reads_as_dicts_of_strings(tmp_path: Path, end: str, bom: str, last: bool) -> None:
    lines = ["id,text,n", "a,hello,1", "", 'b,"x, ""y""",2']
    samples = rows_of(tmp_path, bom + end.join(lines) + (end if last else ""))
    assert [(s.id, s.data, s.line) for s in samples] == [
        ("a", {"id": "a", "text": "hello", "n": "1"}, 2),
        ("b", {"id": "b", "text": 'x, "y"', "n": "2"}, 4),
    ]


@pytest.mark.parametrize(
    "inside", ["a\nb", "a\r\nb", "a\rb", "a\u0085b\u2028c\x0bd", '""\n""\n', "\n", "\ufeff", "x\n\ufeffy"]
)
def test_what_is_quoted_is_kept_as_it_is(tmp_path: Path, inside: str) -> None:
    samples = rows_of(tmp_path, f'text,n\n"{inside}",1\nz,2\n')
    assert samples[0].data["text"] == inside.replace('""', '"')
    assert [sample.line for sample in samples] == [2, 3 + inside.count("\n")]


def test_a_tab_separates_a_tsv(tmp_path: Path) -> None:
    (sample,) = rows_of(tmp_path, 'text\tn\n"a\tb",c\t1\n'.replace('",c', '"'), "rows.tsv")
    assert sample.data == {"text": "a\tb", "n": "1"}


def test_tags_and_ids_of_a_table(tmp_path: Path) -> None:
    samples = rows_of(tmp_path, "id,tags,text\n,lang:ru; kind:x,p\nb,,q\n,,q\n")
    assert [sample.tags for sample in samples] == [("lang:ru", "kind:x"), (), ()]
    assert samples[1].id == "b"
    assert samples[0].id.startswith("x-") and samples[2].id.startswith("x-")
    assert refusal(tmp_path, "tags,text\na;;b,p\n").startswith(":2: $.tags[1]: must not be empty")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ": an empty file"),
        ("\n\n", ": an empty file"),
        ("a,b\n", ": no rows"),
        ("a,b\n1,2\n1\n", ":3: 1 cells in a row, where the header has 2"),
        ("a,b\n1,2,3\n", ":2: 3 cells in a row, where the header has 2"),
        ('a,b\n1,"x\ny"\n1,2,3\n', ":4: 3 cells in a row"),
        ("a,a\n1,2\n", ":1: two columns are named 'a'"),
        ("a,\n1,2\n", ":1: column 2 has no name"),
        ("a;b\n1;2\n", ":1: a header of one column (columns are separated by ',', not by ';')"),
        ('a,b\n1,"open\n2,3\n', ':2: a cell is opened with " and never closed'),
        ('a,"b\n1,2\n', ':1: a cell is opened with " and never closed'),
        ('a,b\n1,"x"y\n', ":2: not a row of cells"),
        ("a,b\n1,x\ry\n", ":2: a lone CR outside quotes"),
        ("a,b\r1,2\r", ":1: a lone CR outside quotes"),
        (b"a,b\n1,\xff\n", ":2: not UTF-8, byte 6"),
        (b"\xff\xfea\0,\0b\0\n\0", ":1: looks like UTF-16"),
        ("a,b\n1,2\n\ufeffa,b\n", ":3: a byte-order mark in the middle of the file, byte 8"),
        ("id,b\nx,1\ny,2\nx,3\n", ":4: $.id: the id 'x' is repeated; it is first at "),
    ],
)
def test_a_bad_table_is_refused_with_the_line(tmp_path: Path, content: bytes | str, expected: str) -> None:
    assert refusal(tmp_path, content).startswith(expected)


@frozen(kw_only=True)
class Row:
    text: str
    expect: Literal["detect", "clean"]
    count: int = 3
    ratio: float = 0.5
    flag: bool = False
    note: str | None = None
    limit: int | None = None
    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


def test_cells_become_the_types_of_the_class(tmp_path: Path) -> None:
    header = "text,expect,count,ratio,flag,note,limit,words,tags\n"
    samples = rows_of(tmp_path, header + 'x,clean,-7,1e-3,true,n,4,"[""a"",""b""]",k:v;w\ny,detect,,,,,,,\n', row=Row)
    assert samples[0].data == Row(
        text="x",
        expect="clean",
        count=-7,
        ratio=0.001,
        flag=True,
        note="n",
        limit=4,
        words=("a", "b"),
        tags=("k:v", "w"),
    )
    assert samples[1].data == Row(text="y", expect="detect")


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("text,expect", ",clean", "$.text: must not be empty"),
        ("text,expect", "x,", "$.expect: must be one of"),
        ("text", "x", "$.expect: missing field"),
        ("text,expect,cuont", "x,clean,1", "$.cuont: unknown field (did you mean 'count'?)"),
        ("text,expect,count", "x,clean,1.0", "$.count: must be an integer"),
        ("text,expect,count", "x,clean,\u0661", "$.count: must be an integer"),
        ("text,expect,ratio", "x,clean,nan", "$.ratio: must be a finite number"),
        ("text,expect,ratio", "x,clean,1_0", "$.ratio: must be a finite number"),
        ("text,expect,flag", "x,clean,True", "$.flag: must be true or false"),
        ("text,expect,words", "x,clean,a b", "$.words: must be a list, written as JSON"),
        ("text,expect,limit", "x,clean,many", "$.limit: must be an integer"),
    ],
)
def test_cells_that_do_not_fit_the_class_are_refused(tmp_path: Path, header: str, cells: str, expected: str) -> None:
    assert refusal(tmp_path, f"{header}\n{cells}\n", row=Row).startswith(f":2: {expected}")


def test_a_large_table_is_streamed_and_a_change_is_noticed(tmp_path: Path) -> None:
    content = "text,n\n" + "".join(f'"row\n{index}",{index}\n' for index in range(20_000))
    path = write(tmp_path, content)
    snapshot = RowDataset(path, memory_limit=1_000).open()
    found = [(sample.data["text"], sample.line) for batch in snapshot.samples(1_000) for sample in batch]
    assert found == [(f"row\n{index}", 2 + 2 * index) for index in range(20_000)]
    path.write_bytes(content.replace("text,n", "n,text").encode())
    with pytest.raises(DatasetError, match="changed while it was read"):
        next(snapshot.samples(1_000))


def test_a_header_that_changes_before_the_file_is_hashed_is_noticed(tmp_path: Path) -> None:
    path = write(tmp_path, "a,b\n1,2\n")
    reader = csv_table(Source.open(path, memory_limit=1))
    path.write_bytes(b"b,a\n1,2\n")
    with pytest.raises(DatasetError, match="changed while it was read"):
        next(reader.rows())


def test_a_row_beyond_64_mebibytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "LINE_LIMIT", 1_000)
    text = refusal(tmp_path, 'text\n"' + "x\n" * 600 + '"\n')
    assert text.startswith(":2: a row of more than 1,000 bytes")


@frozen
class Packed:
    numbers: tuple[int, ...] = ()
    ratios: dict[str, float] = field(factory=dict)
    flags: list[bool] = field(factory=list)


def test_json_in_a_cell_keeps_its_types(tmp_path: Path) -> None:
    content = 'numbers,ratios,flags\n"[1,2]","{""a"":0.5,""b"":""2""}","[true]"\n'
    assert rows_of(tmp_path, content, row=Packed)[0].data == Packed((1, 2), {"a": 0.5, "b": 2.0}, [True])
    for cells, expected in (
        ('"[1.5]",,', "$.numbers[0]: must be an integer, not a number"),
        (',"{""a"":""x""}",', "$.ratios.a: must be a finite number"),
        (',,"[1]"', "$.flags[0]: must be true or false, not an integer"),
    ):
        assert refusal(tmp_path, f"numbers,ratios,flags\n{cells}\n", row=Packed).startswith(f":2: {expected}")


@frozen
class Union:
    value: int | str
    either: Literal["a", "b"] | None = None


def test_a_union_in_a_table_is_what_its_text_can_be(tmp_path: Path) -> None:
    samples = rows_of(tmp_path, "value,either\n5,a\nx,\n", row=Union)
    assert [sample.data for sample in samples] == [Union("5", "a"), Union("x")]

    @frozen
    class Numbers:
        value: int | float

    with pytest.raises(TypeError, match="cannot come from text"):
        rows_of(tmp_path, "value\n5\n", row=Numbers)


def test_a_cell_may_be_larger_than_the_limit_of_the_csv_module(tmp_path: Path) -> None:
    long = "x" * 1_000_000
    assert rows_of(tmp_path, f'text\n"{long}\n{long}"\n')[0].data["text"] == f"{long}\n{long}"


def test_many_quoted_lines_in_one_cell_are_read_in_linear_time(tmp_path: Path) -> None:
    lines = '""quoted"" line\n' * 50_000
    assert rows_of(tmp_path, f'text\n"{lines}"\n')[0].data["text"] == lines.replace('""', '"')


cells = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=6) | st.sampled_from(
    ["", '"', "\n", "\r\n", ",", '","', "\r"]
)


@settings(deadline=None)
@given(
    st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
    st.integers(1, 4),
)
def test_what_the_csv_module_writes_reads_back(
    rows: list[tuple[str, str, str]], end: str, quoting: Any, size: int
) -> None:
    buffer = io.StringIO(newline="")
    # A lone CR is quoted by QUOTE_ALL only if the writer's line end has it; ours refuses it outside quotes.
    writer = csv.writer(
        buffer, lineterminator=end, quoting=quoting if not any("\r" in c for r in rows for c in r) else csv.QUOTE_ALL
    )
    writer.writerow(["a", "b", "c"])
    writer.writerows(rows)

    class Resource:
        def __str__(self) -> str:
            return "rows.csv"

        def read_bytes(self) -> bytes:
            return buffer.getvalue().encode()

    if any(row[0].startswith("\ufeff") for row in rows) and quoting == csv.QUOTE_MINIMAL:
        return  # at the start of a line, that is a byte-order mark in the middle
    snapshot = RowDataset(Resource()).open()  # type: ignore[arg-type]
    found = [tuple(s.data.values()) for batch in snapshot.samples(size) for s in batch]
    assert found == rows
