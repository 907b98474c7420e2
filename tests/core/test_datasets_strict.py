"""Strict JSON: what orjson lets through is refused, at the place where it stands."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from yb_eval.datasets.faults import RowError
from yb_eval.datasets.strict import MAX_DEPTH, loads


def refusal(raw: bytes) -> RowError:
    with pytest.raises(RowError) as caught:
        loads(raw)
    return caught.value


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"a":1,"a":2}', "$.a"),
        (b'{"a":1,"\\u0061":2}', "$.a"),
        (b'{"id":1,"\\u0069d":2}', "$.id"),
        (b'{"x":{"y":[0,{"k":"v","k":"v"}]}}', "$.x.y[1].k"),
        (b'{"a\\"b":1,"a\\"b":2}', '$["a\\"b"]'),
        (b'{"a\\\\":1,"a\\\\":"\\\\"}', '$["a\\\\"]'),
        (b'{"a":{"b":1,"b":1},"a":0}', "$.a"),
        (b'[{"a":[],"a":[]}]', "$[0].a"),
        ('{"ключ":1,"ключ":2}'.encode(), '$["ключ"]'),
    ],
)
def test_a_repeated_key_is_refused_with_its_path(raw: bytes, path: str) -> None:
    error = refusal(raw)
    assert (error.path, error.what) == (path, "the key is repeated in its object")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":"a","b":"a","c":["a","a"]}',
        b'{"a":"\\"","b":"\\\\","c":"\\\\\\"","d":"\\u0022"}',
        b'{"a\\"":1,"a":"\\"\\"\\"","\\\\":2}',
        b'{"a":{"a":{"a":1}}}',
        b'{"":"","b":""}',
        b'"\\\\\\\\"',
        b"1e19",
        b"[1.5e300, -2e200]",
        b"18446744073709551615",
        b"-9223372036854775808",
    ],
)
def test_what_only_looks_like_a_fault_is_read_as_orjson_reads_it(raw: bytes) -> None:
    assert loads(raw) == orjson.loads(raw)


keys = st.sampled_from(["a", "b", 'q"', "\\", "ы", "", "\n"]) | st.text(max_size=3)
texts = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8) | st.sampled_from(['"', "\\", '\\"', '"\\\\'])
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | texts
    | st.floats(allow_nan=False, allow_infinity=False)
)


class Pairs(list[Any]):
    """An object as pairs, so that a key can be repeated."""


objects = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.lists(st.tuples(keys, inner), max_size=4).map(Pairs),
    max_leaves=12,
)


def written(value: Any, ascii_only: bool) -> str:
    if isinstance(value, Pairs):
        items = (f"{json.dumps(k, ensure_ascii=ascii_only)}: {written(v, ascii_only)}" for k, v in value)
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(item, ascii_only) for item in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


def has_repeat(text: str) -> bool:
    found = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found.append(len({key for key, _ in items}) != len(items))
        return dict(items)

    json.loads(text, object_pairs_hook=pairs)
    return any(found)


@given(objects, st.booleans())
@example(Pairs([("a", '"'), ("a", '"')]), True)
def test_repeats_are_found_exactly_where_a_naive_reader_finds_them(value: Any, ascii_only: bool) -> None:
    text = written(value, ascii_only)
    if has_repeat(text):
        assert "repeated" in refusal(text.encode()).what
    else:
        assert loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_tokens_that_are_not_json_are_named(token: str) -> None:
    error = refusal(f'{{"a": {{"score": {token}}}}}'.encode())
    assert error.path == "$.a.score"
    assert token in error.what


@pytest.mark.parametrize("number", ["1e999", "-1e400", "1.7976931348623159e308"])
def test_a_number_beyond_a_double_is_refused(number: str) -> None:
    error = refusal(f'{{"a": [{number}]}}'.encode())
    assert (error.path, error.what) == ("$.a[0]", "a number beyond the range of a double")


@pytest.mark.parametrize("number", [str(2**64), str(-(2**63) - 1), "9" * 30, "1" + "0" * 5_000])
def test_an_integer_that_orjson_would_make_a_float_is_refused(number: str) -> None:
    error = refusal(f'{{"a": {number}}}'.encode())
    assert (error.path, error.what) == ("$.a", "an integer beyond 64 bits")


@given(st.integers(-(2**70), 2**70))
def test_integers_are_read_exactly_or_refused(number: int) -> None:
    raw = str(number).encode()
    if -(2**63) <= number < 2**64:
        assert loads(raw) == number
        assert type(loads(raw)) is int
    else:
        assert "64 bits" in refusal(raw).what


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        (b'{"a":"\\ud800"}', "$.a"),
        (b'{"a":["x","\\udc00\\ud800"]}', "$.a[1]"),
        (b'{"a":"\\ud83dx\\ude00"}', "$.a"),
    ],
)
def test_a_lone_surrogate_is_refused_with_its_path(raw: bytes, path: str) -> None:
    error = refusal(raw)
    assert error.path == path
    assert "lone surrogate" in error.what


def test_a_lone_surrogate_in_a_key_is_refused() -> None:
    assert "lone surrogate" in refusal(b'{"\\ud800": 1}').what


def test_a_pair_of_surrogates_is_a_character() -> None:
    assert loads(b'"\\ud83d\\ude00"') == "\U0001f600"


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_nesting_up_to_the_limit_is_read(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"
    loads(opening * MAX_DEPTH + b"1" + closing * MAX_DEPTH)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 500, 1_100, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}"), (b"[", b"")])
def test_nesting_beyond_the_limit_is_one_line_and_no_recursion_error(
    depth: int, opening: bytes, closing: bytes
) -> None:
    error = refusal(opening * depth + b"1" + closing * depth)
    expected = (
        ["nested deeper than 64"] if closing or depth > 1_000 else ["nested deeper than 64", "ends in the middle"]
    )
    assert any(error.what.startswith(words) for words in expected)


def test_a_deep_value_hidden_by_a_repeated_key_is_refused() -> None:
    hidden = b"[" * 990 + b"]" * 990
    assert refusal(b'{"a":' + hidden + b',"a":1}').what


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"a": 1', "ends in the middle of a value"),
        (b'{"a": "x', "ends in the middle of a value"),
        (b'{"a":', "ends in the middle of a value"),
        (b'{"a": 1} {"b": 2}', "a second value at column 10"),
        (b"{'a': 1}", "not JSON at column 2"),
        (b'{"a": 1,}', "not JSON at column"),
        (b'{"a": "\n"}', "control character"),
        (b'{"a": 01}', "not JSON at column"),
        (b'{"a": tru}', "not JSON at column 7"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        ("{}".encode("utf-16"), "UTF-16"),
        ("{}".encode("utf-16-le"), "UTF-16"),
        ("{}".encode("utf-32-be"), "UTF-16 or UTF-32"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": "\xed\xa0\x80"}', "not UTF-8"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"  ", "nothing but white space"),
    ],
)
def test_what_is_not_json_is_explained(raw: bytes, words: str) -> None:
    assert words in refusal(raw).what


def test_messages_do_not_quote_the_content() -> None:
    for raw in (b'{"a": "secret", "a": 1}', b'{"a": secret}', b'{"a": "secret', b'{"secretly": [1e999]} '):
        assert "secret" not in refusal(raw).what


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused_in_one_line(raw: bytes) -> None:
    try:
        value = loads(raw)
    except RowError as error:
        assert error.what
        assert "\n" not in error.what
    else:
        assert value == json.loads(raw.decode())
