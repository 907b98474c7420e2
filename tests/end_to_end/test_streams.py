"""stdout, stderr, pipes and terminals."""

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
