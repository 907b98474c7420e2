"""The hyperscan engine: one pass over the joined texts of a batch."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from ._cache import cached_database
from .protocol import BORDER, Engine, EngineName, FeaturePattern, exact_patterns

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


class HyperscanEngine(Engine):
    """Scans with a compiled hyperscan database; each thread has its own scratch space."""

    def __init__(self, patterns: tuple[FeaturePattern, ...], folder: Path | None = None) -> None:
        """Compile, or load what was compiled before and kept in `folder`."""
        import hyperscan

        self._bits = [entry.bit for entry in patterns]
        self._exact = exact_patterns(patterns)
        self._database = (
            _compiled(patterns) if folder is None else cached_database(patterns, folder, lambda: _compiled(patterns))
        )
        self._scratch = hyperscan.Scratch(self._database)
        self._local = threading.local()
        self._cloning = threading.Lock()

    @property
    def name(self) -> EngineName:
        return "hyperscan"

    def _own_scratch(self) -> Any:
        scratch = getattr(self._local, "scratch", None)
        if scratch is None:
            with self._cloning:
                scratch = self._local.scratch = self._scratch.clone()
        return scratch

    def seen(self, buffer: bytes) -> dict[int, int]:
        """Return which texts have features, and which."""
        bits, exacts = self._bits, self._exact
        known = [0] * len(bits)
        by_border: dict[int, int] = {}  # a text goes by the place of the border after it
        find, rfind = buffer.find, buffer.rfind

        def on_match(identity: int, _start: int, end: int, _flags: int, _context: object) -> None:
            # A match may end on the border after its text. Of many matches in one text the first is enough.
            if end > known[identity]:
                border = find(BORDER, end - 1)
                known[identity] = border + 1
                exact = exacts[identity]
                if exact is None or exact.search(buffer, rfind(BORDER, 0, border), border + 1):
                    by_border[border] = by_border.get(border, 0) | bits[identity]

        self._database.scan(buffer, match_event_handler=on_match, scratch=self._own_scratch())
        found: dict[int, int] = {}
        place, last = 0, 1
        for border in sorted(by_border):
            place += buffer.count(BORDER, last, border)
            last = border
            found[place] = by_border[border]
        return found
