"""`yb-eval decision calibrate`, as it is typed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from yb_eval_decision.calibration import Calibration

MAIN = "import sys; from yb_eval.cli import main; sys.exit(main(sys.argv[1:]))"
#: Knows the truth of each row and is three times too sure of it.
BACKEND = """
import math, random

def too_sure(request):
    index = int(request["state"]["request"].split()[-1])
    p = 1 - random.Random(f"truth/{index}").random()
    p = min(0.999999, max(0.000001, p))
    odds = math.exp(3 * math.log(p / (1 - p)))
    answers = {id: 0.99 if id.endswith("enough") else odds / (1 + odds) for id in request["questions"]}
    return {"answers": answers, "model": "too-sure-1"}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "judge_of_calibration.py").write_text(BACKEND, encoding="utf-8")
    lines = []
    for index in range(600):
        should = random.Random(f"label/{index}").random() < random.Random(f"truth/{index}").random()
        row = {"id": f"r{index}", "sample": {"input": f"text {index}"}, "labels": {"prompt_injection": should}}
        lines.append(json.dumps(row) + "\n")
    lines.append(json.dumps({"id": "none", "sample": {"input": "text 0 0"}}) + "\n")
    (tmp_path / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", MAIN, "decision", "calibrate", *arguments],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "YB_EVAL_DECISION_BACKEND"},
        capture_output=True,
        text=True,
        check=False,
    )


JUDGE = ("--backend", "python:judge_of_calibration:too_sure")
ROWS = ("--data", "rows.jsonl", "-e", "prompt_injection")


def test_the_report_is_printed_and_the_calibration_is_kept(folder: Path) -> None:
    done = run(folder, *ROWS, *JUDGE, "--max-false-pass", "0.1", "--out", "c.json")
    assert done.returncode == 0, done.stderr
    assert "models: too-sure-1" in done.stdout
    assert "601 rows, 1 without a label that is asked" in done.stdout
    assert "fitted on 300" in done.stdout
    assert "chosen on the fit part" in done.stdout
    kept = Calibration.load(folder / "c.json")
    assert kept.models == ("too-sure-1",)
    assert kept.evals["prompt_injection"].threshold is not None


def test_the_json_report_has_every_number_and_its_reliability_bins(folder: Path) -> None:
    done = run(folder, *ROWS, *JUDGE, "--json", "--fit", "isotonic")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    one = told["evals"]["prompt_injection"]
    assert told["schema"] == "yb-eval-decision/calibration-report/1"
    assert one["after"]["brier"] < one["before"]["brier"]
    assert len(one["after"]["bins"]) == 10
    assert one["n"] == {"fit": 300, "report": 300}
    assert [row["threshold"] for row in one["thresholds"]][:2] == [0.5, 0.55]
    assert set(one["thresholds"][0]["false_pass"]) == {"value", "n", "interval"}


def test_answers_are_kept_with_cache_and_shared_with_a_run(folder: Path) -> None:
    first, second = (run(folder, *ROWS, *JUDGE, "--cache", "--store", "kept", "--json") for _ in range(2))
    assert first.returncode == second.returncode == 0, first.stderr + second.stderr
    assert "0 of 1200 answers came from the cache" in first.stderr
    assert "1200 of 1200 answers came from the cache" in second.stderr
    assert first.stdout == second.stdout
    evaluated = subprocess.run(
        [sys.executable, "-c", MAIN, "run", "decision", "--data", "rows.jsonl", "--evals", "prompt_injection", *JUDGE,
         "--cache", "--store", "kept", "--filter", 'id != "none"'],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "1200 of 1200 answers came from the cache" in evaluated.stderr, evaluated.stderr
    assert not (folder / ".yb-eval").exists()


def test_without_cache_nothing_is_kept_and_a_broken_cache_is_refused_in_one_line(folder: Path) -> None:
    assert run(folder, *ROWS, *JUDGE, "--json").returncode == 0
    assert not (folder / ".yb-eval").exists()
    broken = folder / ".yb-eval" / "cache" / "decision.sqlite"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"this is no database " * 100)
    done = run(folder, *ROWS, *JUDGE, "--cache")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "decision.sqlite" in done.stderr


def test_two_runs_give_the_same_bytes(folder: Path) -> None:
    first, second = (run(folder, *ROWS, *JUDGE, "--json", "--out", name) for name in ("a.json", "b.json"))
    assert first.stdout == second.stdout
    assert (folder / "a.json").read_bytes() == (folder / "b.json").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--data", "none.jsonl"), "none.jsonl"),
        (("--data", "tracess"), "did you mean 'traces'"),
        ((*ROWS[:2], "-e", "promt_injection"), "prompt_injection"),
        ((*ROWS[:2], "-e", "coherence"), "no row has a label"),
        ((*ROWS, "--fit", "beta"), "beta"),
        ((*ROWS, "--split", "1"), "1"),
        ((*ROWS, "--backend", "nobody"), "nobody"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_one_line_with_exit_code_2(
    arguments: Sequence[str], what: str, folder: Path
) -> None:
    done = run(folder, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert what in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_label_is_refused_with_its_line(folder: Path) -> None:
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines(True)
    lines[2] = '{"id": "bad", "sample": {"input": "x"}, "labels": {"prompt_injection": "fine"}}\n'
    (folder / "rows.jsonl").write_text("".join(lines), encoding="utf-8")
    done = run(folder, *ROWS, *JUDGE)
    assert done.returncode == 2
    assert "rows.jsonl:3" in done.stderr


def test_where_nothing_can_be_calibrated_nothing_is_kept_and_the_exit_code_is_3(folder: Path) -> None:
    lines = (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines(True)
    (folder / "rows.jsonl").write_text("".join(lines[:12]), encoding="utf-8")
    done = run(folder, *ROWS, *JUDGE, "--out", "c.json")
    assert done.returncode == 3, done.stderr
    assert "10 of each are needed" in done.stdout
    assert "nothing is kept" in done.stderr
    assert not (folder / "c.json").exists()


def test_the_data_that_ship_can_be_calibrated_on(folder: Path) -> None:
    done = run(folder, "--data", "traces", "--data", "injection-public", "-e", "prompt_injection", "--json")
    assert done.returncode in (0, 3), done.stderr
    told = json.loads(done.stdout)
    assert told["evals"]["prompt_injection"]["n"]["fit"] > 0
