"""`--dry-run`: all that can be known before, and nothing done."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "yb-eval")


@pytest.fixture
def run(tmp_path):
    def go(*arguments, **environment):
        return subprocess.run(
            [COMMAND, *arguments], cwd=tmp_path, env={**os.environ, **environment}, capture_output=True, text=True
        )

    return go


def test_the_plan_is_the_one_that_the_run_announces(run):
    foreseen = json.loads(run("run", "routing", "--dry-run", "--json").stdout)
    done = json.loads(run("run", "routing", "--json").stdout)
    assert foreseen["schema"] == "yb-eval/dry-run/1"
    assert foreseen["plan_id"] == done["plan_id"]
    assert foreseen["suites"][0]["gates"][1]["gate"] == done["suites"][0]["gates"][1]["gate"]


def test_nothing_is_asked_and_nothing_is_written(run, tmp_path):
    (tmp_path / "asked.py").write_text("def answer(request):\n    open('asked', 'w').close()\n    return {}\n")
    done = run(
        "run", "routing", "--dry-run", "--target", "python:asked:answer", "--record", "r.jsonl", "--save", "b.json",
        "--outcomes", "o.jsonl", "--report", "html=report.html", PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["asked.py"]
    assert "target python:asked:answer" in done.stdout
    assert "nothing is asked" in done.stdout


def test_what_the_run_would_refuse_is_refused(run):
    done = run("run", "routing", "--dry-run", "--gate", "no_such_thing >= 1")
    assert done.returncode == 2
    assert "no_such_thing" in done.stderr and done.stdout == ""


def test_several_suites_are_planned_as_one_run(run):
    foreseen = json.loads(run("run", "routing", "guards", "--dry-run", "--json").stdout)
    assert [suite["name"] for suite in foreseen["suites"]] == ["routing", "guards"]
    assert foreseen["plan_id"] not in {suite["plan_id"] for suite in foreseen["suites"]}
