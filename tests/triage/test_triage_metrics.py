"""The suite's measurements against scikit-learn and against their definitions, and the laws of its metrics."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from yb_eval import Judgement, Measurement, Outcome, Sample
from yb_eval.metrics import declarations
from yb_eval.statistics import wilson
from yb_eval.testing import check_metric
from yb_eval_triage.evaluator import Judge, TaskJudges
from yb_eval_triage.metrics import Answers, HandOffs, MicroF1, Scope, SelectiveAnswers, task_metrics
from yb_eval_triage.task import Task


def measure(metrics: Sequence[Any], outcomes: list[Outcome]) -> dict[str, Measurement]:
    made = [each for metric in metrics for each in metric.finish(metric.add(metric.start(), outcomes))]
    assert len({each.name for each in made}) == len(made)
    return {each.name: each for each in made}


def drawn(task: Task, n: int = 300, *, seed: int = 0, abstain: float = 0.0) -> tuple[list[Any], list[Any]]:
    """Rows with gold, and answers that are often right."""
    draw = random.Random(seed)
    labels, levels = list(task.labels), len(task.severity.levels) if task.severity else 0
    rows, answers = [], []
    for i in range(n):
        gold = {"label": draw.choice(labels), "severity": draw.randrange(levels), "escalate": draw.random() < 0.3}
        near = min(max(gold["severity"] + draw.choice([-2, -1, 0, 0, 0, 1]), 0), levels - 1)
        rows.append({"id": f"r{i}", "text": "", "gold": gold, "tags": [f"lang:{draw.choice(['en', 'ru'])}"]})
        answers.append(
            {
                "label": gold["label"] if draw.random() < 0.7 else draw.choice(labels),
                "severity": near,
                "escalate": gold["escalate"] if draw.random() < 0.8 else not gold["escalate"],
                "confidence": draw.choice([0.1, 0.35, 0.5, 0.77, 0.9, 1.0]),
                **({"abstain": True} if draw.random() < abstain else {}),
            }
        )
    return rows, answers


def judged(task: Task, rows: list[Any], answers: list[Any], **more: Any) -> list[Outcome]:
    judge = Judge(task, **more)
    return [
        judge(Sample(row["id"], row, tuple(row.get("tags", ()))), answer)
        for row, answer in zip(rows, answers, strict=True)
    ]


def test_measurements_agree_with_scikit_learn(desk: Task) -> None:
    rows, answers = drawn(desk)
    found = measure(task_metrics(desk, "", handoffs=False), judged(desk, rows, answers))
    gold = [row["gold"]["label"] for row in rows]
    said = [answer["label"] for answer in answers]
    assert found["accuracy"].value == pytest.approx(sk.accuracy_score(gold, said))
    assert found["macro_f1"].value == pytest.approx(sk.f1_score(gold, said, average="macro"))
    assert found["f1"].value == pytest.approx(sk.f1_score(gold, said, average="micro"))
    assert found["balanced_accuracy"].value == pytest.approx(sk.balanced_accuracy_score(gold, said))
    names = sorted(desk.labels)
    for name, scores in zip(
        ("precision", "recall", "f1"), sk.precision_recall_fscore_support(gold, said, labels=names)[:3], strict=True
    ):
        assert [found[f"{name}[{label}]"].value for label in names] == pytest.approx(scores)
    assert found["confusion"].details["rows"] == sk.confusion_matrix(gold, said, labels=names).tolist()

    severity = np.array([row["gold"]["severity"] for row in rows])
    level = np.array([answer["severity"] for answer in answers])
    assert found["severity.mae"].value == pytest.approx(sk.mean_absolute_error(severity, level))
    assert found["severity.qwk"].value == pytest.approx(sk.cohen_kappa_score(severity, level, weights="quadratic"))

    called = [row["gold"]["escalate"] for row in rows]
    call = [answer["escalate"] for answer in answers]
    assert found["escalate.precision"].value == pytest.approx(sk.precision_score(called, call))
    assert found["escalate.recall"].value == pytest.approx(sk.recall_score(called, call))
    assert found["escalate.f2"].value == pytest.approx(sk.fbeta_score(called, call, beta=2))
    assert found["escalate.alerts_per_100"].value == pytest.approx(100 * np.mean(call))

    right = np.array([g == s for g, s in zip(gold, said, strict=True)])
    confidence = np.array([answer["confidence"] for answer in answers])
    assert found["brier"].value == pytest.approx(sk.brier_score_loss(right, confidence))


def test_under_triage_by_its_definitions(desk: Task) -> None:
    rows, answers = drawn(desk, seed=1)
    found = measure(task_metrics(desk, "", handoffs=False), judged(desk, rows, answers))
    gold = np.array([row["gold"]["severity"] for row in rows])
    said = np.array([answer["severity"] for answer in answers])
    critical, raised = gold >= 2, said >= 2
    expected = {
        "under_triage_rate": ((said < gold).sum(), len(gold)),
        "over_triage_rate": ((said > gold).sum(), len(gold)),
        "severe_under_triage_rate": ((gold - said >= 2).sum(), len(gold)),
        "critical_under_triage_rate": (((said < gold) & critical).sum(), critical.sum()),
        "missed_critical_rate": ((critical & ~raised).sum(), critical.sum()),
        "false_critical_rate": ((raised & ~critical).sum(), raised.sum()),
    }
    for name, (count, n) in expected.items():
        assert found[f"severity.{name}"].value == pytest.approx(count / n)
        assert found[f"severity.{name}"].n == n
    assert desk.severity is not None
    cost = np.array(desk.severity.cost)
    worst = len(gold) * cost.max()  # the worst policy is silence, which costs as much as the dearest mistake
    assert found["severity.expected_cost"].value == pytest.approx(cost[gold, said].sum() / worst)
    assert found["severity.constant_cost"].value == pytest.approx(min(cost[gold, k].sum() for k in range(4)) / worst)


def test_ece_and_aurc_by_their_definitions(desk: Task) -> None:
    rows, answers = drawn(desk, seed=2)
    found = measure(task_metrics(desk, "", handoffs=False), judged(desk, rows, answers))
    right = np.array([r["gold"]["label"] == a["label"] for r, a in zip(rows, answers, strict=True)])
    sure = np.array([answer["confidence"] for answer in answers])
    bins = np.minimum((sure * 10).astype(int), 9)
    gaps = [abs(right[bins == b].sum() - sure[bins == b].sum()) for b in range(10)]
    assert found["ece"].value == pytest.approx(sum(gaps) / len(rows))
    assert len(found["ece"].details["bins"]) == 10
    # The mean over ranks of the risk at the end of each group of equal confidences.
    risks = [1 - right[sure >= level].mean() for level in sure]
    assert found["aurc"].value == pytest.approx(np.mean(risks))
    assert found["aurc"].details["curve"][-1] == [1.0, pytest.approx(1 - right.mean())]


def test_equal_confidences_do_not_depend_on_the_order_of_rows(desk: Task) -> None:
    rows, answers = drawn(desk, seed=3)
    metrics = task_metrics(desk, "", handoffs=False)
    forward = measure(metrics, judged(desk, rows, answers))
    assert measure(metrics, judged(desk, rows[::-1], answers[::-1])) == forward


def test_the_metrics_keep_the_laws(desk: Task) -> None:
    rows, answers = drawn(desk, 60, seed=4, abstain=0.2)
    for answer in answers[::3]:
        answer["path"] = ["outage", "Billing desk", "outage"]
    outcomes = judged(desk, rows, answers, handoffs=True)
    metrics = task_metrics(desk, "", handoffs=True)
    for metric in metrics:
        check_metric(metric, outcomes)
    declared = declarations(metrics)
    assert {name.partition("[")[0] for name in measure(metrics, outcomes)} <= set(declared)


def test_tasks_of_a_joined_run_are_measured_apart(desk: Task) -> None:
    rows, answers = drawn(desk, 80, seed=5)
    both = TaskJudges({"one": Judge(desk, "one."), "two": Judge(desk, "two.")})
    outcomes = [
        both(Sample(row["id"], row, (*row["tags"], f"task:{task}")), answer)
        for task in ("one", "two")
        for row, answer in list(zip(rows, answers, strict=True))[: 80 if task == "one" else 30]
    ]
    joined = measure([m for task in ("one", "two") for m in task_metrics(desk, f"{task}.", handoffs=False)], outcomes)
    plain = task_metrics(desk, "", handoffs=False)
    for task, n in (("one", 80), ("two", 30)):
        alone = measure(plain, judged(desk, rows[:n], answers[:n]))
        mine = {name.removeprefix(f"{task}."): each for name, each in joined.items() if name.startswith(f"{task}.")}
        assert {name: (each.value, each.n) for name, each in mine.items()} == {
            name: (each.value, each.n) for name, each in alone.items()
        }


def labelled(*pairs: tuple[str, str | None], **details: Any) -> list[Outcome]:
    return [
        Outcome(
            str(i),
            judgements={
                "label": Judgement(correct=gold == said, expected=gold, predicted=said, confidence=0.5, details=details)
            },
        )
        for i, (gold, said) in enumerate(pairs)
    ]


def test_scope_counts_refusals_acceptances_and_abstentions_apart() -> None:
    pairs = [
        ("a", "a"),
        ("a", "b"),
        ("a", "oos"),
        ("b", None),
        ("oos", "oos"),
        ("oos", "a"),
        ("oos", None),
        ("oos", "oos"),
    ]
    found = measure([Scope(outside="oos", judgement="label", prefix="")], labelled(*pairs))
    assert {name: (each.value, each.n) for name, each in found.items()} == {
        "in_scope_accuracy": (1 / 4, 4),
        "oos_recall": (2 / 4, 4),
        "oos_precision": (2 / 3, 3),
        "false_acceptance_rate": (1 / 4, 4),
        "false_rejection_rate": (1 / 4, 4),
    }
    assert found["oos_recall"].interval == wilson(2, 4)


def test_scope_without_rows_is_null() -> None:
    found = measure([Scope(outside="oos", judgement="label", prefix="")], labelled(("a", "a")))
    assert found["oos_recall"].value is None
    assert found["oos_recall"].reason == "no row is out of scope"
    assert found["oos_precision"].reason == "no row was called so"


def test_micro_f1_is_the_accuracy_where_all_is_answered() -> None:
    metric = MicroF1(judgement="label", prefix="")
    assert measure([metric], labelled(("a", "a"), ("b", "a")))["f1"].value == 0.5
    assert measure([metric], labelled(("a", "a"), ("b", None)))["f1"].value == pytest.approx(2 / 3)


def test_an_abstention_is_accepted_last_and_leaves_calibration_alone(desk: Task) -> None:
    rows = [{"id": str(i), "text": "", "gold": {"label": "outage"}} for i in range(3)]
    answers: list[Any] = [
        {"label": "outage", "confidence": 0.2},
        {"label": "outage", "confidence": 0.6},
        {"label": "outage", "confidence": 0.9, "abstain": True},
    ]
    outcomes = judged(desk, rows, answers)
    selective = measure([SelectiveAnswers(judgement="label", prefix="")], outcomes)
    assert selective["aurc"].details["curve"] == [[1 / 3, 0.0], [2 / 3, 0.0], [1.0, 1 / 3]]
    found = measure(task_metrics(desk, "", handoffs=False), outcomes)
    assert found["abstention_rate"].value == 1 / 3
    assert found["accuracy"].value == 2 / 3


def test_contradictions_need_no_gold_label(desk: Task) -> None:
    rows = [{"id": str(i), "text": "", "gold": {"escalate": False}} for i in range(4)]
    answers: list[Any] = [
        {"label": "question", "severity": 3, "escalate": True},
        {"label": "outage", "severity": 3, "escalate": False},
        {"label": "outage", "severity": 0, "escalate": True},
        {"label": "outage", "severity": 2, "escalate": True},
    ]
    found = measure([Answers()], judged(desk, rows, answers))
    assert (found["contradiction_rate"].value, found["contradiction_rate"].n) == (3 / 4, 4)


def test_hand_offs_are_told_apart(desk: Task) -> None:
    cases: list[tuple[str, list[str], bool]] = [
        ("billing", ["Billing desk"], True),  # right, by the name that the task gives
        ("billing", [], True),  # said it would, and did not
        ("billing", [], False),  # forgot
        ("billing", ["outage"], False),  # wrong
        ("outage", ["Billing desk", "outage", "Billing desk"], False),  # round and round, and wrong
        ("other", [], False),  # rightly kept
        ("other", ["outage"], False),  # needless
    ]
    rows = [{"id": str(i), "text": "", "gold": {"label": label}} for i, (label, _, _) in enumerate(cases)]
    answers = [{"path": path, "promised": promised} for _, path, promised in cases]
    found = measure([HandOffs(judgement="handoff")], judged(desk, rows, answers, handoffs=True))
    assert {name.removeprefix("handoff."): (each.value, each.n) for name, each in found.items()} == {
        "right_target_rate": (2 / 7, 7),
        "precision": (1 / 4, 4),
        "recall": (1 / 5, 5),
        "missing_rate": (2 / 5, 5),
        "wrong_target_rate": (2 / 5, 5),
        "needless_rate": (1 / 2, 2),
        "broken_promise_rate": (1 / 2, 2),
        "broken_promises": (1, 7),
        "loop_rate": (1 / 4, 4),
        "hops_mean": (6 / 4, 4),
    }


def test_an_item_that_comes_back_is_a_loop_and_is_missing(desk: Task) -> None:
    row = {"id": "a", "text": "", "gold": {"label": "billing"}}
    outcomes = judged(desk, [row], [{"handoff": None, "path": ["Billing desk", "triage"]}], handoffs=True)
    assert outcomes[0].judgements["handoff"].details["loops"] == 1
    found = measure([HandOffs(judgement="handoff")], outcomes)
    assert found["handoff.missing_rate"].value == 1


def test_a_hand_off_to_whom_an_acceptable_label_belongs_is_right(desk: Task) -> None:
    row = {"id": "a", "text": "", "gold": {"label": "outage"}, "acceptable": {"label": ["other"]}}
    outcomes = judged(
        desk, [row, {**row, "id": "b"}], [{"handoff": "outage"}, {"handoff": None, "path": []}], handoffs=True
    )
    assert [o.judgements["handoff"].correct for o in outcomes] == [True, True]
    found = measure([HandOffs(judgement="handoff")], outcomes)
    assert found["handoff.missing_rate"].value is None
    assert found["handoff.needless_rate"].value == 0
