"""`yb-eval plugin new NAME` and `plugin check`."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from yb_eval.cli.output import emit
from yb_eval.errors import PluginError, UsageError
from yb_eval.record.files import atomic

_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*\Z")


@click.group("plugin")
def command() -> None:
    """Start a new plugin, or check an installed suite against the interfaces."""


@command.command("new")
@click.argument("name")
@click.option("--in", "folder", default=".", metavar="FOLDER", help="Where to make it.  [default: .]")
def new(name: str, folder: str) -> None:
    """Write a working plugin: pyproject, suite, data and test.

    NAME is the suite's name, in kebab-case: `yb-eval plugin new tone-check`.
    """
    if not _NAME.match(name) or len(name) > 60:
        raise UsageError(f"{name!r} is not a suite's name", hint="kebab-case, as in tone-check")
    package = f"yb_eval_{name.replace('-', '_')}"
    distribution = f"yb-eval-{name}"
    assert package.isidentifier() and not keyword.iskeyword(package), "the pattern above sees to that"
    root = Path(folder) / distribution
    if root.exists():
        raise UsageError("there is something already", where=str(root), hint="choose another name, or --in FOLDER")
    values = {"name": name, "package": package, "distribution": distribution}
    written = {
        "pyproject.toml": "pyproject.toml",
        "README.md": "README.md",
        f"src/{package}/suite.py": "suite.py",
        f"src/{package}/rows.jsonl": "rows.jsonl",
        "tests/test_suite.py": "test_suite.py",
    }
    for path, template in written.items():
        text = (files("yb_eval.scaffold") / f"{template}.tmpl").read_text(encoding="utf-8")
        with atomic(root / path) as file:
            file.write(Template(text).substitute(values).encode("utf-8"))
    with atomic(root / f"src/{package}/__init__.py") as file:
        file.write(f'"""The yb-eval suite `{name}`."""\n'.encode())
    emit([f"{root}\n", f"next: pip install -e {root} && yb-eval run {name}\n"])


@command.command("check")
@click.argument("suite")
def check(suite: str) -> None:
    """Check an installed suite against the promises of the interfaces.

    Runs it with its default options on its first samples. Ends with 2 and says which promise it breaks.
    """
    from yb_eval.plugins import load_suite
    from yb_eval.testing import check_suite

    found, _ = load_suite(suite)
    try:
        check_suite(found)
    except AssertionError as error:
        raise PluginError(f"the suite {suite!r} breaks a promise: {error}") from error
    emit([f"{suite}: keeps the promises of the interfaces\n"])
