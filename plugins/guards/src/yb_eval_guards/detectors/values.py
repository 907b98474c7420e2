"""Is a value a secret, or does it only stand where one would stand?"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache
from itertools import pairwise

from ..tables import load_table

__all__ = ["entropy", "is_placeholder", "is_stand_in", "looks_like_password", "looks_like_token", "looks_strong"]

_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_CAMEL_WORDS = re.compile(r"(?:[A-Z]?[a-z]{3,12}){2,}[0-9]{0,4}\Z")
_DATE_OR_VERSION = re.compile(r"v?[0-9]{1,4}(?:[-./:_ T][0-9]{1,4}){1,6}Z?\Z")
_MEASURE = re.compile(
    r"[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d|kb|mb|gb|px|chars?|days?|hours?|minutes?|bits?|bytes?)\Z", re.IGNORECASE
)
_SEGMENT = re.compile(r"[^\W_]+")
_MIN_PASSWORD, _MIN_STRONG, _MIN_TOKEN, _MIN_TOKEN_SEGMENT = 6, 10, 16, 10
_TOKEN_ENTROPY = 3.0
_MIN_LETTERS, _CASE_CHANGES = 20, 0.3


@cache
def _placeholders() -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    table = load_table("placeholders.toml")
    return frozenset(table["exact"]), tuple(table["inside"]), tuple(table["start"])


def entropy(text: str) -> float:
    """Return the Shannon entropy of the characters of `text`, in bits a character; 0 for the empty text."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values()) if size else 0.0


def is_stand_in(token: str) -> bool:
    """Tell whether a token of the right shape only shows the shape: it says so, or has less than four characters."""
    lowered = token.lower()
    return any(part in lowered for part in _placeholders()[1]) or len(set(lowered)) < 4


def is_placeholder(value: str) -> bool:
    """Tell whether `value` stands for a value: a known word, a template, one character repeated, a reference."""
    lowered = value.lower()
    exact, _, start = _placeholders()
    return lowered in exact or lowered.startswith(start) or is_stand_in(value)


def looks_like_password(value: str) -> bool:
    """Tell whether `value` may be a password: six characters or more, letters with digits or signs, no date or size."""
    if len(value) < _MIN_PASSWORD or is_placeholder(value):
        return False
    if _DATE_OR_VERSION.match(value) or _MEASURE.match(value) or "(" in value or " " in value.strip():
        return False
    letters = sum(char.isalpha() for char in value)
    digits = sum(char.isdigit() for char in value)
    signs = len(value) - letters - digits
    if digits and letters:
        return not _is_phrase(value)
    return bool(letters and signs and any(char in "!@#$%^&*+=?~" for char in value[:-1]))


def looks_strong(value: str) -> bool:
    """Tell whether a password of ten characters or more has lower case, upper case and digits: no word of a sentence."""
    kinds = (str.islower, str.isupper, str.isdigit)
    return len(value) >= _MIN_STRONG and all(any(map(kind, value)) for kind in kinds) and looks_like_password(value)


def looks_like_token(value: str) -> bool:
    """Tell whether `value` may be a key or token: sixteen characters or more, mixed, and not made of words."""
    if len(value) < _MIN_TOKEN or is_placeholder(value) or " " in value or "(" in value:
        return False
    if _UUID.match(value) or _DATE_OR_VERSION.match(value) or _is_phrase(value):
        return False
    if not any(char.isalpha() for char in value) or entropy(value) < _TOKEN_ENTROPY:
        return False
    return any(char.isdigit() for char in value) or _is_random_letters(value)


def _is_random_letters(value: str) -> bool:
    """Tell whether letters change case about as often as chance would have it; names in camelCase do so seldom."""
    changes = sum(left.isupper() != right.isupper() for left, right in pairwise(value))
    return len(value) >= _MIN_LETTERS and changes >= _CASE_CHANGES * len(value)


def _is_phrase(value: str) -> bool:
    """Tell whether `value` reads as words: camelCase, or short parts joined by hyphens, dots and underscores."""
    if _CAMEL_WORDS.match(value):
        return True
    parts = _SEGMENT.findall(value)
    return (
        len(parts) > 2
        and max(map(len, parts)) < _MIN_TOKEN_SEGMENT
        and all(part.isalpha() or part.isdigit() for part in parts)
    )
