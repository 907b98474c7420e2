"""`list` and `--help` import no plugin; a broken plugin breaks nothing but itself."""

import json

import pytest

BROKEN = [
    "raise ImportError('no luck')",
    "def broken(:",
    "raise SystemExit(0)",
    "raise KeyboardInterrupt",
    "import os, sys; sys.stdout.close(); raise RuntimeError('x')",
]


def imported(project, *arguments, **env):
    """The modules that the command imports."""
    seen = project.folder / "modules.txt"
    project(*arguments, TOY_MODULES=seen, **env)
    return set(seen.read_text().split())


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["--version"], ["run", "--help"]])
def test_neither_plugins_nor_heavy_libraries_are_imported(project, arguments):
    modules = imported(project, *arguments)
    assert "click" in modules
    for name in ("yb_toy", "yb_eval_routing", "rich", "httpx", "jinja2", "cattrs", "pluggy", "tenacity", "numpy"):
        assert not any(module == name or module.startswith(name + ".") for module in modules), name


def test_a_run_imports_the_plugin_it_needs_and_no_other(project, parity_rows):
    project.rows(parity_rows(5))
    modules = imported(project, "run", "toy")
    assert "yb_toy" in modules
    heavy = ("yb_eval_routing", "yb_eval_guards", "rich", "httpx", "jinja2", "pyarrow", "asyncio", "multiprocessing")
    assert not [m for m in modules if m.split(".")[0] in heavy]


@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_suite_leaves_the_others_working(project, install, parity_rows, code):
    install("yb-broken", {"broken": "yb_broken"}, code)
    project.rows(parity_rows(5))
    project("--help")
    assert "broken" in project("list").stdout
    project("run", "toy")
    done = project("run", "broken", code=2)
    assert "yb-broken 1.0" in done.stderr and "cannot be imported" in done.stderr
    assert project("run", "toy", "broken", code=2).stdout == "", "nothing is evaluated where one suite cannot be"


def test_list_check_says_which_plugin_is_broken_and_why(project, install):
    install("yb-broken", {"broken": "yb_broken"}, "raise ImportError('no luck')")
    done = project("list", "--check", code=2)
    assert "NOT USABLE" in done.stdout and "no luck" in done.stdout
    rows = json.loads(project("list", "--check", "--json", code=2).stdout)
    assert {row["suite"]: bool(row["problem"]) for row in rows}["toy"] is False


def test_a_name_claimed_twice_is_an_error_that_names_both(project, install, parity_rows):
    install("yb-evil", {"toy": "yb_evil"}, "raise SystemExit(0)")
    project.rows(parity_rows(5))
    done = project("run", "toy", code=2)
    assert "yb-evil 1.0 and yb-toy 1.0" in done.stderr
    assert "NOT USABLE" in project("list", code=2).stdout


def test_a_broken_cross_cutting_plugin_is_a_warning(project, install, parity_rows):
    install("yb-ext", {"ext": "yb_ext"}, "raise SystemExit(0)", group="plugins")
    project.rows(parity_rows(5))
    assert "warning: ext:" in project("run", "toy").stderr


EXTENSION = """
import json
import yb_eval
from yb_eval.digest import identify
from yb_eval.model import Declared, Measurement, Verdict
from yb_eval.executors import SerialExecutor
YB_EVAL_API = 1

class Count:
    declares = (Declared("seen", "outcomes", high=None),)
    def start(self): return 0
    def add(self, state, outcomes): return state + len(outcomes)
    def merge(self, left, right): return left + right
    def finish(self, state): return [Measurement("seen", state, state)]

class Always:
    def __init__(self, text, severity): self.text, self.severity, self.word = f"say: {text}", severity, text
    def bind(self, declared): pass
    def check(self, measured, baseline, comparison=None): return Verdict(self.text, self.word, "said so", self.severity)

class Echo:
    batch_size, concurrency = 4, "threads"
    def __init__(self, spec, settings): self.spec, self.fingerprint = spec, identify("echo", {"spec": spec})
    def ask(self, requests, *, repeat=0):
        return [yb_eval.Answer({"parity": "even" if len(r["text"]) % 2 == 0 else "odd"}) for r in requests]
    def close(self): pass

@yb_eval.hookimpl
def yb_eval_metrics(): return {"count": Count}
@yb_eval.hookimpl
def yb_eval_gates(): return {"say": Always}
@yb_eval.hookimpl
def yb_eval_targets(): return {"echo": Echo}
@yb_eval.hookimpl
def yb_eval_executors(): return {"mine": lambda jobs: SerialExecutor()}
@yb_eval.hookimpl
def yb_eval_reporters(): return {"ids": lambda view: [view.document["run_id"], "\\n"], "bad": lambda view: 1 / 0}
@yb_eval.hookimpl
def yb_eval_dataset_formats():
    from yb_eval.datasets import records
    def read(file):
        for line in file:
            name, text, parity = line.decode().rstrip("\\n").split("|")
            yield {"id": name, "text": text, "parity": parity}
    return {".bars": records(read)}
@yb_eval.hookimpl
def yb_eval_run_started(plan): open("started", "w").write(plan["plan_id"])
@yb_eval.hookimpl
def yb_eval_run_finished(report): open("finished", "w").write(report["run_id"]); raise SystemExit(0)
"""


@pytest.fixture
def extended(project, install, parity_rows):
    install("yb-ext", {"ext": "yb_ext"}, EXTENSION, group="plugins")
    project.rows(parity_rows(8))
    return project


def test_every_hook_of_a_third_party_is_called(extended):
    report = extended.report(
        "toy", "--metric", "count", "--gate", "seen == 8", "--gate", "say: pass", "--target", "echo:x", "--executor", "mine",
        "--report", "ids=ids.txt",
    )  # fmt: skip
    assert report["suites"][0]["measurements"]["seen"]["value"] == 8
    assert report["suites"][0]["target"]["spec"] == "echo:x"
    assert (extended.folder / "ids.txt").read_text().strip() == report["run_id"]
    assert (extended.folder / "started").read_text() == report["plan_id"]
    assert (extended.folder / "finished").read_text() == report["run_id"]


def test_a_gate_of_a_plugin_decides_like_any_other(extended):
    assert extended.report("toy", "--gate", "say: fail", code=1)["verdict"] == "fail"
    assert extended.report("toy", "--gate", "say: unmeasured", code=3)["verdict"] == "unmeasured"


def test_a_failing_hook_is_told_and_changes_neither_verdict_nor_exit_code(extended):
    done = extended("run", "toy")
    assert "plugin 'ext' failed in yb_eval_run_finished(): SystemExit" in done.stderr


def test_a_reporter_that_raises_is_shown_and_the_verdict_s_exit_code_stays(extended, parity_rows):
    done = extended("run", "toy", "--report", "bad=x.txt", code=0)
    assert "the reporter failed: ZeroDivisionError" in done.stderr and "PASS" in done.stdout
    assert not (extended.folder / "x.txt").exists()
    extended.rows(parity_rows(8, wrong=5))
    extended("run", "toy", "--report", "bad=x.txt", code=1)


def test_a_dataset_format_of_a_plugin_is_read(extended):
    extended.write("rows.bars", "a|xx|even\nb|x|odd\n")
    assert extended.report("toy", "--rows", "rows.bars")["suites"][0]["counts"]["samples"] == 2


def test_the_allow_list_and_the_switch_off_hold_for_runs(extended):
    assert "not allowed" in extended("run", "toy", code=2, YB_EVAL_DISABLE_PLUGINS=1).stderr
    assert "unknown metric" in extended("run", "toy", "--metric", "count", code=2, YB_EVAL_PLUGINS="toy").stderr
    extended("run", "toy", YB_EVAL_DISABLE_PLUGINS=1, YB_EVAL_PLUGINS="toy")
    extended("run", "toy", "--metric", "count", YB_EVAL_PLUGINS="toy,yb-ext")
