"""Rows into attrs classes: exact types, required fields, and messages that say where and why."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.datasets import RowDataset, RowError, structurer
from yb_eval.errors import DatasetError


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@frozen
class Payload:
    text: str
    expect: Literal["detect", "clean"]
    weight: float = 1.0


@frozen
class Node:
    name: str
    children: tuple[Node, ...] = ()
    parent: Node | None = None


@frozen(kw_only=True)
class Row:
    text: str
    version: Literal[1]
    payload: Payload
    count: int = 0
    ratio: float = 0.0
    flag: bool = False
    note: str | None = None
    colour: Colour = Colour.RED
    words: tuple[str, ...] = ()
    items: list[Payload] = field(factory=list)
    unique: frozenset[str] = frozenset()
    pair: tuple[int, str] = (0, "")
    meta: dict[str, Any] = field(factory=dict)
    scores: Mapping[str, float] = field(factory=dict)
    either: str | list[int] | None = None
    number: int | float = 0
    free: Any = None
    blank: str = field(default="", validator=attrs.validators.max_len(3))


GOOD: dict[str, Any] = {"text": "x", "version": 1, "payload": {"text": "y", "expect": "clean"}}


def refusal(**changes: Any) -> RowError:
    data = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
    with pytest.raises(RowError) as caught:
        structurer(Row).structure(data)
    return caught.value


def made(**values: Any) -> Any:
    return structurer(Row).structure({**GOOD, **values})


def test_values_arrive_in_their_types() -> None:
    row = made(
        count=3, ratio=2, flag=True, note=None, colour="blue", words=["a", "b"], items=[GOOD["payload"]], unique=["u"],
        pair=[1, "p"], meta={"k": [1]}, scores={"s": 1}, either=[1, 2], number=1.5, free={"any": None}, blank="",
    )  # fmt: skip
    assert row == Row(
        text="x", version=1, payload=Payload("y", "clean"), count=3, ratio=2.0, flag=True, colour=Colour.BLUE,
        words=("a", "b"), items=[Payload("y", "clean")], unique=frozenset("u"), pair=(1, "p"), meta={"k": [1]},
        scores={"s": 1.0}, either=[1, 2], number=1.5, free={"any": None},
    )  # fmt: skip
    assert type(row.ratio) is float
    assert made(either="s").either == "s"
    assert type(made(number=1).number) is int


@pytest.mark.parametrize(
    ("changes", "path", "what"),
    [
        ({"text": ...}, "$.text", "missing field"),
        ({"text": ""}, "$.text", "must not be empty"),
        ({"text": 5}, "$.text", "must be a string, not an integer"),
        ({"text": None}, "$.text", "must be a string, not null"),
        ({"version": True}, "$.version", "must be 1, not true"),
        ({"version": 1.0}, "$.version", "must be 1, not a number"),
        ({"version": 2}, "$.version", "must be 1, not 2"),
        ({"version": "1"}, "$.version", "must be 1, not a string"),
        ({"version": [1]}, "$.version", "must be 1, not a list"),
        ({"payload": []}, "$.payload", "must be an object, not a list"),
        ({"payload": "text"}, "$.payload", "must be an object, not a string"),
        ({"payload": {"expect": "clean"}}, "$.payload.text", "missing field"),
        ({"payload": {"text": "", "expect": "clean"}}, "$.payload.text", "must not be empty"),
        (
            {"payload": {"text": "y", "expect": "clear"}},
            "$.payload.expect",
            "must be one of 'detect', 'clean', not 'clear'",
        ),
        ({"payload": {"text": "y", "expect": "clean", "wieght": 1}}, "$.payload.wieght", "unknown field"),
        (
            {"items": [GOOD["payload"], {"text": 1, "expect": "clean"}]},
            "$.items[1].text",
            "must be a string, not an integer",
        ),
        ({"items": {}}, "$.items", "must be a list, not an object"),
        ({"words": "abc"}, "$.words", "must be a list, not a string"),
        ({"words": ["a", None]}, "$.words[1]", "must be a string, not null"),
        ({"unique": "abc"}, "$.unique", "must be a list, not a string"),
        ({"pair": [1]}, "$.pair", "must be a list of 2, not of 1"),
        ({"count": True}, "$.count", "must be an integer, not true"),
        ({"count": 1.0}, "$.count", "must be an integer, not a number"),
        ({"count": "1"}, "$.count", "must be an integer, not a string"),
        ({"ratio": "1"}, "$.ratio", "must be a number, not a string"),
        ({"ratio": False}, "$.ratio", "must be a number, not false"),
        ({"flag": 1}, "$.flag", "must be true or false, not an integer"),
        ({"flag": None}, "$.flag", "must be true or false, not null"),
        ({"colour": "green"}, "$.colour", "must be one of 'red', 'blue', not 'green'"),
        ({"meta": []}, "$.meta", "must be an object, not a list"),
        ({"scores": {"a b": "x"}}, '$.scores["a b"]', "must be a number, not a string"),
        ({"either": 1}, "$.either", "must be a string or a list or null, not an integer"),
        ({"either": ["x"]}, "$.either[0]", "must be an integer, not a string"),
        ({"number": True}, "$.number", "must be an integer or a number, not true"),
        ({"txt": "x"}, "$.txt", "unknown field"),
        ({"txet": "x", "text": ...}, "$.txet", "unknown field"),
        ({"blank": "long"}, "$", "Length of 'blank' must be <= 3: 4"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(changes: dict[str, Any], path: str, what: str) -> None:
    error = refusal(**changes)
    assert (error.path, error.what) == (path, what)


def test_the_nearest_known_name_is_offered() -> None:
    assert refusal(txt="x").hint == "did you mean 'text'?"
    assert refusal(payload={"text": "y", "expect": "clean", "wieght": 1}).hint == "did you mean 'weight'?"
    assert refusal(colour="bleu").hint == "did you mean 'blue'?"


def test_messages_name_kinds_and_not_content() -> None:
    secret = "4111 1111 1111 1111"
    for changes in ({"version": secret}, {"colour": secret}, {"count": secret}, {"payload": secret}, {"blank": secret}):
        error = refusal(**changes)
        assert "4111" not in f"{error.what} {error.hint} {error.path}"


def test_a_validator_of_the_class_is_heard(tmp_path: Path) -> None:
    @frozen
    class Picky:
        tier: str = field(validator=attrs.validators.in_(["low", "high"]))

        def __attrs_post_init__(self) -> None:
            if self.tier == "high":
                raise ValueError("high is\nnot for now")

    with pytest.raises(RowError, match=r"'tier' must be in \['low', 'high'\]\Z"):
        structurer(Picky).structure({"tier": "medium"})
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"tier":"low"}\n{"tier":"high"}\n')
    with pytest.raises(DatasetError) as caught:
        RowDataset(path, row=Picky).open()
    assert str(caught.value) == f"{path}:2: high is\\nnot for now"


def test_a_string_may_be_declared_empty() -> None:
    @frozen
    class Lenient:
        text: str = field(metadata={"may_be_empty": True})

    assert structurer(Lenient).structure({"text": ""}) == Lenient("")
    with pytest.raises(RowError, match="missing field"):
        structurer(Lenient).structure({})


def test_a_class_may_contain_itself() -> None:
    data = {"name": "a", "children": [{"name": "b", "parent": {"name": "c"}}, {"name": "d"}]}
    assert structurer(Node).structure(data) == Node("a", (Node("b", parent=Node("c")), Node("d")))
    data["children"][0]["parent"]["name"] = ""  # type: ignore[index]
    with pytest.raises(RowError) as caught:
        structurer(Node).structure(data)
    assert caught.value.path == "$.children[0].parent.name"


def test_a_class_that_cannot_come_from_json_is_an_error_of_the_programmer(tmp_path: Path) -> None:
    @frozen
    class Impossible:
        when: complex

    @frozen
    class Ambiguous:
        what: Payload | Node

    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"{}\n")
    for kind in (Impossible, Ambiguous, dict):
        with pytest.raises(TypeError):
            RowDataset(path, row=kind).open()


def test_unions_are_told_apart_by_json_type() -> None:
    @frozen
    class Mixed:
        value: Literal["auto", "off"] | int | Payload | tuple[str, ...]
        colour: Colour | bool | None = None
        anything: Any | None = None
        numbers: float | None = None

    make = structurer(Mixed).structure
    payload = Payload("y", "clean")
    for given_value, expected in (
        ("auto", "auto"),
        (3, 3),
        (["a"], ("a",)),
        ({"text": "y", "expect": "clean"}, payload),
    ):
        assert make({"value": given_value}).value == expected
    assert make({"value": 1, "colour": "blue"}).colour is Colour.BLUE
    assert make({"value": 1, "colour": True, "anything": [1], "numbers": 2}) == Mixed(1, True, [1], 2.0)
    for data, path in (
        ({"value": "on"}, "$.value"),
        ({"value": {"text": "y"}}, "$.value.expect"),
        ({"value": ["a", 1]}, "$.value[1]"),
        ({"value": None}, "$.value"),
        ({"value": 1, "colour": 1}, "$.colour"),
        ({"value": 1, "numbers": "x"}, "$.numbers"),
    ):
        with pytest.raises(RowError) as caught:
            make(data)
        assert caught.value.path == path


def test_literals_that_python_takes_for_equal_are_kept_apart() -> None:
    @frozen
    class Both:
        value: Literal[1, True, "1"]

    for value in (1, True, "1"):
        assert structurer(Both).structure({"value": value}).value is value
    with pytest.raises(RowError):
        structurer(Both).structure({"value": False})


def test_id_and_tags_reach_a_class_that_declares_them_and_no_other(tmp_path: Path) -> None:
    @frozen
    class Bare:
        text: str

    @frozen
    class Full:
        text: str
        id: str
        tags: tuple[str, ...] = ()

    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id":"a","tags":["lang:ru"],"text":"x"}\n')
    for row, expected in ((Bare, Bare("x")), (Full, Full("x", "a", ("lang:ru",)))):
        (batch,) = RowDataset(path, row=row).open().samples(10)
        (sample,) = batch
        assert (sample.id, sample.tags, sample.data) == ("a", ("lang:ru",), expected)
    path.write_bytes(b'{"text":"x"}\n')
    with pytest.raises(DatasetError, match=r"rows\.jsonl:1: \$\.id: missing field"):
        RowDataset(path, row=Full).open()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(["", "x", "red", "clean", "1"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "expect", "k"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([f.name for f in attrs.fields(Row)]), json_values, max_size=5))
def test_any_json_is_structured_or_refused_with_a_path(changes: dict[str, Any]) -> None:
    try:
        row = made(**changes)
    except RowError as error:
        assert error.path.startswith("$")
    else:
        assert all(type(getattr(row, name)) in (str, type(None)) for name in ("text", "note"))
        assert type(row.count) is int
        assert type(row.flag) is bool
