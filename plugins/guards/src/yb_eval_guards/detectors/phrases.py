"""The language in which `data/injection.toml` writes its phrases, and its translation into byte patterns."""

from __future__ import annotations

import re
from typing import Any

import attrs

from ..bytepatterns import LETTER, NOT_LETTER, SEPARATOR, exact, loose
from ..finding import Strength

__all__ = ["LEET_START", "Family", "Phrase", "PhraseTable"]

# How many letters of a word tell that it may be one of the table's.
LEET_START = 4

_ASCII_WORD = re.compile("[a-z]{3,}")
_ADDRESS = r"(?:https?://[a-z0-9./_?=&%-]+|[a-z0-9._+-]+@[a-z0-9.-]+)"
_RUSSIAN = "[а-яё]"
_RUSSIAN_BYTES = r"(?:\xd0[\xb0-\xbf]|\xd1[\x80-\x91])"
_TOKEN = re.compile(rf"\{{([a-z][a-z-]*)\}}|<([0-9]{{1,2}})>|{re.escape(_RUSSIAN)}|[^{{<\[@ ()]+|.", re.DOTALL)
_GAP = f"(?:{SEPARATOR}{{1,8}})"
_DENSE_GAP = f"(?:{SEPARATOR}{{0,8}})"


@attrs.frozen(slots=True)
class Phrase:
    """One pattern of a family: `plain` for running text, `dense` for text whose word borders are lost.

    Both are RE2 byte patterns (Latin-1 mode) over lower-cased UTF-8, without groups that capture: RE2 stays on its fast
    path, and the separator that a plain match may have at either end is trimmed afterwards. `needs` names the indexed
    sets that a text must have words of.
    """

    plain: str
    dense: str
    needs: frozenset[str]


@attrs.frozen(slots=True, kw_only=True)
class Family:
    """One family of phrases; `triggers` are byte patterns that announce a family whose patterns use no sets."""

    name: str
    confidence: float
    strength: Strength
    phrases: tuple[Phrase, ...]
    triggers: tuple[str, ...]
    examples: tuple[str, ...]
    clean: tuple[str, ...]


class PhraseTable:
    """The parsed table: its families, for each indexed set the byte pattern that announces it, and how leet words start."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._sets: dict[str, list[str]] = table["sets"]
        self._leet = frozenset(table["leet"])
        self._translated: dict[tuple[str, str], str] = {}
        unindexed = set(table["unindexed"])
        self.families = tuple(self._family(row, unindexed) for row in table["family"])
        used = {name for family in self.families for phrase in family.phrases for name in phrase.needs}
        texts = [text for words in self._sets.values() for text in words]
        texts += [pattern for row in table["family"] for pattern in row["patterns"]]
        self.leet_starts = frozenset(word[:LEET_START] for text in texts for word in _ASCII_WORD.findall(text))
        self.triggers: dict[str, str] = {name: self._announce(name) for name in self._sets if name in used}

    def _announce(self, name: str) -> str:
        """Return a byte pattern that finds a word of the set in either case, and in leet writing where that is asked."""
        return "|".join(_loosened(word, leet=name in self._leet) for word in self._sets[name])

    def _family(self, row: dict[str, Any], unindexed: set[str]) -> Family:
        raw, words = row.get("raw", False), row.get("words", True)
        return Family(
            name=row["name"],
            confidence=row["confidence"],
            strength=row.get("strength", "deny"),
            phrases=tuple(
                _raw_phrase(pattern) if raw else self._phrase(pattern, words=words, unindexed=unindexed)
                for pattern in row["patterns"]
            ),
            triggers=tuple(exact(trigger) for trigger in row.get("triggers", ())),
            examples=tuple(row["examples"]),
            clean=tuple(row["clean"]),
        )

    def _phrase(self, pattern: str, *, words: bool, unindexed: set[str]) -> Phrase:
        needs = frozenset(_outer_sets(pattern)) - unindexed
        if not needs:
            raise ValueError(f"injection pattern without an indexed set outside parentheses: {pattern}")
        plain, dense = (self._translate(pattern, gap) for gap in (_GAP, _DENSE_GAP))
        if words:
            plain = f"(?:^|{SEPARATOR})(?:{plain})(?:$|{SEPARATOR})"
        return Phrase(plain, dense, needs)

    def _translated_set(self, name: str, gap: str) -> str:
        known = self._translated.get((name, gap))
        if known is None:
            words = "|".join(self._sets[name])
            known = self._translated[name, gap] = f"(?:{self._translate(words, gap)})"
        return known

    def _translate(self, pattern: str, gap: str) -> str:
        pieces = []
        for match in _TOKEN.finditer(pattern):
            name, count, text = match.group(1), match.group(2), match.group()
            if name is not None:
                pieces.append(self._translated_set(name, gap))
            elif count is not None and gap == _GAP:
                pieces.append(f"(?:{LETTER}+{gap}){{0,{count}}}")
            elif count is not None:
                pieces.append(f"(?:{LETTER}|{NOT_LETTER}){{0,{6 * int(count)}}}")
            elif text == "@":
                pieces.append(_ADDRESS)
            elif text == " ":
                pieces.append(gap)
            elif text == _RUSSIAN:
                pieces.append(_RUSSIAN_BYTES)
            else:
                pieces.append(exact(text))
        return "".join(pieces)


def _raw_phrase(pattern: str) -> Phrase:
    return Phrase(exact(pattern), exact(pattern), frozenset())


def _outer_sets(pattern: str) -> list[str]:
    """Return the sets that stand outside every group, so that no match can do without them."""
    names, depth = [], 0
    for match in _TOKEN.finditer(pattern):
        token = match.group()
        depth += (token == "(") - (token == ")")
        if match.group(1) is not None and depth == 0:
            names.append(match.group(1))
    return names


_PIECE = re.compile(r"\(\?:([^()\[\]]*)\)\??|\w\??|[ '-]\??")
_SHORT, _ENOUGH = 4, 12


def _loosened(word: str, *, leet: bool) -> str:
    """Return the byte pattern that announces one word of a set: its first dozen letters are enough.

    Shorter patterns compile in a fraction of the time, and a few false alarms cost less.
    """
    position = letters = 0
    while letters < _ENOUGH and (piece := _PIECE.match(word, position)):
        position = piece.end()
        if not piece.group().endswith("?"):
            letters += min(map(len, piece.group(1).split("|"))) if piece.group(1) is not None else 1
    if not letters:
        raise ValueError(f"injection word that starts neither with a letter nor with a group: {word}")
    stem = word[:position].rstrip()
    if not word.isascii():
        return loose(stem)
    pattern = f"[^A-Za-z]{loose(stem, leet=leet)}"
    return f"{pattern}[^A-Za-z]" if position == len(word) and letters <= _SHORT else pattern
