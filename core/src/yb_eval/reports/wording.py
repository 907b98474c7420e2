"""Numbers, values and hostile text as people read them.

Rounding happens here and nowhere before: nothing in this module is ever compared or written to JSON.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import orjson

from yb_eval.errors import printable

Interval = tuple[float, float] | list[float] | None

_MAX_DECIMALS = 9

#: A rest shorter than this is an ellipsis, a longer one is counted.
_UNCOUNTED = 200


def number(value: float | None) -> str:
    """`value` rounded for people: `0.995`, `12,345`, `-` for none.

    A value is given more digits rather than shown as a whole number that it is not: 0.99996 is not 1.000.
    """
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if abs(value) >= 1000:
        return f"{value:,.1f}"
    decimals = 3
    while round(value, decimals) == round(value) != value and decimals < _MAX_DECIMALS:
        decimals += 1
    if decimals == _MAX_DECIMALS and round(value) == 0:
        return f"{value:.2g}"
    return f"{value:.{decimals}f}"


def signed(value: float | None) -> str:
    """A change: always with its sign, `0` where there is none."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    return f"+{number(value)}" if value > 0 else number(value)


def interval(bounds: Interval) -> str:
    """A 95 % interval as `[0.951, 0.984]`, nothing where there is none."""
    return f"[{number(bounds[0])}, {number(bounds[1])}]" if bounds else ""


def p_value(value: float | None) -> str:
    if value is None:
        return ""
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def duration(seconds: float) -> str:
    """A time that passed, to the precision people care for."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def flat(value: Any) -> str:
    """A JSON value as text: a string as it is, anything else as compact JSON. Not yet safe to show (see `shown`)."""
    if isinstance(value, str):
        return value
    return orjson.dumps(value).decode()


def brief(value: Any, limit: int) -> str:
    """A JSON value as text of at most `limit` characters, the rest counted. Not yet safe to show (see `shown`)."""
    text = flat(value)
    if len(text) <= limit:
        return text
    kept = max(limit - len(_mark(len(text), limit)), 0)
    return text[:kept] + _mark(len(text) - kept, limit - kept)


def _mark(rest: int, limit: int) -> str:
    """What stands for `rest` characters that are left out."""
    return "..." if rest - limit < _UNCOUNTED else f"... (+{rest:,} chars)"


def shown(value: Any, limit: int) -> str:
    """A JSON value on one line of at most `limit` columns, control and direction characters escaped.

    What does not fit is counted where it is more than a few words: `aaaa... (+999,980 chars)`. The work done is bounded
    by `limit`, not by the text.
    """
    text = flat(value)
    if len(text) <= limit:
        escaped = printable(text)
        if columns(escaped) <= limit:
            return escaped
    mark = _mark(len(text), limit)
    if limit <= len(mark):
        return "..."[:limit]
    kept: list[str] = []
    used = len(mark)
    for character in text[:limit]:
        piece = printable(character)
        used += columns(piece)
        if used > limit:
            break
        kept.append(piece)
    return "".join(kept) + (mark if mark == "..." else f"... (+{len(text) - len(kept):,} chars)")


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes (printable text: marks take none, wide characters two)."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
