"""Lines for a terminal: styled spans, and tables that fit a width. No text is shown but through `wording.shown`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

from attrs import frozen

from yb_eval.reports.wording import columns, shown

#: What a span means; a renderer decides how that looks.
Style: TypeAlias = Literal["", "pass", "fail", "unmeasured", "strong", "dim"]

#: A style and a JSON value shown in it.
Cell: TypeAlias = tuple[Style, Any]

#: A line as (style, safe text) spans that together fit the width they were made for.
Line: TypeAlias = tuple[tuple[Style, str], ...]

_GAP = 2
_NARROWEST = 24
_MOST = 400
_MOST_LINES = 6


@frozen(slots=True)
class Column:
    """How a column behaves: `flexible` ones are cut when a table is too wide, `optional` ones left out after that."""

    right: bool = False
    flexible: bool = False
    optional: bool = False


def line(width: int, *spans: Cell, indent: int = 0) -> Line:
    """Spans one after another, separated by two spaces; what runs over the width is cut and counted."""
    made: list[tuple[Style, str]] = []
    used = 0
    for style, value in spans:
        lead = indent if not made else _GAP
        if made and used + lead + min(columns(shown(value, _MOST)), _NARROWEST) > width:
            break
        text = shown(value, max(width - used - lead, 1))
        made.append((style, " " * lead + text))
        used += lead + columns(text)
    return tuple(made)


def paragraph(width: int, style: Style, value: Any, *, indent: int = 0, lead: Cell | None = None) -> list[Line]:
    """A text over as many lines as it needs, at most `_MOST_LINES`; `lead` stands before the first."""
    first = line(width, lead, indent=indent) if lead else ()
    hang = indent + (columns(shown(lead[1], width)) + _GAP if lead else 0)
    room = max(width - hang, 1)
    wrapped = textwrap.wrap(shown(value, room * _MOST_LINES), room) or [""]
    # Wide characters count double in the terminal and once in textwrap: such a line is cut again.
    lines: list[Line] = [((style, " " * hang + shown(text, room)),) for text in wrapped[:_MOST_LINES]]
    if first:
        lines[0] = (*first, (style, " " * _GAP + shown(wrapped[0], room)))
    return lines


def table(
    width: int, header: Sequence[str], layout: Sequence[Column], rows: Iterable[Sequence[Cell]], *, indent: int = 0
) -> list[Line]:
    """Rows under a header (none if every title is empty), columns aligned, no line wider than `width`.

    A column without a single value is left out with its title.
    """
    body: list[Sequence[Cell]] = list(rows)
    kept = [place for place in range(len(layout)) if any(row[place][1] != "" for row in body)]
    if any(header):
        body.insert(0, [("dim", title) for title in header])
    natural = [max((_natural(row[place][1]) for row in body), default=0) for place in range(len(layout))]
    widths = _fit(width - indent, natural, layout, kept)
    while widths is None:
        spare = [place for place in kept if layout[place].optional]
        kept.remove(spare[-1] if spare else kept[-1])
        widths = _fit(width - indent, natural, layout, kept)
    return [_row(row, widths, layout, indent) for row in body]


def _natural(value: Any) -> int:
    return 0 if value == "" else columns(shown(value, _MOST))


def _fit(room: int, natural: Sequence[int], layout: Sequence[Column], kept: Sequence[int]) -> dict[int, int] | None:
    """The width of each kept column, or None where they cannot stand side by side."""
    widths = {place: natural[place] for place in kept}
    excess = sum(widths.values()) + _GAP * (len(kept) - 1) - room
    while excess > 0:
        soft = [place for place in kept if layout[place].flexible and widths[place] > _NARROWEST]
        if not soft:
            return {kept[0]: room} if len(kept) == 1 else None
        widest = max(soft, key=lambda place: (widths[place], place))
        step = min(excess, widths[widest] - _NARROWEST)
        widths[widest] -= step
        excess -= step
    return widths


def _row(row: Sequence[Cell], widths: dict[int, int], layout: Sequence[Column], indent: int) -> Line:
    made: list[tuple[Style, str]] = []
    last = max(widths)
    for place, room in widths.items():
        style, value = row[place]
        text = "" if value == "" else shown(value, max(room, 1))
        padding = " " * max(room - columns(text), 0)
        text = padding + text if layout[place].right else text if place == last else text + padding
        made.append((style, " " * (_GAP if made else indent) + text))
    while made and not made[-1][1].strip():
        made.pop()
    if made:
        made[-1] = (made[-1][0], made[-1][1].rstrip())
    return tuple(made)
