"""Ids: given or derived, unique, and the same whatever the order of the file."""

from __future__ import annotations

import random
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.datasets import RowDataset, identity
from yb_eval.datasets.identity import (
    IdCheck,
    IdColumn,
    OrdinalCounter,
    content_id,
    duplicates,
    hashes_of,
    repeated,
)
from yb_eval.digest import content_key
from yb_eval.errors import DatasetError


def write(folder: Path, lines: list[bytes], end: bytes = b"\n") -> RowDataset:
    path = folder / "rows.jsonl"
    path.write_bytes(b"".join(line + end for line in lines))
    return RowDataset(path)


def ids(dataset: RowDataset, batch_size: int = 4) -> list[str]:
    return [sample.id for batch in dataset.open().samples(batch_size) for sample in batch]


def test_a_row_without_an_id_is_named_by_its_bytes(tmp_path: Path) -> None:
    line = '{"text":"привет"}'.encode()
    assert ids(write(tmp_path, [line])) == [f"x-{content_key(line)}"]
    assert ids(write(tmp_path, [line], end=b"\r\n")) == [f"x-{content_key(line)}"]


def test_repeats_are_numbered_in_the_order_of_the_file_and_noted(tmp_path: Path) -> None:
    dataset = write(tmp_path, [b'{"a":1}', b'{"a":2}', b'{"a":1}', b'{"id":"x"}', b'{"a":1}'])
    one, two = content_id(b'{"a":1}'), content_id(b'{"a":2}')
    assert ids(dataset) == [one, two, f"{one}-2", "x", f"{one}-3"]
    assert any("occur more than once" in note for note in dataset.open().notes)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.randoms(), st.integers(1, 7), st.integers(1, 7))
def test_reordering_a_file_renames_no_sample(values: list[int], rng: random.Random, left: int, right: int) -> None:
    lines = [b'{"a":%d}' % value for value in values]
    shuffled = list(lines)
    rng.shuffle(shuffled)

    def named(rows: list[bytes], size: int) -> Counter[tuple[str, int]]:
        snapshot = RowDataset(Resource(b"\n".join(rows))).open()
        return Counter((s.id, s.data["a"]) for batch in snapshot.samples(size) for s in batch)

    before, after = named(lines, left), named(shuffled, right)
    assert before == after
    assert len(before) == len(values)


class Resource:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def __str__(self) -> str:
        return "rows.jsonl"

    def read_bytes(self) -> bytes:
        return self.content


def test_a_duplicate_id_names_both_lines(tmp_path: Path) -> None:
    dataset = write(tmp_path, [b'{"id":"a"}', b"", b'{"id":"b"}', b'{"id":"a","x":1}'])
    with pytest.raises(DatasetError) as caught:
        dataset.open()
    path = tmp_path / "rows.jsonl"
    assert str(caught.value) == f"{path}:4: $.id: the id 'a' is repeated; it is first at {path}:1"


def test_ids_equal_after_unescaping_are_duplicates(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="repeated"):
        write(tmp_path, [b'{"id":"a"}', b'{"id":"\\u0061"}']).open()


def test_ids_that_differ_only_in_normalisation_are_refused(tmp_path: Path) -> None:
    lines = ['{"id":"caf\u00e9"}'.encode(), b'{"id":"cafe"}', '{"id":"cafe\u0301"}'.encode()]
    with pytest.raises(
        DatasetError, match=r":3: \$\.id: the id .* differs from another only in Unicode normalisation.*:1"
    ):
        write(tmp_path, lines).open()
    assert len(ids(write(tmp_path, lines[:2]))) == 2


def test_ids_that_differ_in_case_are_different(tmp_path: Path) -> None:
    assert ids(write(tmp_path, [b'{"id":"a"}', b'{"id":"A"}'])) == ["a", "A"]


def test_a_colliding_hash_is_not_taken_for_a_duplicate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity.xxhash, "xxh3_64_intdigest", lambda data: 7)
    rows = [b'{"id":"a"}', b'{"id":"b"}', b'{"x":1}', b'{"x":2}', b'{"x":1}']
    one, two = content_id(b'{"x":1}'), content_id(b'{"x":2}')
    assert ids(write(tmp_path, rows)) == ["a", "b", one, two, f"{one}-2"]
    with pytest.raises(DatasetError, match=r":3: \$\.id: the id 'a' is repeated"):
        write(tmp_path, [b'{"id":"a"}', b'{"id":"b"}', b'{"id":"a"}']).open()


def test_an_id_in_the_form_of_a_content_id_is_fine_unless_others_are_derived(tmp_path: Path) -> None:
    frozen = content_id(b'{"x":1}')
    line = b'{"id":"%s","x":1}' % frozen.encode()
    assert ids(write(tmp_path, [line])) == [frozen]
    for other in (frozen, f"{frozen}-2"):
        with pytest.raises(DatasetError, match=r":2: \$\.id: an id in the form of a content id.*rows\.jsonl:1"):
            write(tmp_path, [b'{"x":1}', b'{"id":"%s"}' % other.encode()]).open()
    assert ids(write(tmp_path, [b'{"id":"x-ray"}', b'{"x":1}'])) == ["x-ray", frozen]


@pytest.mark.parametrize("sample_id", ["a", "a b", "лиса-1", "a\u200db", "№ 7", "🦊", "a:b/c", "-", "x" * 500])
def test_an_id_may_be_any_readable_text(tmp_path: Path, sample_id: str) -> None:
    assert ids(write(tmp_path, [b'{"id":"%s"}' % sample_id.encode()])) == [sample_id]


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5), max_size=200), st.booleans())
def test_repeated_values_are_found_with_and_without_buckets(values: list[int], small: bool) -> None:
    expected = {value for value, count in Counter(values).items() if count > 1}
    original = identity._BUCKETED
    identity._BUCKETED = original if small else 0
    try:
        assert repeated(array("Q", values)) == expected
    finally:
        identity._BUCKETED = original


@given(st.lists(st.sampled_from(["a", "b", "c", "é", "e\u0301", "d"]), max_size=12))
def test_duplicates_are_found_exactly(names: list[str]) -> None:
    check = IdCheck()
    for number, name in enumerate(names):
        check.add_given(name, number)
    found = [number for number, _, _ in duplicates(((n, i) for i, n in enumerate(names)), check.suspects())]
    folded = ["é" if name == "e\u0301" else name for name in names]
    assert found == [i for i, name in enumerate(folded) if name in folded[:i]]


@given(
    st.lists(
        st.lists(st.sampled_from(["r1", "r2", "r9", "r10", "r11", "a", "é", "e\u0301"]), min_size=1, max_size=4),
        max_size=5,
    )
)
def test_repeats_are_suspected_whether_or_not_ids_ascend(columns: list[list[str]]) -> None:
    check = IdCheck()
    for number, names in enumerate(columns):
        check.add_many(IdColumn.of(names), number)
    for number in check.unhashed:
        check.add_hashes(hashes_of(columns[number]))
    folded = ["é" if name == "e\u0301" else name for names in columns for name in names]
    assert bool(check.suspects()) == (len(set(folded)) < len(folded))


def test_ids_that_ascend_from_block_to_block_are_not_hashed() -> None:
    check = IdCheck()
    for first in range(0, 30, 10):
        check.add_many(IdColumn.of([f"row-{number}" for number in range(first, first + 10)]), first)
    assert not check.unhashed and not check.suspects()
    check.add_given("row-5", 30)
    assert check.unhashed == {0, 10, 20}


def test_content_that_is_not_repeated_has_no_ordinal() -> None:
    counter = OrdinalCounter(set())
    assert [counter.next(b"a"), counter.next(b"a")] == [1, 1]


def test_problems_in_many_rows_do_not_hide_a_duplicate(tmp_path: Path) -> None:
    dataset = write(tmp_path, [b'{"id":"a"}', b"[]", b'{"id":"a"}'])
    found: list[Any] = dataset.examine()[1]
    assert [fault.what.split(";")[0] for fault in found] == [
        "a row is a JSON object, not a list", "the id 'a' is repeated",
    ]  # fmt: skip
