"""Text turned around or shifted in the alphabet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ..views import View

__all__ = ["CAESAR_KEYS", "caesar", "caesar_text", "reversed_text"]

# A shifted text shows itself by one of these words: the distances between a word's letters do not change with the shift.
CAESAR_KEYS = ("ignore", "disregard", "previous", "instructions")
_WORD = re.compile(r"[a-z]{6,12}")


def caesar(shift: int) -> dict[int, int]:
    """Return the `str.translate` table that moves ASCII letters `shift` places on in the alphabet."""
    table: dict[int, int] = {}
    for first in (ord("A"), ord("a")):
        table |= {first + place: first + (place + shift) % 26 for place in range(26)}
    return table


def _distances(word: str) -> tuple[int, ...]:
    return tuple((ord(right) - ord(left)) % 26 for left, right in pairwise(word))


_KEYS = {_distances(word): word for word in CAESAR_KEYS}


def caesar_text(view: View) -> Iterator[View]:
    """Yield the view with its letters shifted back, for each shift that one of `CAESAR_KEYS` shows (ROT13 is one)."""
    shifts: list[int] = []
    for word in dict.fromkeys(_WORD.findall(view.text.lower())):
        key = _KEYS.get(_distances(word))
        if key is not None:
            shift = (ord(key[0]) - ord(word[0])) % 26
            if shift and shift not in shifts:
                shifts.append(shift)
    for shift in shifts:
        yield view.same_offsets(view.text.translate(caesar(shift)), "decoded:caesar")


def reversed_text(view: View) -> Iterator[View]:
    """Yield the view read from its end."""
    if not view.text:
        return
    last = len(view.text) - 1
    yield view.derive(view.text[::-1], lambda: (range(last, -1, -1), range(last + 1, 0, -1)), "decoded:reversed")
