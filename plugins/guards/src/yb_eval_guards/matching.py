"""RE2 patterns over bytes: compiled without noise, and all their matches in time linear in the text.

One RE2 search is linear, but a search for each of many matches may each time read on to the end of the text before it
knows where its match ends. Here a search reads at most `_WINDOW` bytes; a match is at most `REACH` bytes long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["REACH", "LazyPattern", "compile_bytes", "matches"]

REACH = 2048
_WINDOW = 4 * REACH
_MEMORY = 64 << 20


def compile_bytes(pattern: str, *, latin1: bool = False) -> Any:
    """Compile `pattern` to match bytes: of UTF-8 text, or with `latin1` byte by byte. Raises `re2.error`.

    Byte by byte is what the shipped tables use: classes of Unicode letters, repeated, make automata of a hundred thousand
    states, and RE2 would leave its fast path. RE2 prints to stderr when it gives up; that is switched off.
    """
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    if latin1:
        options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode(), options)


class LazyPattern:
    """A pattern of the shipped tables over bytes (Latin-1), compiled when a text first asks for it: few of them are needed
    in one run, and compiling all takes longer than reading a hundred thousand texts."""

    __slots__ = ("_compiled", "_pattern")

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._compiled: Any = None

    def matches(self, data: bytes) -> Iterator[Any]:
        """Return the leftmost matches that do not overlap. Raises `re2.error` for a pattern that is none."""
        if self._compiled is None:
            self._compiled = compile_bytes(self._pattern, latin1=True)
        return matches(self._compiled, data)


def matches(pattern: Any, data: bytes) -> Iterator[Any]:
    """Return the leftmost matches of a compiled bytes pattern that do not overlap. No match may be empty."""
    found: Iterator[Any] = pattern.finditer(data) if len(data) <= _WINDOW else _by_windows(pattern, data)
    return found


def _by_windows(pattern: Any, data: bytes) -> Iterator[Any]:
    size = len(data)
    position = 0
    while position < size:
        end = min(size, position + _WINDOW)
        match = pattern.search(data, position, end)
        if match is None:
            position = size if end == size else end - REACH
        elif end < size and match.end() > end - REACH and match.start() > position:
            position = match.start()  # the window may have cut it short: look again with a whole window ahead
        else:
            yield match
            position = match.end()
