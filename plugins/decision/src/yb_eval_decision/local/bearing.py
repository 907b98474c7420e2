"""Measures of a question and a text: whether the text bears on the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from yb_eval_decision.local.overlap import Evidence, neighbours, overlap
from yb_eval_decision.local.reading import Statement, joined

#: Content words of a question, not of a task; words at the beginning of a text that say what it is about.
_SHORT_QUESTION, _HEAD = 7, 6

RELEVANCE = (
    "anywhere", "whole", "pairs", "numbers", "names", "names_missing", "rarest_there", "asks_number", "asks_number_met",
    "asks_time_met", "words", "text_length", "long", "long_anywhere", "focus",
)  # fmt: skip

_NUMBER_WORDS = """
many much cost price old tall long high deep far often percent amount number сколько какова высота длина цена стоит
"""
_NUMBER_QUESTION = frozenset(_NUMBER_WORDS.split())
_TIME_QUESTION = frozenset({"when", "date", "deadline", "until", "since", "когда", "дата", "срок", "скольких"})


def relevance(
    question: Sequence[Statement], asked: Sequence[str], evidence: Evidence, rarity: Mapping[str, int], rarest: int
) -> list[int]:
    """The measures `RELEVANCE` of a question and a text, in thousandths. `asked` are the question's plain words: when, how many.

    `anywhere`, `whole`, `pairs`: the share of the question that stands in the text, whether all does, and neighbouring words.
    `rarest_there`: the rarest word of the question that does. `asks_..._met`: it asks for a number or a time, and the best
    statement has one. `focus`: words of the question among the first of the text.
    """
    said = joined(question)
    found = overlap(said, evidence, rarity, rarest)
    met = evidence.at(found.first)
    asks_number = any(word in _NUMBER_QUESTION for word in asked)
    asks_time = any(word in _TIME_QUESTION for word in asked)
    has_number = met is not None and any(number[0].isdigit() for number in met.numbers)
    has_time = met is not None and any(number[0] in "tmw" or len(number) == 4 for number in met.numbers)
    # A task of several sentences is never found whole in one text that helps with it: its shares mean something else.
    long = len(found.weights) > _SHORT_QUESTION
    heads = evidence.statements[0].words[:_HEAD] if evidence.statements else ()
    return [
        found.anywhere,
        1000 * (not found.missing),
        neighbours(said.words, met),
        1000 * any(found.numbers.values()),
        1000 * any(name in evidence.places for name in said.names),
        1000 * min(sum(name not in evidence.places for name in said.names), 2),
        max((weight for word, weight in found.weights.items() if word in evidence.places), default=0),
        1000 * asks_number,
        1000 * (asks_number and has_number),
        1000 * (asks_time and has_time),
        100 * min(len(said.words), 15),
        100 * min(evidence.size.bit_length(), 12),
        1000 * long,
        found.anywhere * long,
        sum(found.weights.get(word, 0) for word in dict.fromkeys(heads)),
    ]
