"""What can be counted in a message without knowing its language: the built-in measures of a policy."""

import re
from collections.abc import Callable

import attrs

from yb_eval_routing.pipeline.segments import Segments
from yb_eval_routing.pipeline.text import is_unspaced

_LONG_WORD_CHARACTERS = 12
_QUESTION = re.compile("[?\uff1f\u061f\u037e]+")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_FORMULA = re.compile(
    r"\\[a-zA-Z]+"
    "|[\u2200-\u22ff\u00b2\u00b3\u2070-\u209c\u00b1\u2190-\u21ff\u03c0]"
    r"|\^"
    r"|\b[a-zA-Z]\([a-z0-9]\)"
    r"|\b[a-zA-Z]_?\d? ?[=<>] ?[\w\-(]"
)


@attrs.frozen(slots=True, kw_only=True)
class Reading:
    """One message as the measures see it: its segments, the searched part of its prose, the words
    of that part, the length of all prose in word units."""

    segments: Segments
    ask: str
    tokens: list[str]
    units: int
    tools: int
    attachments: int


def _formulas(reading: Reading) -> int:
    return sum(1 for _ in _FORMULA.finditer(reading.ask))


def _questions(reading: Reading) -> int:
    return sum(1 for _ in _QUESTION.finditer(reading.ask))


def _numbers(reading: Reading) -> int:
    return len(set(_NUMBER.findall(reading.ask)))


def _long_words(reading: Reading) -> int:
    long = {token for token in reading.tokens if len(token) >= _LONG_WORD_CHARACTERS}
    return sum(1 for token in long if not is_unspaced(token))


MEASURES: dict[str, Callable[[Reading], int]] = {
    "units": lambda reading: reading.units,
    "code_lines": lambda reading: reading.segments.code_lines,
    "log_lines": lambda reading: reading.segments.log_lines,
    "table_rows": lambda reading: reading.segments.table_rows,
    "list_items": lambda reading: reading.segments.list_items,
    "questions": _questions,
    "formulas": _formulas,
    "numbers": _numbers,
    "long_words": _long_words,
    "tools": lambda reading: reading.tools,
    "attachments": lambda reading: reading.attachments,
}
"""Name of a measure in a policy -> the whole number it counts, 0 or more.

``units``: word units of the prose; ``code_lines``, ``log_lines``, ``table_rows``: pasted lines (an inline code span
is one line of code); ``list_items``: bulleted or numbered lines of prose; ``questions``: runs of question marks;
``formulas``: operators, LaTeX commands, powers, equations; ``numbers``: distinct numbers; ``long_words``: distinct
words of 12 or more characters;
``tools``, ``attachments``: entries of the request's metadata.
"""
