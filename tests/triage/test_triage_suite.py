"""The suite as it is run: its default, its aims, its models, its targets."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from yb_eval import UsageError, run_suite
from yb_eval.options import structure
from yb_eval.testing import check_suite
from yb_eval_triage import references
from yb_eval_triage.suite import Options, yb_eval_suite
from yb_eval_triage.triagers import builtin


def suite_of(report: dict[str, Any]) -> dict[str, Any]:
    suite: dict[str, Any] = report["suites"][0]
    return suite


def value(suite: dict[str, Any], name: str) -> float:
    found: float = suite["measurements"][name]["value"]
    return found


def test_the_default_covers_two_tasks_and_passes(trained: Path) -> None:
    suite = suite_of(run_suite("triage", store=trained))
    assert suite["verdict"] == "pass", [gate for gate in suite["gates"] if gate["verdict"] != "pass"]
    assert (suite["counts"]["samples"], suite["counts"]["scored"]) == (1_219, 1_219)
    assert suite["datasets"][0]["id"] == "ops-test+clinc150-sample"
    assert value(suite, "clinc150.in_scope_accuracy") >= 0.91
    assert value(suite, "ops.escalate.recall") >= 0.75
    assert any(name.startswith("ops.accuracy[lang:ru") for name in suite["measurements"])
    assert not any("[task:" in name for name in suite["measurements"])


def test_the_aim_on_clinc150s_test_split_is_reached(trained: Path) -> None:
    report = run_suite("triage", store=trained, options={"task": ["clinc150"], "split": "test"})
    suite = suite_of(report)
    assert suite["counts"]["scored"] == 5_500
    assert value(suite, "in_scope_accuracy") >= 0.92
    assert value(suite, "oos_recall") >= 0.65
    assert suite["verdict"] == "pass"
    point = suite["details"]["clinc150"]["operating_point"]
    assert point["calibration_rows"] == 3_100  # the validation split, and nothing else
    assert point["rule"].startswith("highest out-of-scope recall with in-scope accuracy >= 0.92")


def test_a_second_run_does_not_train_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"task": ["healthcare"]}
    first = run_suite("triage", store=tmp_path, options=options)
    (model,) = (tmp_path / "plugins" / "triage").glob("*.npz")

    def never(*arguments: Any, **more: Any) -> Any:
        raise AssertionError("trained again")

    monkeypatch.setattr(builtin, "train_model", never)
    second = run_suite("triage", store=tmp_path, options=options, jobs=4, **{"batch-size": 5})
    assert second["run_id"] == first["run_id"]

    model.write_bytes(model.read_bytes()[:-100])
    damaged = run_suite("triage", store=tmp_path, options=options)
    assert damaged["verdict"] == "unmeasured"  # it trains anew, which is forbidden here, rather than trust the file


def test_a_model_that_cannot_be_kept_is_used_and_the_report_says_so_once(tmp_path: Path, trained: Path) -> None:
    options = {"task": ["healthcare"]}
    blocked = tmp_path / "plugins" / "triage"
    blocked.parent.mkdir()
    blocked.write_text("no folder")  # a folder without write permission does not stop an administrator
    unkept = run_suite("triage", store=tmp_path, options=options, **{"batch-size": 5})
    kept = run_suite("triage", store=trained, options=options)
    assert unkept["run_id"] == kept["run_id"]
    assert suite_of(unkept)["counts"]["error"] == 0
    told = [line for line in suite_of(unkept)["details"]["summary"] if "could not be kept" in line]
    assert len(told) == 1
    assert told[0].startswith("healthcare: the trained model could not be kept in the store (")
    assert not any("could not be kept" in line for line in suite_of(kept)["details"]["summary"])
    assert blocked.read_text() == "no folder"


def test_the_plan_is_known_before_anything_is_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from yb_eval_triage.tasks import open_task

    monkeypatch.setattr(builtin, "train_model", lambda *a, **k: pytest.fail("trained"))
    known = [
        references.builtin_target([open_task(name)], store)[0].fingerprint
        for name, store in (("healthcare", tmp_path), ("healthcare", None), ("ops", None))
    ]
    assert len(known[0]) == 64
    assert known[0] == known[1] != known[2]


@pytest.mark.parametrize("task", ["ops", "healthcare"])
def test_the_suite_keeps_the_promises_of_suites(task: str) -> None:
    check_suite(yb_eval_suite(), structure(Options, {"task": [task]}), limit=60)


def test_two_tasks_keep_the_promises_too() -> None:
    check_suite(yb_eval_suite(), structure(Options, {"task": ["healthcare", "ops"]}), limit=60)


def test_the_rules_are_a_target(trained: Path) -> None:
    suite = suite_of(run_suite("triage", store=trained, options={"task": ["ops"]}, target="rules"))
    assert suite["counts"]["error"] == 0
    assert value(suite, "accuracy") > 0.6
    with pytest.raises(UsageError, match="no rules ship for it"):
        run_suite("triage", store=trained, options={"task": ["clinc150"]}, target="rules")


def test_rules_of_ones_own_are_identified_by_their_bytes(tmp_path: Path) -> None:
    def rules(word: str) -> str:
        path = tmp_path / f"{word}.toml"
        path.write_text(f'[lists]\nw = ["{word}"]\n[[rule]]\nwhen = ["w"]\nlabel = "billing"\n', encoding="utf-8")
        return str(path)

    from yb_eval_triage.tasks import open_task

    ops = [open_task("ops")]
    first, second = references.rules_target(ops, rules("money")), references.rules_target(ops, rules("invoice"))
    assert first.fingerprint != second.fingerprint
    (answer,) = first.ask([{"id": "a", "task": "ops", "text": "My money!", "meta": {}}])
    assert answer.value["label"] == "billing"
    with pytest.raises(UsageError, match="a rule file is for one task"):
        references.rules_target([*ops, open_task("healthcare")], rules("money"))


def test_a_task_file_without_training_rows_needs_a_target(
    desk_file: Path, write: Callable[..., Path], tmp_path: Path
) -> None:
    rows = write([{"id": "a", "text": "x", "gold": {"label": "outage"}}])
    with pytest.raises(UsageError, match=r"no train file.*the built-in triager needs training rows"):
        run_suite("triage", store=tmp_path, options={"task": [str(desk_file)], "rows": rows})


TRIAGER = """
import json, sys
def answer(request):
    assert request["task"] in ("ops", "clinc150", "desk"), request
    down = "down" in request["text"]
    return {"label": "outage" if down else "other", "severity": 2 * down, "escalate": down, "confidence": 0.8}
if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], **answer(request)}), flush=True)
"""


@pytest.mark.parametrize("target", ["python:my_desk_triager:answer", "exec:{python} my_desk_triager.py"])
def test_a_triager_of_ones_own_is_asked(
    target: str, desk_file: Path, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_desk_triager.py").write_text(TRIAGER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    rows = [
        {"id": "a", "text": "it is down", "gold": {"label": "outage", "severity": 3, "escalate": True}},
        {"id": "b", "text": "hello", "gold": {"label": "other", "severity": 0, "escalate": False}},
    ]
    options = {"task": [str(desk_file)], "rows": write(rows)}
    spec = target.format(python=sys.executable)
    recorded = run_suite("triage", store=tmp_path / "s", options=options, target=spec, record=tmp_path / "said.jsonl")
    suite = suite_of(recorded)
    assert suite["counts"]["scored"] == 2
    assert value(suite, "accuracy") == 1
    assert value(suite, "severity.mae") == 0.5
    replayed = suite_of(run_suite("triage", store=tmp_path / "s", options=options, target="replay:said.jsonl"))
    assert {n: m["value"] for n, m in replayed["measurements"].items()} == {
        n: m["value"] for n, m in suite["measurements"].items()
    }


def test_a_filter_may_name_the_parts_of_a_row(trained: Path) -> None:
    suite = suite_of(
        run_suite("triage", store=trained, options={"task": ["ops"]}, filter='gold.severity >= 3 and "lang:ru" in tags')
    )
    assert 0 < suite["counts"]["samples"] < 60
    joined = suite_of(run_suite("triage", store=trained, filter='"task:clinc150" in tags', limit=20))
    assert joined["counts"]["samples"] == 20
    assert joined["measurements"]["ops.accuracy"]["value"] is None


def test_the_hash_seed_changes_nothing(trained: Path, tmp_path: Path) -> None:
    import subprocess

    command = [str(Path(sys.executable).with_name("yb-eval")), "run", "triage", "--task", "ops", "--json"]
    said = []
    for seed in ("0", "1"):
        done = subprocess.run(
            [*command, "--store", str(trained)],
            cwd=tmp_path, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, timeout=120,
        )  # fmt: skip
        said.append(json.loads(done.stdout)["run_id"])
    assert said[0] == said[1]
