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

    Where a pattern needs to see that a text begins or ends it matches one more byte, which may be `BORDER`.
    """

    bit: int
    pattern: bytes


class Engine(Protocol):
    """Finds the features of texts. Thread-safe; linear in the size of the texts."""

    @property
    def name(self) -> EngineName: ...

    def features(self, texts: Sequence[bytes]) -> list[int]:
        """Return for each text (UTF-8 bytes) the sum of the bits whose patterns match somewhere in it."""
        ...
