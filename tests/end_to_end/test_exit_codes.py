"""The exit code, the printed verdict and the written verdict are one value; errors are one line."""

import json

import pytest


def one_line(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith("yb-eval: ")]
    assert len(lines) == 1 and not done.stdout, (done.stdout, done.stderr)
    return lines[0]


def test_a_run_that_passes_ends_with_0_and_one_that_fails_with_1(project, parity_rows):
    project.rows(parity_rows(20))
    report = project.report("toy")
    assert (report["verdict"], report["exit_code"]) == ("pass", 0)
    project.rows(parity_rows(20, wrong=5))
    report = project.report("toy", code=1)
    assert (report["verdict"], report["exit_code"]) == ("fail", 1)
    assert report["suites"][0]["measurements"]["accuracy"]["value"] == 0.75
    assert "FAIL" in project("run", "toy", code=1).stdout


def test_a_warning_gate_does_not_fail_the_run(project, parity_rows):
    project.rows(parity_rows(20, wrong=1))
    report = project.report("toy", "--gate", "warn: accuracy >= 0.99")
    assert report["verdict"] == "pass"
    assert [(g["severity"], g["verdict"]) for g in report["suites"][0]["gates"]][-1] == ("warn", "fail")


def test_errors_of_the_target_are_not_a_miss_and_not_a_pass(project, parity_rows):
    project.rows([*parity_rows(20), {"id": "b", "text": "boom!", "parity": "odd"}])
    report = project.report("toy", code=3)
    suite = report["suites"][0]
    assert suite["counts"] == {"samples": 21, "scored": 20, "error": 1, "skipped": 0, "wrong": 0}
    assert suite["measurements"]["accuracy"] == {"value": 1.0, "n": 20, "interval": suite["measurements"]["accuracy"]["interval"], "reason": None}  # fmt: skip
    assert (suite["verdict"], suite["gates"][0]["verdict"]) == ("unmeasured", "unmeasured")
    assert project.report("toy", "--max-errors", 1)["verdict"] == "pass"


def test_a_dead_target_is_unmeasured_whatever_the_gates_say(project, parity_rows):
    project.rows([{"id": f"b{i}", "text": "boom!", "parity": "odd"} for i in range(3)])
    report = project.report("toy", "--max-errors", 3, "--gate", "errors >= 0", code=3)
    assert report["verdict"] == "unmeasured"
    assert report["suites"][0]["measurements"]["accuracy"]["value"] is None


def test_a_bug_in_a_suite_ends_with_3_and_keeps_what_was_finished(project, parity_rows):
    project.rows(parity_rows(20))
    report = project.report("toy", TOY_BUG=1, code=3)
    assert report["run_id"] is None
    assert "ZeroDivisionError" in report["suites"][0]["gates"][0]["reason"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tooy"], "unknown suite 'tooy' (did you mean 'toy'?)"),
        (["toy", "--rows", "missing.jsonl"], "missing.jsonl"),
        (["toy", "--gate", "acuracy >= 1"], "did you mean 'accuracy'"),
        (["toy", "--gate", "accuracy >= nan"], "unknown name 'nan'"),
        (["toy", "--gate", "accuracy >= 1e999"], "not finite"),
        (["toy", "--gate", "accuracy >= 98"], "lies in 0..1"),
        (["toy", "--gate", "accuracy >= -0.1"], "lies in 0..1"),
        (["toy", "--gate", "accuracy >= '0.9'"], "a threshold is a number"),
        (["toy", "--gate", "accuracy"], "is not a condition"),
        (["toy", "--gate", "1 >= 0"], "names no measurement"),
        (["toy", "--gate", "lower(accuracy)"], "is not a condition"),
        (["toy", "--gate", "__import__('os').system('true') == 0"], "not part of the language"),
        (["toy", "--gate", "accuracy.__class__ == 1"], "unknown name"),
        (["toy", "--min-accuracy", "2"], "min-accuracy"),
        (["toy", "--min-accuracy", "nan"], "not a finite number"),
        (["toy", "--filter", "tags and"], "cannot read"),
        (["toy", "--filter", "id == 'nobody'"], "no"),
        (["toy", "--limit", "0"], "limit"),
        (["toy", "--jobs", "0"], "jobs"),
        (["toy", "--executor", "gpu"], "unknown executor"),
        (["toy", "--metric", "f1"], "unknown metric"),
        (["toy", "--target", "pythn:x:y"], "unknown target"),
        (["toy", "--target", "python:no_such_module:x"], "no_such_module"),
        (["toy", "--against", "nothing.json"], "no baseline 'nothing.json'"),
        (["toy", "--report", "pdf=x.pdf"], "unknown report format 'pdf'"),
        (["toy", "--report", "json"], "a report needs a place"),
        (["toy", "--resume"], "no interrupted run of toy"),
        (["toy", "--save", "--limit", "2"], "a baseline is not saved from a part"),
        (["toy", "--min-acuracy", "0.5"], "--min-acuracy"),
        (["toy", "--replay", "x.jsonl", "--target", "exec:cat"], "name two targets"),
        (["toy", "toy"], "run twice"),
        ([], "no suite is named"),
    ],
)
def test_whatever_is_refused_is_one_line_and_exit_2(project, parity_rows, arguments, said):
    project.rows(parity_rows(5))
    assert said in one_line(project("run", *arguments, code=2))
    assert not list(project.folder.glob(".yb-eval/objects/**/*")), "nothing was evaluated"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "rows.jsonl"),
        (b"\n\r\n", "rows.jsonl"),
        (b'{"id": "a", "text": "x"}\n', "rows.jsonl:1: $.parity"),
        (b'{"id": "a", "text": "x", "parity": "odd", "pairty": 1}\n', "rows.jsonl:1: $.pairty"),
        (b'{"id": "a", "text": "x", "parity": "odd"}\n{"id": "a", "text": "y", "parity": "odd"}\n', "rows.jsonl:2"),
        (b'{"id": "a", "text": "x", "text": "y", "parity": "odd"}\n', "rows.jsonl:1"),
        (b'{"id": "a", "text": NaN, "parity": "odd"}\n', "rows.jsonl:1"),
        (b'{"id": "a", "text": "x", "par', "rows.jsonl:1"),
        (b'["a"]\n', "rows.jsonl:1"),
    ],
)
def test_an_invalid_dataset_is_refused_with_its_line(project, data, said):
    project.write("rows.jsonl", data)
    assert said in one_line(project("run", "toy", code=2))


@pytest.mark.parametrize("limit", [0, -1])
def test_a_check_that_may_list_nothing_is_refused_rather_than_passed(project, limit):
    project.write("rows.jsonl", '{"id": "a"\n')
    assert "is not in the range" in project("dataset", "check", "rows.jsonl", "--limit", limit, code=2).stderr


def test_a_suite_without_a_gate_is_refused(project, install, parity_rows):
    project.rows(parity_rows(5))
    code = (project.site / "yb_toy.py").read_text().replace('name="toy"', 'name="open"')
    install("yb-open", {"open": "yb_open"}, code.replace("gates=[Exp", "gates=[] and [Exp"))
    assert "has no gate, so it cannot fail" in one_line(project("run", "open", code=2))
    project("run", "open", "--gate", "accuracy >= 0.5")


def test_ctrl_c_ends_with_130_and_the_run_can_be_resumed(project, parity_rows):
    import signal
    import subprocess
    import time
    from pathlib import Path

    project.rows(parity_rows(200))
    whole = project.report("toy", "--store", "other")["run_id"]
    import sys

    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("yb-eval")), "run", "toy", "--batch-size", "1"],
        cwd=project.folder, env=project.environment(TOY_SLEEP=0.02), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    logs = project.folder / ".yb-eval" / "partial"
    while not any(path.stat().st_size for path in logs.glob("*/*.jsonl")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130, said
    assert b"kept for --resume" in said and b"Traceback" not in said
    assert project.report("toy", "--resume")["run_id"] == whole


def test_json_on_stdout_is_the_report_and_nothing_else(project, parity_rows):
    project.rows(parity_rows(5))
    done = project("run", "toy", "--json", "--save", "b.json")
    assert json.loads(done.stdout)["schema"] == "yb-eval/report/1"
    assert "baseline saved" in done.stderr
