"""Builds byte patterns, in the syntax that hyperscan and RE2 share, from words written as people write them.

Both engines read bytes here. A letter of another script is several bytes, so its two cases are spelled out; a pattern
never needs a case flag or a Unicode mode, and both engines understand it alike.
"""

from __future__ import annotations

from functools import cache

__all__ = ["LETTER", "NOT_LETTER", "SEPARATOR", "exact", "loose", "utf8"]

# One or more bytes of a letter or digit in text that has been lower-cased; every non-ASCII byte counts as a letter, and
# SEPARATOR, which is tried beside it, knows the common spaces and punctuation among those.
LETTER = r"[a-z0-9\x80-\xff]"
NOT_LETTER = r"[^a-z0-9\x80-\xff]"
# ASCII punctuation and space, a written-out \n, \r or \t, U+00A0..U+00BF, U+2000..U+206F, U+3000..U+303F, full-width
# punctuation.
SEPARATOR = (
    r"(?:[^a-z0-9\x80-\xff\\]|\\[nrt]?|\xc2[\xa0-\xbf]|\xe2\x80[\x80-\xbf]|\xe2\x81[\x80-\xaf]"
    r"|\xe3\x80[\x80-\xbf]|\xef\xbc[\x81-\x8f]|\xef\xbc[\x9a-\xa0])"
)

_LEET = {"a": "4@", "b": "8", "e": "3", "g": "9", "i": "1!|", "l": "1|", "o": "0", "s": "5$", "t": "7+"}


def _bytes(raw: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in raw)


@cache
def utf8(char: str) -> str:
    """Return the escaped UTF-8 bytes of one character as a pattern, grouped when there are several."""
    raw = char.encode()
    return _bytes(raw) if len(raw) == 1 else f"(?:{_bytes(raw)})"


def exact(pattern: str) -> str:
    """Return `pattern` (a regular expression) with its non-ASCII characters as UTF-8 bytes, all else unchanged."""
    return pattern if pattern.isascii() else "".join([char if char.isascii() else utf8(char) for char in pattern])


@cache
def _either_case(char: str, *, leet: bool) -> str:
    if char.isascii():
        return f"[{char.lower()}{char.upper()}{_LEET.get(char.lower(), '') if leet else ''}]"
    lower, upper = char.lower().encode(), char.upper().encode()
    if lower == upper:
        return utf8(char)
    if lower[:-1] == upper[:-1]:
        return f"{_bytes(lower[:-1])}[{_bytes(lower[-1:])}{_bytes(upper[-1:])}]"
    return f"(?:{_bytes(lower)}|{_bytes(upper)})"


def loose(pattern: str, *, leet: bool = False) -> str:
    """Return `pattern` matching both cases of its letters and, with `leet`, the digits and signs written for them.

    `pattern` is made of letters, `?`, `|` and groups; a space stands for whatever separates two words.
    """
    pieces = []
    for char in pattern:
        if char == " ":
            pieces.append(r"(?:[^A-Za-z0-9\xff]{0,12})")
        elif char.isalpha() or not char.isascii():
            pieces.append(_either_case(char, leet=leet))
        else:
            pieces.append(char)
    return "".join(pieces)
