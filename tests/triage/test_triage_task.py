"""What a task file may say, and how it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_triage.examples import read_examples
from yb_eval_triage.task import Answer, Task, TaskError, linear_cost

GOOD = """
name = "desk"
out_of_scope = "other"
[labels]
outage = "Nothing works."
other = "Not ours."
[severity]
levels = ["none", "minor", "major"]
critical = 2
under_cost = 3
over_cost = 1
ranges = { other = [0, 1] }
[escalate]
required_from = 2
allowed_from = 1
[files]
train = "train.jsonl"
"""


def task(text: str = GOOD) -> Task:
    return Task.parse(text.encode(), where="desk.toml")


def test_a_task_reads_its_labels_in_order_and_its_costs_by_gold_then_predicted() -> None:
    read = task()
    assert list(read.labels) == ["outage", "other"]
    assert read.severity is not None
    assert read.severity.cost == ((0.0, 1.0, 2.0), (3.0, 0.0, 1.0), (6.0, 3.0, 0.0))
    assert read.escalation is not None
    assert read.escalation.beta == 2.0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "desk"', 'name = "De sk"', "name: 'De sk' is not a name"),
        ('out_of_scope = "other"', 'out_of_scope = "othr"', "did you mean 'other'?"),
        ('outage = "Nothing works."', 'outage = ""', "labels.outage: must be a string"),
        ("critical = 2", "critical = 3", "severity.critical: must be an integer in 0..2"),
        ("critical = 2", "critical = true", "severity.critical: must be an integer"),
        ("under_cost = 3", "under_cost = nan", "severity.under_cost: must be a finite number"),
        ("under_cost = 3", "under_cost = -1", "severity.under_cost: must be a finite number"),
        ("under_cost = 3", "undr_cost = 3", "did you mean 'under_cost'?"),
        ("ranges = { other = [0, 1] }", "ranges = { other = [1, 0] }", "severity.ranges.other: must be [first, last]"),
        ("ranges = { other = [0, 1] }", "ranges = { othr = [0, 1] }", "severity.ranges.othr: unknown name"),
        ("required_from = 2", "required_from = 9", "escalate.required_from"),
        ("allowed_from = 1", "allowed_from = 3", "escalate.allowed_from: must be an integer in 0..2"),
        ('train = "train.jsonl"', 'train = "../train.jsonl"', "files.train: '../train.jsonl' is not a plain file name"),
        ('train = "train.jsonl"', 'trian = "train.jsonl"', "did you mean 'train'?"),
        ('levels = ["none", "minor", "major"]', 'levels = ["none"]', "severity.levels: needs at least 2"),
        ('levels = ["none", "minor", "major"]', 'levels = ["a", "a", "b"]', "severity.levels: holds 'a' twice"),
        ("under_cost = 3", "cost = [[0,1],[1,0]]", "severity.cost: must have 3 rows"),
        ("under_cost = 3\nover_cost = 1", "cost = [[0,1,2],[1,0,-1],[2,1,0]]", "severity.cost[1][2]"),
        ("under_cost = 3\nover_cost = 1", "cost = [[1,1,2],[1,0,1],[2,1,0]]", "a right answer must cost 0"),
        ("under_cost = 3\nover_cost = 1", "cost = [[0,0,0],[0,0,0],[0,0,0]]", "is 0 everywhere"),
        ("under_cost = 3", "cost = [[0,1,2],[1,0,1],[2,1,0]]", "give one of the two"),
    ],
)
def test_a_wrong_task_is_refused_with_its_place(old: str, new: str, message: str) -> None:
    assert old in GOOD
    with pytest.raises(TaskError) as refusal:
        task(GOOD.replace(old, new))
    assert str(refusal.value).startswith("desk.toml: ")
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_escalation_without_severity_is_refused() -> None:
    text = 'name = "x"\n[labels]\na = "a"\nb = "b"\n[escalate]\nrequired_from = 1\n'
    with pytest.raises(TaskError, match="escalate: needs a severity scale"):
        task(text)


def test_an_unreadable_file_and_a_file_that_is_no_toml_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read"):
        Task.load(tmp_path / "missing.toml")
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(TaskError, match="not a TOML file"):
        Task.load(broken)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(label="outge"), "not in the label set"),
        (Answer(severity=3), "severity 3 is not in 0..2"),
        (Answer(severity=-1), "severity -1 is not in 0..2"),
        (Answer(confidence=1.5), "confidence 1.5 is not in 0..1"),
        (Answer(confidence=float("nan")), "confidence nan is not in 0..1"),
    ],
)
def test_an_answer_outside_the_task_is_named(answer: Answer, fault: str) -> None:
    assert any(fault in found for found in task().check(answer))


def test_a_right_answer_has_no_faults_and_no_contradictions() -> None:
    answer = Answer(label="outage", severity=2, escalate=True, confidence=1.0)
    assert task().check(answer) == []
    assert task().contradictions(answer) == []


@pytest.mark.parametrize(
    ("answer", "contradiction"),
    [
        (Answer(label="other", severity=2, escalate=True), "cannot have severity 2"),
        (Answer(label="outage", severity=2, escalate=False), "not escalated at severity 2"),
        (Answer(label="outage", severity=0, escalate=True), "escalated at severity 0"),
    ],
)
def test_contradictions_need_no_gold(answer: Answer, contradiction: str) -> None:
    assert any(contradiction in found for found in task().contradictions(answer))


@given(st.integers(2, 7), st.floats(0.1, 9), st.floats(0.1, 9))
def test_linear_costs_grow_with_the_gap_on_their_side(levels: int, under: float, over: float) -> None:
    cost = linear_cost(levels, under=under, over=over)
    for gold in range(levels):
        for said in range(levels):
            gap = said - gold
            assert cost[gold][said] == pytest.approx(over * gap if gap > 0 else under * -gap)


def test_identity_follows_meaning_and_not_the_place_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "task.toml"
    path.write_text(GOOD, encoding="utf-8")
    assert Task.load(path).identity() == task().identity()
    assert task(GOOD.replace("under_cost = 3", "under_cost = 4")).identity() != task().identity()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"{", "not JSON"),
        (b"[]", "a row must be an object"),
        (b'{"id":"","text":"x","gold":{}}', "id must be a string"),
        (b'{"id":"a","gold":{}}', "text must be a string"),
        (b'{"id":"a","text":"x"}', "gold must be an object"),
        (b'{"id":"a","text":"x","gold":{"label":"outge"}}', "not in the label set"),
        (b'{"id":"a","text":"x","gold":{"severity":true}}', "is not an integer in 0..2"),
        (b'{"id":"a","text":"x","gold":{"escalate":1}}', "neither true nor false"),
        (b'{"id":"a","text":"x","gold":{"lable":"outage"}}', "unknown field gold.lable"),
        (
            b'{"id":"a","text":"x","gold":{},"acceptable":{"label":["nope"]}}',
            "acceptable label 'nope' is not in the label set",
        ),
        (b'{"id":"a","text":"x","gold":{},"extra":1}', "unknown field 'extra'"),
        (b'{"id":"a","text":"x","gold":{},"tags":"t"}', "tags must be an array of strings"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(line: bytes, fault: str) -> None:
    good = b'{"id":"first","text":"","gold":{"label":"outage","severity":1,"escalate":false}}\n'
    with pytest.raises(TaskError) as refusal:
        read_examples(good + line, task=task(), where="rows.jsonl")
    assert str(refusal.value).startswith("rows.jsonl:2: ")
    assert fault in str(refusal.value)


def test_a_repeated_id_and_an_empty_file_are_refused() -> None:
    row = b'{"id":"a","text":"x","gold":{}}\n'
    with pytest.raises(TaskError, match="rows:2: id 'a' stands on line 1 too"):
        read_examples(row + row, task=task(), where="rows")
    with pytest.raises(TaskError, match="holds no rows"):
        read_examples(b"\n\n", task=task(), where="rows")
