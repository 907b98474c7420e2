"""The google-re2 engine: a set of patterns, text by text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..matching import compile_bytes
from .protocol import BORDER, Engine, EngineName, FeaturePattern

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


class Re2Engine(Engine):
    """Matches with RE2 sets over Latin-1, that is, over bytes."""

    def __init__(self, patterns: tuple[FeaturePattern, ...]) -> None:
        self._sets = [
            compiled
            for first in range(0, len(patterns), _PER_SET)
            for compiled in _sets(patterns[first : first + _PER_SET])
        ]

    @property
    def name(self) -> EngineName:
        return "re2"

    def seen(self, buffer: bytes) -> dict[int, int]:
        """Return which texts have features, and which."""
        found: dict[int, int] = {}
        for place, text in enumerate(buffer[1:-1].split(BORDER)):
            bordered = BORDER + text + BORDER
            mask = 0
            for matcher, patterns in self._sets:
                for index in matcher.Match(bordered) or ():
                    bit, exact = patterns[index]
                    if exact is None or exact.search(bordered):
                        mask |= bit
            if mask:
                found[place] = mask
        return found


# A bit, and the RE2 pattern that says whether it is rightly set; None where it always is.
_Exact = tuple[int, Any]


def _sets(patterns: tuple[FeaturePattern, ...]) -> Iterator[tuple[Any, list[_Exact]]]:
    """Yield compiled sets with the bits and the exact form of their patterns, each small enough for its memory."""
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
        exact = [entry.exact and compile_bytes(entry.exact.decode("ascii"), latin1=True) for entry in patterns]
        bits = [entry.bit for entry in patterns]
        yield compiled, [*zip(bits, exact, strict=True), (0, None)]
        return
    if len(patterns) == 1:
        raise ValueError(f"feature pattern too large for google-re2: {patterns[0].pattern[:40]!r}")
    middle = len(patterns) // 2
    yield from _sets(patterns[:middle])
    yield from _sets(patterns[middle:])
