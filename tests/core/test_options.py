"""Options classes: described once, structured strictly."""

from pathlib import Path
from typing import Literal

import pytest
from attrs import frozen

from yb_eval.errors import UsageError
from yb_eval.options import describe, option, structure


@frozen(kw_only=True)
class Options:
    rows: Path = option(Path("rows.jsonl"), help="rows", identity=False)
    level: float = option(0.5, help="level", minimum=0, maximum=1)
    count: int | None = option(None, help="count", minimum=1)
    names: tuple[str, ...] = option((), help="names")
    mode: Literal["a", "b"] = option("a", help="mode")
    loud: bool = option(False, help="loud")


@frozen(kw_only=True)
class Required:
    data: Path = option(help="data")


def test_options_are_described_in_order_with_their_types():
    infos = {info.name: info for info in describe(Options)}
    assert list(infos) == ["rows", "level", "count", "names", "mode", "loud"]
    assert (infos["count"].type, infos["count"].optional, infos["count"].minimum) == (int, True, 1)
    assert infos["names"].many and infos["mode"].choices == ("a", "b") and not infos["rows"].identity


def test_values_are_taken_as_they_are_and_paths_start_in_the_base():
    made = structure(Options, {"rows": "x.jsonl", "level": 1, "names": ["a", "b"], "count": None}, base=Path("/base"))
    assert made == Options(rows=Path("/base/x.jsonl"), level=1.0, names=("a", "b"), count=None)
    assert structure(Options, {"rows": "/abs/x"}, base=Path("/base")).rows == Path("/abs/x")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"levl": 1}, "unknown option 'levl' (did you mean 'level'?)"),
        ({"level": "0.5"}, "options.level: a number is expected, not '0.5'"),
        ({"level": True}, "a number is expected, not True"),
        ({"level": float("nan")}, "not a finite number"),
        ({"level": 1.01}, "out of range"),
        ({"count": 0}, "at least 1"),
        ({"count": 1.0}, "an integer is expected"),
        ({"names": "a"}, "a list is expected"),
        ({"names": ["a", 3]}, "options.names[1]: a string is expected"),
        ({"mode": "c"}, "'c' is none of a, b"),
        ({"loud": 1}, "true or false is expected"),
        ({"rows": ""}, "a path is expected"),
        ({"rows": None}, "a path is expected"),
    ],
)
def test_what_does_not_fit_is_refused_naming_the_key(values, said):
    with pytest.raises(UsageError) as caught:
        structure(Options, values)
    assert said in str(caught.value)


def test_a_required_option_must_be_given():
    with pytest.raises(UsageError, match="'data' is required"):
        structure(Required, {})


def test_a_field_that_is_no_option_or_has_no_known_type_is_the_programmer_s_error():
    @frozen
    class Plain:
        x: int = 1

    @frozen
    class Odd:
        x: dict = option({}, help="x")

    for wrong in (Plain, Odd):
        with pytest.raises(TypeError):
            describe(wrong)
