"""The gates: limits on bounds, defaults of the shipped tasks, and what a baseline holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from yb_eval.metrics import declarations
from yb_eval.testing import check_gate
from yb_eval_triage.gates import Limits, task_gates
from yb_eval_triage.metrics import task_metrics
from yb_eval_triage.task import Task
from yb_eval_triage.tasks import SHIPPED, open_task


def limits(**more: Any) -> Limits:
    return Limits(**{"floors": {}, "ceilings": {}, "bound": "interval", "max_severe_rise": 0.0, **more})


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("prefix", ["", "x."])
def test_every_default_gate_binds_and_refuses_null(name: str, prefix: str) -> None:
    task = open_task(name)
    declared = declarations(task_metrics(task, prefix, handoffs=False))
    for split in ("test", "sample", "train", None):
        gates = task_gates(task, prefix, split, limits(), against=True)
        assert gates
        for gate in gates:
            if not gate.text.startswith("no_worse"):
                check_gate(gate, declared)


def test_what_is_asked_takes_the_place_of_the_default() -> None:
    texts = [
        gate.text
        for gate in task_gates(open_task("ops"), "ops.", "test", limits(floors={"macro_f1": 0.9}), against=False)
    ]
    assert "lower(ops.macro_f1) >= 0.9" in texts
    assert sum("macro_f1" in text for text in texts) == 1


def test_a_limit_is_held_by_the_far_end_of_the_interval(desk: Task) -> None:
    asked = {"floors": {"macro_f1": 0.5}, "ceilings": {"severity.expected_cost": 0.2}}
    by_bound = [gate.text for gate in task_gates(desk, "", None, limits(**asked), against=False)]
    assert by_bound[:2] == ["lower(macro_f1) >= 0.5", "upper(severity.expected_cost) <= 0.2"]
    estimate = [gate.text for gate in task_gates(desk, "", None, limits(bound="estimate", **asked), against=False)]
    assert estimate[:2] == ["macro_f1 >= 0.5", "severity.expected_cost <= 0.2"]


def test_a_task_without_severity_has_no_gate_on_it() -> None:
    asked = limits(ceilings={"severity.expected_cost": 0.2})
    texts = [gate.text for gate in task_gates(open_task("banking77"), "", None, asked, against=True)]
    assert texts == ["accuracy > best_constant_accuracy", "no_worse(accuracy)"]


def item(i: int, label: str, severity: int) -> dict[str, Any]:
    return {"id": f"r{i}", "text": f"{i}", "gold": {"label": label, "severity": severity, "escalate": severity >= 2}}


@pytest.fixture
def rows() -> list[Any]:
    return [item(i, ("outage", "billing", "question", "other")[i % 4], (3, 1, 0, 0)[i % 4]) for i in range(80)]


def right(row: Any) -> dict[str, Any]:
    return {**row["gold"], "confidence": 0.9}


def verdicts(suite: dict[str, Any]) -> dict[str, str]:
    return {gate["gate"]: gate["verdict"] for gate in suite["gates"]}


def test_a_rise_of_severe_under_triage_fails_though_accuracy_rises(
    scored: Callable[..., dict[str, Any]], rows: list[Any], tmp_path: Path
) -> None:
    before = {row["id"]: right(row) for row in rows}
    for row in rows[1:40:2]:  # twenty labels wrong; severities all right
        before[row["id"]] = {**right(row), "label": "outage"}
    baseline = tmp_path / "baseline.json"
    first = scored(rows, before, save=str(baseline))
    assert first["verdict"] == "pass"

    after = {row["id"]: right(row) for row in rows}  # labels all right ...
    after["r0"] = {**after["r0"], "severity": 1, "escalate": True}  # ... and one of eighty is severely under-triaged
    second = scored(rows, after, against=str(baseline))
    assert second["measurements"]["accuracy"]["value"] > first["measurements"]["accuracy"]["value"]
    said = verdicts(second)
    rise = "severity.severe_under_triage_rate - baseline.severity.severe_under_triage_rate <= 0.0"
    assert said.pop(rise) == "fail"
    assert set(said.values()) == {"pass"}
    assert second["verdict"] == "fail"

    allowed = scored(rows, after, against=str(baseline), options={"max-severe-rise": 0.02})
    assert allowed["verdict"] == "pass"


def test_silence_about_severities_does_not_pass_for_care(
    scored: Callable[..., dict[str, Any]], rows: list[Any], tmp_path: Path
) -> None:
    baseline = tmp_path / "baseline.json"
    scored(rows, {row["id"]: right(row) for row in rows}, save=str(baseline))
    silent = {row["id"]: right(row) for row in rows}
    del silent["r0"]["severity"]
    suite = scored(rows, silent, against=str(baseline))
    assert suite["measurements"]["severity.severe_under_triage_rate"]["value"] == 0
    assert verdicts(suite)["severity.unanswered - baseline.severity.unanswered <= 0"] == "fail"


def test_an_unchanged_triager_passes_against_itself(
    scored: Callable[..., dict[str, Any]], rows: list[Any], tmp_path: Path
) -> None:
    answers = {row["id"]: right(row) for row in rows}
    baseline = tmp_path / "baseline.json"
    scored(rows, answers, save=str(baseline))
    assert scored(rows, answers, against=str(baseline))["verdict"] == "pass"


def test_a_constant_triager_fails(scored: Callable[..., dict[str, Any]], rows: list[Any]) -> None:
    said = {"label": "outage", "severity": 3, "escalate": True, "confidence": 0.9}
    suite = scored(rows, {row["id"]: said for row in rows})
    assert verdicts(suite)["accuracy > best_constant_accuracy"] == "fail"
    assert suite["verdict"] == "fail"
