"""Word lists compiled for one pass over a message: which concepts of which list does it mention?"""

from collections.abc import Iterator, Sequence

import attrs

from yb_eval_routing.pipeline.stemming import BEGINNING, EXACT, RUNS, STEMMERS, stem
from yb_eval_routing.pipeline.text import has_kana, is_unspaced, normalise, words

# Stemming is the dear step: a word is stemmed only if a term begins like it. Three letters keep that rare.
_KEY_CHARACTERS = 3
_LEAST_STEM = 2
_ARABIC = ("\u0600", "\u06ff")


@attrs.frozen(slots=True, kw_only=True)
class Concept:
    """One idea of a word list: terms that count once however many of them appear. ``terms`` are as written."""

    language: str
    terms: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.terms[0]


@attrs.frozen(slots=True)
class _Entry:
    """A term from its second word on (``rest``, in the form words are compared in) and the concept it stands for."""

    language: str
    list_index: int
    concept_index: int
    rest: tuple[str, ...]


class Lexicon:
    """Several word lists, found together in one pass.

    ``lists``: one sequence of concepts per list. :meth:`find` returns, for each list, the sorted indexes of the
    concepts that a message mentions. A term is matched as whole words, never inside one, except in scripts that are
    written without spaces, and a longer term hides the shorter ones in it ("who wrote" is not about writing). Where one
    word belongs to lists of several languages, the language listed first speaks.
    Cost: linear in the message; nothing of a message is kept but stems in a bounded cache.
    """

    def __init__(self, lists: Sequence[Sequence[Concept]]) -> None:
        self._size = len(lists)
        self._stemmed: dict[str, dict[str, list[_Entry]]] = {}
        self._languages: dict[str, list[str]] = {}
        self._exact: dict[str, list[_Entry]] = {}
        self._beginnings: dict[str, list[tuple[str, _Entry]]] = {}
        self._runs: list[tuple[str, _Entry]] = []
        for list_index, concepts in enumerate(lists):
            for concept_index, concept in enumerate(concepts):
                for term in concept.terms:
                    self._add(concept.language, term, list_index, concept_index)

    def _add(self, language: str, term: str, list_index: int, concept_index: int) -> None:
        first, *rest = words(normalise(term))
        if language in STEMMERS:
            rest = [stem(language, word) for word in rest]
        entry = _Entry(language, list_index, concept_index, tuple(rest))
        if language in RUNS:
            self._runs.append((first, entry))
        elif language in EXACT:
            self._exact.setdefault(first, []).append(entry)
        elif language in BEGINNING:
            self._beginnings.setdefault(first[:2], []).append((first, entry))
        elif len(stemmed := stem(language, first)) < _LEAST_STEM <= len(first):
            # Stemmed to a stump (Turkish "kimdir" to "k"), which would match a great deal more than its forms.
            self._exact.setdefault(first, []).append(entry)
        else:
            self._stemmed.setdefault(language, {}).setdefault(stemmed, []).append(entry)
            for key in sorted({first[:_KEY_CHARACTERS], stemmed[:_KEY_CHARACTERS]}):
                known = self._languages.setdefault(key, [])
                if language not in known:
                    known.append(language)

    def find(self, tokens: Sequence[str]) -> list[list[int]]:
        """Return for each list the sorted indexes of the concepts mentioned in the words of a normalised text."""
        found: list[set[int]] = [set() for _ in range(self._size)]
        runs: list[str] = []
        covered = 0  # words before this position belong to a term of several words
        for position, word in enumerate(tokens):
            matched: list[_Entry] = []
            if entries := self._exact.get(word):
                matched += [entry for entry in entries if _follows(entry, tokens, position)]
            for language in self._languages.get(word[:_KEY_CHARACTERS], ()):
                matched += self._stem_matches(language, tokens, position)
            if word > "\u0373":
                if _ARABIC[0] <= word[0] <= _ARABIC[1] and "ar" in self._stemmed:
                    # Arabic attaches articles and conjunctions in front, so no beginning can be relied on.
                    matched += self._stem_matches("ar", tokens, position)
                if beginnings := self._beginnings.get(word[:2]):
                    matched += _beginning_matches(beginnings, tokens, position)
                if is_unspaced(word):
                    runs.append(word)
            if position < covered:
                matched = [entry for entry in matched if entry.rest]
            if matched:
                longest = max(len(entry.rest) for entry in matched)
                covered = max(covered, position + 1 + longest)
                _add_one_language([entry for entry in matched if len(entry.rest) == longest], found)
        if runs:
            self._find_in_runs("\n".join(runs), found)
        return [sorted(concepts) for concepts in found]

    def _stem_matches(self, language: str, tokens: Sequence[str], position: int) -> Iterator[_Entry]:
        for entry in self._stemmed[language].get(stem(language, tokens[position]), ()):
            following = tokens[position + 1 : position + 1 + len(entry.rest)]
            if len(following) == len(entry.rest) and all(
                stem(language, word) == wanted for word, wanted in zip(following, entry.rest, strict=True)
            ):
                yield entry

    def _find_in_runs(self, text: str, found: list[set[int]]) -> None:
        # Chinese and Japanese share most of their characters, so kana tell them apart: else each would count twice.
        foreign = "zh" if has_kana(text) else "ja"
        for term, entry in self._runs:
            if entry.language != foreign and term in text:
                found[entry.list_index].add(entry.concept_index)


def _add_one_language(matched: list[_Entry], found: list[set[int]]) -> None:
    """Add what one word stands for: in each list the reading of one language, or cognates would count twice."""
    languages: dict[int, str] = {}
    for entry in matched:
        if languages.setdefault(entry.list_index, entry.language) == entry.language:
            found[entry.list_index].add(entry.concept_index)


def _follows(entry: _Entry, tokens: Sequence[str], position: int) -> bool:
    return not entry.rest or tuple(tokens[position + 1 : position + 1 + len(entry.rest)]) == entry.rest


def _beginning_matches(beginnings: list[tuple[str, _Entry]], tokens: Sequence[str], position: int) -> Iterator[_Entry]:
    for first, entry in beginnings:
        if tokens[position].startswith(first):
            following = tokens[position + 1 : position + 1 + len(entry.rest)]
            if len(following) == len(entry.rest) and all(map(str.startswith, following, entry.rest)):
                yield entry


def term_problem(language: str, term: str) -> str | None:
    """Say why a term cannot be used in a word list of a language, or None if it can."""
    tokens = words(normalise(term))
    if not tokens:
        return "holds no word"
    if language in RUNS:
        if len(tokens) != 1 or not is_unspaced(tokens[0]):
            return "is not one run of a script without spaces; put Latin words under 'any'"
    elif any(map(is_unspaced, tokens)):
        return f"is written without spaces, which words of '{language}' are not; put it under one of {sorted(RUNS)}"
    elif language in BEGINNING and len(tokens[0]) < 2:
        return "starts with a word of one character, the beginning of too many words; put it under 'any'"
    return None
