"""The hyperscan engine: one pass over the joined texts of a batch."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from ._cache import cached_database
from .protocol import BORDER, EngineName, FeaturePattern

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


class HyperscanEngine:
    """Scans with a compiled hyperscan database; each thread has its own scratch space."""

    name: EngineName = "hyperscan"

    def __init__(self, patterns: tuple[FeaturePattern, ...], folder: Path | None = None) -> None:
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

    def features(self, texts: Sequence[bytes]) -> list[int]:
        """Return for each text the sum of the bits of the patterns that match in it."""
        found = [0] * len(texts)
        bits = self._bits
        # A match may end on the border after its text, so a text's share of the buffer ends there.
        ends = list(accumulate((len(text) + 1 for text in texts), initial=0))[1:]

        def on_match(identity: int, _start: int, end: int, _flags: int, _context: object) -> None:
            # The buffer starts with one border, hence offset end-1 in it is offset end-2 in the joined texts.
            found[bisect_left(ends, end - 1)] |= bits[identity]

        buffer = BORDER + BORDER.join(texts) + BORDER
        self._database.scan(buffer, match_event_handler=on_match, scratch=self._own_scratch())
        return found
