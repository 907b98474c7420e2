"""Where a text's words and numbers stand in evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

from attrs import frozen

from yb_eval_decision.local.language import scripts
from yb_eval_decision.local.parts import texts_of
from yb_eval_decision.local.reading import Statement, pieces, read_statement

#: Letters in which two words may begin alike to count as forms of one.
_ALIKE = 5

Places = tuple[int, ...] | list[int]


@frozen(slots=True, eq=False)
class Evidence:
    """A text or JSON value, ready for comparison: its statements, how many words they have, and where each word stands."""

    statements: tuple[Statement, ...]
    size: int
    places: Mapping[str, Places]
    numbers: Mapping[str, Places]
    alike: frozenset[str]
    names: frozenset[str]
    scripts: tuple[int, int]

    def at(self, index: int | None) -> Statement | None:
        return None if index is None else self.statements[index]


def read_evidence(value: Any) -> Evidence:
    """Reads `value` once for all that it is compared with."""
    return evidence_of(texts_of(value))


def evidence_of(texts: Iterable[str]) -> Evidence:
    """The evidence that the texts of a value are, in their order."""
    found = pieces(texts)
    statements = tuple(map(read_statement, found))
    places: dict[str, Places] = {}
    numbers: dict[str, list[int]] = {}
    for index, statement in enumerate(statements):
        _place(statement.words, index, places)
        for number in statement.numbers:
            numbers.setdefault(number, []).append(index)
            if number[0] == "t":
                for form in forms(number)[1:]:
                    numbers.setdefault(form, []).append(index)
    return Evidence(
        statements,
        sum(len(statement.words) for statement in statements),
        places,
        numbers,
        frozenset([word[:_ALIKE] for word in places if len(word) >= _ALIKE]),
        frozenset(chain.from_iterable([statement.names for statement in statements])),
        scripts(" ".join(found[:50])),
    )


def _place(words: Sequence[str], index: int, places: dict[str, Places]) -> None:
    """Adds to the `places` of `words` the statement at `index`. Most words stand in one statement only: they share a tuple."""
    new: dict[str, Places] = dict.fromkeys(words, (index,))
    for word in places.keys() & new.keys():
        found = places[word]
        if isinstance(found, tuple):
            new[word] = [*found, index]
        else:
            found.append(index)
            del new[word]
    places.update(new)


def forms(number: str) -> tuple[str, ...]:
    """A full hour is also a plain number: `at 22`, `22:00`."""
    return (number, number[1:-3]) if number.startswith("t") and number.endswith(":00") else (number,)


class Overlap(NamedTuple):
    """How the words and numbers of a text stand in evidence; shares in thousandths, weighted by how rare a word is.

    `total` is the weight of all words and numbers; `numbers` has each with the statements that have it. `first` is the statement
    with most of both, `second` the one that adds most to it, `anchor` the one with most of the words, of equals the one with more
    of the numbers.
    `anywhere` counts a word that begins like one of the evidence; `missing` are the words that not even that is true of.
    """

    weights: Mapping[str, int]
    total: int
    numbers: Mapping[str, Places]
    first: int | None
    second: int | None
    anchor: int | None
    best: int
    anywhere: int
    missing: tuple[str, ...]


def overlap(text: Statement, evidence: Evidence, rarity: Mapping[str, int], rarest: int) -> Overlap:
    """Where in `evidence` what `text` says stands. `rarity` weighs common words; any other word and each number `rarest`."""
    weights = {word: rarity.get(word, rarest) for word in text.words}
    numbers = {number: where(number, evidence) for number in text.numbers}
    placed: list[tuple[Places, int]] = []
    missing: list[str] = []
    alike = 0
    for word, weight in weights.items():
        if word in evidence.places:
            placed.append((evidence.places[word], weight))
        elif word[:_ALIKE] in evidence.alike:
            alike += weight
        else:
            missing.append(word)
    with_words = len(placed)
    scores = _scores({}, placed)
    anchor = _anchor(scores, numbers)
    placed += [(found, rarest) for found in numbers.values() if found]
    there = sum(weight for _, weight in placed) + alike
    first, best = _most(_scores(scores, placed[with_words:]))
    # The one that adds most: what the first has not.
    second = _most(_scores({}, [one for one in placed if first not in one[0]]))[0] if len(scores) > 1 else None
    total = max(sum(weights.values()) + rarest * len(numbers), 1)
    return Overlap(
        weights, total, numbers, first, second, anchor, best * 1000 // total, there * 1000 // total, tuple(missing)
    )


def _scores(scores: dict[int, int], placed: Iterable[tuple[Places, int]]) -> dict[int, int]:
    """What each statement has of what is placed, added to `scores`."""
    for found, weight in placed:
        for index in found:
            scores[index] = scores.get(index, 0) + weight
    return scores


def _best(scores: Mapping[int, int]) -> tuple[list[int], int]:
    """The statements that have most, and how much."""
    best = max(scores.values(), default=0)
    return [index for index, score in scores.items() if score == best], best


def _most(scores: Mapping[int, int]) -> tuple[int | None, int]:
    """The statement that has most, of equals the first."""
    equals, best = _best(scores)
    return min(equals, default=None), best


def _anchor(scores: Mapping[int, int], numbers: Mapping[str, Places]) -> int | None:
    """The statement that has most, of equals the first of those with most of the numbers."""
    equals, _ = _best(scores)
    if len(equals) > 1 and numbers:
        matched = dict.fromkeys(equals, 0)
        for index in chain.from_iterable(numbers.values()):
            if index in matched:
                matched[index] += 1
        equals, _ = _best(matched)
    return min(equals, default=None)


def where(number: str, evidence: Evidence) -> Places:
    """The statements that have a number, or, where none has, those that have another form of it."""
    found = evidence.numbers.get(number)
    if found is None and number[0] == "t":
        found = next((evidence.numbers[form] for form in forms(number)[1:] if form in evidence.numbers), None)
    return found or ()


def neighbours(words: Sequence[str], near: Statement | None) -> int:
    """The share of the neighbouring word pairs of a text that are neighbours in the statement too."""
    if len(words) < 2 or near is None:
        return 0
    return sum(map(near.pairs.__contains__, pairwise(words))) * 1000 // (len(words) - 1)
