"""The suite's part of the reports: worst classes, heat maps, curves."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from yb_eval import Measurement, Measurements, run_suite
from yb_eval.cli import main
from yb_eval_triage.suite import Details


@pytest.fixture
def ran(
    desk_file: Path, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[str]]:
    """The arguments of a run over sixty rows, of which questions are mostly got wrong."""
    monkeypatch.chdir(tmp_path)  # away from this repository's own configuration
    draw = random.Random(0)
    rows, said = [], []
    for i in range(60):
        label = ("outage", "billing", "question", "other")[i % 4]
        severity = (3, 1, 0, 0)[i % 4]
        rows.append(
            {"id": f"r{i}", "text": "x", "gold": {"label": label, "severity": severity, "escalate": severity > 1}}
        )
        told = "billing" if label == "question" and draw.random() < 0.8 else label
        sure = round(draw.random(), 2)
        said.append({"id": f"r{i}", "label": told, "severity": severity, "escalate": severity > 1, "confidence": sure})
    predictions = write(said, "predictions.jsonl")

    def arguments(*more: str) -> list[str]:
        return [
            "run", "triage", "--task", str(desk_file), "--rows", str(write(rows)), "--store", str(tmp_path / "store"),
            "--target", f"predictions:{predictions}", *more,
        ]  # fmt: skip

    return arguments


def test_the_worst_class_stands_first_in_text(
    ran: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    main(ran())
    out = capsys.readouterr().out
    slices = out[out.index("worst slice") :].splitlines()
    assert slices[1].split()[0] == "f1[question]"


def test_the_text_report_names_the_worst_classes_in_order(
    ran: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    main(ran())
    said = capsys.readouterr().out.partition("desk: lowest F1: ")[2]
    assert said.startswith("question ")
    assert said.index("question ") < said.index("billing ") < said.index("outage ")


def test_rows_that_the_builtin_triager_has_learned_from_are_told(trained: Path) -> None:
    def summary(split: str) -> str:
        report = run_suite("triage", store=trained, options={"task": ["healthcare"], "split": split})
        return " ".join(report["suites"][0]["details"]["summary"])

    assert "has learned from these rows" in summary("train")
    assert "has learned from these rows" not in summary("test")


def test_the_html_report_draws_matrices_and_curves(ran: Callable[..., list[str]], tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    main(ran("--report", f"html={path}"))
    page = path.read_text(encoding="utf-8")
    for name in ("confusion", "severity.qwk", "ece", "aurc"):
        assert name in page
    assert page.count("<svg") >= 2


def test_details_name_the_worst_classes(ran: Callable[..., list[str]], tmp_path: Path, capsys: Any) -> None:
    import json

    main(ran("--json"))
    details = json.loads(capsys.readouterr().out)["suites"][0]["details"]["desk"]
    worst = [item["label"] for item in details["worst_classes"]]
    assert worst[0] == "question"
    assert len(worst) == 4
    assert details["beats"] == {"best_constant_accuracy": True, "severity.constant_cost": True}


def test_details_of_what_was_not_measured_are_empty() -> None:
    nulls = Measurements([Measurement("f1[a]", None, reason="no"), Measurement("accuracy", None, reason="no")])
    assert Details((("desk", ""),))(nulls, None) == {"desk": {"worst_classes": []}}


def test_confusion_severity_reliability_and_risk_reach_the_json_report(trained: Path) -> None:
    report = run_suite("triage", store=trained, options={"task": ["ops"]})
    measured: dict[str, Any] = report["suites"][0]["measurements"]
    assert len(measured["confusion"]["details"]["labels"]) == 13
    assert len(measured["severity.qwk"]["details"]["rows"]) == 5
    assert sum(each["n"] for each in measured["ece"]["details"]["bins"]) == 219
    coverage = [point[0] for point in measured["aurc"]["details"]["curve"]]
    assert coverage == sorted(coverage)
    assert coverage[-1] == 1
