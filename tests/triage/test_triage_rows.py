"""Rows and answers: what is refused, what is an error, what is not judged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import DatasetError, Outcome, Sample, UsageError
from yb_eval.targets import AnswerError
from yb_eval.testing import check_dataset
from yb_eval_triage.dataset import Joined, task_dataset
from yb_eval_triage.evaluator import Judge
from yb_eval_triage.schemas import ANSWER, REQUEST, ROW
from yb_eval_triage.task import Task

GOOD = {"id": "a", "text": "It is down", "gold": {"label": "outage", "severity": 2, "escalate": True}}


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({**GOOD, "gold": {"label": "outtage"}}, "gold label 'outtage' is not in the label set of task desk"),
        ({**GOOD, "gold": {"severity": 4}}, "gold severity 4 is not an integer in 0..3"),
        ({**GOOD, "gold": {"severity": True}}, "gold severity True is not an integer"),
        ({**GOOD, "gold": {"escalate": "yes"}}, "gold escalate 'yes' is neither true nor false"),
        ({**GOOD, "gold": {"lable": "outage"}}, "unknown field gold.lable"),
        ({**GOOD, "gold": ["outage"]}, "gold must be an object"),
        ({**GOOD, "acceptable": {"label": ["nothing"]}}, "acceptable label 'nothing' is not in the label set"),
        ({**GOOD, "acceptable": ["billing"]}, "acceptable must be"),
        ({**GOOD, "meta": "mail"}, "meta must be an object"),
        ({**GOOD, "texts": ""}, "unknown field 'texts'"),
        ({"id": "a", "gold": {}}, "text must be a string"),
        ({"id": "a", "text": "x"}, "gold must be an object"),
    ],
)
def test_a_row_outside_the_task_is_refused_with_its_line(
    row: Any, fault: str, desk: Task, write: Callable[..., Path]
) -> None:
    path = write([{**GOOD, "id": "first"}, row])
    with pytest.raises(DatasetError) as error:
        task_dataset(desk, path, None).open()
    assert fault in str(error.value)
    assert f"{path}:2" in str(error.value)


def test_the_dataset_keeps_the_promises_of_datasets(desk: Task, write: Callable[..., Path]) -> None:
    rows = [{**GOOD, "id": str(i), "tags": ["lang:en"]} for i in range(20)] + [{"text": "", "gold": {}}]
    check_dataset(task_dataset(desk, write(rows), None))


def test_joined_tasks_are_tagged_and_keep_the_promises(desk: Task, write: Callable[..., Path]) -> None:
    first = write([{**GOOD, "id": f"a{i}"} for i in range(9)], "first.jsonl")
    second = write([{**GOOD, "id": f"b{i}", "tags": ["lang:en"]} for i in range(9)], "second.jsonl")
    joined = Joined({"one": task_dataset(desk, first, None), "two": task_dataset(desk, second, None, role="more")})
    check_dataset(joined)
    tags = [sample.tags for batch in joined.open().samples(4) for sample in batch]
    assert tags == [("task:one",)] * 9 + [("lang:en", "task:two")] * 9


def test_an_id_in_two_joined_tasks_is_refused(desk: Task, write: Callable[..., Path]) -> None:
    path = write([GOOD])
    joined = Joined({"one": task_dataset(desk, path, None), "two": task_dataset(desk, path, None, role="more")})
    with pytest.raises(DatasetError, match="the id 'a' is in the rows of one and of two"):
        joined.open()


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ({"label": "outtage"}, "label is 'outtage', which is unknown (did you mean 'outage'?)"),
        ({"label": ["outage"]}, "label must be a string"),
        ({"severity": 2}, "label is missing"),
        ({"label": "outage", "severity": 4}, "severity must be an integer from 0 to 3, not 4"),
        ({"label": "outage", "severity": 1.0}, "severity must be an integer from 0 to 3, not 1.0"),
        ({"label": "outage", "severity": True}, "severity must be an integer"),
        ({"label": "outage", "escalate": "yes"}, "escalate must be true or false"),
        ({"label": "outage", "confidence": 1.5}, "confidence must be a number from 0 to 1, not 1.5"),
        ({"label": "outage", "confidence": -0.1}, "confidence must be a number from 0 to 1"),
        ({"label": "outage", "confidence": float("nan")}, "confidence must be a number from 0 to 1, not nan"),
        ({"label": "outage", "confidence": "high"}, "confidence must be a number"),
        ({"label": "outage", "abstain": 1}, "abstain must be true or false"),
        ({}, "the answer has none of label, severity"),
        ({"lable": "outage"}, "the answer has none of label, severity"),
        ("outage", "an object is expected, not 'outage'"),
    ],
)
def test_an_unusable_answer_is_an_error_that_says_what_came_back(answer: Any, fault: str, desk: Task) -> None:
    with pytest.raises(AnswerError) as error:
        Judge(desk)(Sample("a", GOOD), answer)
    assert fault in error.value.reason


@pytest.mark.parametrize(
    "handoff", [{"path": ["a", ""]}, {"path": "a"}, {"handoff": "b", "path": ["a"]}, {"handoff": 3}]
)
def test_an_unusable_hand_off_is_an_error(handoff: Any, desk: Task) -> None:
    with pytest.raises(AnswerError):
        Judge(desk, handoffs=True)(Sample("a", GOOD), {"label": "outage", **handoff})


def judged(desk: Task, row: Any, answer: Any, **more: Any) -> Outcome:
    return Judge(desk, **more)(Sample("a", {"text": "", **row}), answer)


def test_what_is_absent_in_gold_is_not_judged(desk: Task) -> None:
    said = {"label": "outage", "severity": 3, "escalate": True}
    assert list(judged(desk, {"gold": {"severity": 3}}, said).judgements) == ["severity"]
    assert list(judged(desk, {"gold": {"label": "billing", "escalate": True}}, said).judgements) == [
        "label",
        "escalate",
    ]
    nothing = judged(desk, {"gold": {}}, said)
    assert nothing.status == "skipped"
    assert nothing.reason == "the row has no gold label, severity or escalation"


def test_an_acceptable_label_is_right(desk: Task) -> None:
    row = {"gold": {"label": "outage"}, "acceptable": {"label": ["billing"]}}
    assert judged(desk, row, {"label": "billing"}).correct is True
    assert judged(desk, row, {"label": "question"}).correct is False
    ambiguous = {"gold": {}, "acceptable": {"label": ["billing", "outage"]}}
    assert judged(desk, ambiguous, {"label": "outage"}).correct is True
    assert judged(desk, ambiguous, {"label": "other"}).judgements["label"].expected == "billing"


def test_an_abstention_is_no_answer_and_no_error(desk: Task) -> None:
    outcome = judged(desk, {"gold": {"label": "outage"}}, {"label": "outage", "abstain": True, "confidence": 0.4})
    label = outcome.judgements["label"]
    assert (outcome.status, label.correct, label.predicted, label.confidence) == ("scored", False, None, 0.4)
    assert judged(desk, {"gold": {"label": "outage"}}, {"abstain": True}).status == "scored"


def test_a_severity_or_escalation_left_out_is_wrong(desk: Task) -> None:
    outcome = judged(desk, GOOD, {"label": "outage"})
    assert [(name, j.status, j.correct) for name, j in outcome.judgements.items()] == [
        ("label", "scored", True),
        ("severity", "scored", False),
        ("escalate", "scored", False),
    ]


def test_contradictions_are_told_without_gold(desk: Task) -> None:
    said = {"label": "question", "severity": 3, "escalate": False}
    outcome = judged(desk, {"gold": {"label": "question"}}, said)
    assert outcome.details["contradictions"] == [
        "label question cannot have severity 3 (only 0..1)",
        "not escalated at severity 3",
    ]


def test_errors_of_answers_reach_the_log(scored: Callable[..., dict[str, Any]]) -> None:
    rows = [{**GOOD, "id": name} for name in ("good", "label", "confidence", "missing")]
    answers = {
        "good": {"label": "outage", "severity": 2, "escalate": True},
        "label": {"label": "fire"},
        "confidence": {"label": "outage", "confidence": 7},
    }
    suite = scored(rows, answers)
    assert {kind: suite["counts"][kind] for kind in ("samples", "scored", "error")} == {
        "samples": 4,
        "scored": 1,
        "error": 3,
    }
    assert suite["verdict"] == "unmeasured"
    reasons = {name: row["reason"] for name, row in suite["rows"].items()}
    assert "label is 'fire', which is unknown" in reasons["label"]
    assert "confidence must be a number from 0 to 1, not 7" in reasons["confidence"]
    assert reasons["missing"] == "there is no prediction for the id 'missing'"


def test_an_answer_to_no_row_is_refused(scored: Callable[..., dict[str, Any]]) -> None:
    with pytest.raises(
        DatasetError, match=r"predictions.jsonl:2: 2 answer\(s\) to rows that are not measured.*'extra'"
    ):
        scored([GOOD], {"a": {"label": "outage"}, "extra": {"label": "outage"}, "more": {"label": "outage"}})


def test_predictions_are_read_strictly(desk_file: Path, write: Callable[..., Path], tmp_path: Path) -> None:
    from yb_eval_triage.predictions import predictions_target

    with pytest.raises(DatasetError, match=r"the id is first at .*:1"):
        predictions_target(write([{"id": "a", "label": "x"}, {"id": "a", "label": "y"}]))
    with pytest.raises(DatasetError, match="a prediction has the id of its row"):
        predictions_target(write([{"label": "x"}]))
    with pytest.raises(DatasetError, match="no predictions"):
        predictions_target(write([]))
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"id": "a", "confidence": NaN}\n', encoding="utf-8")
    with pytest.raises(DatasetError, match=r"bad.jsonl:1"):
        predictions_target(bad)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text() | st.integers(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    ["label", "severity", "escalate", "confidence", "abstain", "handoff", "path", "promised"]
                ),
                inner,
            )
        ),
        max_leaves=8,
    )
)
def test_no_answer_whatever_breaks_the_judge(answer: Any) -> None:
    task = Task.parse(
        b'name = "t"\n[labels]\na = "A"\nb = "B"\n[severity]\nlevels = ["x", "y"]\n[escalate]\nrequired_from = 1\n',
        where="t.toml",
    )
    row = {"text": "", "gold": {"label": "a", "severity": 1, "escalate": True}}
    for handoffs in (False, True):
        try:
            outcome = Judge(task, handoffs=handoffs)(Sample("a", row), answer)
        except AnswerError as error:
            assert error.reason
        else:
            assert outcome.status == "scored"


def test_the_schemas_agree_with_the_reader(desk: Task) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    for schema in (ROW, REQUEST, ANSWER):
        jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(GOOD, ROW)
    jsonschema.validate(Judge(desk).request(Sample("a", GOOD)), REQUEST)
    jsonschema.validate({"label": "outage", "severity": 2, "confidence": 0.5}, ANSWER)
    for bad in ({}, {"label": "outage", "confidence": 2}, {"severity": -1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, ANSWER)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"task": ["opps"]}, "there is no task 'opps'"),
        ({"task": ["ops", "ops"]}, "the task 'ops' is named twice"),
        ({"task": []}, "no task is named"),
        ({"task": ["ops"], "split": "sample"}, "no sample file"),
        ({"rows": Path("rows.jsonl")}, "--rows are the rows of one task"),
        ({"task": ["ops"], "rows": Path("rows.jsonl"), "split": "test"}, "two inputs"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(options: Any, fault: str, tmp_path: Path) -> None:
    from yb_eval import run_suite

    with pytest.raises(UsageError, match=fault):
        run_suite("triage", store=tmp_path, options=options)
