"""Injection phrases: instructions to leave the given instructions, in several languages and disguises."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..finding import Finding, Strength
from ..matching import LazyPattern
from ..views import ByteCursor, View
from .base import report
from .phrases import Family, Phrase, PhraseTable

__all__ = ["InjectionDetector"]

_NEGATION = re.compile(
    r"(?:\b(?:not|never|don'?t|don’t|do not|didn'?t|nicht|nie|pas|jamais|no|nunca|n[aã]o|non)|не)\W{1,3}\Z|\bn['’]\Z"
)
_NEGATION_REACH = 12
# "The new rules override the old instructions" tells of something; so does a verb in the past (Chinese -le).
_TOLD = re.compile(r"\b(?:rules|polic(?:y|ies)|settings?|values?|options?|flags?|arguments?|which)\s\Z")
_TOLD_PAST = re.compile("(?:忽略|忘记|无视|跳过|忘)了")
# Words that say a text speaks about a phrase and does not use it.
_MENTION = re.compile(
    r"\b(?:phrases?|examples?|such as|like|called|known as|e\.g\.|attacks?|injections?|article|strings?|words?|term"
    r"|detect\w*|block\w*|wrote|says?|said|titled|beispiel|exemple|ejemplo)\b"
    "|фраз|пример|атак|инъекци|стать|например|слова|строк|запрос|попробовать|обнаруж|блокир|例如|比如|攻击"
)
_MENTION_BEFORE, _MENTION_AFTER = 120, 80
_OPENING = re.compile("[\"'`\u00ab\u201c\u2018\u300c\u201e]\\s?\\Z")
_CLOSING = re.compile("[^\n]{0,40}?[\"'`\u00bb\u201d\u2019\u300d\u201c]")
_TAG_SIGNS = "<>[]#|"
_WRITTEN_BREAKS = ("n", "r", "t")
# Combinations of features whose phrases are remembered.
_REMEMBERED = 4096


class _Phrases:
    """Phrases of one family that need the same features, in two forms."""

    __slots__ = ("dense", "family", "plain")

    def __init__(self, family: Family, phrases: list[Phrase]) -> None:
        self.family = family
        self.plain = LazyPattern("|".join(f"(?:{phrase.plain})" for phrase in phrases))
        self.dense = LazyPattern("|".join(f"(?:{phrase.dense})" for phrase in phrases))


class InjectionDetector:
    """Finds the phrases of `data/injection.toml` with google-re2, over lower-cased bytes.

    A phrase in quotation marks that the text speaks about ("phrases such as ...") is a finding at warn strength only.
    """

    types = frozenset({"injection"})

    def __init__(self, *, table: PhraseTable, bits: dict[str, int], family_bits: dict[str, int]) -> None:
        """`bits`: the feature of each indexed set; `family_bits`: of each family with triggers."""
        # Phrases under the last of the features they need: of many phrases only those of the bits that are set are tried.
        self._phrases: dict[int, list[tuple[int, _Phrases]]] = {}
        for family in table.families:
            by_needs: dict[int, list[Phrase]] = {}
            for phrase in family.phrases:
                needs = family_bits.get(family.name, 0)
                for name in phrase.needs:
                    needs |= bits[name]
                by_needs.setdefault(needs, []).append(phrase)
            for needs, phrases in by_needs.items():
                self._phrases.setdefault(_last_bit(needs), []).append((needs, _Phrases(family, phrases)))
        self.announced_by = sum(self._phrases)
        self._known: dict[int, tuple[_Phrases, ...]] = {}

    def wanted(self, features: int) -> bool:
        """Tell whether the view has all the words that some phrase needs."""
        return bool(features & self.announced_by) and bool(self._candidates(features))

    def _candidates(self, features: int) -> tuple[_Phrases, ...]:
        """Return the phrases whose words are all there; few combinations of words occur again and again."""
        found = self._known.get(features)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[features] = tuple(self._find_candidates(features))
        return found

    def _find_candidates(self, features: int) -> Iterator[_Phrases]:
        seen = features & self.announced_by
        while seen:
            bit = _last_bit(seen)
            seen ^= bit
            for needs, phrases in self._phrases[bit]:
                if features & needs == needs:
                    yield phrases

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield every phrase, of both strengths."""
        lowered = _lower(view.text)
        lower_view = view if lowered is view.text else View(lowered)
        data = lower_view.data
        spaced = "spaced" in view.trail
        for entry in self._candidates(features):
            cursor = None
            for match in (entry.dense if spaced else entry.plain).matches(data):
                cursor = cursor or ByteCursor(lower_view)
                start, end = _trimmed(lowered, cursor.chars(match.start()), cursor.chars(match.end()))
                if not _no_order(lowered, start, end):
                    yield self._finding(view, lowered, start, end, entry.family)

    @staticmethod
    def _finding(view: View, lowered: str, start: int, end: int, family: Family) -> Finding:
        quoted = _quoted_mention(lowered, start, end)
        strength: Strength = "warn" if quoted else family.strength
        return report(
            view,
            start,
            end,
            type="injection",
            kind=family.name,
            value=lowered[start:end],
            evidence=("phrase", "quoted") if quoted else ("phrase",),
            confidence=family.confidence / 2 if quoted else family.confidence,
            strength=strength,
        )


def _last_bit(bits: int) -> int:
    return 1 << bits.bit_length() - 1


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out the separators at the ends of a match; the signs of a fake tag belong to it."""
    while start < end and not text[start].isalnum() and text[start] not in _TAG_SIGNS:
        start += 2 if text[start] == "\\" and text[start + 1 : start + 2] in _WRITTEN_BREAKS else 1
    while end > start and not text[end - 1].isalnum() and text[end - 1] not in _TAG_SIGNS:
        end -= 1
    return start, end


def _lower(text: str) -> str:
    """Lower the case without changing a single offset."""
    lowered = text.lower()
    if lowered == text:
        return text
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _no_order(text: str, start: int, end: int) -> bool:
    """Tell whether the phrase orders nothing: it is negated, tells of something, or is an identifier of a program."""
    phrase = text[start:end]
    if "_" in phrase and "(" in phrase:
        return True
    before = max(0, start - _NEGATION_REACH)
    return bool(_NEGATION.search(text, before, start) or _TOLD.search(text, before, start) or _TOLD_PAST.search(phrase))


def _quoted_mention(text: str, start: int, end: int) -> bool:
    """Tell whether a quotation begins with the phrase, in a text that speaks about phrases."""
    if not _OPENING.search(text, max(0, start - 2), start) or not _CLOSING.match(text, end):
        return False
    around = text[max(0, start - _MENTION_BEFORE) : start] + " " + text[end : end + _MENTION_AFTER]
    return _MENTION.search(around) is not None
