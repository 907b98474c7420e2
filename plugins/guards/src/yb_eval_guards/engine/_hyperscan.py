"""The hyperscan engine: one pass over the joined texts of a batch."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ._cache import cached_database
from .protocol import BORDER, Engine, EngineName, FeaturePattern

__all__ = ["HyperscanEngine", "available"]


def available() -> bool:
    """Tell whether hyperscan can be imported here and supports this processor."""
    try:
        import hyperscan

        hyperscan.Database().compile(expressions=[b"a"])
    except (ImportError, hyperscan.HyperscanError):
        return False
    return True


def _compiled(patterns: tuple[FeaturePattern, ...]) -> Any:
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[entry.pattern for entry in patterns],
        ids=list(range(len(patterns))),
        elements=len(patterns),
        flags=[hyperscan.HS_FLAG_DOTALL] * len(patterns),
    )
    return database


class _Matcher:
    """A compiled database; each thread has its own scratch space."""

    def __init__(self, patterns: tuple[FeaturePattern, ...], folder: Path | None) -> None:
        """Compile, or load what was compiled before and kept in `folder`."""
        import hyperscan

        self._bits = [entry.bit for entry in patterns]
        self._database = (
            _compiled(patterns) if folder is None else cached_database(patterns, folder, lambda: _compiled(patterns))
        )
        self._scratch = hyperscan.Scratch(self._database)
        self._local = threading.local()
        self._cloning = threading.Lock()

    def _own_scratch(self) -> Any:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            with self._cloning:
                scratch = self._local.scratch = self._scratch.clone()
        return scratch

    def matched(self, buffer: bytes) -> dict[int, int]:
        """Return the bits of the texts that have any; a text goes by the place of the border after it."""
        bits = self._bits
        known = [0] * len(bits)
        found: dict[int, int] = {}
        find, get = buffer.find, found.get

        def on_match(identity: int, _start: int, end: int, _flags: int, _context: object) -> None:
            # A match may end on the border after its text. Of many matches in one text the first is enough.
            if end > known[identity]:
                border = find(BORDER, end - 1)
                known[identity] = border + 1
                found[border] = get(border, 0) | bits[identity]

        self._database.scan(buffer, match_event_handler=on_match, scratch=self._own_scratch())
        return found


class HyperscanEngine(Engine):
    """One pass over all texts, and one for what is exact over the few that show a sign of it."""

    def __init__(self, patterns: tuple[FeaturePattern, ...], folder: Path | None = None) -> None:
        """Compile, or load what was compiled before and kept in `folder`."""
        exact = tuple(FeaturePattern(entry.bit, entry.exact) for entry in patterns if entry.exact is not None)
        self._all = _Matcher(patterns, folder)
        self._exact = _Matcher(exact, folder) if exact else None
        self._doubtful = sum({entry.bit for entry in exact})

    @property
    def name(self) -> EngineName:
        return "hyperscan"

    def seen(self, buffer: bytes) -> dict[int, int]:
        """Return which texts have features, and which."""
        by_border = self._all.matched(buffer)
        if self._exact is not None:
            self._look_again(self._exact, buffer, by_border)
        found: dict[int, int] = {}
        place, last = 0, 1
        for border in sorted(by_border):
            place += buffer.count(BORDER, last, border)
            last = border
            found[place] = by_border[border]
        return found

    def _look_again(self, exact: _Matcher, buffer: bytes, by_border: dict[int, int]) -> None:
        """Leave the signs in `by_border` that are more than that."""
        doubtful = [border for border, bits in by_border.items() if bits & self._doubtful]
        texts = [buffer[buffer.rfind(BORDER, 0, border) : border] for border in doubtful]  # each with its border before
        confirmed = exact.matched(b"".join(texts) + BORDER)
        end = 0
        for border, text in zip(doubtful, texts, strict=True):
            end += len(text)
            bits = by_border[border] & ~self._doubtful | confirmed.get(end, 0)
            if bits:
                by_border[border] = bits
            else:
                del by_border[border]
