"""Rules, and matching many of them in time linear in the text: google-re2, with one pass that says which rules apply."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from attrs import field, frozen

from yb_eval_decision.detection.finding import Finding
from yb_eval_decision.detection.view import CODEC, View

#: Makes the findings of one match: of the view and the span of the datum as the pattern sees it.
Accept = Callable[[View, int, int], Iterator[Finding]]

_MEMORY = 32 << 20
# Matched by no rule: a set that does not know it did not fit its memory.
_PROBE = b"\x98\x98"


@frozen(slots=True)
class Rule:
    """`pattern` (RE2; the datum is its first group, or all) says where a datum may stand, `accept` whether it does.

    Every repetition in a pattern is bounded, so that a match ends within a few hundred characters and all matches of a text
    take time linear in its length. `lower`: it is written in small letters and matches any case.
    """

    pattern: str
    accept: Accept
    lower: bool = field(default=False, kw_only=True)


class Patterns:
    """Compiled rules. Thread-safe."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._halves = [_Half([rule for rule in rules if rule.lower is lower]) for lower in (False, True)]

    def find(self, view: View) -> list[Finding]:
        """What the rules find, in no order and with overlaps."""
        found: list[Finding] = []
        for half, data in zip(self._halves, (view.data, view.lower), strict=True):
            for compiled, accept in half.matching(data):
                for match in compiled.finditer(data):
                    start, end = match.span(1) if compiled.groups else match.span()
                    if start >= 0:
                        found.extend(accept(view, start, end))
        return found


class _Half:
    """The rules that read one of the two forms of a text."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        import re2

        options = re2.Options()
        options.encoding = re2.Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = _MEMORY
        written = [rule.pattern.encode(CODEC) for rule in rules]
        self._rules = [
            (re2.compile(pattern, options), rule.accept) for pattern, rule in zip(written, rules, strict=True)
        ]
        self._set = re2.Set.SearchSet(options)
        for pattern in written:
            self._set.Add(pattern)
        self._set.Add(_PROBE)
        self._set.Compile()
        self._fits = self._set.Match(_PROBE) == [len(written)]

    def matching(self, data: bytes) -> Iterator[tuple[Any, Accept]]:
        """The rules that match somewhere in `data`."""
        if not self._fits:
            yield from self._rules
            return
        for index in sorted(self._set.Match(data) or ()):
            if index < len(self._rules):
                yield self._rules[index]
