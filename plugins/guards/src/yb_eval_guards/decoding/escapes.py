"""Text in which characters are written as escapes: percent, backslash, character references, invisible tags."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator

from ..views import Offsets, View
from .bytes import readable

__all__ = ["entity_text", "escape_text", "percent_text", "tag_text"]

# The characters a run of escapes stands for, each with the number of characters it is written in.
_Read = Callable[[str], list[tuple[str, int]]]

_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\+")
_ESCAPES = re.compile(
    r"(?:\\u[0-9A-Fa-f]{4})+|(?:%u[0-9A-Fa-f]{4})+|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}"
    r"|(?:\\x[0-9A-Fa-f]{2})+|\\[nrt]"
)
_ENTITIES = re.compile(r"&#[0-9]{1,7};|&#[xX][0-9A-Fa-f]{1,6};|&[A-Za-z]{2,8};")
_BREAKS = {"\\n": "\n", "\\r": "\r", "\\t": "\t"}


def percent_text(view: View) -> Iterator[View]:
    """Yield the view with percent escapes decoded, and plus signs read as the spaces they are beside such escapes."""
    yield from _replaced(view, _PERCENT, _read_percent, "decoded:percent")


def escape_text(view: View) -> Iterator[View]:
    r"""Yield the view with \u, \U, \x, %u escapes and written line breaks decoded."""
    yield from _replaced(view, _ESCAPES, _read_escape, "decoded:escape")


def entity_text(view: View) -> Iterator[View]:
    """Yield the view with character references of HTML decoded."""
    yield from _replaced(view, _ENTITIES, _read_entity, "decoded:html")


def _read_percent(unit: str) -> list[tuple[str, int]]:
    if unit == "+":
        return [(" ", 1)]
    try:
        text = bytes.fromhex(unit.replace("%", "")).decode()
    except UnicodeDecodeError:
        return [(char, 1) for char in unit]
    return [(char, 3 * len(char.encode())) for char in text]


def _read_escape(unit: str) -> list[tuple[str, int]]:
    if unit in _BREAKS:
        return [(_BREAKS[unit], 2)]
    if unit[1] == "x":
        raw = bytes.fromhex(unit.replace("\\x", ""))
        try:
            return [(char, 4 * len(char.encode())) for char in raw.decode()]
        except UnicodeDecodeError:
            return [(char, 4) for char in raw.decode("latin-1")]
    if unit[2] == "{" or unit[1] == "U":
        code = int(unit[2:].strip("{}"), 16)
        return [(chr(code) if code < 0x110000 else "\ufffd", len(unit))]
    raw = bytes.fromhex(unit.replace("\\u", "").replace("%u", ""))
    return [(char, 12 if char > "\uffff" else 6) for char in raw.decode("utf-16-be", "surrogatepass")]


def _read_entity(unit: str) -> list[tuple[str, int]]:
    text = html.unescape(unit)
    return [(text, len(unit))] if len(text) == 1 else [(char, 1) for char in unit]


def _replaced(view: View, pattern: re.Pattern[str], read: _Read, step: str) -> Iterator[View]:
    """Yield the view with every match of `pattern` replaced by the characters that `read` finds in it."""
    text = view.text
    pieces: list[str] = []
    units: list[tuple[int, list[tuple[str, int]]]] = []
    position = 0
    for match in pattern.finditer(text):
        unit = read(match.group())
        pieces += [text[position : match.start()], "".join([char for char, _ in unit])]
        units.append((match.start(), unit))
        position = match.end()
    if not units:
        return
    pieces.append(text[position:])

    def offsets() -> Offsets:
        starts: list[int] = []
        ends: list[int] = []
        position = 0
        for first, unit in units:
            starts += range(position, first)
            ends += range(position + 1, first + 1)
            position = first
            for _, width in unit:
                starts.append(position)
                position += width
                ends.append(position)
        starts += range(position, len(text))
        ends += range(position + 1, len(text) + 1)
        return starts, ends

    yield view.derive("".join(pieces), offsets, step)


_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_TAG_ASCII = {0xE0000 + code: code for code in range(0x20, 0x7F)}


def tag_text(view: View) -> Iterator[View]:
    """Yield text hidden in invisible tag characters (U+E0020..U+E007E stand for ASCII)."""
    for match in _TAGS.finditer(view.text):
        text = match.group().translate(_TAG_ASCII)
        if readable(text):
            yield view.derive(text, _columns(match.start(), match.end()), "decoded:tags")


def _columns(start: int, end: int) -> Callable[[], Offsets]:
    return lambda: (range(start, end), range(start + 1, end + 1))
