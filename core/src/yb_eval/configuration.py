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

[profiles.nightly.suites.routing]   # with --profile nightly these lie over the tables above
repeats = 5
```
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import evolve, field, frozen

from yb_eval.errors import UsageError, nearest, shorten
from yb_eval.options import option

FILE = "yb-eval.toml"


@frozen(kw_only=True)
class WholeOptions:
    """The options of a run as a whole."""

    report: tuple[str, ...] = option((), help="Write a report: FORMAT=PATH (text, json, markdown, junit, html, ...).")
    json: bool = option(False, help="Print the JSON report instead of the text.")
    store: Path = option(Path(".yb-eval"), help="The folder where runs are kept.")
    profile: str | None = option(None, help="A profile of the configuration file, laid over it.")
    only: tuple[str, ...] = option((), help="Of the suites that the configuration lists, run this one; repeatable.")
    fail_fast: bool = option(False, help="Do not begin another suite after one that did not pass.")
    dry_run: bool = option(
        False, help="Check everything and print the plan and what asking will take; ask nothing, write nothing."
    )
    suite_jobs: int = option(1, help="How many suites run at once; the result is the same.", minimum=1, maximum=64)
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
    profiles: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    lines: Mapping[tuple[str, ...], int] = field(factory=dict, repr=False)
    active: str | None = None

    def where(self, *keys: str) -> str:
        """`file:line` of a key, as the active profile or else the file has it; of the nearest table around it that has
        a line, if it has none."""
        chosen = ("profiles", self.active, *keys) if self.active is not None else ()
        for length in range(len(keys), 0, -1):
            for path in (chosen[: length + 2], keys[:length]):
                line = self.lines.get(path) if path else None
                if line is not None:
                    return f"{self.path}:{line}"
        return str(self.path)

    def with_profile(self, name: str) -> Configuration:
        """The configuration with a profile laid over it, key by key. Raises `UsageError` if it has no such profile."""
        if name not in self.profiles:
            where = self.where("run", "profile") if self.run.get("profile") == name else str(self.path or FILE)
            raise UsageError(f"no profile {name!r}", where=where, hint=nearest(name, self.profiles))
        profile = self.profiles[name]
        over = profile.get("suites", {})
        suites = {key: {**self.suites.get(key, {}), **over.get(key, {})} for key in (*self.suites, *over)}
        return evolve(self, run={**self.run, **profile.get("run", {})}, suites=suites, active=name)

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
        raise _not_toml(path, text, error) from error
    for key in table:
        document = document.get(key, {})
    lines = {keys[len(table) :]: line for keys, line in key_lines(text).items() if keys[: len(table)] == table}
    found = Configuration(path=path, base=path.parent, lines=lines)
    _check_tables(document, found, (), {"run", "suites", "profiles"})
    profiles = document.get("profiles", {})
    for name, profile in profiles.items():
        _check_tables(profile, found, ("profiles", name), {"run", "suites"})
    return evolve(found, run=document.get("run", {}), suites=document.get("suites", {}), profiles=profiles)


def _check_tables(document: Any, found: Configuration, keys: tuple[str, ...], known: set[str]) -> None:
    """Refuses what is no table where one belongs, and tables that nobody knows."""
    if not isinstance(document, dict):
        raise UsageError(f"{'.'.join(keys)} is a table, not {shorten(document)}", where=found.where(*keys))
    for key, value in document.items():
        if key not in known:
            raise UsageError(f"unknown key {key!r}", where=found.where(*keys, key), hint=nearest(key, known))
        inner = value.items() if key != "run" and isinstance(value, dict) else ()
        for name, table in ((key, value), *inner):
            if not isinstance(table, dict):
                place = found.where(*keys, key, name) if name != key else found.where(*keys, key)
                raise UsageError(f"{name!r} is a table, not {shorten(table)}", where=place)


def _not_toml(path: Path, text: str, error: Exception) -> UsageError:
    place = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
    # Without a place it is the end of the document.
    where = f"{path}:{place[1]}:{place[2]}" if place else f"{path}:{max(1, len(text.splitlines()))}"
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
            for length in range(1, len(table) + 1):
                lines.setdefault(table[:length], number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, *(part.strip("\"'") for part in _PART.findall(key["keys"]))), number)
    return lines
