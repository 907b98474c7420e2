"""Where a text may hold a number: runs of digits, and runs split by separators in the ways people split them.

Nothing here knows what a number means. What is left out is what can be told from the surroundings alone: the digits of
a decimal, of a hash, of a UUID, of a hexadecimal literal, of a longer number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from .layouts import MAX_DIGITS, MIN_DIGITS, layout_of, parts

__all__ = ["Digits", "contiguous", "split"]

_RUN = re.compile(f"[0-9]{{{MIN_DIGITS},}}")
_TOKEN_BEFORE = re.compile(r"[A-Za-z0-9]*\Z")
_TOKEN_AFTER = re.compile(r"[A-Za-z0-9]*")
_TOKEN_LIMIT = 48
_HEX_ONLY = re.compile(r"(?:0[xX])?[0-9a-fA-F]*\Z")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")
_UUID_SIZE = 36


Passes = Callable[[str], bool]
"""Tells of 10 to 19 digits whether they may be a number at all: asked first, since most runs of digits are none."""


def _any(digits: str) -> bool:
    return True


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
    if text[start - 1 : start] != "-" and text[end : end + 1] != "-":
        return False
    around = text[max(0, start - _UUID_SIZE) : end + _UUID_SIZE]
    shift = max(0, start - _UUID_SIZE)
    return any(match.start() + shift < end and match.end() + shift > start for match in _UUID.finditer(around))


def _token(text: str, start: int, end: int) -> tuple[str, str]:
    """Return the letters and digits that touch the span on its left and on its right, each up to a limit."""
    left = _TOKEN_BEFORE.search(text, max(0, start - _TOKEN_LIMIT), start)
    right = _TOKEN_AFTER.match(text, end, end + _TOKEN_LIMIT)
    return (left.group() if left else ""), (right.group() if right else "")


def contiguous(text: str, passes: Passes = _any) -> Iterator[Digits]:
    """Yield the runs of 10 to 19 digits that pass and may be a number of their own."""
    for match in _RUN.finditer(text):
        start, end = match.span()
        if end - start > MAX_DIGITS or not passes(match.group()):
            continue
        if _part_of_decimal(text, start, end) or _part_of_uuid(text, start, end):
            continue
        glued = text[start - 1 : start].isalpha() or text[end : end + 1].isalpha()
        if glued:
            left, right = _token(text, start, end)
            token = left + right
            if token and (_HEX_ONLY.match(token) or left[-2:] in {"0x", "0X"}):
                continue
        yield Digits(start, end, match.group(), glued=glued, continues=_in_chain(text, start, end))


def _in_chain(text: str, start: int, end: int) -> bool:
    """Tell whether a hyphen ties the digits to more digits: a part number, a dated id, a phone with its country code."""
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    tied_before = before[-1:] in {"-", "+"} and (before[-1:] == "+" or before[:1].isdigit())
    return tied_before or (after[:1] == "-" and after[1:].isdigit())


_CHAIN = re.compile(r"(?<![0-9])[0-9]{1,19}(?:[ \-.\t\n\r]{1,3}[0-9]{1,19})+(?![0-9])")
_WITHOUT_SEPARATORS = str.maketrans("", "", " -.\t\n\r")


def split(text: str, *, labelled: bool, passes: Passes = _any) -> Iterator[Digits]:
    """Yield the numbers that are written in groups and pass; `labelled` as `layouts.parts` has it."""
    for chain in _CHAIN.finditer(text):
        place = chain.start()
        if chain.end() - place <= MIN_DIGITS:
            continue
        written = chain.group()
        together = written.translate(_WITHOUT_SEPARATORS)
        for part in parts(layout_of(written), labelled=labelled):
            digits = together[part.first : part.last]
            if not passes(digits):
                continue
            start, end = place + part.start, place + part.end
            if _part_of_uuid(text, start, end):
                continue
            glued = text[start - 1 : start].isalpha() or text[end : end + 1].isalpha()
            yield Digits(start, end, digits, part.shape, glued, part.continues)
