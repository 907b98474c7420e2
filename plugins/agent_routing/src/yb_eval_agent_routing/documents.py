"""Scenario files as plain values: JSON, YAML and JSONL, read strictly.

YAML is read by the rules of its version 1.2 (`off` is a word, not false), without aliases (a small file must not become
a huge value), repeated keys or tags of other languages. What any of them yields is what JSON can say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from yb_eval import DatasetError
from yb_eval.datasets import DataFile, RowError
from yb_eval.datasets.faults import named, step
from yb_eval.datasets.strict import BOM, MAX_DEPTH, loads

#: Bytes of one file, and of one YAML file: its parser is a thousand times slower than that of JSON.
SIZE_LIMIT = 32 * 2**20
YAML_LIMIT = 2 * 2**20


@frozen(slots=True)
class Place:
    """Where a value stands: a file, in JSONL a line of it, and a JSON path."""

    name: str
    path: str = "$"
    line: int | None = None

    def at(self, *keys: str | int) -> Place:
        """The place of an item of the value here."""
        path = self.path
        for key in keys:
            path = step(path, key)
        return Place(self.name, path, self.line)

    def error(self, what: str, hint: str | None = None) -> DatasetError:
        return DatasetError(what, where=str(self), hint=hint)

    def refused(self, fault: RowError) -> DatasetError:
        """A fault whose path starts at the value here."""
        line = self.line if self.line is not None or fault.line == 1 else fault.line
        return Place(self.name, self.path + fault.path.removeprefix("$"), line).error(fault.what, fault.hint)

    def __str__(self) -> str:
        file = self.name if self.line is None else f"{self.name}:{self.line}"
        return file if self.path == "$" else f"{file}: {self.path}"


@frozen(slots=True)
class Rows:
    """A file of rows: what stands beside them, and each row with its place."""

    header: Mapping[str, Any]
    rows: tuple[tuple[Place, Any], ...]


def read_file(path: Path, *, role: str) -> DataFile:
    return DataFile.read(path, role=role, limit=YAML_LIMIT if is_yaml(path.name) else SIZE_LIMIT)


def is_yaml(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def is_jsonl(name: str) -> bool:
    return name.endswith((".jsonl", ".jsonl.gz"))


def read_value(file: DataFile) -> Any:
    """The one value of a JSON or YAML file. Raises `DatasetError` with the line or the JSON path."""
    data = file.data.removeprefix(BOM)
    place = Place(file.name)
    try:
        return _yaml(data) if is_yaml(file.name) else loads(data)
    except RowError as fault:
        raise place.refused(fault) from None


def read_lines(file: DataFile) -> Iterator[tuple[Place, dict[str, Any]]]:
    """The objects of a JSONL file; blank lines are passed over."""
    for number, line in enumerate(file.data.removeprefix(BOM).split(b"\n"), start=1):
        if not line.strip():
            continue
        place = Place(file.name, line=number)
        try:
            value = loads(line)
        except RowError as fault:
            raise place.refused(fault) from None
        if type(value) is not dict:
            raise place.error(f"a row is a JSON object, not {named(value)}")
        yield place, value


def _yaml(data: bytes) -> Any:
    import yaml

    try:
        value = yaml.load(data, Loader=_loader())  # noqa: S506 - a SafeLoader with less in it
    except yaml.MarkedYAMLError as error:
        line = 1 if error.problem_mark is None else error.problem_mark.line + 1
        raise RowError(f"not YAML as it is read here: {error.problem}", line=line) from None
    except yaml.reader.ReaderError as error:
        raise RowError(f"not YAML: {error.reason} at position {error.position}") from None
    except RecursionError:
        raise RowError("nested too deep") from None
    except ValueError:
        # Python refuses to convert numbers of thousands of digits.
        raise RowError("a number that is too long", hint="write it as a string") from None
    _only_json(value, "$")
    return value


@cache
def _loader() -> Any:
    """The loader class, made when the first YAML file is read."""
    import re

    import yaml

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
                problem = "aliases are not read; give the shared part an id and refer to it"
                raise yaml.composer.ComposerError(None, None, problem, mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: set[str] = set()
            for key, _ in node.value:
                if key.tag != "tag:yaml.org,2002:str":
                    problem = "a key must be a string; put it in quotes"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                if key.value in seen:
                    problem = "the key is repeated in its mapping"
                    raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
                seen.add(key.value)
            return super().construct_mapping(node, deep)

    # Scalars by the core schema of YAML 1.2; PyYAML's own rules are those of 1.1.
    Loader.yaml_implicit_resolvers = {}
    for tag, pattern, first in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
        ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", list("-+.0123456789")),
    ):
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})\\Z"), first)
    return Loader


def _only_json(value: Any, path: str, depth: int = 0) -> None:
    """Raises `RowError` for what an explicit tag can make (a date, a set) and for what JSON does not have."""
    if depth > MAX_DEPTH:
        raise RowError(f"nested deeper than {MAX_DEPTH}")
    if type(value) is dict:
        for key, item in value.items():
            _only_json(item, step(path, key), depth + 1)
    elif type(value) is list:
        for index, item in enumerate(value):
            _only_json(item, step(path, index), depth + 1)
    elif type(value) is float and not math.isfinite(value):
        raise RowError("a number that is not finite", path=path)
    elif type(value) is int and not -(2**63) <= value < 2**64:
        raise RowError("an integer beyond 64 bits", path=path, hint="write it as a string")
    elif value is not None and type(value) not in (bool, int, float, str):
        raise RowError(f"{named(value)} is not JSON", path=path, hint="put it in quotes")
