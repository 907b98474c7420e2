"""The file of a declarative eval as plain values, and the line on which each of them stands.

YAML is read strictly and only as far as JSON goes: one document, UTF-8, no tags of other types, no repeated keys, the
scalars of YAML 1.2 (`off` is a word), keys as they are written (`true:` is the key "true"). Aliases are followed within the
same limits on size and depth as everything else, so that a small file cannot become a huge value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from yb_eval import UsageError
from yb_eval.datasets.faults import RowError
from yb_eval.datasets.strict import BOM, loads
from yb_eval.digest import finite_json
from yb_eval.errors import shorten

SUFFIXES = (".yaml", ".yml", ".json")
#: Bytes of a file; values in it, aliases followed; and how deep they are nested.
MAX_BYTES = 256 * 2**10
MAX_VALUES = 20_000
MAX_DEPTH = 32
_SAFE_INTEGER = 2**53 - 1

#: Where a value stands inside the document: its keys and indices from the top.
Trail = tuple[str | int, ...]


@frozen(slots=True)
class Document:
    """A value, the name of where it came from, and the lines of its parts. One that was made in Python has neither."""

    value: Any
    name: str | None = None
    lines: Mapping[Trail, int] = {}

    def place(self, *trail: str | int) -> str:
        """`file:line` of the key or item at `trail`, or of what it is in; without a file, the trail itself."""
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in trail).lstrip(".")
        if self.name is None:
            return path or "eval"
        for length in range(len(trail), -1, -1):
            if (line := self.lines.get(trail[:length])) is not None:
                return f"{self.name}:{line}"
        return f"{self.name}: {path}" if path else self.name

    def error(self, what: str, *trail: str | int, hint: str | None = None) -> UsageError:
        return UsageError(what, where=self.place(*trail), hint=hint)


def read_document(path: Path) -> Document:
    """Reads a `.yaml`, `.yml` or `.json` file. Raises `UsageError` with the line."""
    name = str(path)
    if not path.is_file():
        raise UsageError("no such file" if not path.exists() else "not a file", where=name)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=name) from None
    return parse_document(data, name, is_json=path.suffix.lower() == ".json")


def made_document(value: Any) -> Document:
    """The document that a value made in Python is; tuples count as lists. Raises `UsageError` for what JSON does not have."""
    try:
        listed = _listed(value, 0)
        finite_json(listed)
    except ValueError as error:
        raise UsageError(f"not an eval: {error}") from None
    return Document(listed)


def _listed(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH}")
    if isinstance(value, Mapping):
        return {key: _listed(item, depth + 1) for key, item in value.items()}
    return [_listed(item, depth + 1) for item in value] if isinstance(value, list | tuple) else value


def parse_document(data: bytes, name: str, *, is_json: bool = False) -> Document:
    """The document in `data`; `name` is what errors call it."""
    if len(data) > MAX_BYTES:
        raise UsageError(f"more than {MAX_BYTES // 1024} KiB, too large for an eval", where=name)
    data = data.removeprefix(BOM)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError("not UTF-8", where=f"{name}:{line}", hint="save the file as UTF-8") from None
    if not text.strip():
        raise UsageError("empty", where=name, hint="an eval has at least questions")
    return _read_json(data, text, name) if is_json else _read_yaml(text, name)


def _read_json(data: bytes, text: str, name: str) -> Document:
    try:
        value = loads(data)
    except RowError as fault:
        where = f"{name}:{fault.line}" if fault.path == "$" else f"{name}: {fault.path}"
        raise UsageError(fault.what, where=where, hint=fault.hint) from None
    return Document(value, name, dict(_json_lines(text)))


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|\n|[^\s"\[\]{},:]+')


def _json_lines(text: str) -> Iterator[tuple[Trail, int]]:
    """The line of every key and item of a valid JSON text."""
    from json import loads as unquote

    line, key = 1, ""
    trail: list[Any] = []  # inside an object the last step is its latest key, None before the first
    yield (), 1
    for match in _TOKEN.finditer(text):
        token = match.group()
        if token == "\n":
            line += 1
        elif token == ":":
            trail[-1] = key
            yield tuple(trail), line
        elif token in ("]", "}"):
            trail.pop()
        elif token == ",":
            if isinstance(trail[-1], int):
                trail[-1] += 1
        else:
            if trail and isinstance(trail[-1], int):
                yield tuple(trail), line
            if token[0] == '"':
                key = unquote(token)
            elif token in ("[", "{"):
                trail.append(0 if token == "[" else None)


# What a plain scalar is by the core schema of YAML 1.2.
_SCALARS: tuple[tuple[str, Callable[[str], Any]], ...] = (
    (r"~|null|Null|NULL|", lambda text: None),
    (r"true|True|TRUE|false|False|FALSE", lambda text: text.lower() == "true"),
    (r"[-+]?[0-9]{1,16}", int),
    (r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", float),
)
_READ = [(re.compile(f"(?:{pattern})\\Z"), made) for pattern, made in _SCALARS]


@cache
def _loader() -> Any:
    """The loader class, made when the first YAML file is read."""
    import yaml

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            event = self.peek_event()  # type: ignore[no-untyped-call]
            problem = None
            if getattr(event, "tag", None) is not None:
                problem = f"the tag {shorten(event.tag, 60)} is not read"
            elif self.depth > MAX_DEPTH:
                problem = f"nested deeper than {MAX_DEPTH}"
            if problem is not None:
                raise yaml.composer.ComposerError(None, None, problem, event.start_mark)
            self.depth += 1
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return Loader


def _read_yaml(text: str, name: str) -> Document:
    import yaml

    try:
        root = yaml.compose(text, Loader=_loader())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        several = error.context == "expected a single document in the stream"
        what = "several documents in one file" if several else f"not YAML: {error.problem}"
        hints = {"\\t": "indent with spaces", "but got '?'": "inside { }, put a text with ? in quotes"}
        found = (mend for sign, mend in hints.items() if sign in str(error.problem))
        hint = "one eval a file" if several else next(found, None)
        raise UsageError(what, where=name if mark is None else f"{name}:{mark.line + 1}", hint=hint) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UsageError(f"not YAML: {error.reason}", where=f"{name}:{line}") from None
    except RecursionError:
        raise UsageError(f"nested deeper than {MAX_DEPTH}", where=name) from None
    if root is None:
        raise UsageError("empty", where=name, hint="an eval has at least questions")
    builder = _Builder(name)
    value = builder.build(root, ())
    return Document(value, name, builder.lines)


class _Builder:
    """Turns the nodes of YAML into values, noting the line of each."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lines: dict[Trail, int] = {(): 1}
        self.characters = 0

    def refused(self, what: str, node: Any, hint: str | None = None) -> UsageError:
        return UsageError(what, where=f"{self.name}:{node.start_mark.line + 1}", hint=hint)

    def build(self, node: Any, trail: Trail) -> Any:
        if len(trail) > MAX_DEPTH:
            raise self.refused(f"nested deeper than {MAX_DEPTH}", node)
        if len(self.lines) > MAX_VALUES or self.characters > MAX_BYTES:
            raise self.refused("too large when its aliases are followed", node)
        if node.id == "mapping":
            return self._mapping(node, trail)
        if node.id == "sequence":
            items = []
            for index, item in enumerate(node.value):
                self.lines[*trail, index] = item.start_mark.line + 1
                items.append(self.build(item, (*trail, index)))
            return items
        return self._scalar(node)

    def _mapping(self, node: Any, trail: Trail) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                raise self.refused("a key must be a text", key_node)
            key = self._text(key_node)
            if key in made:
                first = self.lines[*trail, key]
                raise self.refused(f"the key {shorten(key)} is repeated", key_node, f"first on line {first}")
            if key == "<<":
                raise self.refused("'<<' (merging) is not read", key_node, "write the keys out")
            self.lines[*trail, key] = key_node.start_mark.line + 1
            made[key] = self.build(value_node, (*trail, key))
        return made

    def _text(self, node: Any) -> str:
        text: str = node.value
        self.characters += len(text)
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise self.refused("a lone surrogate in a text", node) from None
        return text

    def _scalar(self, node: Any) -> Any:
        text = self._text(node)
        if node.style is not None:
            return text  # in quotes
        for pattern, made in _READ:
            if pattern.match(text):
                value = made(text)
                if (isinstance(value, int) and abs(value) > _SAFE_INTEGER) or value in (float("inf"), float("-inf")):
                    raise self.refused(f"the number {shorten(text, 40)} is too large", node)
                return value
        return text
