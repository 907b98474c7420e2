"""actionlint on the action's steps and on every workflow of docs/ci.md; and its shell lines, run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ACTION = ROOT / ".github" / "actions" / "yb-eval"
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "docs" / "ci.md").read_text(encoding="utf-8"), re.S | re.M)
YAML = [text for language, text in BLOCKS if language == "yaml"]
SHELL = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
WORKFLOWS = [text for text in YAML if "jobs:" in text]
ACTIONLINT = shutil.which("actionlint") or str(Path(sys.executable).with_name("actionlint"))


def as_workflow() -> str:
    """The action as a reusable workflow: actionlint reads workflows, and of an action its inputs only."""
    action: dict[str, Any] = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    inputs = {name: {"type": "string", "default": entry["default"]} for name, entry in action["inputs"].items()}
    job = {"runs-on": "ubuntu-latest", "steps": action["runs"]["steps"]}
    return yaml.safe_dump({"on": {"workflow_call": {"inputs": inputs}}, "jobs": {"action": job}}, sort_keys=False)


def actionlint(tmp_path: Path, text: str) -> tuple[int, str]:
    workflows = tmp_path / ".github" / "workflows"
    workflows.mkdir(parents=True)
    shutil.copytree(ACTION, tmp_path / ".github" / "actions" / "yb-eval")
    (tmp_path / ".git").mkdir()
    (workflows / "checked.yml").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [ACTIONLINT, "-no-color", "-pyflakes="], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("text", [as_workflow(), *WORKFLOWS])
def test_actionlint_finds_nothing(tmp_path, text):
    code, said = actionlint(tmp_path, text)
    assert code == 0, said


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("inputs.config }}", "inputs.confg }}"),
        ("steps.gate.outputs", "steps.gaet.outputs"),
        ('bash "$ACTION_PATH/gate.sh"', "echo ${{ github.event.pull_request.title }}"),
    ],
)
def test_actionlint_would_find_a_slip(tmp_path, good, bad):
    text = as_workflow()
    changed = re.sub(re.escape(good), lambda _: bad, text)
    assert changed != text
    assert actionlint(tmp_path, changed)[0] == 1


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_shellcheck_finds_nothing():
    scripts = [str(path) for path in sorted(ACTION.glob("*.sh"))]
    done = subprocess.run(["shellcheck", "-s", "bash", *scripts], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_the_page_has_the_four_ways():
    names = [yaml.safe_load(text).get("name") for text in WORKFLOWS]
    assert names == ["evals", "evals of a pull request", "comment on evals"]
    assert any("evals:" in text and "merge_request_event" in text for text in YAML)
    assert any(line.startswith("make ") for line in SHELL)


def test_the_workflow_with_the_writing_token_takes_nothing_of_the_pull_request():
    document = yaml.safe_load(WORKFLOWS[2])
    assert document[True]["workflow_run"]["workflows"] == [yaml.safe_load(WORKFLOWS[1])["name"]]
    assert "pull-requests" not in yaml.safe_load(WORKFLOWS[1])["permissions"]
    for step in document["jobs"]["comment"]["steps"]:
        if step.get("uses", "").startswith("actions/checkout"):
            assert "ref" not in step["with"] and "repository" not in step["with"]
        assert "${{" not in step.get("run", "")


def test_every_action_on_the_page_is_pinned():
    used = [found for text in WORKFLOWS for found in re.findall(r"uses: (\S+)", text)]
    for reference in used:
        assert reference == "./.github/actions/yb-eval" or re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", reference)


def run(project: Any, line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**project.environment(), "PATH": path, **environment}
    done = subprocess.run(
        ["bash", "-c", line], cwd=project.folder, env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    return done


def test_the_shell_lines_do_what_the_page_says(project):
    lines = [line for line in SHELL if line.startswith("yb-eval ")]
    assert len(lines) >= 5
    for line in lines:
        run(project, line)
    assert {"report.json", "report.xml", "statement.json", "predicate.json"} <= set(os.listdir(project.folder))


def test_the_make_lines_name_targets_that_there_are():
    lines = [line for line in SHELL if line.startswith("make ")]
    assert lines
    for line in lines:
        done = subprocess.run(["bash", "-c", f"{line} --dry-run"], cwd=ROOT, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "yb-eval run" in done.stdout, done.stderr


def test_the_gitlab_job_runs_and_comments(project, forge, gitlab):
    document = yaml.safe_load(next(text for text in YAML if "merge_request_event" in text))
    job = document["evals"]
    for line in (*job["script"], *job["after_script"]):
        run(project, line, **gitlab)
    assert len(forge.comments) == 1 and "yb-eval: pass" in forge.texts()[0]
    for path in (*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]):
        assert (project.folder / path).is_file()


def test_the_inputs_on_the_page_are_the_actions():
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    action = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    table = page[page.index("| input |") : page.index("Outputs: ")]
    assert re.findall(r"^\| `([\w-]+)` \|", table, re.M) == list(action["inputs"])
    assert re.findall(r"`([\w-]+)`", page[page.index("Outputs: ") :].split(".")[0]) == list(action["outputs"])
