"""Running the installed command in a folder of its own, with a small third-party suite beside the real ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("yb-eval")

TOY = '''
"""A suite for tests: is a text's length even? Its own faults can be switched on through the environment."""
import os, signal, sys, time
from pathlib import Path
from attrs import frozen
import yb_eval
from yb_eval import Context, Outcome, Plan, Suite, hookimpl, option
from yb_eval.datasets import RowDataset
from yb_eval.digest import identify
from yb_eval.gates import ExpressionGate
from yb_eval.metrics import Accuracy, Sliced
from yb_eval.targets import CallableTarget, TargetEvaluator, expect_choice

YB_EVAL_API = 1


@frozen(kw_only=True)
class Row:
    text: str
    parity: str


@frozen(kw_only=True)
class Options:
    rows: Path = option(Path("rows.jsonl"), help="The rows.", identity=False)
    min_accuracy: float = option(0.9, help="The floor.", minimum=0, maximum=1)
    note: str = option("", help="Text that enters the plan.")


def answer(request):
    if "TOY_SLEEP" in os.environ:
        time.sleep(float(os.environ["TOY_SLEEP"]))
    if request["text"].startswith("boom"):
        raise ValueError("boom")
    if request["text"].startswith("crash"):
        os._exit(7)
    return {"parity": "even" if len(request["text"]) % 2 == 0 else "odd"}


def ask(sample):
    return {"id": sample.id, "text": sample.data.text}


def judge(sample, answer):
    if "TOY_BUG" in os.environ:
        raise ZeroDivisionError("a bug in the suite")
    said = expect_choice(answer, "parity", ("even", "odd"))
    return Outcome.judged(sample, expected=sample.data.parity, predicted=said)


def build(options: Options, context: Context) -> Plan:
    concurrency = os.environ.get("TOY_CONCURRENCY", "threads")
    reference = CallableTarget(answer, fingerprint=identify("toy", {"v": 1}), concurrency=concurrency, batch_size=16)
    target = context.open_target({"builtin": lambda: reference})
    return Plan(
        dataset=RowDataset(options.rows, row=Row, formats=context.formats),
        evaluator=TargetEvaluator(target=target, request=ask, judge=judge),
        metrics=[Accuracy(), Sliced(metric=Accuracy())],
        gates=[ExpressionGate(f"accuracy >= {options.min_accuracy}")],
    )


@hookimpl
def yb_eval_suite() -> Suite:
    return Suite(name="toy", summary="Is a text's length even?", options=Options, build=build)


def _die_at(step):
    """Ends this process as kill -9 would, at the given step among all that touch the store."""
    from yb_eval.record.partial import PartialLog
    seen = 0
    writes = []

    def count(event, arguments):
        nonlocal seen
        opens = event == "open" and isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")
        creates = event == "open" and arguments[1] is None and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        if (opens or creates or event in ("os.rename", "os.remove", "os.mkdir", "os.truncate")) and ".yb-eval" in str(arguments[0]):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)

    def write(self, lines, number, real=PartialLog.write):
        nonlocal seen
        seen += 1
        writes.append(lines)
        if seen == step or len(writes) == int(os.environ.get("TOY_DIE_AT_WRITE", 0)):
            self._file.write(lines[: len(lines) // 2])
            self._file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1
        if seen == step:  # the lines are written, and half of their digest
            self._file.write(lines)
            self._file.flush()
            self._digests.write(b"1000 0123456789abcdef")
            self._digests.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        real(self, lines, number)

    PartialLog.write = write
    sys.addaudithook(count)


if "TOY_DIE_AT" in os.environ or "TOY_DIE_AT_WRITE" in os.environ:
    _die_at(int(os.environ.get("TOY_DIE_AT", 0)))
'''


#: Writes down at the end which modules were imported. (-X importtime does not see what importlib.import_module imports.)
WATCH = """
import atexit, os, sys
if "TOY_MODULES" in os.environ:
    atexit.register(lambda: open(os.environ["TOY_MODULES"], "w").write(chr(10).join(sys.modules)))
"""


def install(site: Path, distribution: str, entries: dict[str, str], code: str, group: str = "suites") -> None:
    """Installs a distribution of one module by writing it and its metadata."""
    module = distribution.replace("-", "_")
    (site / f"{module}.py").write_text(code, encoding="utf-8")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\nSummary: a plugin of the tests\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    listed = "".join(f"{name} = {reference}\n" for name, reference in entries.items())
    (info / "entry_points.txt").write_text(f"[yb_eval.{group}]\n{listed}", encoding="utf-8")


class Project:
    """A user's folder, and the command run in it."""

    def __init__(self, folder: Path, site: Path) -> None:
        self.folder, self.site = folder, site

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def rows(self, rows, name: str = "rows.jsonl") -> Path:
        return self.write(name, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))

    def environment(self, **extra) -> dict[str, str]:
        kept = {
            k: v for k, v in os.environ.items() if not k.startswith(("YB_EVAL", "TOY_")) and k not in ("CI", "NO_COLOR")
        }
        return {**kept, "PYTHONPATH": str(self.site), **{k: str(v) for k, v in extra.items()}}

    def __call__(self, *arguments, code: int | None = 0, stdin=None, **env):
        """Runs `yb-eval ARGUMENTS` and checks its exit code."""
        done = subprocess.run(
            [str(COMMAND), *map(str, arguments)],
            cwd=self.folder, env=self.environment(**env), capture_output=True, text=True, input=stdin, timeout=120,
        )  # fmt: skip
        assert code is None or done.returncode == code, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def report(self, *arguments, code: int | None = 0, **env):
        """The JSON report of a run."""
        return json.loads(self("run", *arguments, "--json", code=code, **env).stdout)


@pytest.fixture
def project(tmp_path) -> Project:
    site, folder = tmp_path / "site", tmp_path / "project"
    site.mkdir()
    folder.mkdir()
    install(site, "yb-toy", {"toy": "yb_toy"}, TOY)
    (site / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    return Project(folder, site)


def parity_rows(n: int, wrong: int = 0):
    """`n` rows the toy suite answers right, but for the first `wrong` of them."""
    for i in range(n):
        text = "x" * (i % 7 + 1)
        right = "even" if len(text) % 2 == 0 else "odd"
        other = "odd" if right == "even" else "even"
        yield {"id": f"r{i}", "text": text, "parity": other if i < wrong else right, "tags": [f"mod:{i % 3}"]}


@pytest.fixture(name="parity_rows")
def parity_rows_fixture():
    return parity_rows


@pytest.fixture(name="install")
def install_fixture(project):
    """Installs a further distribution beside the toy suite."""
    return lambda *arguments, **named: install(project.site, *arguments, **named)
