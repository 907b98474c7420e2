"""A killed run loses nothing that was finished, repeats nothing, and ends with the id of an unbroken one."""

import hashlib
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("yb-eval")


def verify(project):
    """Every object of the store is what its name says, if there is one."""
    done = project("verify", "--all", code=None)
    assert done.returncode == 0 or "nothing has been run yet" in done.stderr, done.stderr


def to_resume(project):
    """`--resume` where a killed run has left a log that is not empty."""
    logs = project.folder.glob(".yb-eval/partial/*/*.jsonl")
    return ["--resume"] if any(log.stat().st_size for log in logs) else []


def test_killed_at_any_step_a_run_is_resumed_to_the_same_id(project, parity_rows):
    """kill -9 at one step after another among everything that touches the store, half-written lines and digests
    included."""
    project.rows(parity_rows(40, wrong=2))
    arguments = ["toy", "--batch-size", 8, "--repeats", 2]
    whole = project.report(*arguments, "--store", "whole")
    step, steps = 0, 0
    while True:
        step += 3 if step > 15 else 1  # odd, since each write has two steps
        shutil.rmtree(project.folder / ".yb-eval", ignore_errors=True)
        done = project("run", *arguments, code=None, TOY_DIE_AT=step)
        if done.returncode == 0:
            break
        assert done.returncode == -9, (step, done.stderr)
        steps += 1
        verify(project)
        resumed = project.report(*arguments, *to_resume(project))
        assert resumed["run_id"] == whole["run_id"], step
        assert resumed["suites"][0]["outcomes"] == whole["suites"][0]["outcomes"]
        assert not list(project.folder.glob(".yb-eval/partial/*/*.jsonl*"))
        verify(project)
    assert steps > 10, "the run was killed at many steps"


@pytest.mark.parametrize("arguments", [[], ["--repeats", 3], ["--jobs", 2]])
def test_a_resumed_run_that_is_killed_again_and_again_comes_to_the_same_id(project, parity_rows, arguments):
    project.rows(parity_rows(40, wrong=2))
    arguments = ["toy", "--batch-size", 4, *arguments]
    whole = project.report(*arguments, "--store", "whole")
    project("run", *arguments, code=-9, TOY_DIE_AT_WRITE=4)
    for step in range(6, 18, 2):  # from the opening of the log to the second write, one step further each time
        resume = to_resume(project)
        assert resume, step
        project("run", *arguments, *resume, code=-9, TOY_DIE_AT=step)
    resumed = project.report(*arguments, "--resume")
    assert resumed["run_id"] == whole["run_id"]
    assert resumed["suites"][0]["outcomes"] == whole["suites"][0]["outcomes"]


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


def left(project):
    """The log that a killed run has left."""
    (log,) = project.folder.glob(".yb-eval/partial/*/*.jsonl")
    return log


def refused(project):
    """Resumes, and gives the one line that says why nothing was measured."""
    report = project.report("toy", "--resume", code=3)
    assert report["verdict"] == "unmeasured" and report["run_id"] is None
    reason = report["suites"][0]["gates"][0]["reason"]
    assert reason.endswith("(run it anew)") and "internal error" not in reason and "\n" not in reason
    return reason


def forged(project, content):
    """Puts other content into the log, with a digest that vouches for it."""
    log = left(project)
    log.write_bytes(content)
    log.with_name(f"{log.name}.digests").write_text(f"{len(content)} {hashlib.sha256(content).hexdigest()}\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"correct":true', b'"correct":false'),
        (b'"status":"scored"', b'"status":"scorod"'),
        (b'{"id":"r0"', b'3\n{"id":"r0"'),
        (b'{"id":"r0"', b'{}\n{"id":"r0"'),
    ],
)
def test_a_log_that_was_edited_is_not_gone_on_from(project, parity_rows, old, new):
    project.rows(parity_rows(40))
    whole = project.report("toy", "--store", "whole")["run_id"]
    interrupted(project)
    log = left(project)
    log.write_bytes(log.read_bytes().replace(old, new, 1))
    reason = refused(project)
    assert log.name in reason and "changed after they were written" in reason
    assert project.report("toy")["run_id"] == whole
    assert not list(project.folder.glob(".yb-eval/partial/*/*.jsonl*"))


@pytest.mark.parametrize("line", [b'"correct":true', b'"status":"scored"'])
def test_what_was_edited_behind_a_digest_that_holds_is_evaluated_again(project, parity_rows, line):
    project.rows(parity_rows(40))
    whole = project.report("toy", "--store", "whole")["run_id"]
    interrupted(project)  # with two batches of eight that are whole
    log = left(project)
    head, *parts = log.read_bytes().split(line)
    log.write_bytes(head + line.join([b"", *parts[:10]]) + b'"correct":false' + line.join(parts[10:]))
    assert project.report("toy", "--resume")["run_id"] == whole


@pytest.mark.parametrize("line", [b"3", b"{}", b"null", b"what", b'{"id":"r0","status":"scorod"}'])
def test_a_line_that_is_no_outcome_is_told_with_its_place(project, parity_rows, line):
    project.rows(parity_rows(40))
    interrupted(project)
    first, rest = left(project).read_bytes().split(b"\n", 1)
    forged(project, first + b"\n" + line + b"\n" + rest)
    assert f"{left(project).name}:2: not an outcome: " in refused(project)


def test_a_status_that_is_none_is_not_counted(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    forged(project, left(project).read_bytes().replace(b'"status":"scored"', b'"status":"scorod"', 1))
    assert ":1: not an outcome: 'scorod' is not a status (run it anew)" in refused(project)


def test_a_log_without_its_digests_is_evaluated_anew(project, parity_rows):
    project.rows(parity_rows(40))
    whole = project.report("toy", "--store", "whole")["run_id"]
    interrupted(project)
    log = left(project)
    log.with_name(f"{log.name}.digests").unlink()
    log.write_bytes(log.read_bytes().replace(b'"correct":true', b'"correct":false', 1))
    assert project.report("toy", "--resume")["run_id"] == whole


def test_a_log_of_other_samples_is_refused(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    forged(project, left(project).read_bytes().replace(b'"r0"', b'"rX"', 1))
    assert "other samples than the dataset" in refused(project)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_disk_that_is_full_is_one_line_and_what_was_written_is_gone_on_from(project, parity_rows):
    project.rows(parity_rows(400))
    whole = project.report("toy", "--store", "whole")["run_id"]
    limited = "import resource, os, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); os.execv(sys.argv[1], sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", limited, str(COMMAND), "run", "toy", "--batch-size", "16"],
        cwd=project.folder, env=project.environment(), capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 3
    assert "cannot write: File too large" in " ".join(done.stdout.split())  # however the line was wrapped
    assert "Traceback" not in done.stderr
    log = left(project)
    assert len(log.with_name(f"{log.name}.digests").read_bytes().splitlines()) > 2
    assert project.report("toy", "--resume")["run_id"] == whole


def test_digests_that_cannot_be_written_are_one_line(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    log = left(project)
    sums = log.with_name(f"{log.name}.digests")
    sums.unlink()
    sums.mkdir()
    reason = project.report("toy", "--resume", code=3)["suites"][0]["gates"][0]["reason"]
    assert "cannot write: " in reason and log.name in reason


def test_a_finished_run_leaves_no_partial_log(project, parity_rows):
    project.rows(parity_rows(40))
    interrupted(project)
    project("run", "toy")
    assert not list(project.folder.glob(".yb-eval/partial/*"))


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


def test_two_runs_of_one_plan_are_resumed_at_once_each_from_its_own_log(project, parity_rows):
    project.rows(parity_rows(60))
    whole = project.report("toy", "--store", "whole")["run_id"]
    for write in (3, 5):
        project("run", "toy", "--batch-size", 4, code=-9, TOY_DIE_AT_WRITE=write)
    assert len(list(project.folder.glob(".yb-eval/partial/*/*.jsonl.digests"))) == 2
    command = [str(COMMAND), "run", "toy", "--batch-size", "4", "--json", "--resume"]
    running = [
        subprocess.Popen(command, cwd=project.folder, env=project.environment(TOY_SLEEP=0.02), stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert [json.loads(output)["run_id"] for output in outputs] == [whole] * 2
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
