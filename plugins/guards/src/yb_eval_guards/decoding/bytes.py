"""Text written as bytes: base64, hexadecimal, binary, UTF-16."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence

from ..views import Offsets, View

__all__ = ["base64_text", "binary_text", "hexadecimal_text", "readable", "utf16_text"]

_MIN_TEXT = 6
_BREAKS = str.maketrans("\t\r\n", "   ")


def readable(text: str) -> bool:
    """Tell whether `text` is long enough to be looked at and made of printable characters and line breaks only."""
    return len(text) >= _MIN_TEXT and text.translate(_BREAKS).isprintable()


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
    if not readable(text):
        return None

    def offsets() -> Offsets:
        first = [0]
        for char in text:
            first.append(first[-1] + (1 if encoding == "utf-8" and char < "\x80" else len(char.encode(encoding))))
        return [start(index) for index in first[:-1]], [end(index - 1) for index in first[1:]]

    return view.derive(text, offsets, step)


_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}")
_BASE64_LINES = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{60,76}\r?\n)+[A-Za-z0-9+/]{1,76}(?![A-Za-z0-9+/])")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_PREFIX_LIMIT = 64


def base64_text(view: View) -> Iterator[View]:
    """Yield the text of base64 tokens (either alphabet, padded or not) and of base64 broken into lines."""
    for match in _BASE64.finditer(view.text):
        found = _base64_view(view, range(*match.span()))
        if found is None:
            # A path or a key may stand before the token with a slash between, which is a base64 character as well.
            cut = view.text.rfind("/", match.start(), match.start() + _PREFIX_LIMIT)
            found = _base64_view(view, range(cut + 1, match.end())) if cut >= 0 else None
        if found is not None:
            yield found
    if "\n" in view.text:
        for match in _BASE64_LINES.finditer(view.text):
            columns = [column for column in range(*match.span()) if view.text[column] not in "\r\n"]
            found = _base64_view(view, columns)
            if found is not None:
                yield found


def _base64_view(view: View, columns: Sequence[int]) -> View | None:
    """Decode the base64 characters that stand at `columns` of the view."""
    if isinstance(columns, range):
        token = view.text[columns.start : columns.stop]
    else:
        token = "".join([view.text[column] for column in columns])
    quads = token.encode().translate(_URL_SAFE)
    if len(quads) % 4 == 1:
        quads = quads[:-1]
    try:
        raw = base64.b64decode(quads + b"=" * (-len(quads) % 4), validate=True)
    except binascii.Error:
        return None
    last = len(quads) - 1
    # Three bytes are written in four characters. A group is taken whole, so that what a mask leaves behind still stands
    # on group borders.
    return _from_bytes(
        view,
        raw,
        lambda index: columns[index // 3 * 4],
        lambda index: columns[min(index // 3 * 4 + 3, last)] + 1,
        "decoded:base64",
    )


_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}")
_HEX_PAIRS = re.compile(
    r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[ ,:;]{1,2}){7,}(?:0x|\\x)?[0-9a-fA-F]{2}(?![0-9A-Za-z])"
)
_PAIR = re.compile(r"(?:0x|\\x)?([0-9a-fA-F]{2})(?![0-9a-fA-Fx])")


def hexadecimal_text(view: View) -> Iterator[View]:
    """Yield the text of hexadecimal digits, written together or in separated pairs."""
    for match in _HEX.finditer(view.text):
        yield from _hex_view(view, match.start(), match.group())
    for match in _HEX_PAIRS.finditer(view.text):
        yield from _units(view, list(_PAIR.finditer(view.text, match.start(), match.end())), 16, "decoded:hex")


def _hex_view(view: View, first: int, digits: str) -> Iterator[View]:
    found = _from_bytes(
        view,
        bytes.fromhex(digits),
        lambda index: first + 2 * index,
        lambda index: first + 2 * index + 2,
        "decoded:hex",
    )
    if found is not None:
        yield found


_BINARY = re.compile(r"(?<![0-9])(?:[01]{8}[ ,]?){6,}(?![0-9])")
_OCTET = re.compile(r"([01]{8})")


def binary_text(view: View) -> Iterator[View]:
    """Yield the text of groups of eight binary digits."""
    for match in _BINARY.finditer(view.text):
        yield from _units(view, list(_OCTET.finditer(view.text, match.start(), match.end())), 2, "decoded:binary")


def _units(view: View, units: list[re.Match[str]], base: int, step: str) -> Iterator[View]:
    """Decode bytes that are written one by one, each matched by one of `units`."""
    raw = bytes([int(unit.group(1), base) for unit in units])
    found = _from_bytes(view, raw, lambda index: units[index].start(), lambda index: units[index].end(), step)
    if found is not None:
        yield found


def utf16_text(view: View) -> Iterator[View]:
    """Yield text that is really the bytes of UTF-16 with a byte order mark, one character a byte."""
    text = view.text
    if not text.startswith(("\u00ff\u00fe", "\u00fe\u00ff")):
        return
    try:
        raw = text.encode("latin-1")
    except UnicodeEncodeError:
        return
    encoding = "utf-16-le" if raw[0] == 0xFF else "utf-16-be"
    body = raw[2 : len(raw) - len(raw) % 2].decode(encoding, "replace")

    def offsets() -> Offsets:
        first = [2]
        for char in body:
            first.append(first[-1] + (4 if char > "\uffff" else 2))
        return first[:-1], first[1:]

    if body:
        yield view.derive(body, offsets, "decoded:utf-16")
