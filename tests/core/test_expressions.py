"""The expression language: what it reads, what it refuses, what it means."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pytest
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.errors import ExpressionError
from yb_eval.expressions import MAX_DEPTH, MAX_LENGTH, MAX_NODES, Expression, Missing, Reference, Vocabulary


@frozen
class Values:
    """A scope of given values."""

    values: Mapping[str, Any] = field(factory=dict)

    def lookup(self, name: str) -> Any:
        if name not in self.values:
            raise Missing(name, "not measured")
        return self.values[name]

    def call(self, function: str, arguments: list[Any]) -> Any:
        if function == "lower":
            return self.lookup(f"lower {arguments[0].name}")
        choose = min if function == "least" else max
        return choose(self.lookup(a.name) if isinstance(a, Reference) else a for a in arguments)


WORDS = Vocabulary(functions={"lower": 1, "largest": 2, "least": range(1, 4)})


def value(text: str, **values: Any) -> Any:
    names = {name.replace("__", "."): each for name, each in values.items()}
    return Expression.parse(text, WORDS).evaluate(Values(names))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4 / 2", 5.0),
        ("-x", -0.5),
        ("+x", 0.5),
        ("not x < 1", False),
        ("0 <= x <= 1", True),
        ("0 <= x <= 0.4", False),
        ("x == 0.5 and word != 'b'", True),
        ("x > 1 or flag", True),
        ("word in ['a', 'b']", True),
        ("word not in ('b', -1)", True),
        ("flag in [true, null]", True),
        ("flag == true", True),
        ("nothing == null", True),
        ("'b' in tags", True),
        ("nested.name >= 2", True),
        ("largest(x, 2)", 2),
        ("least(x)", 0.5),
        ("least(x, 2, -1)", -1),
        ("7 % 4 + 7.5 % 2", 4.5),
        ("1 if flag else 2", 1),
        ("1 if x > 1 else 2 if flag else 3", 2),
        ("x / (x - x) if x < 0 else -x", -0.5),
        ("(x > 1 if flag else x < 1) or flag", True),
        ("largest(x, nested.name)", 2),
        ("  (\n x \n)  ", 0.5),
    ],
)
def test_an_expression_means_what_it_says(text: str, expected: Any) -> None:
    scope = {"x": 0.5, "word": "a", "flag": True, "nothing": None, "tags": ["a", "b"], "nested__name": 2}
    assert value(text, **scope) == expected


def test_slices_and_bounds_are_looked_up_by_their_full_name() -> None:
    scope = Values({"lower recall[lang:ru]": 0.9, "f1[bug][lang:ru]": 0.8})
    assert Expression.parse('lower(recall["lang:ru"]) >= 0.9', WORDS).evaluate(scope) is True
    assert Expression.parse('f1["bug"]["lang:ru"]').evaluate(scope) == 0.8


def test_every_operand_is_evaluated_so_a_missing_one_never_hides() -> None:
    texts = (
        "true or unknown > 1",
        "false and unknown > 1",
        "1 > 2 > unknown",
        "1 if true else unknown",
        "unknown if false else 1",
    )
    for text in texts:
        with pytest.raises(Missing, match="unknown"):
            value(text)


def test_an_absent_value_is_in_no_order_with_anything() -> None:
    for text in ("x < 1", "x >= 1", "1 > x", "x <= x"):
        assert value(text, x=None) is False


@pytest.mark.parametrize(
    "text",
    [
        "x / 0 > 1",
        "x % 0",
        "word % 2",
        "1 if x else 2",
        "1 if null else 2",
        "x + 'a' if flag else 1",
        "x + 'a'",
        "x + true",
        "not x",
        "x and true",
        "-flag",
        "x < 'a'",
        "1 in x",
        "word * 3",
    ],
)
def test_what_cannot_be_evaluated_is_missing_and_never_a_verdict(text: str) -> None:
    with pytest.raises(Missing):
        value(text, x=0.5, flag=True, word="a")


def test_arithmetic_cannot_leave_the_finite_numbers() -> None:
    with pytest.raises(Missing):
        value("x * x", x=1e200)
    with pytest.raises(Missing):
        value(" * ".join(["9007199254740992"] * 30), x=1)
    with pytest.raises(Missing):
        value("x + 1", x=math.nan)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "x >",
        "x = 1",
        "(x := 1)",
        "x ** 2",
        "x // 2",
        "x @ y",
        "x | y",
        "~x",
        "x is 1",
        "lambda: 1",
        "[y for y in x]",
        "{y: 1}",
        "{1, 2}",
        "f'{x}'",
        "b'x'",
        "1j",
        "...",
        "x if y",
        "x if y := 1 else z",
        "x[0]",
        "x[y]",
        "x[1:2]",
        "x['a'].b",
        "'a'.upper",
        "(1).real",
        "'a'.upper()",
        "lower(x).y",
        "x.lower(1)",
        "lower(*x)",
        "lower(x=1)",
        "lower(**x)",
        "lower()",
        "lower(x, y)",
        "least()",
        "least(1, 2, 3, 4)",
        "upper(x)",
        "__import__('os')",
        "true(1)",
        "*x",
        "[x]",
        "[[1]]",
        "x in [y]",
        "await x",
        "yield",
        "x; y",
        "1e400 > x",
        "-1e400 < x",
        "99999999999999999999 > x",
        "x\x00",
        "import os",
    ],
)
def test_what_the_language_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression.parse(text, WORDS)


@pytest.mark.parametrize(
    "text",
    [
        "x" * (MAX_LENGTH + 1),
        " + ".join(["1"] * MAX_NODES),
        "-" * (MAX_DEPTH + 2) + "x",
        "(" * 500 + "x" + ")" * 500,
        "not " * 300 + "x",
        "9" * 1900,
        "[" * 900,
        ".".join("a" * 400),
    ],
)
def test_length_parts_and_depth_are_bounded(text: str) -> None:
    with pytest.raises(ExpressionError):
        Expression.parse(text)


def test_an_unknown_name_or_function_is_refused_with_the_nearest_known_one() -> None:
    words = Vocabulary(frozenset({"precision", "recall"}), {"lower": 1}, frozenset({"recall"}))
    with pytest.raises(ExpressionError, match=r"'precison'.*did you mean 'precision'"):
        Expression.parse("precison > 0.9", words)
    with pytest.raises(ExpressionError, match=r"'lowr'.*did you mean 'lower'"):
        Expression.parse("lowr(recall) > 0.9", words)
    with pytest.raises(ExpressionError, match="no slices"):
        Expression.parse("precision['a'] > 0.9", words)
    assert Expression.parse("lower(recall['a']) > precision", words).references() == [
        Reference("recall", "a"),
        Reference("precision"),
    ]


def test_comparisons_with_numbers_are_told_with_the_symbol_as_seen_from_the_name() -> None:
    found = Expression.parse(
        "0.9 <= lower(x) and y.z < 2 and x - y > -0.01 and 1 < x <= 3 and 2 == y", WORDS
    ).comparisons()
    assert found == [
        (Reference("x"), ">=", 0.9),
        (Reference("y.z"), "<", 2.0),
        (None, ">", -0.01),
        (Reference("x"), ">", 1.0),
        (Reference("x"), "<=", 3.0),
        (Reference("y"), "==", 2.0),
    ]


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("x > 1", True),
        ("not x", True),
        ("x > 1 if y > 2 else not z", True),
        ("x > 1 if y > 2 else z", False),
        ("x", False),
        ("1 if x > 1 else 0", False),
    ],
)
def test_a_condition_is_told_by_its_form(text: str, condition: bool) -> None:
    assert Expression.parse(text).is_condition is condition


@pytest.mark.parametrize(
    "text",
    ["x > 1", "0 < x <= 1 and not y == 'a'", "y in ['a', 'b'] or 1 < 2", "x > 1 if y != null else true", "-1 < x['a']"],
)
def test_an_expression_of_comparisons_with_constants_changes_in_steps(text: str) -> None:
    assert Expression.parse(text, WORDS).is_stepwise


@pytest.mark.parametrize(
    "text", ["x", "x > y", "0 < x < y", "x + 1 > 2", "least(x) > 1", "x in [1, 2]", "'a' in x", "x > 1 if y else z > 1"]
)
def test_an_expression_where_a_name_stands_elsewhere_does_not_change_in_steps(text: str) -> None:
    assert not Expression.parse(text, WORDS).is_stepwise


@given(
    st.floats(-2, 2),
    st.sampled_from(["0 <= x < 1 or x == -1", "not (x > 0.5) and x != 0", "x < 1 if x > 0 else x > -1"]),
)
def test_between_two_numbers_of_its_comparisons_a_stepwise_expression_keeps_its_value(x: float, text: str) -> None:
    expression = Expression.parse(text)
    steps = sorted({number for _, _, number in expression.comparisons()})
    if x in steps:
        return
    low = max((step for step in steps if step < x), default=-3.0)
    high = min((step for step in steps if step > x), default=3.0)
    values = {expression.evaluate(Values({"x": each})) for each in (x, (low + high) / 2)}
    assert len(values) == 1


def test_an_expression_survives_pickling() -> None:
    expression = Expression.parse("lower(x) > 0.5", WORDS)
    assert pickle.loads(pickle.dumps(expression)).evaluate(Values({"lower x": 0.6})) is True


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = Expression.parse(text)
    except ExpressionError as error:
        assert "\n" not in str(error)
        return
    with suppress(Missing):
        expression.evaluate(Values())


pieces = st.sampled_from(
    [
        "x",
        "y.z",
        "1",
        "0.5",
        "'a'",
        "true",
        "null",
        "and",
        "or",
        "not",
        "<",
        ">=",
        "==",
        "in",
        "+",
        "-",
        "*",
        "/",
        "(",
        ")",
        "[",
        "]",
        ",",
        "lower",
        "largest",
        ".",
        "**",
        ":",
        "if",
        "else",
        "lambda",
    ]
)


@given(
    st.lists(pieces, max_size=20), st.dictionaries(st.sampled_from(["x", "y.z"]), st.none() | st.floats() | st.text())
)
def test_any_pieces_of_the_language_are_refused_or_end_in_a_value_or_a_missing_one(
    words: list[str], values: dict[str, Any]
) -> None:
    try:
        expression = Expression.parse(" ".join(words), WORDS)
        result = expression.evaluate(Values(values))
    except (ExpressionError, Missing):
        return
    except AttributeError as error:  # this scope's lower() of what is no name
        assert "name" in str(error)
        return
    assert result is None or isinstance(result, bool | int | float | str | list)
