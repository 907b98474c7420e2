"""Evaluators that are asked while their file is checked, through the installed command."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from yb_eval_datasets import path

COMMAND = Path(sys.executable).with_name("yb-eval")
MIB = 1024 * 1024

#: Asks nobody; writes down each id that it is asked about, though an eager evaluator should leave nothing behind.
EAGER = """
import os, time
from pathlib import Path
from attrs import frozen
from yb_eval import Context, Outcome, Plan, Suite, hookimpl, option
from yb_eval.datasets import RowDataset
from yb_eval.digest import identify
from yb_eval.gates import ExpressionGate
from yb_eval.metrics import Accuracy

YB_EVAL_API = 1


@frozen(kw_only=True)
class Row:
    text: str
    parity: str


@frozen(kw_only=True)
class Options:
    rows: Path = option(Path("rows.jsonl"), help="The rows.", identity=False)


class Evaluator:
    fingerprint = identify("evaluator", {"v": 1})
    batch_size = 100
    concurrency = "processes"
    eager = "TOY_LAZY" not in os.environ

    def evaluate(self, samples):
        print("printed by the evaluator")
        with open("asked.txt", "a") as asked:
            asked.writelines(sample.id + chr(10) for sample in samples)
        time.sleep(float(os.environ.get("TOY_SLEEP", 0)))
        return [self.judge(sample) for sample in samples]

    def judge(self, sample):
        if sample.data.text.startswith("boom"):
            raise ValueError("boom")
        return Outcome.judged(
            sample, expected=sample.data.parity, predicted="odd" if len(sample.data.text) % 2 else "even"
        )


def build(options, context):
    return Plan(
        dataset=RowDataset(options.rows, row=Row, formats=context.formats),
        evaluator=Evaluator(),
        metrics=[Accuracy()],
        gates=[ExpressionGate("accuracy >= 0.9")],
    )


@hookimpl
def yb_eval_suite():
    return Suite(name="eager", summary="Is a text's length even?", options=Options, build=build)
"""


@pytest.fixture
def eager(project, install):
    """A project with the suite `eager`."""
    install("yb-eager", {"eager": "yb_eager"}, EAGER)
    return project


def asked(project) -> int:
    """How often the evaluator has been asked since this was last called."""
    file = project.folder / "asked.txt"
    count = len(file.read_text().splitlines()) if file.exists() else 0
    file.unlink(missing_ok=True)
    return count


def stored(project) -> list[Path]:
    return [path for path in project.folder.glob(".yb-eval/**/*") if path.is_file()]


@pytest.mark.parametrize("arguments", [[], ["--repeats", 2], ["--batch-size", 7]])
def test_the_run_is_that_of_an_evaluator_that_waits(eager, parity_rows, arguments):
    eager.rows(parity_rows(500, wrong=3))
    early = eager.report("eager", *arguments)
    times = asked(eager)
    late = eager.report("eager", *arguments, "--store", "late", TOY_LAZY=1)
    assert times == asked(eager) == 500 * (2 if "--repeats" in arguments else 1)
    assert early["run_id"] == late["run_id"]
    assert early["suites"] == late["suites"]
    eager("verify", "--all")


def test_standard_input_is_asked_about_as_it_is_checked(eager, parity_rows):
    rows = eager.rows(parity_rows(500))
    late = eager("run", "eager", "--rows", "-", "--json", stdin=rows.read_text(), TOY_LAZY=1)
    early = eager("run", "eager", "--rows", "-", "--json", stdin=rows.read_text())
    assert json.loads(early.stdout)["run_id"] == json.loads(late.stdout)["run_id"]
    assert asked(eager) == 1_000


def test_a_dry_run_asks_nothing(eager, parity_rows):
    eager.rows(parity_rows(500))
    eager("run", "eager", "--dry-run")
    assert asked(eager) == 0 and stored(eager) == []


def test_a_fault_in_the_last_line_refuses_the_run_and_nothing_is_recorded(eager, parity_rows):
    rows = eager.rows(parity_rows(500))
    eager.write("rows.jsonl", rows.read_bytes() + b'{"id": "r3", "text": "x", "parity": "odd"}\n')
    early = eager("run", "eager", code=2)
    assert asked(eager) == 501, "the rows were right, one by one"
    assert "rows.jsonl:501" in early.stderr and "repeated" in early.stderr and early.stdout == ""
    assert stored(eager) == []
    assert early.stderr.endswith(eager("run", "eager", code=2, TOY_LAZY=1).stderr)
    assert "nothing has been run yet" in eager("verify", "--all", code=None).stderr


def test_an_evaluator_that_raises_is_told_of_as_one_that_waits(eager, parity_rows):
    rows = eager.rows(parity_rows(500))
    eager.write("rows.jsonl", rows.read_bytes() + b'{"id": "last", "text": "boom", "parity": "odd"}\n')
    early, late = eager.report("eager", code=3), eager.report("eager", code=3, TOY_LAZY=1)
    assert "boom" in early["suites"][0]["gates"][0]["reason"]
    assert early["suites"] == late["suites"] and early["run_id"] is None


def test_a_suite_beside_one_that_is_refused_leaves_nothing(eager, parity_rows):
    eager.rows(parity_rows(500))
    eager.write("bad.jsonl", "{}\n")
    eager("run", "eager", "toy", "--rows", "bad.jsonl", code=2)
    assert asked(eager) == 0 and stored(eager) == []


def test_an_interrupt_before_the_plan_is_fixed_ends_with_130_and_leaves_nothing(eager, parity_rows):
    eager.rows(parity_rows(500))
    process = subprocess.Popen(
        [str(COMMAND), "run", "eager", "--batch-size", "1"],
        cwd=eager.folder, env=eager.environment(TOY_SLEEP=0.05), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    file = eager.folder / "asked.txt"
    while not (file.exists() and file.stat().st_size > 10):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=20)
    assert process.returncode == 130 and b"interrupted; nothing is kept" in said and out == b""
    assert b"Traceback" not in said and b"--resume" not in said
    assert stored(eager) == []
    assert eager.report("eager")["verdict"] == "pass"


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """The shipped corpus again and again, with enough text around it to be read from the disk each time."""
    rows = [json.loads(line) for line in path("eval/guards_labeled.jsonl").read_text(encoding="utf-8").splitlines()]
    around = " ordinary words that hold nothing " * 100
    file = tmp_path_factory.mktemp("large") / "rows.jsonl"
    with file.open("w", encoding="utf-8", newline="\n") as out:
        number = 0
        while out.tell() <= 32 * MIB:
            for row in rows:
                number += 1
                made = {**row, "id": f"row-{number:07}", "text": f"{row['text']}\n{around}"}
                out.write(json.dumps(made, ensure_ascii=False) + "\n")
    return file


def test_a_large_file_is_checked_and_evaluated_by_two_processes_with_the_same_result(project, large):
    arguments = ["guards", "--corpus", large, "--gate", "errors == 0"]
    alone = project.report(*arguments, code=None)
    spread = project.report(*arguments, "--jobs", 2, "--store", "spread", code=None)
    assert alone["run_id"] == spread["run_id"] is not None
    assert alone["suites"] == spread["suites"]
    project("verify", "--all", "--store", "spread")
    assert not list(project.folder.glob("spread/partial/*"))


def test_a_fault_at_the_end_of_a_large_file_refuses_the_run_of_two_processes(project, large):
    fault = b'{"id": "row-0000001", "text": "again", "type": "clean", "expect": "clean"}\n'
    project.write("rows.jsonl", large.read_bytes() + fault)
    done = project("run", "guards", "--corpus", "rows.jsonl", "--jobs", 2, code=2)
    assert "is repeated; it is first at rows.jsonl:1" in done.stderr and done.stdout == ""
    assert not list(project.folder.glob(".yb-eval/objects/**/*")) and not list(
        project.folder.glob(".yb-eval/partial/*")
    )
