"""Secrets that a name announces: `password = ...`, `"api_key": "..."`, `пароль от базы: ...`, `<token>...</token>`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..bytepatterns import loose
from ..finding import Finding
from ..matching import LazyPattern
from ..tables import load_table
from ..views import ByteCursor, View
from .base import report
from .values import looks_like_password, looks_like_token, looks_strong

__all__ = ["AssignmentDetector", "keyword_triggers"]

_WORD = r"[A-Za-z\x80-\xff./-]{1,48}"
_DASH = r"\xe2\x80[\x93\x94]"
# What may stand between a name and its value. A few words may follow the name ("password for the server: ..."), but then
# only a colon, an equals sign or a dash makes it an assignment.
_ASSIGNED = (
    rf"(?:_?[0-9]{{1,2}})?(?:\\?[\"'`])?\]?(?:[ \t]{{1,2}}{_WORD}){{0,3}}[ \t]{{0,8}}"
    rf"(?:=>|:=|={{1,2}}|:|{_DASH}|[ \t]-[ \t])[ \t]{{0,8}}"
)
_TAGGED = r">[ \t]{0,4}"
_ATTRIBUTE = r"[\"'][ \t]{1,4}value=[ \t]{0,4}"
_SPOKEN = r"[ \t]{1,2}(?:is|was|ist|es|est|\xd1\x8d\xd1\x82\xd0\xbe)[ \t]{1,2}"
_BARE = r"[ \t]{1,2}"
_VALUE = re.compile(
    r"\\?\"([^\"\n]{4,400})\"|'([^'\n]{4,400})'|`([^`\n]{4,400})`|\xab([^\xbb\n]{4,400})\xbb"
    r"|([^\s\"'`,;|<>()\[\]{}\xab\xbb]{6,400})"
)
_TRIM = ".,;:!?\\\u00bb\u201d"


def _names(words: list[str]) -> str:
    """Return the names as byte patterns, longest first; a space in a name is nothing, a space, a hyphen or an underscore."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return "|".join("[ _-]?".join(loose(part) for part in word.split()) for word in longest_first)


def keyword_triggers() -> list[str]:
    """Return byte patterns one of which is in every text where a name of the table is given a value."""
    table = load_table("keywords.toml")
    names = _names([*table["password"], *table["token"]])
    return [
        rf"(?:{names})[^\n\xff]{{0,100}}(?:[=:>]|[\x93\x94]| - )",
        rf"(?:{names})[ \t]{{1,2}}(?:[^\s\xff]{{10}}|is|was|ist|es|\xd1\x8d\xd1\x82)",
    ]


class AssignmentDetector:
    """Finds values given to names of `data/keywords.toml`: google-re2 finds the name and what joins it to the value."""

    types = frozenset({"secret"})

    def __init__(self, *, feature: int) -> None:
        self.announced_by = feature
        table = load_table("keywords.toml")
        joiners = "|".join((_ASSIGNED, _TAGGED, _ATTRIBUTE, _SPOKEN, _BARE))
        # The name must end in the keyword: `tokenizationId` and `secretary` announce nothing.
        self._patterns = {
            kind: LazyPattern(f"(?:{_names(table[kind])})(?:{joiners})") for kind in ("password", "token")
        }

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield the values that pass the test of their kind."""
        text = view.text
        for kind, pattern in self._patterns.items():
            cursor = None
            for match in pattern.matches(view.data):
                cursor = cursor or ByteCursor(view)
                first, joined = cursor.chars(match.start()), cursor.chars(match.end())
                found = _VALUE.match(text, joined)
                if found is None:
                    continue
                start = found.start(found.lastindex or 0)
                value = found.group(found.lastindex or 0).rstrip(_TRIM)
                if _accepts(kind, text[first:joined], value):
                    yield report(
                        view,
                        start,
                        start + len(value),
                        type="secret",
                        kind=f"{kind}-assignment",
                        value=value,
                        evidence=("context", "entropy"),
                        confidence=0.7,
                    )


_EXPLICIT = re.compile(r"[=:>\u2013\u2014-]\s*\Z|\s(?:is|was|ist|es|est|это)\s+\Z|\A--", re.IGNORECASE)


def _accepts(kind: str, name: str, value: str) -> bool:
    """Tell whether `value` may be what `name` (with what joins them) announces; without a sign only a strong password is."""
    if not _EXPLICIT.search(name):
        return looks_strong(value) if kind == "password" else looks_like_token(value) and looks_strong(value)
    return looks_like_password(value) if kind == "password" else looks_like_token(value)
