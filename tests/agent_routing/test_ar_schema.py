"""The published JSON Schemas say what the loader does: whatever it reads they allow, whatever they forbid it refuses."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yb_eval import DatasetError
from yb_eval.datasets import DataFile
from yb_eval.model import FileDigest
from yb_eval_agent_routing.catalogue import SCHEMA, read_catalogue
from yb_eval_agent_routing.scenarios import load_scenarios

jsonschema = pytest.importorskip("jsonschema")

GOOD: dict[str, Any] = {
    "$schema": "scenarios.schema.json",
    "id": "x",
    "note": "for readers",
    "environments": [
        {
            "id": "desk",
            "capabilities": [
                {"id": "wiki", "name": "Wiki", "description": "pages", "state": "ask", "always_on": False},
                {"id": "code"},
            ],
            "tools": [
                {"name": "find", "capability": "wiki", "read_only": True, "description": "", "input_schema": {}},
                {"name": "find", "capability": "code", "read_only": True},
            ],
        }
    ],
    "defaults": {"environment": "desk", "mode": "read-only", "expand_threshold": 0, "tags": ["lang:en"]},
    "scenarios": [
        {
            "id": "one", "name": "One", "message": "Where?", "environment": "desk", "mode": "read-write",
            "expected": ["wiki"], "acceptable": ["code"], "expected_tools": ["find"], "expand_threshold": 2,
            "tags": ["a:b"], "kind": "load",
        },
        {
            "id": "two", "any_of": [["wiki", "code"]], "any_of_tools": [["wiki/find", "code/find"]],
            "messages": [{"role": "assistant", "content": "Hi"}, {"role": "user", "content": "Where?"}],
        },
        {"id": "three", "message": "Hi", "kind": "no_suitable_group"},
    ],
}  # fmt: skip

CATALOGUE: dict[str, Any] = {
    "schema": SCHEMA,
    "note": "for readers",
    "servers": [
        {
            "id": "git", "name": "mcp-git", "version": "1", "description": "d", "instructions": None,
            "tools": [{"name": "log", "title": None, "inputSchema": {}, "annotations": {"readOnlyHint": True}, "_meta": 1}],
        }
    ],
}  # fmt: skip


@cache
def validator(name: str, part: str | None = None) -> Any:
    text = (files("yb_eval_agent_routing") / "schema" / f"{name}.schema.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    if part is not None:
        schema = {"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    return jsonschema.Draft202012Validator(schema)


def loads(value: Any, path: Path) -> bool:
    """Whether the loader takes the document."""
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        load_scenarios([path])
    except DatasetError:
        return False
    return True


def reads(value: Any) -> bool:
    data = json.dumps(value).encode()
    try:
        read_catalogue(DataFile("x.json", data, FileDigest("x", 0, "")))
    except DatasetError:
        return False
    return True


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


_JUNK = st.sampled_from(
    [None, True, 0, -1, 7, 2.5, "", " ", "a\nb", "x ", "a/b", "wiki", "code", "desk", "off", "skip", "load", [], {},
     ["wiki"], ["wiki", "wiki"], ["wiki", "code"], [["wiki"]], [["wiki", "code"]], [1], {"id": "x"}, "read-write"]
).map(copy.deepcopy)  # fmt: skip


@st.composite
def mutated(draw: Any, good: dict[str, Any]) -> Any:
    """`good` with one to three values replaced, removed or added somewhere."""
    value = copy.deepcopy(good)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([place for place in places(value) if place]))
        parent, key = at(value, path[:-1]), path[-1]
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "remove":
            del parent[key]
        elif action == "add" and isinstance(parent, dict):
            known = ["id", "message", "messages", "kind", "expected", "any_of", "catalogue", "file", "servers", "odd"]
            parent[draw(st.sampled_from(known))] = draw(_JUNK)
        else:
            parent[key] = draw(_JUNK)
        if not value:
            break
    return value


def test_the_schemas_allow_the_example_and_the_loader_takes_it(tmp_path: Path) -> None:
    assert validator("scenarios").is_valid(GOOD)
    assert loads(GOOD, tmp_path / "x.json")
    assert validator("catalogue").is_valid(CATALOGUE)
    assert reads(CATALOGUE)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=300)
@given(value=mutated(GOOD))
def test_what_the_loader_takes_the_schema_allows(value: Any, tmp_path: Path) -> None:
    if loads(value, tmp_path / "x.json"):
        assert [error.message for error in validator("scenarios").iter_errors(value)] == []


@settings(max_examples=300)
@given(value=mutated(CATALOGUE))
def test_the_catalogues_that_are_read_are_those_the_schema_allows(value: Any) -> None:
    # Other shapes are read too, which the schema does not describe; repeated names it cannot see.
    if isinstance(value, dict) and {"schema", "servers"} <= value.keys():
        assert reads(value) == validator("catalogue").is_valid(value)


@pytest.mark.parametrize(
    ("path", "junk"),
    [
        (("scenarios", 0, "expected"), "wiki"),
        (("scenarios", 0, "expected"), ["wiki", "wiki"]),
        (("scenarios", 0, "mode"), "write"),
        (("scenarios", 0, "kind"), "skip"),
        (("scenarios", 0, "message"), " "),
        (("scenarios", 0, "expand_threshold"), -1),
        (("scenarios", 1, "any_of"), [["wiki"]]),
        (("scenarios", 1, "message"), "and a message"),
        (("scenarios", 1, "messages", 0, "role"), "system"),
        (("scenarios", 2, "kind"), "load"),
        (("scenarios",), []),
        (("environments", 0, "capabilities", 0, "id"), "a/b"),
        (("environments", 0, "capabilities", 0, "state"), "on"),
        (("environments", 0, "file"), "other.json"),
        (("environments", 0, "capabilities"), []),
        (("environments", 0, "tools", 0, "read_only"), "yes"),
        (("odd",), 1),
    ],
)
def test_what_the_schema_forbids_the_loader_refuses(path: tuple[Any, ...], junk: Any, tmp_path: Path) -> None:
    value = copy.deepcopy(GOOD)
    at(value, path[:-1])[path[-1]] = junk
    assert not validator("scenarios").is_valid(value)
    assert not loads(value, tmp_path / "x.json")
