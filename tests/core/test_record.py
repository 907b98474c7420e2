"""The outcome log, records of repeats, ids and the store."""

import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.errors import EvaluationError, StoreError
from yb_eval.model import Judgement, Outcome
from yb_eval.record import Store, compare, composed_ids, decode, encode, plan_id, records
from yb_eval.record.files import atomic
from yb_eval.record.outcomes import Record

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
judged = st.builds(
    dict,
    correct=st.none() | st.booleans(),
    expected=values,
    predicted=values,
    score=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    confidence=st.none() | st.floats(0, 1),
    details=st.dictionaries(st.text(max_size=5), values, max_size=3),
)


@given(
    judged, st.dictionaries(st.text(max_size=5), judged, max_size=2), st.lists(st.text(max_size=5)), st.integers(0, 9)
)
def test_an_outcome_reads_back_as_it_was_written(fields, judgements, tags, repeat):
    outcome = Outcome(
        "a", tags=tuple(tags), repeat=repeat, judgements={name: Judgement(**j) for name, j in judgements.items()}, **fields
    )  # fmt: skip
    line = encode(outcome)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert decode(line) == outcome
    assert encode(decode(line)) == line


@pytest.mark.parametrize(
    "outcome",
    [
        Outcome("a", score=math.nan),
        Outcome("a", score=math.inf),
        Outcome("a", confidence=1.5),
        Outcome("a", confidence=math.nan),
        Outcome("a", details={"x": math.nan}),
        Outcome("a", details={"x": [{"y": math.inf}]}),
        Outcome("a", details={"x": {1, 2}}),
        Outcome("a", details={3: 1}),
        Outcome("a", details={"x": 2**70}),
        Outcome("a", details={"x": "\ud800"}),
        Outcome("a", expected=object()),
        Outcome("a", predicted=math.nan),
        Outcome("a", correct=1),
        Outcome("a", status="error"),
        Outcome("a", status="error", reason="x", correct=True),
        Outcome("a", status="fine"),
        Outcome("a", judgements={"x": Judgement(score=math.nan)}),
        Outcome("a", judgements={"x": Judgement(status="skipped")}),
        Outcome("a", judgements={"x": Judgement(details={"d": math.nan})}),
    ],
)
def test_an_outcome_that_breaks_the_contract_is_not_written(outcome):
    with pytest.raises(EvaluationError, match="'a' is not usable"):
        encode(outcome)


def line(id, correct, predicted="x", status="scored", score=None):
    return {"id": id, "status": status, "correct": correct, "predicted": predicted, "score": score}


def test_repeats_of_a_sample_become_one_record_by_majority():
    lines = [line("a", True, "x"), line("a", False, "y"), line("a", True, "x"), line("b", True), line("b", False, "w")]
    found = dict(records(lines))
    assert found["a"] == Record("scored", True, "x")
    assert found["b"].correct is None and found["b"].predicted == "w"
    assert dict(records([line("a", True, score=1.0), line("a", True, score=0.0)]))["a"].score == 0.5
    assert dict(records([line("a", True), line("a", None, None, "error")]))["a"].status == "error"


@given(st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from([True, False, None])), max_size=30))
def test_a_comparison_counts_pairs_as_a_plain_loop_does(pairs):
    before = {f"s{i}": Record("scored", a, str(a)) for i, (a, _) in enumerate(pairs)}
    after = [(f"s{i}", Record("scored", b, str(b))) for i, (_, b) in enumerate(pairs)]
    found = compare(before, after, baseline_run_id=None, same_revision=True)
    assert found.comparable == bool(pairs)
    if pairs:
        pair = found.judgements[""]
        assert pair.broken == sum(a is True and b is False for a, b in pairs)
        assert pair.fixed == sum(a is False and b is True for a, b in pairs)
        assert pair.changed == sum(a != b for a, b in pairs)
        back = compare(dict(after), list(before.items()), baseline_run_id=None, same_revision=True).judgements[""]
        assert (back.broken, back.fixed, back.p_value) == (pair.fixed, pair.broken, pair.p_value)


def test_a_plan_s_id_depends_on_its_values_and_not_on_the_order_of_keys():
    assert plan_id({"a": 0.5, "b": [1, "x"]}) == plan_id({"b": [1, "x"], "a": 0.5})
    assert plan_id({"a": 0.5}) != plan_id({"a": 0.25})


def test_a_composed_run_s_ids_come_from_its_children_whatever_their_order():
    children = [{"name": n, "plan_id": n * 64, "run_id": n.upper() * 64} for n in "ab"]
    assert composed_ids(children) == composed_ids(children[::-1])
    assert composed_ids(children[:1]) == ("a" * 64, "A" * 64)
    assert composed_ids(children) != composed_ids([{**children[0], "name": "c"}, children[1]])


def test_a_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError), atomic(path) as file:
        file.write(b"new")
        raise RuntimeError
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    with atomic(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_is_one_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot write"), atomic(tmp_path / "file" / "below") as file:
        file.write(b"x")


def test_an_object_is_named_by_its_bytes_and_checked_when_read(tmp_path):
    store = Store(tmp_path)
    name = store.put(b"data")
    assert store.put(b"data") == name and store.get(name) == b"data" and store.check(name) == 4
    store.object_path(name).write_bytes(b"Data")
    for read in (store.get, store.check):
        with pytest.raises(StoreError, match="do not match its name"):
            read(name)
    with pytest.raises(StoreError, match="cannot be read"):
        store.get("0" * 64)


def test_everything_written_passes_a_strict_json_parser(tmp_path):
    import json

    def refuse(token):
        raise ValueError(token)

    text = encode(Outcome("a", score=0.1, details={"x": [1e-7, "\u2028"]})).decode()
    assert json.loads(text, parse_constant=refuse) == orjson.loads(text)
