"""Canonical JSON and ids: the published vectors, the `rfc8785` library, and what is refused."""

from __future__ import annotations

import hashlib
import json
import math
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.digest import (
    canonical,
    content_key,
    decimal_string,
    finite_json,
    identifiable,
    identify,
    revision_id,
    sha256_hex,
)
from yb_eval.model import FileDigest

VECTORS = json.loads((Path(__file__).parents[2] / "docs" / "digest-vectors.json").read_text(encoding="utf-8"))

keys = st.from_regex(r"[a-z0-9_.-]{1,8}", fullmatch=True)
safe = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("vector", VECTORS["accepted"], ids=lambda vector: vector["name"])
def test_a_published_vector_has_its_canonical_form_and_its_id(vector: dict[str, Any]) -> None:
    form = canonical(vector["value"])
    assert form.decode("utf-8") == vector["canonical"]
    assert form == rfc8785.dumps(vector["value"])
    assert identify(vector["kind"], vector["value"]) == vector["id"]
    domain = b"yb-eval/1/" + vector["kind"].encode("ascii") + b"\0"
    assert hashlib.sha256(domain + vector["canonical"].encode("utf-8")).hexdigest() == vector["id"]


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["name"])
def test_a_published_vector_outside_the_subset_is_refused_with_its_path(vector: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="^" + vector["path"].replace("$", r"\$").replace("[", r"\[") + ":"):
        canonical(json.loads(vector["json"]))


@pytest.mark.parametrize("vector", VECTORS["revisions"], ids=lambda vector: vector["name"])
def test_a_published_dataset_has_its_revision(vector: dict[str, Any]) -> None:
    files = [FileDigest(**file) for file in vector["files"]]
    assert revision_id(files) == revision_id(files[::-1]) == vector["revision_id"]


@given(safe)
def test_within_the_subset_canonical_json_is_rfc_8785(value: Any) -> None:
    form = canonical(value)
    assert form == rfc8785.dumps(value)
    assert orjson.loads(form) == value
    assert canonical(orjson.loads(form)) == form


@given(st.dictionaries(keys, st.integers(0, 9), min_size=2), st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(value: dict[str, int], generator: Any) -> None:
    items = list(value.items())
    generator.shuffle(items)
    assert identify("plan", dict(items)) == identify("plan", value)


def test_kinds_do_not_share_ids() -> None:
    assert identify("plan", {}) != identify("run", {})


class Text(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        1.0, math.nan, 2**53, -(2**53), "\ud800", {"A": 1}, {"": 1}, {"a b": 1}, {"a\n": 1}, {1: 1}, {"ключ": 1},
        b"x", {1, 2}, Decimal(1), Text("x"), {Text("x"): 1}, object(), [[["\udfff"]]],
    ],
)  # fmt: skip
def test_what_is_outside_the_subset_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^\$"):
        canonical(value)


def test_nesting_is_bounded() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for check in (canonical, finite_json):
        with pytest.raises(ValueError, match="nested deeper"):
            check(deep)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_decimal_string_reads_back_as_the_same_number(number: float) -> None:
    text = decimal_string(number)
    assert text is not None
    assert float(text) == number
    assert math.copysign(1, float(text)) == math.copysign(1, number)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, True])
def test_what_is_no_finite_number_has_no_decimal_string(number: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        decimal_string(number)


def test_numbers_are_written_in_their_shortest_form() -> None:
    assert [decimal_string(number) for number in (0.1, 12, 1e-07, 1.0, None)] == ["0.1", "12", "1e-07", "1.0", None]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=15,
)


@given(json_values)
def test_any_json_value_can_be_made_identifiable(value: Any) -> None:
    made = identifiable(value)
    canonical(made)
    assert identifiable(made) == made


def test_what_is_identifiable_stays_as_it_is() -> None:
    value = {"a": [1, "x", None, True], "b": {"c": -5}}
    assert identifiable(value) == value
    assert identifiable({"a": 0.5, "b": Decimal("0.10"), "c": 2**60}) == {"a": "0.5", "b": "0.10", "c": str(2**60)}
    assert identifiable({"Key": 1, "Б": 0.5}) == [["Key", 1], ["Б", "0.5"]]
    assert identifiable(MappingProxyType({"a": (1, 2)})) == {"a": [1, 2]}


@given(json_values)
def test_what_passes_as_json_comes_back_as_it_was(value: Any) -> None:
    try:
        finite_json(value)
    except ValueError as error:
        assert "64 bits" in str(error)
        return
    assert orjson.loads(orjson.dumps(value)) == value


@pytest.mark.parametrize(
    ("value", "path"),
    [
        (math.nan, "$"),
        ({"a": [0.0, math.inf]}, "$.a[1]"),
        ({"a": {1: 2}}, "$.a"),
        ({"a": b""}, "$.a"),
        ({"a": "\ud800"}, "$.a"),
        ({"\udfff": 1}, "$"),
        ([2**64], "$[0]"),
        ([-(2**63) - 1], "$[0]"),
        ({"a": Decimal(1)}, "$.a"),
        ({1, 2}, "$"),
    ],
)
def test_what_is_not_json_is_refused_with_its_path(value: Any, path: str) -> None:
    with pytest.raises(ValueError) as refused:
        finite_json(value)
    assert str(refused.value).startswith(f"{path}: ")


def test_a_dataset_needs_files_with_distinct_roles() -> None:
    file = FileDigest("rows", 3, sha256_hex(b"abc"))
    assert revision_id([file]) == sha256_hex(b"abc")
    with pytest.raises(ValueError, match="at least one"):
        revision_id([])
    with pytest.raises(ValueError, match="one role"):
        revision_id([file, FileDigest("rows", 4, sha256_hex(b"abcd"))])


def test_a_revision_of_several_files_depends_on_roles_sizes_and_bytes() -> None:
    base = [FileDigest("rows", 3, sha256_hex(b"abc")), FileDigest("catalogue", 0, sha256_hex(b""))]
    others = [
        [base[0], FileDigest("environment", 0, sha256_hex(b""))],
        [base[0], FileDigest("catalogue", 1, sha256_hex(b""))],
        [base[0], FileDigest("catalogue", 0, sha256_hex(b"x"))],
    ]
    assert len({revision_id(files) for files in (base, *others)}) == 4


def test_content_keys_are_short_and_differ() -> None:
    assert content_key(b"") == "99aa06d3014798d86001c324468d497f"
    assert content_key(b"a") != content_key(b"b")
