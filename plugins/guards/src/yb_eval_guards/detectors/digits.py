"""Where a text may hold a number: runs of digits, and runs split by separators in the ways people split them.

Nothing here knows what a number means. What is left out is what can be told from the surroundings alone: the digits of
a decimal, of a hash, of a UUID, of a hexadecimal literal, of a longer number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import accumulate

import attrs

__all__ = ["Digits", "contiguous", "split"]

_MIN, _MAX = 10, 19
_RUN = re.compile(f"[0-9]{{{_MIN},}}")
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


@attrs.frozen(slots=True)
class Digits:
    """A number's digits and where they stand in the view. `glued` says that letters touch them.

    `shape` is "" for a run without separators, else the sizes of its groups, such as "3-3-3-2", or "single" for digits that
    stand one by one, or "broken" for a run broken over two lines. `continues` says that the same chain of groups goes on
    before or after it.
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
        if end - start > _MAX or not passes(match.group()):
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


_GROUPS = re.compile(r"(?<![0-9])[0-9]{1,19}(?:[ \-.\t\n\r]{1,3}[0-9]{1,19})+(?![0-9])")
_GROUP = re.compile("[0-9]+")


def split(text: str, *, labelled: bool, passes: Passes = _any) -> Iterator[Digits]:
    """Yield the numbers that are written in groups and pass.

    Unlabelled text yields the shapes of cards (4-4-4-4, 4-6-5, broken over two lines, digit by digit) and of SNILS
    (3-3-3-2) only: any other split is too common in dates, tables and phones. With `labelled`, every chain that starts
    a new group yields its first 10 to 19 digits as well, whatever the split; the label decides.
    """
    for groups in _GROUPS.finditer(text):
        if groups.end() - groups.start() <= _MIN:
            continue
        parts = _GROUP.findall(text, groups.start(), groups.end())
        lengths = list(map(len, parts))
        ends = [0, *accumulate(lengths)]
        sizes = "".join(map(_SIZES.__getitem__, lengths))
        together = "".join(parts)
        spans: list[tuple[int, int]] = []
        for first, last, shape, alone in _chosen(text, groups, sizes, ends, labelled=labelled):
            digits = together[ends[first] : ends[last + 1]]
            if not passes(digits):
                continue
            spans = spans or _spans(text, groups)
            start, end = spans[first][0], spans[last][1]
            if _part_of_uuid(text, start, end):
                continue
            yield Digits(
                start,
                end,
                digits,
                shape or "-".join(map(str, lengths[first : last + 1])),
                text[start - 1 : start].isalpha() or text[end : end + 1].isalpha(),
                not alone and _goes_on(text, spans, first, last, sizes),
            )


def _spans(text: str, groups: re.Match[str]) -> list[tuple[int, int]]:
    return [match.span() for match in _GROUP.finditer(text, groups.start(), groups.end())]


_SHAPES = re.compile("4444[123]?|465|464|3332")
_SHAPED = frozenset({"4444", "44441", "44442", "44443", "465", "464", "3332"})
_SINGLES = 15
_ONE_BY_ONE = re.compile("1{15,19}")
# A group's size as one character, so that the sizes of a chain are a text that patterns can read.
_SIZES = [chr(ord("0") + size) for size in range(_MAX + 1)]
_BROKEN_LINE = re.compile(r"-?\r?\n ?")

# The first and the last of the groups of a number, the name of its shape where that is not the groups' sizes, and whether
# it stands alone whatever is beside it.
_Part = tuple[int, int, str, bool]


def _chosen(text: str, groups: re.Match[str], sizes: str, ends: list[int], *, labelled: bool) -> Iterator[_Part]:
    """Yield the parts of a chain that may be numbers; group `i` has `ends[i + 1] - ends[i]` digits."""
    for match in _SHAPES.finditer(sizes):
        first, last = match.start(), match.end() - 1
        yield first, last, "", False
        if last - first == 4 and match.group().startswith("4444"):
            # The last short group may be the card's security code.
            yield first, last - 1, "", True
    if len(sizes) >= _SINGLES:
        for match in _ONE_BY_ONE.finditer(sizes):
            yield match.start(), match.end() - 1, "single", False
    if len(sizes) == 2 and _MIN <= ends[2] <= _MAX:
        # Between the two groups: the chain begins with the first and ends with the second.
        gap = groups.start() + ends[1], groups.end() - (ends[2] - ends[1])
        if _BROKEN_LINE.fullmatch(text, *gap):
            yield 0, 1, "broken", True
    if labelled:
        for last in range(1, min(len(sizes), _MAX)):
            if ends[last + 1] > _MAX:
                return
            if ends[last + 1] >= _MIN and sizes[: last + 1] not in _SHAPED:
                yield 0, last, "", True


def _goes_on(text: str, spans: list[tuple[int, int]], first: int, last: int, sizes: str) -> bool:
    """Tell whether the groups before or after belong to the same number.

    A hyphen or a dot ties any group; a space ties a group of the same size, unless whole numbers of that shape stand
    side by side, and a short group after the number is a date or a security code.
    """
    size = last - first + 1
    for inner, outer in ((first, first - 1), (last, last + 1)):
        if not 0 <= outer < len(spans):
            continue
        gap = text[spans[min(inner, outer)][1] : spans[max(inner, outer)][0]]
        tied = gap in {"-", "."} or sizes[outer] == sizes[inner]
        neighbour = sizes[outer + 1 - size : outer + 1] if outer < first else sizes[outer : outer + size]
        if tied and neighbour != sizes[first : last + 1]:
            return True
    return False
