"""The action's own steps, run as a runner does: expressions resolved, `run:` scripts under bash, a fake API on loopback.

Only what needs the network is stood in for: `pip install` is recorded, and actions by others are checked for what they
are given.
"""

from __future__ import annotations

import html
import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "yb-eval"
DOCUMENT = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
STEPS = DOCUMENT["runs"]["steps"]
MARKER = "<!-- yb-eval -->"


class Runner:
    """One job: a workspace, the runner's files, and what `uses:` steps were given."""

    def __init__(self, project: Any, folder: Path, environment: dict[str, str], event: str = "pull_request") -> None:
        self.project = project
        self.folder = folder
        self.environment = environment
        self.event = event
        self.outputs: dict[str, dict[str, str]] = {}
        self.artifacts: dict[str, Path] = {}
        self.log = ""
        self.summary = ""
        folder.mkdir()
        (folder / "temp").mkdir()
        self._python()

    def _python(self) -> None:
        """A `python3` whose `venv` holds the interpreter of the tests and a `pip` that only writes down."""
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "python3").write_text(
            f"""#!/usr/bin/env bash
if [[ "$1 $2" == "-m venv" ]]; then
  mkdir -p "$3/bin"
  ln -sf "{Path(sys.executable).with_name("yb-eval")}" "$3/bin/yb-eval"
  cat > "$3/bin/python" <<'INNER'
#!/usr/bin/env bash
if [[ "$1 $2 $3" == "-m pip install" ]]; then printf '%s\\n' "${{@:4}}" > "{self.folder}/pip"; exit 0; fi
exec "{sys.executable}" "$@"
INNER
  chmod +x "$3/bin/python"
  exit 0
fi
exec "{sys.executable}" "$@"
""",
            encoding="utf-8",
        )
        (tools / "python3").chmod(0o755)

    def run(self, **inputs: str) -> int:
        """Runs all steps; returns the exit code of the first that failed, 0 if none did."""
        values = {name: str(entry["default"]) for name, entry in DOCUMENT["inputs"].items()}
        assert inputs.keys() <= {name.replace("-", "_") for name in values}
        values |= {name.replace("_", "-"): value for name, value in inputs.items()}
        self.inputs = values
        first = 0
        for number, step in enumerate(STEPS):
            condition = step.get("if")
            if not (self._holds(condition) if condition else first == 0):
                continue
            if first and not (condition and "cancelled()" in condition):
                continue
            code = self._uses(step) if "uses" in step else self._script(number, step)
            if code and not step.get("continue-on-error") and not first:
                first = code
        return first

    def _script(self, number: int, step: dict[str, Any]) -> int:
        assert step["shell"] == "bash" and "${{" not in step["run"]
        files = {name: self.folder / f"{name}-{number}" for name in ("output", "summary", "env", "path")}
        for path in files.values():
            path.write_text("", encoding="utf-8")
        environment = {
            **self.project.environment(),
            **{key: value for key, value in self.environment.items() if key != "GITHUB_TOKEN"},
            **{name: self._resolve(value) for name, value in step.get("env", {}).items()},
            "CI": "true",
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_WORKSPACE": str(self.project.folder),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            "GITHUB_ENV": str(files["env"]),
            "GITHUB_PATH": str(files["path"]),
            "PATH": f"{self.folder / 'tools'}:{os.environ['PATH']}",
        }
        script = self.folder / f"step-{number}.sh"
        script.write_text(step["run"], encoding="utf-8")
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
            cwd=self.project.folder, env=environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        self.log += done.stdout + done.stderr
        self.summary += files["summary"].read_text(encoding="utf-8")
        if "id" in step:
            pairs = (line.split("=", 1) for line in files["output"].read_text(encoding="utf-8").splitlines())
            self.outputs[step["id"]] = dict(pairs)
        return done.returncode

    def _uses(self, step: dict[str, Any]) -> int:
        assert step["uses"].startswith("actions/upload-artifact@")
        given = {name: self._resolve(value) for name, value in step["with"].items()}
        assert Path(given["path"]).is_dir() and list(Path(given["path"]).iterdir())
        self.artifacts[given["name"]] = Path(given["path"])
        return self.environment.get("FAIL_UPLOAD") == "1"

    def _value(self, reference: str) -> str:
        parts = reference.split(".")
        if parts[0] == "inputs":
            return self.inputs[parts[1]]
        if parts[0] == "steps":
            return self.outputs.get(parts[1], {}).get(parts[3], "")
        return {
            "github.action_path": str(ACTION),
            "github.token": self.environment["GITHUB_TOKEN"],
            "github.event_name": self.event,
        }[reference]

    def _resolve(self, value: Any) -> str:
        if not isinstance(value, str):
            return json.dumps(value)
        return re.sub(r"\$\{\{ *([\w.-]+) *\}\}", lambda found: self._value(found[1]), value)

    def _holds(self, condition: str) -> bool:
        """The few expressions that the action uses, with Python's `and`, `or` and `not`."""
        text = condition.strip().removeprefix("${{").removesuffix("}}").replace("!cancelled()", "True")
        text = text.replace("&&", " and ").replace("||", " or ")
        text = re.sub(r"\b(?:inputs|steps|github)\.[\w.-]+", lambda found: repr(self._value(found[0])), text)
        return bool(eval(" ".join(text.split()), {"__builtins__": {}}))


@pytest.fixture
def runner(project, github, tmp_path):
    made = []

    def start(**more):
        event = more.pop("event", "pull_request")
        made.append(Runner(project, tmp_path / f"runner{len(made)}", {**github, **more}, event))
        return made[-1]

    return start


@pytest.fixture
def red(project, rows):
    project.rows(rows(20, wrong=9))


def test_a_first_run_leaves_artifact_summary_and_one_comment(runner, forge, project):
    job = runner()
    assert job.run(suites="toy") == 0
    assert sorted(p.name for p in job.artifacts["yb-eval"].iterdir()) == [
        "outcomes", "report.html", "report.json", "report.md", "report.xml",
    ]  # fmt: skip
    assert len((job.artifacts["yb-eval"] / "outcomes" / "toy.jsonl").read_text().splitlines()) == 20
    assert job.summary.startswith(MARKER) and job.summary.count(MARKER) == 1
    assert len(forge.comments) == 1 and "yb-eval: pass" in forge.texts()[0]
    report = json.loads((job.artifacts["yb-eval"] / "report.json").read_text())
    assert job.outputs["gate"] == {
        "report": str(job.artifacts["yb-eval"]), "exit-code": "0", "verdict": "pass", "run-id": report["run_id"],
    }  # fmt: skip


def test_it_installs_what_the_repository_has(runner):
    job = runner()
    job.project.write("reqs.txt", "")
    assert job.run(suites="toy", requirements="reqs.txt") == 0
    asked = (job.folder / "pip").read_text().splitlines()
    parts = [path.parent for path in ROOT.glob("*/pyproject.toml")] + [
        p.parent for p in ROOT.glob("plugins/*/pyproject.toml")
    ]
    assert {str(part) for part in parts} <= set(asked)
    assert asked[asked.index("-r") + 1] == "./reqs.txt" and asked[asked.index("-c") + 1] == str(
        ROOT / "constraints.txt"
    )


def test_a_red_gate_fails_the_last_step_with_the_tools_code(runner, forge, red):
    job = runner()
    assert job.run(suites="toy") == 1
    assert job.outputs["gate"]["verdict"] == "fail" and "yb-eval: fail" in forge.texts()[0]
    assert "::error file=rows.jsonl,line=1,title=toy%3A wrong::r0: expected even, got odd" in job.log


def test_what_was_not_measured_ends_with_3(runner, forge, project):
    project.rows([{"text": "boom", "parity": "even"}])
    assert runner().run(suites="toy") == 3
    assert "yb-eval: unmeasured" in forge.texts()[0]


def test_a_re_run_updates_the_comment(runner, forge, project, rows):
    assert runner().run(suites="toy") == 0
    project.rows(rows(20, wrong=9))
    assert runner(GITHUB_RUN_ID="101").run(suites="toy") == 1
    assert len(forge.comments) == 1 and "yb-eval: fail" in forge.texts()[0]


def test_re_runs_at_once_end_with_one_comment(runner, forge):
    jobs = [runner(YB_EVAL_STORE=str(Path(f"store{n}"))) for n in range(2)]
    together = threading.Barrier(2)
    first = threading.Semaphore(2)

    def wait(method, path):
        if method == "GET" and "/comments" in path and first.acquire(blocking=False):
            together.wait(timeout=90)

    forge.after = wait
    codes = []
    threads = [threading.Thread(target=lambda job=job: codes.append(job.run(suites="toy"))) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert codes == [0, 0]
    assert len(forge.asked("POST")) == 2, "the test means to make them collide"
    assert len(forge.comments) == 1


@pytest.mark.parametrize("wrong", [0, 9])
def test_on_a_fork_the_summary_says_why_there_is_no_comment(runner, forge, project, rows, wrong):
    project.rows(rows(20, wrong=wrong))
    forge.read_only = True
    job = runner()
    assert job.run(suites="toy") == (1 if wrong else 0)
    assert forge.comments == [] and "pull request from a fork" in job.summary and job.summary.count(MARKER) == 1


@pytest.mark.parametrize("wrong", [0, 9])
def test_an_outage_changes_neither_verdict_nor_exit_code(runner, forge, project, rows, wrong):
    project.rows(rows(20, wrong=wrong))
    forge.fail(1000, 503, message="down")
    job = runner()
    assert job.run(suites="toy") == (1 if wrong else 0)
    assert forge.comments == [] and "it could not be written" in job.summary
    assert "::warning title=yb-eval::The pull request has no up-to-date comment" in job.log


def test_a_passing_outage_is_waited_out(runner, forge):
    forge.fail(3, 502)
    assert runner().run(suites="toy") == 0
    assert len(forge.comments) == 1


def test_a_comment_that_is_rejected_changes_no_verdict(runner, forge, red):
    forge.limit = 10
    job = runner()
    assert job.run(suites="toy") == 1
    assert "HTTP 422" in job.log and "yb-eval: fail" in job.summary


def test_a_comment_past_a_hundred_others_is_found(runner, forge):
    for number in range(130):
        forge.comment(f"comment {number}", {"login": "someone", "type": "User"})
    mine = forge.comment(f"{MARKER}\nold")
    assert runner().run(suites="toy") == 0
    assert len(forge.comments) == 131 and "yb-eval: pass" in mine["body"]


def test_a_refused_run_says_so_everywhere_and_ends_with_2(runner, forge, project):
    assert runner().run(suites="toy") == 0
    project.write("rows.jsonl", '{"text": "<script>@someone", "parity": 1}\n')
    job = runner(GITHUB_RUN_ID="101")
    assert job.run(suites="toy") == 2
    assert "no verdict" in forge.texts()[0] and len(forge.comments) == 1
    assert "rows.jsonl:1" in html.unescape(forge.texts()[0])
    assert "no verdict" in job.summary and "rows.jsonl:1" in job.summary and "<script>" not in job.summary
    assert [p.name for p in job.artifacts["yb-eval"].iterdir()] == ["refused.txt"]


def test_a_configuration_that_cannot_be_read_is_told_in_the_comment_too(runner, forge, project):
    project.write("yb-eval.toml", "[suites.toy\n")
    assert runner().run() == 2
    assert "yb-eval.toml:1" in html.unescape(forge.texts()[0])


def test_an_artifact_that_cannot_be_kept_hides_no_verdict(runner, forge, red):
    job = runner(FAIL_UPLOAD="1")
    assert job.run(suites="toy") == 1
    assert len(forge.comments) == 1 and job.outputs["gate"]["exit-code"] == "1"


@pytest.mark.parametrize(("inputs", "event"), [({"comment": "false"}, "pull_request"), ({}, "push"), ({}, "schedule")])
def test_there_is_no_comment_where_none_is_wanted(runner, forge, inputs, event):
    assert runner(event=event).run(suites="toy", **inputs) == 0
    assert forge.requests == []


def test_the_configuration_composes_and_the_inputs_come_before_it(runner, project):
    project.write(
        "sub/yb-eval.toml",
        '[suites.toy]\nrows = "../rows.jsonl"\nmin-accuracy = 0.1\n[suites.routing]\nmax-mismatch = 5\n',
    )
    job = runner()
    assert job.run(working_directory="sub", routing_max_mismatch="7") == 0
    report = json.loads((job.artifacts["yb-eval"] / "report.json").read_text())
    gates = [gate["gate"] for suite in report["suites"] for gate in suite["gates"]]
    assert "accuracy >= 0.1" in gates and "mismatches <= 7" in gates
    assert sorted(p.name for p in (job.artifacts["yb-eval"] / "outcomes").iterdir()) == ["routing.jsonl", "toy.jsonl"]


def test_without_a_configuration_routing_and_guards_run(runner, forge):
    job = runner()
    guards = importlib.util.find_spec("yb_eval_guards") is not None
    code = job.run(routing_max_mismatch="500", guards_min_precision="0", guards_min_recall="0")
    if guards and (job.artifacts["yb-eval"] / "report.json").exists():
        report = json.loads((job.artifacts["yb-eval"] / "report.json").read_text())
        assert [suite["suite"] for suite in report["suites"]] == ["routing", "guards"]
    else:
        assert code == 2 and "guards" in job.log


@pytest.mark.parametrize(
    "inputs",
    [
        {"suites": "toy; touch pwned"},
        {"suites": "$(touch pwned)"},
        {"suites": "toy --report json=pwned"},
        {"suites": "--help"},
        {"config": "$(touch pwned).toml"},
        {"config": "x.toml; touch pwned"},
        {"suites": "toy", "routing_max_mismatch": "$(touch pwned)"},
        {"suites": "routing", "routing_max_mismatch": "0; touch pwned"},
    ],
)
def test_no_input_is_ever_a_command(runner, project, inputs):
    job = runner()
    code = job.run(**inputs)
    assert not list(project.folder.rglob("pwned*"))
    assert code == (0 if inputs.get("suites") == "toy" else 2)


def test_what_a_run_prints_is_no_workflow_command(runner, project):
    project.write("yb-eval.toml", '[suites.toy]\nsuite = "toy"\n[suites."::error::forged"]\nsuite = "toy"\n')
    job = runner()
    job.run()
    found = re.search(r"^::stop-commands::([0-9a-f]{32})\n(.*?)^::\1::$", job.log, re.S | re.M)
    assert found is not None and "plan " in found[2] and "PASS" in found[2]


def test_only_the_step_that_comments_has_the_token(runner):
    holders = [step["name"] for step in STEPS if "github.token" in json.dumps(step)]
    assert holders == ["Comment on the pull request"]
    assert not any("secrets." in json.dumps(step) for step in STEPS)


def test_scripts_hold_no_expressions_and_actions_are_pinned_by_commit():
    for step in STEPS:
        assert "${{" not in step.get("run", "")
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
    for script in ACTION.glob("*.sh"):
        assert "${{" not in script.read_text(encoding="utf-8")


def test_every_input_has_a_default_and_a_description():
    for name, entry in DOCUMENT["inputs"].items():
        assert isinstance(entry["default"], str) and entry["description"], name
