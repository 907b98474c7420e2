"""Files of declarative evals: what is read, with which lines, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.declarative.documents import MAX_BYTES, Document, parse_document, read_document

TEXT = """\
# a comment
name: x
requires:
  - messages
  - output
questions:
  q: {type: noul,
      criteria: {true: "so", false: off}}
policy:
  block_if: >-
    q >
    0.5
"""


def read(text: str | bytes, name: str = "f.yaml") -> Document:
    return parse_document(text.encode() if isinstance(text, str) else text, name, is_json=name.endswith(".json"))


def test_values_come_with_the_lines_they_stand_on() -> None:
    document = read(TEXT)
    assert document.value == {
        "name": "x",
        "requires": ["messages", "output"],
        "questions": {"q": {"type": "noul", "criteria": {"true": "so", "false": "off"}}},
        "policy": {"block_if": "q > 0.5"},
    }
    assert document.place("requires", 1) == "f.yaml:5"
    assert document.place("questions", "q", "criteria", "false") == "f.yaml:8"
    assert document.place("policy", "block_if") == "f.yaml:10"
    assert document.place("questions", "missing") == "f.yaml:6"


def test_json_has_lines_too_whatever_it_is_indented_with() -> None:
    value = {"a": [1, {"b": 'x: [y], {z} " \\'}, []], "c": {}, "d": {"e": None, "f": [[True]]}, "g:": 1}
    document = read(json.dumps(value, indent="\t"), "f.json")
    assert document.value == value
    text = json.dumps(value, indent="\t").split("\n")
    for trail, shown in (
        (("a", 0), "1,"),
        (("a", 1, "b"), '"b"'),
        (("a", 2), "[]"),
        (("c",), '"c"'),
        (("d", "e"), '"e"'),
        (("d", "f", 0, 0), "true"),
        (("g:",), '"g:"'),
    ):
        assert shown in text[document.lines[trail] - 1]


@settings(deadline=None)
@given(st.recursive(st.none() | st.integers(-5, 5) | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
                    max_leaves=12))  # fmt: skip
def test_every_part_of_any_json_has_its_line(value: object) -> None:
    text = json.dumps(value, indent=1)
    document = read(text, "f.json")
    assert document.value == value
    wanted = set()

    def walk(part: object, trail: tuple[str | int, ...]) -> None:
        wanted.add(trail)
        for key, item in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
            walk(item, (*trail, key))

    walk(value, ())
    assert set(document.lines) == wanted
    # With an indent of one, every key and every item has a line to itself.
    lines = [line for trail, line in document.lines.items() if trail]
    assert len(set(lines)) == len(lines)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("off", "off"),
        ("yes", "yes"),
        ("2001-01-01", "2001-01-01"),
        ("1:30", "1:30"),
        ("0x1f", "0x1f"),
        (".nan", ".nan"),
        ("~", None),
        ("", None),
        ("TRUE", True),
        ("-3", -3),
        ("1e-1", 0.1),
        (".5", 0.5),
        ("'0.5'", "0.5"),
        ('"true"', "true"),
        ("|\n  0.5\n", "0.5\n"),
        ("=", "="),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text: str, value: object) -> None:
    found = read(f"a: {text}").value["a"]
    assert found == value
    assert type(found) is type(value)


def test_keys_are_texts_as_they_are_written() -> None:
    assert read("{yes: 1, true: 2, 3: 4, null: 5}").value == {"yes": 1, "true": 2, "3": 4, "null": 5}


def test_aliases_are_followed() -> None:
    assert read("a: &x [1]\nb: *x\n").value == {"a": [1], "b": [1]}


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)
)
LONG_BOMB = f"a: &a {'x' * 50_000}\nb: [{','.join(['*a'] * 9_000)}]\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml: empty"),
        ("# only a comment\n", "f.yaml: empty"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2: several documents"),
        ("a: 1\nb:\n\tc: 2\n", "f.yaml:3: not YAML.*spaces"),
        ("a: 1\na: 2\n", "f.yaml:2: the key 'a' is repeated .first on line 1"),
        ('{"a": {"true": 1, true: 2}}', "repeated"),
        ("a: !!python/object/apply:os.system [ls]\n", "f.yaml:1.*tag"),
        ("a: !!int '5'\n", "f.yaml:1.*tag"),
        ("a: !mine 5\n", "f.yaml:1.*tag"),
        ("? [a]\n: 1\n", "f.yaml:1: a key must be a text"),
        ("a: &a {b: 1}\nc:\n  <<: *a\n", "f.yaml:3: '<<'"),
        ("a: *nope\n", "f.yaml:1.*undefined alias"),
        ("a: &a [*a]\n", "nested deeper"),
        (BOMB, "too large when its aliases are followed"),
        (LONG_BOMB, "too large when its aliases are followed"),
        ("a: " + "[" * 100_000, "nested deeper"),
        ("a: " + "{a: " * 50_000, "nested deeper"),
        ("? " * 100_000, "nested deeper"),
        ("a: b: c\n", "f.yaml:1: not YAML"),
        ("a: 'x\n", "not YAML"),
        ("a: {type: noul, instructions: so?}\n", "f.yaml:1.*quotes"),
        ("\n\na: b\0c\n", "f.yaml:3: not YAML"),
        ('a: "\\ud800"\n', "f.yaml:1: a lone surrogate"),
        ("a: " + "9" * 5_000, "f.yaml:1: the number .* is too large"),
        ("a: 1e999\n", "f.yaml:1: the number .* is too large"),
        ("a: 9007199254740993\n", "f.yaml:1: the number .* is too large"),
        ("a: " + "x" * MAX_BYTES, "too large for an eval"),
        (b"a: 1\nb: \xff\n", "f.yaml:2: not UTF-8"),
        ("a: 1\n".encode("utf-16"), "f.yaml:1: not UTF-8"),
    ],
)  # fmt: skip
def test_a_hostile_yaml_file_is_refused_in_one_line(text: str | bytes, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.json: empty"),
        ('{"a": 1,\n "a": 2}', "a"),
        ('{"a": NaN}', "f.json"),
        ('{"a": 1} {"b": 2}', "f.json"),
        ("[" * 5_000, "f.json"),
        ('{"a": "\\ud800"}', "f.json"),
        ("{\n\n'a': 1}", "f.json:3"),
    ],
)
def test_a_hostile_json_file_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        read(text, "f.json")
    assert "\n" not in str(caught.value)


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab: -[]{},&*!|>'\"\n\t#?01~<%@\\"), max_size=60))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        document = read(text)
    except UsageError as error:
        assert re.match(r"f\.yaml(:\d+)?: ", str(error))
        assert "\n" not in str(error)
    else:
        json.dumps(document.value, allow_nan=False)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        read_document(tmp_path / "none.yaml")
    with pytest.raises(UsageError, match="not a file"):
        read_document(tmp_path)


def test_a_byte_order_mark_and_line_ends_of_windows_change_nothing() -> None:
    assert read(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n").value == {"a": 1, "b": 2}
    assert read(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n").place("b") == "f.yaml:2"
