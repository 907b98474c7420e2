"""JSON at the border to a system under test."""

from __future__ import annotations

import dataclasses
import enum
import json
import math

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.targets.wire import MAX_DEPTH, NotJson, decode, encode, mismatch, plain

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)
objects = st.dictionaries(texts, values, max_size=4)


def same(left: object, right: object) -> bool:
    """Equal, and of the same types throughout: 1, 1.0 and True are three answers."""
    return repr(left) == repr(right)


@given(values)
def test_every_json_value_is_read_back_as_it_was(value: object) -> None:
    assert same(decode(orjson.dumps(value)), value)
    assert same(decode(json.dumps(value).encode()), value)
    assert same(plain(value), value)


@given(objects)
def test_a_request_has_the_same_bytes_whatever_the_order_of_its_keys(request_: dict[str, object]) -> None:
    turned = dict(reversed(list(request_.items())))
    assert encode(turned) == encode(request_)
    assert b"\n" not in encode(request_)
    assert decode(encode(request_)) == request_


@pytest.mark.parametrize(
    "raw",
    [
        b"", b" ", b"NaN", b'{"a": NaN}', b'{"a": Infinity}', b"-Infinity", b"1e999", b'{"a":1}{"a":2}', b'{"a":1} x',
        b'{"a": "tru', b'"\\ud800"', b'"\xff"', b"\xef\xbb\xbf{}", b"{'a': 1}", b'{"a":1}\x00', b"[1,]", b"01",
        b'{"n": 123456789012345678901234567890}', b"18446744073709551616", b"-9223372036854775809", b"9" * 5000,
        b'{"a":1,"a":2}', b'{"a":1,"\\u0061":2}', b'{"x":[{"a":":","a":1}]}',
        b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1), b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 5000,
    ],
)  # fmt: skip
def test_what_is_not_strict_json_is_refused(raw: bytes) -> None:
    with pytest.raises(NotJson):
        decode(raw)


def test_the_refusal_says_what_is_wrong() -> None:
    with pytest.raises(NotJson, match="the key 'a' twice"):
        decode(b'{"a":1,"a":2}')
    with pytest.raises(NotJson, match="beyond 64 bits"):
        decode(b'{"a":123456789012345678901234567890}')
    with pytest.raises(NotJson, match="deeper than"):
        decode(b"[" * 60 + b"]" * 60)


def test_colons_in_strings_and_large_floats_are_no_fault() -> None:
    assert decode(b'{"url":"http://a:1/:","b":[":"]}') == {"url": "http://a:1/:", "b": [":"]}
    assert decode(b"[1e300,-1e19,18446744073709551615]") == [1e300, -1e19, 2**64 - 1]
    assert decode(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH) is not None


@pytest.mark.parametrize(
    "value",
    [
        math.nan, [1, math.inf], {"a": {"b": -math.inf}}, {"x": (1.0, math.nan)}, np.float64("nan"),
        np.array([1.0, np.inf]),        10**30, "\ud800", {1: 2}, object(), b"bytes", {1, 2}, [lambda: 0],
    ],
)  # fmt: skip
def test_a_python_answer_that_json_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(NotJson):
        plain(value)


def test_a_circular_answer_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(NotJson):
        plain(circle)


def test_a_nan_inside_a_dataclass_is_found() -> None:
    @dataclasses.dataclass
    class Said:
        score: float | None

    with pytest.raises(NotJson, match=r"\$\.score"):
        plain(Said(math.nan))
    assert plain(Said(None)) == {"score": None}


def test_python_values_that_json_has_a_form_for_become_that_form() -> None:
    class Tier(enum.Enum):
        LOW = "low"

    answer = plain({"tier": Tier.LOW, "pair": (1, 2), "score": np.float64(0.5), "many": np.array([1, 2])})
    assert same(answer, {"tier": "low", "pair": [1, 2], "score": 0.5, "many": [1, 2]})


def test_where_an_object_lies_in_memory_is_not_told() -> None:
    with pytest.raises(NotJson, match=r"\$\.a: a object is not JSON") as caught:
        plain({"a": object()})
    assert "0x" not in str(caught.value)


@pytest.mark.parametrize("request_", [{"a": math.nan}, {"a": object()}, {"a": "\ud800"}, {1: 2}])
def test_a_request_that_is_not_json_is_refused(request_: dict[str, object]) -> None:
    with pytest.raises(NotJson, match="the request is not JSON"):
        encode(request_)


def test_an_answer_for_another_id_is_noticed() -> None:
    assert mismatch({"id": "a"}, {"id": "b"}) == "the answer is for the id 'b', the request has 'a'"
    assert mismatch({"id": "a"}, {"id": "a"}) is None
    assert mismatch({"id": "a"}, {}) is None
    assert mismatch({}, {"id": "b"}) is None
    assert mismatch({"id": "a"}, ["id"]) is None
