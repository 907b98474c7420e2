"""Reading an answer strictly: what is not of the expected shape is an error that says what came back, never a guess.

```python
def judge(sample, answer):
    tier = expect_choice(answer, "tier", ("low", "mid", "high"))
    score = expect_probability(answer, "score", optional=True)
```
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, Literal, overload

from yb_eval.errors import nearest, shorten


class AnswerError(Exception):
    """An answer is not of the shape that the suite's schema asks for; `reason` says what came back instead."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def expect_object(answer: Any) -> Mapping[str, Any]:
    """The answer, a JSON object."""
    # The exact type first: isinstance with an abstract class is slow, and this runs for every value of every answer.
    if type(answer) is not dict and not isinstance(answer, Mapping):
        raise AnswerError(f"an object is expected, not {shorten(answer)}")
    return answer


@overload
def expect_text(answer: Any, key: str, *, optional: Literal[False] = False) -> str: ...
@overload
def expect_text(answer: Any, key: str, *, optional: bool) -> str | None: ...
def expect_text(answer: Any, key: str, *, optional: bool = False) -> str | None:
    """`answer[key]`, a string. With `optional`, `None` where it is missing or null."""
    value = _value(answer, key, optional)
    if value is not None and not isinstance(value, str):
        raise _wrong(key, "a string", value)
    return value


@overload
def expect_number(
    answer: Any,
    key: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    optional: Literal[False] = False,
) -> float: ...
@overload
def expect_number(
    answer: Any, key: str, *, minimum: float | None = None, maximum: float | None = None, optional: bool
) -> float | None: ...
def expect_number(
    answer: Any, key: str, *, minimum: float | None = None, maximum: float | None = None, optional: bool = False
) -> float | None:
    """`answer[key]`, a finite number between `minimum` and `maximum`, both inclusive; true and false are none."""
    value = _value(answer, key, optional)
    if value is None:
        return None
    low = "" if minimum is None else f" from {minimum:g}" if maximum is not None else f" of at least {minimum:g}"
    high = "" if maximum is None else f" to {maximum:g}" if minimum is not None else f" of at most {maximum:g}"
    expected = f"a number{low}{high}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not _finite(value):
        raise _wrong(key, expected, value)
    if (minimum is not None and value < minimum) or (maximum is not None and value > maximum):
        raise _wrong(key, expected, value)
    return value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond a double
        return False


@overload
def expect_probability(answer: Any, key: str, *, optional: Literal[False] = False) -> float: ...
@overload
def expect_probability(answer: Any, key: str, *, optional: bool) -> float | None: ...
def expect_probability(answer: Any, key: str, *, optional: bool = False) -> float | None:
    """`answer[key]`, a number from 0 to 1."""
    return expect_number(answer, key, minimum=0, maximum=1, optional=optional)


@overload
def expect_choice(answer: Any, key: str, choices: Collection[str], *, optional: Literal[False] = False) -> str: ...
@overload
def expect_choice(answer: Any, key: str, choices: Collection[str], *, optional: bool) -> str | None: ...
def expect_choice(answer: Any, key: str, choices: Collection[str], *, optional: bool = False) -> str | None:
    """`answer[key]`, one of `choices`, to the letter."""
    value = expect_text(answer, key, optional=optional)
    if value is not None and value not in choices:
        raise AnswerError(f"{key} is {shorten(value)}, which is unknown ({nearest(value[:100], choices)})")
    return value


@overload
def expect_boolean(answer: Any, key: str, *, optional: Literal[False] = False) -> bool: ...
@overload
def expect_boolean(answer: Any, key: str, *, optional: bool) -> bool | None: ...
def expect_boolean(answer: Any, key: str, *, optional: bool = False) -> bool | None:
    """`answer[key]`, true or false."""
    value = _value(answer, key, optional)
    if value is not None and not isinstance(value, bool):
        raise _wrong(key, "true or false", value)
    return value


@overload
def expect_list(answer: Any, key: str, *, optional: Literal[False] = False) -> list[Any]: ...
@overload
def expect_list(answer: Any, key: str, *, optional: bool) -> list[Any] | None: ...
def expect_list(answer: Any, key: str, *, optional: bool = False) -> list[Any] | None:
    """`answer[key]`, a list of anything."""
    value = _value(answer, key, optional)
    if value is not None and not isinstance(value, list):
        raise _wrong(key, "a list", value)
    return value


def _value(answer: Any, key: str, optional: bool) -> Any:
    value = answer.get(key) if type(answer) is dict else expect_object(answer).get(key)
    if value is None and not optional:
        gap = "is null" if key in answer else "is missing"
        raise AnswerError(f"{key} {gap} in the answer {shorten(answer)}")
    return value


def _wrong(key: str, expected: str, value: Any) -> AnswerError:
    return AnswerError(f"{key} must be {expected}, not {shorten(value)}")
