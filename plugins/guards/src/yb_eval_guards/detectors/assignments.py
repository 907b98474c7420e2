"""Secrets that a name announces: `password = ...`, `"api_key": "..."`, `пароль от базы: ...`, `<token>...</token>`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..bytepatterns import loose
from ..finding import Finding
from ..matching import compile_bytes, matches
from ..tables import load_table
from ..views import ByteCursor, View
from .base import report
from .values import looks_like_password, looks_like_token, looks_strong

__all__ = ["AssignmentDetector", "keyword_triggers"]

_WORD = r"[A-Za-z\x80-\xff./-]{1,48}"
_DASH = r"\xe2\x80[\x93\x94]"
# What may stand between a name and its value. A few words may follow the name ("password for the server: ..."), but then
# only a colon, an equals sign or a dash makes it an assignment.
_JOINER = (
    rf"(?:_?[0-9]{{1,2}})?(?:\\?[\"'`])?\]?(?:[ \t]{{1,2}}{_WORD}){{0,3}}[ \t]{{0,8}}"
    rf"(?:=>|:=|={{1,2}}|:|{_DASH}|[ \t]-[ \t])[ \t]{{0,8}}"
)
_VALUE = (
    r"(?:\\?\"([^\"\n]{4,400})\"|'([^'\n]{4,400})'|`([^`\n]{4,400})`|\xc2\xab([^\xc2\n]{4,400})\xc2\xbb"
    r"|([^\s\"'`,;|<>()\[\]{}]{6,400}))"
)
_TAGGED = r">[ \t]{0,4}([^<\s]{6,400})</"
_OPTION = r"[ =]([^\s\"'`]{6,400})"
_ATTRIBUTE = r"[\"'][ \t]{1,4}value=[\"']([^\"'\n]{6,400})[\"']"
_SPOKEN = r"[ \t]{1,2}(?:is|was|ist|es|est|\xd1\x8d\xd1\x82\xd0\xbe)[ \t]{1,2}"
_BARE = r"[ \t]{1,2}([^\s\"'`,;|<>()\[\]{}]{10,400})"
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
        rf"(?:{names})[ \t]{{1,2}}(?:is|was|ist|es|\xd1\x8d\xd1\x82)",
        rf"(?:{_names(table['password'])})[ \t]{{1,2}}[^\s\xff]{{10}}",
        rf"--[a-z-]{{0,24}}(?:{names}) ",
    ]


# Which values each kind of assignment accepts.
_TESTS = {"password": looks_like_password, "token": looks_like_token, "bare-password": looks_strong}


class AssignmentDetector:
    """Finds values given to names of `data/keywords.toml`, with google-re2."""

    types = frozenset({"secret"})

    def __init__(self, *, feature: int) -> None:
        self._feature = feature
        table = load_table("keywords.toml")
        self._rules: list[tuple[str, Any]] = []
        for kind in ("password", "token"):
            # The name must end in the keyword: `tokenizationId` and `secretary` announce nothing.
            name = f"(?:{_names(table[kind])})"
            forms = [name + _JOINER + _VALUE, name + _TAGGED, name + _ATTRIBUTE, name + _SPOKEN + _VALUE]
            forms.append(f"--[a-z-]{{0,24}}{name}{_OPTION}")
            self._rules += [(kind, compile_bytes(form, latin1=True)) for form in forms]
        bare = f"(?:{_names(table['password'])}){_BARE}"
        self._rules.append(("bare-password", compile_bytes(bare, latin1=True)))

    def wanted(self, features: int) -> bool:
        """Tell whether a name was seen."""
        return bool(features & self._feature)

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield the values that pass the test of their kind."""
        for kind, pattern in self._rules:
            cursor = ByteCursor(view)
            for match in matches(pattern, view.data):
                span = next(span for at in range(1, 7) if (span := match.span(at)) != (-1, -1))
                start = cursor.chars(span[0])
                # The length limit counts bytes and may fall inside a character.
                value = view.data[slice(*span)].decode("utf-8", "ignore").rstrip(_TRIM)
                if _TESTS[kind](value):
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
