"""stdout, stderr, pipes and terminals."""

import json
import os
import pty
import subprocess

import pytest

ANSI = "\x1b["


@pytest.fixture
def toy(project, parity_rows):
    project.rows(parity_rows(10))
    return project


def shell(project, line, **env):
    return subprocess.run(
        ["bash", "-c", "set -o pipefail; " + line],
        cwd=project.folder, env={**project.environment(**env), "PATH": path(project)}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def path(project):
    import sys
    from pathlib import Path

    return f"{Path(sys.executable).parent}:{os.environ['PATH']}"


@pytest.mark.parametrize(
    "command", ["--help", "list", "run --help", "run toy", "run toy --json", "describe toy", "show"]
)
def test_a_closed_pipe_is_not_an_error(toy, command):
    toy("run", "toy")
    done = shell(toy, f"yb-eval {command} 2>err | head -c 1")
    assert done.returncode == 0, done
    said = (toy.folder / "err").read_text()
    assert "Broken" not in said and "Traceback" not in said and "yb-eval:" not in said


def test_a_closed_pipe_does_not_turn_a_failure_into_a_pass(project, parity_rows):
    project.rows(parity_rows(10, wrong=9))
    assert shell(project, "yb-eval run toy | true").returncode == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["run toy", "run toy --json", "list", "describe toy"])
def test_a_full_disk_behind_stdout_is_one_line_and_exit_3(toy, command):
    done = shell(toy, f"yb-eval {command} > /dev/full")
    assert done.returncode == 3, done
    assert len([line for line in done.stderr.splitlines() if "No space left" in line]) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["--report=json=/dev/full", "--report=text=/dev/full", "--outcomes=/dev/full"])
def test_a_full_disk_behind_a_report_is_told_and_exit_3(toy, option):
    done = toy("run", "toy", option, code=3)
    assert "No space left" in done.stderr + done.stdout and "PASS" in done.stdout


def test_a_report_path_in_a_folder_that_cannot_be_written_is_refused_before_the_run(toy):
    toy.write("file", "x")
    assert "cannot be written" in toy("run", "toy", "--report", f"json={toy.folder}", code=2).stderr
    assert not (toy.folder / ".yb-eval").exists()


@pytest.mark.parametrize("option", ["--outcomes", "--save", "--record"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(toy, option):
    toy.write("folder/keep", "")
    for place, said in (("folder", "it is a folder"), ("/proc/no/file", "No such file"), (".", "it is a folder")):
        done = toy("run", "toy", option, place, code=2)
        assert f"{place}: the " in done.stderr and f"cannot be written there: {said}" in done.stderr
        assert not done.stdout and "\nplan " not in done.stderr


def test_reports_are_written_whole_and_leave_no_temporary_file(toy):
    toy("run", "toy", *(f"--report={kind}=out/{kind}" for kind in ("text", "json", "markdown", "junit")))
    assert sorted(path.name for path in (toy.folder / "out").iterdir()) == ["json", "junit", "markdown", "text"]


def terminal(project, *arguments, **env):
    """Runs the command with stdout and stderr on a pseudo-terminal and returns what it shows."""
    import sys
    from pathlib import Path

    leader, follower = pty.openpty()
    command = [str(Path(sys.executable).with_name("yb-eval")), *arguments]
    process = subprocess.Popen(command, cwd=project.folder, env={**project.environment(**env), "TERM": "xterm"}, stdout=follower, stderr=follower)  # fmt: skip
    os.close(follower)
    shown = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    process.wait(timeout=30)
    os.close(leader)
    return shown.decode()


def test_colour_is_for_terminals_that_want_it(toy):
    assert ANSI in terminal(toy, "run", "toy")
    assert ANSI not in terminal(toy, "run", "toy", NO_COLOR="1")
    assert ANSI not in toy("run", "toy").stdout


def test_progress_is_shown_on_a_terminal_for_long_work_and_never_in_ci(project, parity_rows):
    project.rows(parity_rows(60))
    slow = {"TOY_SLEEP": "0.03"}
    assert "of 60 samples" in terminal(project, "run", "toy", "--batch-size", "2", NO_COLOR="1", **slow)
    assert "of 60 samples\x1b" not in terminal(project, "run", "toy", "--batch-size", "2", NO_COLOR="1", CI="1", **slow)
    assert "of 60 samples\n" not in project("run", "toy", "--batch-size", "2", **slow).stderr


def test_an_ascii_locale_can_print_any_text(project):
    project.rows([{"id": "ключ-😀", "text": "ю", "parity": "even"}])
    done = project("run", "toy", code=1, LC_ALL="C", PYTHONIOENCODING="ascii")
    assert "FAIL" in done.stdout


def test_hostile_text_cannot_drive_the_terminal(project):
    project.rows([{"id": "a\u202eb", "text": "\x1b]0;owned\x07\x1b[2J", "parity": "odd", "tags": ["x"]}])
    shown = terminal(project, "run", "toy", NO_COLOR="1")
    assert "\x1b]0;" not in shown and "\x1b[2J" not in shown and "\u202e" not in shown


def test_shell_completion_scripts_are_printed(toy):
    for name in ("bash", "zsh", "fish"):
        assert "_YB_EVAL_COMPLETE" in toy("completion", name).stdout
    done = shell(toy, 'COMP_WORDS="yb-eval ver" COMP_CWORD=1 _YB_EVAL_COMPLETE=bash_complete yb-eval')
    assert "verify" in done.stdout


@pytest.mark.parametrize(
    "where", [(), ("--executor", "threads", "--jobs", "2"), ("--executor", "processes", "--jobs", "2")]
)
def test_what_a_target_prints_is_not_on_stdout(toy, where):
    toy.write("noisy.py", "print('noise')\ndef answer(request):\n    print('noise')\n    return {'parity': 'even'}\n")
    done = toy("run", "toy", "--target", "python:noisy:answer", "--json", *where, code=1)
    assert json.loads(done.stdout)["verdict"] == "fail"
    assert "noise" in done.stderr


def test_a_command_without_what_it_needs_shows_its_help_and_is_refused(toy):
    for group in ((), ("plugin",), ("dataset",)):
        done = toy(*group, code=2)
        assert done.stderr.startswith("Usage: yb-eval") and "\nCommands:\n" in done.stderr and not done.stdout


@pytest.mark.parametrize("wrong", [0, 9])
@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full", "2> >(exec 0<&-)"])
def test_a_stderr_that_takes_nothing_leaves_result_and_verdict(project, parity_rows, wrong, stderr):
    project.rows(parity_rows(10, wrong=wrong))
    done = shell(project, f"yb-eval run toy {stderr}")
    assert done.returncode == (1 if wrong else 0)
    assert done.stdout.startswith("FAIL" if wrong else "PASS")


@pytest.mark.parametrize("wrong", [0, 9])
def test_a_closed_stdout_is_one_line_and_exit_3(project, parity_rows, wrong):
    project.rows(parity_rows(10, wrong=wrong))
    done = shell(project, "yb-eval run toy >&-")
    assert done.returncode == 3 and "stdout: the result cannot be written" in done.stderr
    assert "Traceback" not in done.stderr and "internal error" not in done.stderr


@pytest.mark.parametrize(
    "path", ["file/report.json", "file/deeper/report.json", "x" * 300, "/proc/nothing/report.json"]
)
def test_a_report_path_that_cannot_be_is_refused_even_to_root(toy, path):
    toy.write("file", "x")
    assert "cannot be written there" in toy("run", "toy", "--report", f"json={path}", code=2).stderr
    assert not (toy.folder / ".yb-eval").exists()
    toy("run", "toy", "--report", "json=new/folders/report.json")


REPORTERS = """
from yb_eval import hookimpl

YB_EVAL_API = 1


def breaks(view):
    yield "x"
    raise RuntimeError("broken")


def leaves(view):
    raise SystemExit(0)


@hookimpl
def yb_eval_reporters():
    return {"breaks": breaks, "leaves": leaves}
"""


@pytest.mark.parametrize("kind", ["breaks", "leaves"])
def test_a_reporter_that_raises_or_exits_is_told_and_takes_no_failure_away(project, parity_rows, install, kind):
    install("yb-reporters", {"reporters": "yb_reporters"}, REPORTERS, group="plugins")
    project.rows(parity_rows(10, wrong=9))
    done = project("run", "toy", "--report", "json=report.json", "--report", f"{kind}=x.txt", code=1)
    assert done.stdout.startswith("FAIL") and "the reporter failed" in done.stderr
    assert not (project.folder / "x.txt").exists()


def test_the_json_report_says_what_the_command_ends_with(toy, install):
    install("yb-reporters", {"reporters": "yb_reporters"}, REPORTERS, group="plugins")
    done = toy("run", "toy", "--report", "json=report.json", "--report", "breaks=x.txt", code=None)
    report = json.loads((toy.folder / "report.json").read_text())
    assert report["exit_code"] == done.returncode and "the reporter failed" in report["failures"][0]
