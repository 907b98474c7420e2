"""`--log-format json`: every line on stderr is one JSON object; stdout stays the result."""

import json
from datetime import datetime

import pytest


def entries(done):
    found = [json.loads(line) for line in done.stderr.splitlines()]
    for entry in found:
        assert {"time", "level", "message"} <= entry.keys() and entry["level"] in ("info", "warning", "error")
        assert datetime.fromisoformat(entry["time"]).utcoffset() is not None
    return found


def test_the_notes_of_a_run_are_json_lines(project):
    done = project("run", "toy", "--log-format", "json")
    said = entries(done)
    assert said[0]["message"].startswith("plan ") and said[0]["level"] == "info"
    assert done.stdout == project("show").stdout


@pytest.mark.parametrize("arguments", [["--log-format=json", "run", "toy"], ["run", "--log-format", "json", "toy"]])
def test_it_may_stand_anywhere(project, arguments):
    assert entries(project(*arguments))


def test_errors_of_all_kinds_are_json_lines_with_their_level(project):
    for arguments, code in (
        (["run", "nosuch"], 2),
        (["run", "toy", "--nosuch"], 2),
        (["run", "toy", "--rows", "missing.jsonl"], 2),
        (["verify", "ffffffff"], 2),
        (["nosuch"], 2),
        (["dataset", "check", "missing.jsonl"], 2),
    ):
        (entry,) = entries(project(*arguments, "--log-format", "json", code=code))
        assert entry["level"] == "error" and not entry["message"].startswith("yb-eval:")


def test_warnings_have_their_level(project, forge, github):
    forge.read_only = True
    project("run", "toy")
    (entry,) = entries(project("comment", "--log-format", "json", **github))
    assert entry["level"] == "warning" and entry["message"].startswith("no comment")


def test_the_environment_and_the_configuration_can_ask_for_it(project):
    assert entries(project("run", "toy", YB_EVAL_LOG_FORMAT="json"))
    project.write("yb-eval.toml", '[run]\nlog-format = "json"\n[suites.toy]\n')
    assert entries(project("run"))
    assert project("run", "--log-format", "text").stderr.startswith("plan ")
    assert project("run", YB_EVAL_LOG_FORMAT="text").stderr.startswith("plan ")


def test_another_format_is_refused(project):
    done = project("run", "toy", "--log-format", "xml", code=2)
    assert "'xml' is no format of the log" in done.stderr and done.stdout == ""
    assert project("list", "--log-format", code=2).stdout == ""
    assert "no format" in project("list", YB_EVAL_LOG_FORMAT="yaml", code=2).stderr


def test_progress_is_a_line_a_second_for_machines(project, rows):
    project.rows(rows(40))
    done = project("run", "toy", "--batch-size", "1", "--log-format", "json", TOY_SLEEP="0.06")
    steps = [entry for entry in entries(done) if entry.get("event") == "progress"]
    assert steps and all(entry["suite"] == "toy" and entry["total"] == 40 for entry in steps)
    assert [entry["done"] for entry in steps] == sorted({entry["done"] for entry in steps})


def test_any_text_is_ascii_json(project):
    name = "ключ-\U0001f600.jsonl"
    (entry,) = entries(project("dataset", "check", name, "--log-format", "json", code=2, PYTHONIOENCODING="ascii"))
    assert name in entry["message"]


def test_after_two_dashes_it_is_an_argument(project):
    done = project("dataset", "check", "--", "--log-format", code=2)
    assert "--log-format: not a kind of file" in done.stderr
