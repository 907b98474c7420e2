"""A text as the patterns read it: one byte a character, so that an offset is an offset.

Patterns match bytes of Windows-1251, which has the letters of English and of Russian. A character that it does not have
becomes a question mark; signs that only look different (full-width digits, long dashes, wide spaces) are made plain before.
What stands where something was redacted (`<IP_ADDRESS>`) is not read: it is no word that says what the next number is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from yb_eval_decision.detection.known import NAMED_ENTITIES, TYPES

CODEC = "cp1251"

_NAMES = sorted({*NAMED_ENTITIES, *(name for group in TYPES.values() for name in group)})
_REDACTED = re.compile(f"<(?:{'|'.join(_NAMES)})>".encode())


def _plain() -> Mapping[int, str]:
    table = {0xFF01 + place: chr(0x21 + place) for place in range(94)}
    table |= dict.fromkeys((0xA0, 0x202F, 0x205F, 0x3000, *range(0x2000, 0x200B)), " ")
    table |= dict.fromkeys((0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212), "-")
    table |= dict.fromkeys((0x201C, 0x201D, 0x201E, 0xAB, 0xBB), '"')
    return table | dict.fromkeys((0x2018, 0x2019), "'")


def _lower() -> bytes:
    small = bytes(range(256)).decode(CODEC, "replace").lower().encode(CODEC, "replace")
    return bytes(small).replace("ё".encode(CODEC), "е".encode(CODEC))


_PLAIN = _plain()
_LOWER = _lower()


def _blank(match: re.Match[bytes]) -> bytes:
    return b"*" * len(match.group())


class View:
    """`text` with plain signs (of the same length as what was given), as bytes, and as bytes of small letters (ё as е)."""

    __slots__ = ("data", "lower", "text")

    def __init__(self, text: str) -> None:
        plain = text.isascii()
        self.text = text if plain else text.translate(_PLAIN)
        self.data = text.encode() if plain else self.text.encode(CODEC, "replace")  # ASCII is the same in both
        read = _REDACTED.sub(_blank, self.data) if b"<" in self.data else self.data
        self.lower = read.translate(_LOWER)

    def before(self, start: int, size: int) -> str:
        """The `size` characters before `start`, in small letters."""
        return self.lower[max(0, start - size) : start].decode(CODEC, "replace")

    def after(self, end: int, size: int) -> str:
        return self.lower[end : end + size].decode(CODEC, "replace")

    def apart(self, start: int, end: int) -> bool:
        """Whether neither neighbour of `start`..`end` is a letter, a digit or an underscore."""
        before, after = self.text[start - 1 : start] if start else "", self.text[end : end + 1]
        return not (before.isalnum() or after.isalnum() or before == "_" or after == "_")
