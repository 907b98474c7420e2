"""Where numbers may stand among digits and separators: runs of digits, and groups of them in the ways people split them.

Only where digits and separators stand counts here, not which digits they are. The same few layouts occur again and again,
so what has been worked out about a short one is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple

__all__ = ["MAX_DIGITS", "MIN_DIGITS", "SEPARATORS", "Part", "layout_of", "parts"]

MIN_DIGITS, MAX_DIGITS = 10, 19
# What may stand between the groups of a number.
SEPARATORS = " -.\t\n\r"

_REMEMBERED, _SHORT = 4096, 64
_EVERY_DIGIT = bytes.maketrans(b"123456789", b"000000000")


class Part(NamedTuple):
    """A part of a stretch: its characters `start`..`end`, of all its digits those from `first` to `last`, ends exclusive.

    `shape` is "" for a run without separators, else the sizes of the groups, such as "3-3-3-2", or "single" for digits that
    stand one by one, or "broken" for a run broken over two lines. `continues` says that the groups before or after seem to
    belong to the same number.
    """

    start: int
    end: int
    first: int
    last: int
    shape: str
    continues: bool


def layout_of(text: str) -> str:
    """Return the text with every digit as a 0."""
    # Bytes are translated in a fifth of the time of a str; no byte of another character is that of a digit.
    return text.encode("utf-8", "surrogatepass").translate(_EVERY_DIGIT).decode("utf-8", "surrogatepass")


def parts(layout: str, grouped: bool, labelled: bool) -> Iterable[Part]:
    """Return the parts of a stretch of digits and separators with this layout that may be numbers: runs of 10 to 19 digits
    and, with `grouped`, numbers split into groups.

    Without a label that is the shapes of cards (4-4-4-4, 4-6-5, broken over two lines, digit by digit) and of SNILS
    (3-3-3-2) only: any other split is too common in dates, tables and phones. With `labelled`, the first 10 to 19 digits
    of a chain of groups may be one as well, whatever the split.
    """
    return (_known_parts if len(layout) <= _SHORT else _parts)(layout, grouped, labelled)


@lru_cache(maxsize=_REMEMBERED)
def _known_parts(layout: str, grouped: bool, labelled: bool) -> tuple[Part, ...]:
    return tuple(_parts(layout, grouped, labelled))


_GAP = f"[{re.escape(SEPARATORS)}]"
_RUN = re.compile(f"(?<!0)0{{{MIN_DIGITS},{MAX_DIGITS}}}(?!0)")
_CHAIN = re.compile(f"(?<!0)0{{1,{MAX_DIGITS}}}(?:{_GAP}{{1,3}}0{{1,{MAX_DIGITS}}})+(?!0)")
# Four characters that separate nothing but two runs: a hyphen at a line's end, and the space that begins the next.
_BROKEN = re.compile(
    f"(?<!0)(?<!0{_GAP})(?<!0{_GAP}{{2}})(?<!0{_GAP}{{3}})"
    f"0{{2,{MAX_DIGITS}}}-\r\n 0{{2,{MAX_DIGITS}}}(?!{_GAP}{{0,3}}0)"
)


def _parts(layout: str, grouped: bool, labelled: bool) -> Iterator[Part]:
    chain = partial(_chain, labelled=labelled)
    for pattern, read in ((_RUN, _run), (_CHAIN, chain), (_BROKEN, chain))[: 3 if grouped else 1]:
        place = passed = 0  # how far the layout has been read, and how many digits that were
        for match in pattern.finditer(layout):
            passed += layout.count("0", place, match.start())
            place = match.start()
            for part in read(match.group()):
                yield Part(
                    place + part.start,
                    place + part.end,
                    passed + part.first,
                    passed + part.last,
                    part.shape,
                    part.continues,
                )


def _run(layout: str) -> Iterator[Part]:
    yield Part(0, len(layout), 0, len(layout), "", False)


_GROUP = re.compile("0+")
_SHAPES = re.compile("4444[123]?|465|464|3332")
_SHAPED = frozenset({"4444", "44441", "44442", "44443", "465", "464", "3332"})
_SINGLES = 15
_ONE_BY_ONE = re.compile("1{15,19}")
# A group's size as one character, so that the sizes of a chain are a text that patterns can read.
_SIZES = [chr(ord("0") + size) for size in range(MAX_DIGITS + 1)]
_BROKEN_LINE = re.compile(r"-?\r?\n ?")


def _chain(layout: str, labelled: bool) -> Iterator[Part]:
    """Yield the parts of one chain of groups."""
    if len(layout) <= MIN_DIGITS:
        return
    spans = [match.span() for match in _GROUP.finditer(layout)]
    lengths = [end - start for start, end in spans]
    ends = [0, *accumulate(lengths)]
    sizes = "".join(map(_SIZES.__getitem__, lengths))
    for first, last, shape, alone in _chosen(layout, spans, sizes, ends, labelled):
        yield Part(
            spans[first][0],
            spans[last][1],
            ends[first],
            ends[last + 1],
            shape or "-".join(map(str, lengths[first : last + 1])),
            not alone and _goes_on(layout, spans, first, last, sizes),
        )


# The first and the last of the groups of a number, the name of its shape where that is not the groups' sizes, and whether
# it stands alone whatever is beside it.
_Chosen = tuple[int, int, str, bool]


def _chosen(
    layout: str, spans: list[tuple[int, int]], sizes: str, ends: list[int], labelled: bool
) -> Iterator[_Chosen]:
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
    if (
        len(sizes) == 2
        and MIN_DIGITS <= ends[2] <= MAX_DIGITS
        and _BROKEN_LINE.fullmatch(layout, spans[0][1], spans[1][0])
    ):
        yield 0, 1, "broken", True
    if labelled:
        for last in range(1, min(len(sizes), MAX_DIGITS)):
            if ends[last + 1] > MAX_DIGITS:
                return
            if ends[last + 1] >= MIN_DIGITS and sizes[: last + 1] not in _SHAPED:
                yield 0, last, "", True


def _goes_on(layout: str, spans: list[tuple[int, int]], first: int, last: int, sizes: str) -> bool:
    """Tell whether the groups before or after belong to the same number.

    A hyphen or a dot ties any group; a space ties a group of the same size, unless whole numbers of that shape stand
    side by side, and a short group after the number is a date or a security code.
    """
    size = last - first + 1
    for inner, outer in ((first, first - 1), (last, last + 1)):
        if not 0 <= outer < len(spans):
            continue
        gap = layout[spans[min(inner, outer)][1] : spans[max(inner, outer)][0]]
        tied = gap in {"-", "."} or sizes[outer] == sizes[inner]
        neighbour = sizes[outer + 1 - size : outer + 1] if outer < first else sizes[outer : outer + size]
        if tied and neighbour != sizes[first : last + 1]:
            return True
    return False
