"""What an engine is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import attrs

__all__ = ["BORDER", "Engine", "EngineName", "FeaturePattern"]

EngineName = Literal["hyperscan", "re2"]

# Stands before, between and after the texts of a batch. UTF-8 never holds this byte, so no pattern of ours can match
# it by accident and "not a digit" is true at either end of a text.
BORDER = b"\xff"


@attrs.frozen(slots=True)
class FeaturePattern:
    """A byte pattern in the syntax that hyperscan and RE2 share, and the feature bit it stands for.

    Where a pattern needs to see that a text begins or ends it matches one more byte, which may be `BORDER`. Where the
    feature is dear to look for, `pattern` is a cheaper sign of it, found in every text that has it, and `exact` says of
    those which really do; such a feature has this one pattern only.
    """

    bit: int
    pattern: bytes
    exact: bytes | None = None


class Engine(Protocol):
    """Finds the features of texts. Thread-safe; linear in the size of the texts."""

    @property
    def name(self) -> EngineName: ...

    def seen(self, buffer: bytes) -> dict[int, int]:
        """Return, in rising order, which of the texts have features, and the sum of the bits whose patterns match there.

        `buffer` holds the texts (UTF-8) with `BORDER` before, between and after them.
        """
        ...

    def features(self, texts: Sequence[bytes]) -> list[int]:
        """Return for each text (UTF-8 bytes) the sum of the bits whose patterns match somewhere in it."""
        if not texts:
            return []
        seen = self.seen(BORDER + BORDER.join(texts) + BORDER)
        return [seen.get(place, 0) for place in range(len(texts))]
