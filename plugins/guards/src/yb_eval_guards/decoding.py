"""Readings of encoded text: each decoder yields views whose characters map back to the encoded ones, exactly.

A decoder looks at one view and yields what it can read as text; what decodes to binary (hashes, keys, pictures) is
dropped at once. The scanner scans the yielded views with the same detectors and decodes them again, down to
`MAX_DEPTH` and up to `MAX_DECODED` characters for one input.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Callable, Iterator

from .views import View

__all__ = ["DECODERS", "MAX_DECODED", "MAX_DEPTH", "Decoder"]

MAX_DEPTH = 4
MAX_DECODED = 2_000_000
_MIN_TEXT = 6

_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_BASE64_LINES = re.compile(r"(?:[A-Za-z0-9+/]{60,76}\r?\n){1,}[A-Za-z0-9+/]{1,76}={0,2}")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_HEX_PAIRS = re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[ ,:;]{1,2}){7,}(?:0x|\\x)?[0-9a-fA-F]{2}(?![0-9A-Za-z])")
_PAIR = re.compile(r"(?:0x|\\x)?([0-9a-fA-F]{2})(?![0-9a-fA-Fx])")
_BINARY = re.compile(r"(?<![0-9])(?:[01]{8}[ ,]?){6,}(?![0-9])")
_OCTET = re.compile(r"[01]{8}")


def _readable(text: str) -> bool:
    return len(text) >= _MIN_TEXT and all(char.isprintable() or char in "\t\r\n" for char in text)


def _from_bytes(
    view: View, raw: bytes, start: Callable[[int], int], end: Callable[[int], int], step: str
) -> View | None:
    """Return the view of `raw` read as UTF-8 or UTF-16, or None when it is no text.

    `start(i)` and `end(i)` give, in the parent view, where byte `i` starts and where the characters that hold it end.
    """
    encoding = "utf-16-le" if raw[1::2].count(0) * 2 > len(raw[1::2]) else "utf-8"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    if not _readable(text):
        return None
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for char in text:
        size = 1 if encoding == "utf-8" and char < "\x80" else len(char.encode(encoding))
        starts.append(start(position))
        position += size
        ends.append(end(position - 1))
    return view.derive(text, starts, ends, step)


def _base64_view(view: View, columns: list[int]) -> View | None:
    """Decode the base64 characters that stand at `columns` of the view."""
    text = view.text
    quads = "".join([text[column] for column in columns]).encode().translate(_URL_SAFE)
    if len(quads) % 4 == 1:
        quads = quads[:-1]
    try:
        raw = base64.b64decode(quads + b"=" * (-len(quads) % 4), validate=True)
    except binascii.Error:
        return None
    last = len(quads) - 1
    # Byte i has its first bits in character i*4/3 and its last in the next one; a quad is masked whole, so that what
    # stays behind still stands on quad borders.
    return _from_bytes(
        view,
        raw,
        lambda index: columns[index // 3 * 4],
        lambda index: columns[min(index // 3 * 4 + 3, last)] + 1,
        "decoded:base64",
    )


def _base64(view: View) -> Iterator[View]:
    for pattern in (_BASE64, _BASE64_LINES):
        for match in pattern.finditer(view.text):
            token = match.group()
            columns = [match.start() + at for at, char in enumerate(token) if char not in "=\r\n"]
            found = _base64_view(view, columns)
            if found is None and (cut := token.rfind("/", 0, 64)) >= 0:
                found = _base64_view(view, [column for column in columns if column > match.start() + cut])
            if found is not None:
                yield found


def _hexadecimal(view: View) -> Iterator[View]:
    for match in _HEX.finditer(view.text):
        first = match.start()
        found = _from_bytes(
            view,
            bytes.fromhex(match.group()),
            lambda index, first=first: first + 2 * index,  # type: ignore[misc]
            lambda index, first=first: first + 2 * index + 2,  # type: ignore[misc]
            "decoded:hex",
        )
        if found is not None:
            yield found
    for match in _HEX_PAIRS.finditer(view.text):
        yield from _units(view, list(_PAIR.finditer(view.text, match.start(), match.end())), 16, "decoded:hex")


def _binary(view: View) -> Iterator[View]:
    for match in _BINARY.finditer(view.text):
        yield from _units(view, list(_OCTET.finditer(view.text, match.start(), match.end())), 2, "decoded:binary")


def _units(view: View, units: list[re.Match[str]], base: int, step: str) -> Iterator[View]:
    """Decode bytes that are written one by one, each matched by one of `units`."""
    raw = bytes(int(unit.group(unit.lastindex or 0), base) for unit in units)
    found = _from_bytes(view, raw, lambda index: units[index].start(), lambda index: units[index].end(), step)
    if found is not None:
        yield found


_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\+")
_ESCAPES = re.compile(
    r"(?:\\u[0-9A-Fa-f]{4})+|(?:%u[0-9A-Fa-f]{4})+|\\u\{[0-9A-Fa-f]{1,6}\}|\\U[0-9A-Fa-f]{8}|(?:\\x[0-9A-Fa-f]{2})+|\\[nrt]"
)
_ENTITIES = re.compile(r"&#[0-9]{1,7};|&#[xX][0-9A-Fa-f]{1,6};|&[A-Za-z]{2,8};")


def _percent_unit(unit: str) -> list[tuple[str, int]]:
    if unit == "+":
        return [(" ", 1)]
    try:
        text = bytes.fromhex(unit.replace("%", "")).decode()
    except UnicodeDecodeError:
        return [(char, 1) for char in unit]
    return [(char, 3 * len(char.encode())) for char in text]


def _escape_unit(unit: str) -> list[tuple[str, int]]:
    """Return the characters an escape stands for, each with the number of characters it is written in."""
    if len(unit) == 2:
        return [({"n": "\n", "r": "\r", "t": "\t"}[unit[1]], 2)]
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
    text = raw.decode("utf-16-be", "surrogatepass") if len(raw) % 2 == 0 and _paired(raw) else "\ufffd" * (len(raw) // 2)
    return [(char, 12 if char > "\uffff" else 6) for char in text]


def _paired(raw: bytes) -> bool:
    try:
        raw.decode("utf-16-be")
    except UnicodeDecodeError:
        return False
    return True


def _entity_unit(unit: str) -> list[tuple[str, int]]:
    text = html.unescape(unit)
    return [(text, len(unit))] if len(text) == 1 else [(char, 1) for char in unit]


def _replaced(
    view: View, pattern: re.Pattern[str], read: Callable[[str], list[tuple[str, int]]], step: str
) -> Iterator[View]:
    """Yield the view with every match of `pattern` replaced by the characters that `read` finds in it."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    text = view.text
    for match in pattern.finditer(text):
        plain = range(position, match.start())
        pieces.append(text[position : match.start()])
        starts += plain
        ends += range(position + 1, match.start() + 1)
        position = match.start()
        for char, width in read(match.group()):
            pieces.append(char)
            starts.append(position)
            position += width
            ends.append(position)
        position = match.end()
    if pieces:
        pieces.append(text[position:])
        starts += range(position, len(text))
        ends += range(position + 1, len(text) + 1)
        yield view.derive("".join(pieces), starts, ends, step)


def _percent(view: View) -> Iterator[View]:
    yield from _replaced(view, _PERCENT, _percent_unit, "decoded:percent")


def _escapes(view: View) -> Iterator[View]:
    yield from _replaced(view, _ESCAPES, _escape_unit, "decoded:escape")


def _entities(view: View) -> Iterator[View]:
    yield from _replaced(view, _ENTITIES, _entity_unit, "decoded:html")


def _utf16(view: View) -> Iterator[View]:
    """Read text that is really the bytes of UTF-16 with a byte order mark, one character a byte."""
    text = view.text
    if not text.startswith(("\u00ff\u00fe", "\u00fe\u00ff")):
        return
    try:
        raw = text.encode("latin-1")
    except UnicodeEncodeError:
        return
    little = raw[0] == 0xFF
    body = raw[2 : len(raw) - len(raw) % 2].decode("utf-16-le" if little else "utf-16-be", "replace")
    starts: list[int] = []
    position = 2
    for char in body:
        starts.append(position)
        position += 4 if char > "\uffff" else 2
    yield view.derive(body, starts, [*starts[1:], position], "decoded:utf-16")


_TAG_BASE = 0xE0000
_TAGS = re.compile("[\U000e0020-\U000e007e]+")


def _tags(view: View) -> Iterator[View]:
    """Read text hidden in invisible tag characters (U+E0020..U+E007E stand for ASCII)."""
    for match in _TAGS.finditer(view.text):
        text = "".join(chr(ord(char) - _TAG_BASE) for char in match.group())
        if _readable(text):
            columns = range(match.start(), match.end())
            yield view.derive(text, columns, [column + 1 for column in columns], "decoded:tags")


def _reversed(view: View) -> Iterator[View]:
    columns = range(len(view.text) - 1, -1, -1)
    yield view.derive(view.text[::-1], columns, [column + 1 for column in columns], "decoded:reversed")


def caesar(shift: int) -> dict[int, int]:
    """Return the `str.translate` table that moves ASCII letters `shift` places on in the alphabet."""
    table = {}
    for first in (ord("A"), ord("a")):
        table |= {first + place: first + (place + shift) % 26 for place in range(26)}
    return table


_CAESAR_WORD = re.compile(r"[a-z]{6,12}")
# A shifted text shows itself by one of these words; the letter distances inside a word do not change with the shift.
CAESAR_KEYS = ("ignore", "disregard", "previous", "instructions")


def _distances(word: str) -> tuple[int, ...]:
    return tuple((ord(right) - ord(left)) % 26 for left, right in zip(word, word[1:], strict=False))


_CAESAR_DISTANCES = {_distances(word): word for word in CAESAR_KEYS}


def _caesar(view: View) -> Iterator[View]:
    shifts: list[int] = []
    for match in _CAESAR_WORD.finditer(view.text.lower()):
        key = _CAESAR_DISTANCES.get(_distances(match.group()))
        if key is not None:
            shift = (ord(key[0]) - ord(match.group()[0])) % 26
            if shift and shift not in shifts:
                shifts.append(shift)
    for shift in shifts:
        yield view.same_offsets(view.text.translate(caesar(shift)), "decoded:caesar")


Decoder = Callable[[View], Iterator[View]]

# Keyed by the name of the feature that asks for the decoder (see `features`).
DECODERS: dict[str, Decoder] = {
    "base64": _base64,
    "hex": _hexadecimal,
    "binary": _binary,
    "percent": _percent,
    "escape": _escapes,
    "entity": _entities,
    "utf16": _utf16,
    "tags": _tags,
    "reversed": _reversed,
    "caesar": _caesar,
}
