"""What a sentence says, as far as it can be compared: its content words, numbers, names, and whether it denies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

from attrs import frozen

from yb_eval_decision.kept import kept
from yb_eval_decision.local.lexicon import NEGATIVE, POWERS
from yb_eval_decision.local.parts import texts_of
from yb_eval_decision.local.text import joined_apostrophes, sentences, unmasked
from yb_eval_decision.local.words import CLAUSE_END, LONGEST, Token, long_tokens, scaled, tokens

#: Sentences up to this many characters are remembered, and so many of them: requests share evidence, claims repeat it.
_LONGEST, _REMEMBERED = 400, 1 << 12

_DIGIT = re.compile(r"\d")
# Begins with a digit, which `re` finds fast: most texts have no such group.
_GROUP = re.compile(r"\d[ \u00a0\u202f]\d{3}")
_GROUPED = re.compile(r"(?<![\d.,])(\d{1,3})((?:[ \u00a0\u202f]\d{3})+)(?![\d])")
_HALF_DAY = re.compile(r"(\d) ?([apAP])\.?[mM]\b\.?")
# "No more than five" denies nothing.
_AT_MOST = re.compile(
    r"\b(?:no|not|не) (?=(?:more|less|later|longer|fewer|earlier|sooner) than\b|only\b"
    r"|(?:больше|меньше|позже|раньше|выше|ниже|более|менее|только|дольше)\b)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:costs?|pays?) nothing\b|\b(?:free of charge|for free|at no (?:extra )?cost|without charge)\b", re.IGNORECASE
)
_LACKING = re.compile(r"\bout of (?=(?:stock|order|service|date)\b)", re.IGNORECASE)
_SPACE = re.compile(r"\s")
# With white space on either side they end a clause.
_CONNECTIVES = frozenset(("but", "while", "whereas", "because", "although", "и", "но", "а"))


class Clause(NamedTuple):
    """A part of a statement: its words and numbers, and how many words turn it round (`not`)."""

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    denials: int

    @property
    def negatives(self) -> int:
        """How many different words say no by themselves (`closed`)."""
        return len(NEGATIVE.intersection(self.words))


@frozen(slots=False)
class Statement:
    """One sentence, or one record of a JSON value.

    `words` are canonical stems of its content words in order, `numbers` and `names` as they are compared. `absolute` says whether
    it claims for all, `passive` whether somebody is named as the doer with `by`. What only the statement that a claim is held
    against needs is worked out when it is asked for.
    """

    words: tuple[str, ...]
    numbers: tuple[str, ...]
    names: tuple[str, ...]
    absolute: bool
    passive: bool
    clauses: tuple[Clause, ...]

    @kept
    def places(self) -> dict[str, int]:
        """Where each word stands first."""
        return dict(zip(reversed(self.words), range(len(self.words) - 1, -1, -1), strict=True))

    @kept
    def pairs(self) -> frozenset[tuple[str, str]]:
        """The words that are neighbours."""
        return frozenset(pairwise(self.words))

    @kept
    def denials(self) -> int:
        return sum(clause.denials for clause in self.clauses)

    @kept
    def negatives(self) -> int:
        return sum(clause.negatives for clause in self.clauses)


def joined(statements: Sequence[Statement]) -> Statement:
    """What several statements say, as one."""
    if len(statements) == 1:
        return statements[0]
    return Statement(
        tuple(word for one in statements for word in one.words),
        tuple(dict.fromkeys(number for one in statements for number in one.numbers)),
        tuple(dict.fromkeys(name for one in statements for name in one.names)),
        any(one.absolute for one in statements),
        any(one.passive for one in statements),
        tuple(clause for one in statements for clause in one.clauses),
    )


def read_statement(text: str) -> Statement:
    """What one sentence says."""
    return _remembered(text) if len(text) <= _LONGEST else _read(text)


def _read(text: str) -> Statement:
    words: list[str] = []
    numbers: list[str] = []
    names: list[str] = []
    clauses: list[Clause] = []
    absolute = passive = False
    first = True
    denials = words_before = numbers_before = 0
    for kind, value in chain(_tokens(text), CLAUSE_END):
        if kind == "word" or kind == "part":
            words.append(value)
        elif kind == "stop":
            pass
        elif kind == "end":
            if denials or len(words) > words_before or len(numbers) > numbers_before:
                clauses.append(Clause(tuple(words[words_before:]), tuple(numbers[numbers_before:]), denials))
                words_before, numbers_before, denials = len(words), len(numbers), 0
            continue
        elif kind == "number":
            numbers.append(value)
        elif kind == "Word":
            words.append(value)
            if not first:
                names.append(value)
        elif kind == "name":
            names.append(value)
            words.append(value)
        elif kind == "power" or kind == "Power":
            if numbers and numbers[-1][0].isdigit():
                numbers[-1] = scaled(numbers[-1], POWERS[value])
            else:
                words.append(value)
                if kind == "Power" and not first:
                    names.append(value)
        elif kind == "letter":
            if not first:
                names.append(value)
                words.append(value)
        elif kind == "denial":
            denials += 1
        elif kind == "absolute":
            absolute = True
        elif kind == "by":
            passive = True
        first = False
    return Statement(
        tuple(words), tuple(dict.fromkeys(numbers)), tuple(dict.fromkeys(names)), absolute, passive, tuple(clauses)
    )


def _tokens(text: str) -> Iterator[Token]:
    """The tokens of a sentence, and where its clauses end."""
    runs = text.split(" ") if text.isprintable() else _SPACE.split(text)  # no other white space is printable
    found = map(tokens if max(map(len, runs)) <= LONGEST else long_tokens, runs)
    if _CONNECTIVES.isdisjoint(runs):
        return chain.from_iterable(found)
    taken, read = -1, list(found)
    for index in range(1, len(runs) - 1):
        # White space between two connectives belongs to the first.
        if runs[index] in _CONNECTIVES and taken != index - 1:
            taken, read[index] = index, CLAUSE_END
    return chain.from_iterable(read)


_remembered = lru_cache(maxsize=_REMEMBERED)(_read)


def read_text(value: Any) -> list[Statement]:
    """The statements of a text, or of any JSON value. A text that is itself JSON is read as what it holds."""
    return [read_statement(piece) for piece in pieces(texts_of(value))]


def pieces(texts: Iterable[str]) -> list[str]:
    """The sentences and records of the texts that a value holds."""
    return [piece for text in texts for piece in sentences(_plain_phrases(joined_apostrophes(unmasked(text))))]


def _plain_phrases(text: str) -> str:
    """`text` with phrases that mean one thing written in one way."""
    lower = text.lower()
    if _DIGIT.search(text):
        if _GROUP.search(text):
            text = _GROUPED.sub(_joined, text)
        if "am" in lower or "pm" in lower or ".m" in lower:
            text = _HALF_DAY.sub(r"\1\2m", text)
    if "no " in lower or "not " in lower or "не " in lower:
        text = _AT_MOST.sub("", text)
    if "nothing" in lower or "free" in lower or "at no " in lower or "out charge" in lower:
        text = _NOTHING.sub("free", text)
    return _LACKING.sub("not in ", text) if "out of " in lower else text


def _joined(found: re.Match[str]) -> str:
    return found.group(1) + re.sub(r"\D", "", found.group(2))
