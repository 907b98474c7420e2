"""The configuration file: `yb-eval.toml`, or `[tool.yb-eval]` in `pyproject.toml`.

```toml
[run]                       # the run as a whole
report = ["junit=report.xml"]

[suites.routing]            # one table per suite; the run's options and the suite's own stand side by side
max-mismatch = 0
against = "datasets/routing_baseline.json"
gate = ["acceptable_rate >= 0.9", "warn: entropy >= 1"]

[suites.candidate]          # the same suite under a second name
suite = "routing"
target = "http://127.0.0.1:8080/route"
```
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from yb_eval.errors import UsageError, nearest, shorten
from yb_eval.options import option

FILE = "yb-eval.toml"


@frozen(kw_only=True)
class WholeOptions:
    """The options of a run as a whole."""

    report: tuple[str, ...] = option((), help="Write a report: FORMAT=PATH (text, json, markdown, junit, html, ...).")
    json: bool = option(False, help="Print the JSON report instead of the text.")
    store: Path = option(Path(".yb-eval"), help="The folder where runs are kept.")
    log_format: Literal["text", "json"] = option(
        "text", help="How stderr is written: lines for people, or a JSON object a line. For any command."
    )


@frozen(slots=True, kw_only=True)
class Configuration:
    """A configuration file as it was read. `base` is its folder: relative paths in it start there."""

    path: Path | None = None
    base: Path = field(factory=Path)
    run: Mapping[str, Any] = field(factory=dict)
    suites: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    lines: Mapping[tuple[str, ...], int] = field(factory=dict, repr=False)

    def where(self, *keys: str) -> str:
        """`file:line` of a key, or of the nearest table around it that has a line."""
        for length in range(len(keys), 0, -1):
            line = self.lines.get(keys[:length])
            if line is not None:
                return f"{self.path}:{line}"
        return str(self.path)

    def suite_of(self, name: str) -> str:
        """The suite that the table called `name` uses: its `suite` key, or its own name."""
        suite = self.suites[name].get("suite", name)
        if not isinstance(suite, str):
            raise UsageError(
                f"'suite' is a suite's name, not {shorten(suite)}", where=self.where("suites", name, "suite")
            )
        return suite


def find_configuration(folder: Path) -> Configuration:
    """The configuration of `folder`; an empty one if it has none."""
    for path, table in ((folder / FILE, ()), (folder / "pyproject.toml", ("tool", "yb-eval"))):
        if path.is_file():
            found = read_configuration(path, table)
            if found.run or found.suites or not table:
                return found
    return Configuration()


def read_configuration(path: Path, table: tuple[str, ...] = ()) -> Configuration:
    """Reads a configuration file. Raises `UsageError` with `file:line` for what is not TOML or not known."""
    import tomllib

    try:
        text = path.read_bytes().decode("utf-8-sig")
        document = tomllib.loads(text)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8 at byte {error.start}", where=str(path)) from error
    except tomllib.TOMLDecodeError as error:
        raise _not_toml(path, error) from error
    for key in table:
        document = document.get(key, {})
    lines = {keys[len(table) :]: line for keys, line in key_lines(text).items() if keys[: len(table)] == table}
    found = Configuration(path=path, base=path.parent, lines=lines)
    known = {"run", "suites"}
    for key in document:
        if key not in known:
            raise UsageError(f"unknown key {key!r}", where=found.where(key), hint=nearest(key, known))
    run, suites = document.get("run", {}), document.get("suites", {})
    for name, value in (("run", run), ("suites", suites), *suites.items()):
        if not isinstance(value, dict):
            raise UsageError(f"{name!r} is a table, not {shorten(value)}", where=found.where("suites", name))
    return Configuration(path=path, base=path.parent, run=run, suites=suites, lines=lines)


def _not_toml(path: Path, error: Exception) -> UsageError:
    place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    where = f"{path}:{place[1]}:{place[2]}" if place else str(path)
    said = re.sub(r" *\(at .*\)$", "", str(error))
    return UsageError(f"not TOML: {said}", where=where)


_HEADER = re.compile(r"\s*\[{1,2}\s*(?P<keys>[^\]]+?)\s*\]{1,2}")
_KEY = re.compile(r"\s*(?P<keys>(?:[\w-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[\w-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
_PART = re.compile(r"[\w-]+|\"[^\"]*\"|'[^']*'")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """Where the tables and keys of a TOML text stand, as (keys) -> line, from 1.

    `tomllib` keeps no positions; this reads only what it needs to name a line in a message.
    """
    lines: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = tuple(part.strip("\"'") for part in _PART.findall(header["keys"]))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *(part.strip("\"'") for part in _PART.findall(key["keys"]))), number)
    return lines
