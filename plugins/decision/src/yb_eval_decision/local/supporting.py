"""Measures of a claim and its evidence: how much of the claim stands there, and where the two disagree.

The anchor is the statement that has most of the claim's words, its numbers aside: what else it says about them is what the claim
is held against. All is linear in claim and evidence: clauses are asked what they share with the claim, set against set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from yb_eval_decision.local.lexicon import OPPOSITES
from yb_eval_decision.local.overlap import Evidence, forms, overlap
from yb_eval_decision.local.reading import Clause, Statement, joined

SUPPORT = (
    "anywhere", "order", "numbers", "numbers_missing", "numbers_off_anchor", "numbers_out_of_place", "names",
    "names_missing", "field_denied", "polarity_differs", "opposites", "absolute", "words", "short", "clean_best",
    "clean_clause", "clean_missing",
)  # fmt: skip

_HAVE_OPPOSITES = frozenset(OPPOSITES)

#: The clauses of a statement that have a word of the claim, or a number where the claim has one, each with those words.
Shared = Sequence[tuple[Clause, set[str]]]
#: The claim's numbers by each form in which a statement may have them.
Owners = Mapping[str, Sequence[str]]


def support(claim: Sequence[Statement], evidence: Evidence, rarity: Mapping[str, int], rarest: int) -> list[int]:
    """The measures `SUPPORT` of a claim and its evidence, in thousandths.

    `anywhere`, `order`: the share of the claim that stands in the evidence, and of its words that stand in one order
    with the best statement's. `numbers`, `names`: all stand where most of the claim does; `_missing`: how many stand
    nowhere; `_off_anchor`, `_out_of_place`: in other statements, in clauses that share nothing else. `field_denied`:
    `paid: false`. `absolute`: it claims for all, the evidence does not. `clean_best`, `clean_clause`, `clean_missing`:
    the share in one statement and in one clause, and the rarest missing word, where nothing disagrees.
    """
    said = joined(claim)
    found = overlap(said, evidence, rarity, rarest)
    words, names, numbers = said.words, said.names, found.numbers
    first, second, anchor = evidence.at(found.first), evidence.at(found.second), evidence.at(found.anchor)
    owners = _owners(numbers)
    opposed = _HAVE_OPPOSITES.intersection(words)
    said_words = set(words)
    shared = _shared(anchor, said_words, owners)
    near = [*(shared if first is anchor else _shared(first, said_words, owners)), *_shared(second, said_words, owners)]
    clause, share = _nearest_clause(near, found.weights, owners, rarest)
    there = [number for number, at in numbers.items() if at]
    held = _held(anchor.numbers, owners) if anchor else set()
    at_anchor = [number for number in there if number in held]
    missing_numbers, off_anchor = len(numbers) - len(there), len(there) - len(at_anchor)
    out_of_place = _out_of_place(at_anchor, owners, shared)
    names_there = [name for name in names if name in evidence.places]
    denials, negatives = (clause.denials, clause.negatives) if clause else (0, 0)
    field_denied = said.denials % 2 == 0 and _field_denied(shared)
    absolute = said.absolute and not ((first and first.absolute) or (second and second.absolute))
    clean = not (
        said.denials % 2 != denials % 2
        or absolute or field_denied or out_of_place or off_anchor or missing_numbers
        or not all(anchor and name in anchor.places for name in names_there)
        or (len(at_anchor) < len(numbers) and _contested(words, owners, shared))
        or (opposed and _opposed(opposed, shared))
        or (len(claim) == 1 and _swapped(said, first, evidence.names))
    )  # fmt: skip
    return [
        found.anywhere,
        _in_order(words, first),
        1000 * bool(numbers and all(found.first in at or found.second in at for at in numbers.values())),
        1000 * min(missing_numbers, 2),
        1000 * min(off_anchor, 2),
        1000 * min(out_of_place, 2),
        1000 * bool(names and all(_has(first, name) or _has(second, name) for name in names)),
        1000 * min(len(names) - len(names_there), 2),
        1000 * field_denied,
        1000 * ((said.denials + said.negatives) % 2 != (denials + negatives) % 2),
        1000 * min(_opposites(words, opposed, clause), 2),
        1000 * absolute,
        100 * min(len(words) + len(numbers), 15),
        1000 * (len(words) + len(numbers) <= 2),
        found.best * clean,
        share * 1000 // found.total * clean,
        max((found.weights[word] for word in found.missing), default=0) * clean,
    ]


def _shared(statement: Statement | None, said: set[str], owners: Owners) -> Shared:
    if statement is None:
        return []
    return [
        (clause, said.intersection(clause.words))
        for clause in statement.clauses
        # Most clauses of a record share nothing: no set is made for them.
        if not said.isdisjoint(clause.words) or (owners and clause.numbers)
    ]


def _has(statement: Statement | None, word: str) -> bool:
    return statement is not None and word in statement.places


def _owners(numbers: Iterable[str]) -> Owners:
    owners: dict[str, list[str]] = {}
    for number in numbers:
        for form in (*forms(number), f"t{number}:00"):
            owners.setdefault(form, []).append(number)
    return owners


def _held(numbers: Iterable[str], owners: Owners) -> set[str]:
    """Which of the claim's numbers are among `numbers`, in whatever form."""
    return {number for form in numbers if form in owners for number in owners[form]} if owners else set()


def _nearest_clause(near: Shared, weights: Mapping[str, int], owners: Owners, rarest: int) -> tuple[Clause | None, int]:
    """The clause that has most of the claim, of equals the first, and how much."""
    best, most = None, 0
    for clause, words in near:
        score = sum(map(weights.__getitem__, words)) if words else 0
        if owners and clause.numbers:
            score += rarest * len(_held(clause.numbers, owners))
        if score > most:
            best, most = clause, score
    return best, most


def _out_of_place(numbers: Sequence[str], owners: Owners, anchor: Shared) -> int:
    """How many numbers stand in no clause that has a word of the claim too, or nothing but the number."""
    if not numbers:
        return 0
    in_place = {
        number for clause, words in anchor if words or not clause.words for number in _held(clause.numbers, owners)
    }
    return sum(number not in in_place for number in numbers)


def _contested(words: Sequence[str], owners: Owners, anchor: Shared) -> bool:
    """Whether the clause that has most of the claim's words gives other numbers, and none of the claim's."""
    if not anchor:
        return False
    times = Counter(words)
    best, _ = max(anchor, key=lambda one: sum(map(times.__getitem__, one[1])))
    return bool(best.numbers) and not _held(best.numbers, owners)


def _field_denied(anchor: Shared) -> bool:
    """Whether a clause of few words that the claim speaks of is denied: `paid: false`."""
    return any(words and clause.denials % 2 and len(set(clause.words)) <= 3 for clause, words in anchor)


def _opposites(words: Sequence[str], opposed: frozenset[str], clause: Clause | None) -> int:
    """How many words of the claim the clause has the opposite of, and not the word."""
    if clause is None or not opposed:
        return 0
    turned = {word for word in opposed if _turned(word, clause)}
    return sum(word in turned for word in words)


def _opposed(opposed: frozenset[str], anchor: Shared) -> bool:
    """Whether a clause has one word of the claim and the opposite of another one."""
    return any(words and any(_turned(word, clause) for word in opposed) for clause, words in anchor)


def _turned(word: str, clause: Clause) -> bool:
    return not OPPOSITES[word].isdisjoint(clause.words) and word not in clause.words


def _swapped(claim: Statement, near: Statement | None, names: frozenset[str]) -> bool:
    """Whether two names stand in the other order than in the statement, with the same voice: who bought whom."""
    if near is None or not names:
        return False
    at = [near.places[word] for word in dict.fromkeys(claim.words) if word in names and word in near.places]
    return len(at) > 1 and at[0] > at[-1] and claim.passive == near.passive


def _in_order(words: Sequence[str], near: Statement | None) -> int:
    """The share of the words shared with the statement that stand there in the same order, by neighbours."""
    if near is None:
        return 0
    places = near.places
    at = [places[word] for word in words if word in places]
    if len(at) < 2:
        return 1000
    return sum(one < other for one, other in pairwise(at)) * 1000 // (len(at) - 1)
