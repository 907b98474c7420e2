"""Where a text may hold a number: runs of digits, and runs split by separators in the ways people split them.

Nothing here knows what a number means. What is left out is what can be told from the surroundings alone: the digits of
a decimal, of a hash, of a UUID, of a hexadecimal literal, of a longer number.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .layouts import MIN_DIGITS, SEPARATORS, Part

__all__ = ["Digits", "joined", "standing", "stretches"]

# It begins with one character of a class, which is looked for faster than a repetition.
_STRETCH = re.compile(f"[0-9][0-9{re.escape(SEPARATORS)}]{{{MIN_DIGITS - 1},}}")
_TOKEN_BEFORE = re.compile(r"[A-Za-z0-9]*\Z")
_TOKEN_AFTER = re.compile(r"[A-Za-z0-9]*")
_TOKEN_LIMIT = 48
_HEX_ONLY = re.compile(r"(?:0[xX])?[0-9a-fA-F]*\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_UUID_SIZE = 36


class Digits(NamedTuple):
    """A number's digits and where they stand in the view. `glued` says that letters touch them.

    `shape` is "" for a run without separators, else what `layouts.Part` says, and so is `continues`.
    """

    start: int
    end: int
    digits: str
    shape: str = ""
    glued: bool = False
    continues: bool = False


def _part_of_decimal(text: str, start: int, end: int) -> bool:
    """Tell whether the digits are the fraction or the whole part of a decimal, or a part of a dotted version."""
    before, after = text[max(0, start - 3) : start], text[end : end + 2]
    if before[-1:] == "." and before[-2:-1].isdigit():
        return True
    if after[:1] == "." and after[1:2].isdigit():
        return True
    # A comma separates columns as often as it marks a decimal; only `0,` in running text is read as a decimal.
    return before[-2:] == "0," and before[-3:-2] in {" ", "=", ":", "("}


def _part_of_uuid(text: str, start: int, end: int) -> bool:
    around = text[max(0, start - _UUID_SIZE) : end + _UUID_SIZE]
    shift = max(0, start - _UUID_SIZE)
    return any(match.start() + shift < end and match.end() + shift > start for match in _UUID.finditer(around))


def _token(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the letters and digits that touch the span on its left and on its right, each up to a limit."""
    left = _TOKEN_BEFORE.search(text, max(0, start - _TOKEN_LIMIT), start)
    right = _TOKEN_AFTER.match(text, end, end + _TOKEN_LIMIT)
    return (left.group() if left else ""), (right.group() if right else "")


def stretches(text: str) -> list[tuple[int, int]]:
    """Return where digits and separators follow each other for long enough to be a number: every number lies in one."""
    return [match.span() for match in _STRETCH.finditer(text)]


def standing(text: str, place: int, part: Part, digits: str) -> Digits | None:
    """Return the part of a stretch (which begins at `place` and has these digits) where it may be a number, for all that
    touches it."""
    start, end = place + part.start, place + part.end
    before, after = text[start - 1 : start], text[end : end + 1]
    if (before == "-" or after == "-") and _part_of_uuid(text, start, end):
        return None
    glued = before.isalpha() or after.isalpha()
    continues = part.continues
    if not part.shape:
        if _part_of_decimal(text, start, end) or (glued and _part_of_hex(text, start, end)):
            return None
        continues = _in_chain(text, start, end)
    return Digits(start, end, digits[part.first : part.last], part.shape, glued, continues)


def _part_of_hex(text: str, start: int, end: int) -> bool:
    left, right = _token(text, start, end)
    token = left + right
    return bool(token and (_HEX_ONLY.match(token) or left[-2:] in {"0x", "0X"}))


def _in_chain(text: str, start: int, end: int) -> bool:
    """Tell whether a hyphen ties the digits to more digits: a part number, a dated id, a phone with its country code."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    tied_before = before[-1:] in {"-", "+"} and (before[-1:] == "+" or before[:1].isdigit())
    return tied_before or (after[:1] == "-" and after[1:].isdigit())


_SEPARATORS = SEPARATORS.encode()


def joined(stretch: str) -> str:
    """Return the digits of a stretch."""
    return stretch.encode().translate(None, _SEPARATORS).decode()
