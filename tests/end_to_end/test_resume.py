"""A killed run loses nothing that was finished, repeats nothing, and ends with the id of an unbroken one."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("yb-eval")


def test_killed_at_any_step_a_run_is_resumed_to_the_same_id(project, parity_rows):
    """kill -9 at one step after another among everything that touches the store, half-written lines included."""
    project.rows(parity_rows(40, wrong=2))
    arguments = ["toy", "--batch-size", 8, "--repeats", 2]
    whole = project.report(*arguments, "--store", "whole")
    step, steps = 0, 0
    while True:
        step += 2 if step > 12 else 1
        shutil.rmtree(project.folder / ".yb-eval", ignore_errors=True)
        done = project("run", *arguments, code=None, TOY_DIE_AT=step)
        if done.returncode == 0:
            break
        assert done.returncode == -9, (step, done.stderr)
        steps += 1
        project("verify", "--all")
        partial = list(project.folder.glob(".yb-eval/partial/*/*.jsonl"))
        resumed = project.report(*arguments, *(["--resume"] if any(p.stat().st_size for p in partial) else []))
        assert resumed["run_id"] == whole["run_id"], step
        assert resumed["suites"][0]["outcomes"] == whole["suites"][0]["outcomes"]
        project("verify", "--all")
    assert steps > 10, "the run was killed at many steps"


def interrupted(project, *arguments):
    project("run", "toy", "--batch-size", 8, *arguments, code=-9, TOY_DIE_AT_WRITE=3)
    assert list(project.folder.glob(".yb-eval/partial/*/*.jsonl"))


@pytest.mark.parametrize(
    ("arguments", "changed"),
    [
        (["--note", "other"], "options"),
        (["--seed", 1], "seed"),
        (["--gate", "accuracy >= 0.5"], "gates"),
        (["--repeats", 2], "repeats"),
        (["--target", "exec:cat"], "target"),
        (["--limit", 39], "limit"),
    ],
)
def test_resuming_another_plan_is_refused_and_says_what_changed(project, parity_rows, arguments, changed):
    project.rows(parity_rows(40))
    interrupted(project)
    said = project("run", "toy", "--resume", *arguments, code=2).stderr
    assert "was another: changed since then:" in said and changed in said


def test_resuming_over_changed_data_or_another_plugin_version_is_refused(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    data = (project.folder / "rows.jsonl").read_bytes()
    project.write("rows.jsonl", data.replace(b'"r39"', b'"r40"'))
    assert "changed since then: datasets" in project("run", "toy", "--resume", code=2).stderr
    project.write("rows.jsonl", data)
    (project.site / "yb_toy-1.0.dist-info").rename(project.site / "yb_toy-1.1.dist-info")
    metadata = project.site / "yb_toy-1.1.dist-info" / "METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    assert "changed since then: plugin" in project("run", "toy", "--resume", code=2).stderr


def test_a_log_with_garbage_at_its_end_is_cut_back_to_what_is_whole(project, parity_rows):
    project.rows(parity_rows(40))
    whole = project.report("toy", "--store", "whole")["run_id"]
    interrupted(project)
    (log,) = project.folder.glob(".yb-eval/partial/*/*.jsonl")
    with log.open("ab") as file:
        file.write(b'{"id": "r39", "status": "sco\x00\xff')
    assert project.report("toy", "--resume")["run_id"] == whole


def test_a_log_of_other_samples_is_refused(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    (log,) = project.folder.glob(".yb-eval/partial/*/*.jsonl")
    log.write_bytes(log.read_bytes().replace(b'"r0"', b'"rX"', 1))
    report = project.report("toy", "--resume", code=3)
    assert "other samples than the dataset" in report["suites"][0]["gates"][0]["reason"]


def test_a_finished_run_leaves_no_partial_log(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    project("run", "toy")
    assert not list(project.folder.glob(".yb-eval/partial/*/*.jsonl"))


def test_two_runs_at_once_in_one_store_are_both_whole(project, parity_rows):
    import subprocess
    import sys
    from pathlib import Path

    project.rows(parity_rows(60))
    whole = project.report("toy", "--store", "whole")["run_id"]
    command = [str(Path(sys.executable).with_name("yb-eval")), "run", "toy", "--batch-size", "4", "--json"]
    running = [
        subprocess.Popen(command, cwd=project.folder, env=project.environment(TOY_SLEEP=0.002), stdout=subprocess.PIPE)
        for _ in range(3)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert [json.loads(output)["run_id"] for output in outputs] == [whole] * 3
    project("verify", "--all")


TWO = '[suites.first]\nsuite = "toy"\n[suites.second]\nsuite = "toy"\nseed = 2\n'


@pytest.mark.parametrize("write", [3, 7])
def test_a_composed_run_killed_in_any_of_its_suites_is_resumed(project, parity_rows, write):
    project.rows(parity_rows(40))
    project.write("yb-eval.toml", TWO)
    whole = project.report("--store", "whole")
    project("run", "--batch-size", 8, code=-9, TOY_DIE_AT_WRITE=write)
    assert project.report("--resume")["run_id"] == whole["run_id"]
    assert "no interrupted run" in project("run", "--resume", code=2).stderr


def test_ctrl_c_ends_suites_that_run_at_once_and_keeps_what_is_finished(project, parity_rows):
    project.rows(parity_rows(400))
    project.write("yb-eval.toml", TWO)
    process = subprocess.Popen(
        [str(COMMAND), "run", "--suite-jobs", "2", "--batch-size", "1"],
        cwd=project.folder, env=project.environment(TOY_SLEEP=0.1), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    logs = Path(project.folder, ".yb-eval", "partial")
    while len([path for path in logs.glob("*/*.jsonl") if path.stat().st_size]) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)  # run to their ends, the suites take 40 s
    assert process.returncode == 130 and b"kept for --resume" in err and out == b""
    assert len(list(logs.glob("*/*.jsonl"))) == 2
