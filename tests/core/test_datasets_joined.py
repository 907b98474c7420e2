"""Several datasets as one, and formats with a suite's own look at each row."""

from __future__ import annotations

import pickle

import pytest

from yb_eval import DatasetError
from yb_eval.datasets import Joined, RowDataset, RowError, Selected, checked, jsonl
from yb_eval.expressions import Expression


def rows(tmp_path, name, *ids):
    path = tmp_path / f"{name}.jsonl"
    path.write_text("".join(f'{{"id": "{i}", "text": "t{i}", "tags": ["lang:en"]}}\n' for i in ids))
    return RowDataset(path, role=name)


def opened(dataset, batch_size=10):
    snapshot = dataset.open()
    return snapshot, [sample for batch in snapshot.samples(batch_size) for sample in batch]


def test_parts_follow_one_another_and_say_which_they_are(tmp_path):
    joined = Joined({"one": rows(tmp_path, "one", "a", "b"), "two": rows(tmp_path, "two", "c")}, "set")
    snapshot, samples = opened(joined)
    assert [sample.id for sample in samples] == ["a", "b", "c"]
    assert [sample.tags for sample in samples] == [("lang:en", "set:one")] * 2 + [("lang:en", "set:two")]
    assert snapshot.count == 3 and snapshot.id == "one+two"
    assert [file.role for file in snapshot.files] == ["one", "two"]


def test_the_revision_is_that_of_all_files_together(tmp_path):
    one, two = rows(tmp_path, "one", "a"), rows(tmp_path, "two", "b")
    before = Joined({"one": one, "two": two}).open().revision_id
    assert Joined({"one": one, "two": two}).open().revision_id == before
    assert Joined({"one": one}).open().revision_id != before
    rows(tmp_path, "two", "changed")
    assert Joined({"one": one, "two": two}).open().revision_id != before


def test_an_id_that_two_parts_have_is_refused(tmp_path):
    joined = Joined({"one": rows(tmp_path, "one", "a"), "two": rows(tmp_path, "two", "a")})
    with pytest.raises(DatasetError, match="'a' is in the rows of one and of two"):
        joined.open()


def test_a_batch_stays_lazy_and_can_be_cut_and_sent(tmp_path):
    snapshot = Joined({"one": rows(tmp_path, "one", "a", "b", "c")}, "set").open()
    (batch,) = snapshot.samples(10)
    assert [sample.id for sample in batch[1:]] == ["b", "c"]
    again = pickle.loads(pickle.dumps(batch))
    assert [sample.id for sample in again] == ["a", "b", "c"] and again[0].tags[-1] == "set:one"


def test_a_filter_sees_the_tag_of_the_part(tmp_path):
    joined = Joined({"one": rows(tmp_path, "one", "a"), "two": rows(tmp_path, "two", "b")}, "set")
    _, samples = opened(Selected(joined, filter=Expression.parse('"set:two" in tags')))
    assert [sample.id for sample in samples] == ["b"]


def test_line_ends_are_told_apart_from_content(tmp_path):
    joined = Joined({"one": rows(tmp_path, "one", "a"), "two": rows(tmp_path, "two", "b")})
    before = joined.open()
    path = tmp_path / "two.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    after = joined.open()
    assert after.revision_id != before.revision_id
    assert after.normalised_revision() == before.revision_id


def no_secret(row):
    if "secret" in row["text"]:
        raise RowError("a text with a secret", path="$.text")


def test_a_row_that_the_suite_refuses_is_refused_with_its_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "fine"}\n{"text": "a secret"}\n')
    with pytest.raises(DatasetError, match=r"rows\.jsonl:2: \$\.text: a text with a secret"):
        RowDataset(path, format=checked(jsonl, no_secret)).open()
    path.write_text('{"text": "fine"}\n{"text": "fine too"}\n')
    snapshot, samples = opened(RowDataset(path, format=checked(jsonl, no_secret)))
    assert snapshot.count == 2 and samples[1].data == {"text": "fine too"}
    (batch,) = snapshot.samples(10)
    assert pickle.loads(pickle.dumps(batch))[0].data == {"text": "fine"}
