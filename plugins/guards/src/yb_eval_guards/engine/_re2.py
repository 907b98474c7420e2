"""The google-re2 engine: a set of patterns, text by text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .protocol import BORDER, EngineName, FeaturePattern

__all__ = ["Re2Engine"]

# What the automata of the features may grow to; they are split until each fits.
_MEMORY = 64 << 20
# One automaton of all patterns has so many states that RE2 keeps throwing them away: three smaller ones are three times as
# fast as one.
_PER_SET = 128
# RE2 answers None both for "no match" and for "did not fit". No text holds two borders side by side, so this pattern can
# only be matched by the probe, and the probe must match it.
_PROBE = BORDER + BORDER
_SENTINEL = rb"\xff\xff"


class Re2Engine:
    """Matches with RE2 sets over Latin-1, that is, over bytes."""

    name: EngineName = "re2"

    def __init__(self, patterns: tuple[FeaturePattern, ...]) -> None:
        self._sets = [
            compiled
            for first in range(0, len(patterns), _PER_SET)
            for compiled in _sets(patterns[first : first + _PER_SET])
        ]

    def features(self, texts: Sequence[bytes]) -> list[int]:
        """Return for each text the sum of the bits of the patterns that match in it."""
        found = []
        for text in texts:
            bordered = BORDER + text + BORDER
            mask = 0
            for patterns, bits in self._sets:
                for index in patterns.Match(bordered) or ():
                    mask |= bits[index]
            found.append(mask)
        return found


def _sets(patterns: tuple[FeaturePattern, ...]) -> Iterator[tuple[Any, list[int]]]:
    """Yield compiled sets with the bits of their patterns, each small enough for its memory."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.dot_nl = True
    options.log_errors = False
    options.max_mem = _MEMORY
    compiled = re2.Set.SearchSet(options)
    for entry in patterns:
        compiled.Add(entry.pattern)
    compiled.Add(_SENTINEL)
    compiled.Compile()
    if compiled.Match(_PROBE):
        yield compiled, [*(entry.bit for entry in patterns), 0]
        return
    if len(patterns) == 1:
        raise ValueError(f"feature pattern too large for google-re2: {patterns[0].pattern[:40]!r}")
    middle = len(patterns) // 2
    yield from _sets(patterns[:middle])
    yield from _sets(patterns[middle:])
