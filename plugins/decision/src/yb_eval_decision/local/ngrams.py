"""Which wordings a text holds: windows of words, and the n-grams of each.

A text of any length is read in overlapping windows of `WINDOW` words and the strongest window counts, so that nothing hides
behind padding: a wording weighs the same on its own and on page nine.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from yb_eval_decision.local.text import joined_apostrophes, normalise, stem

#: Words in a window, and from one window to the next.
WINDOW, STRIDE = 48, 24
#: Words in the longest n-gram.
LONGEST = 3

# Words, and the marks with which a text pretends to be a chat's own structure.
_TOKEN = re.compile(r"[^\W_]+|<\|?/?|\|?>|\[/?|\]|#{2,}|={3,}|-{3,}|:")


def tokens(text: str) -> list[str]:
    """The stems and marks of `text`, in order. Numbers are all one token: which number it is says nothing here."""
    found = _TOKEN.findall(joined_apostrophes(normalise(text)))
    return ["0" if token.isdigit() else stem(token) for token in found]


def windows(found: list[str]) -> Iterator[list[str]]:
    """The windows of a list of tokens; one, perhaps empty, for a short list."""
    yield found[:WINDOW]
    for start in range(STRIDE, len(found) - (WINDOW - STRIDE), STRIDE):
        yield found[start : start + WINDOW]


def ngrams(window: list[str]) -> list[str]:
    """The different n-grams of a window, in the order in which they first stand there."""
    grams = window[:]
    grams += map(" ".join, pairwise(window))
    grams += map(" ".join, zip(window, window[1:], window[2:], strict=False))
    return list(dict.fromkeys(grams))
