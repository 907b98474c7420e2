"""What a detector reports: one datum, where it stands, and why it is believed to be one."""

from __future__ import annotations

from typing import Literal

import attrs

__all__ = ["STRENGTHS", "Finding", "Strength"]

Strength = Literal["deny", "warn"]
STRENGTHS: tuple[Strength, ...] = ("deny", "warn")

# Types whose last two characters tell people which datum it was without giving it away.
_TAIL_SHOWN = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan", "iban"})
_TAIL = 2
_MASK_WIDTH = 16


@attrs.frozen(slots=True, kw_only=True, repr=False)
class Finding:
    """One sensitive datum in a text.

    `start` and `end` are code point offsets into the text that was scanned, end exclusive. `value` is the normalised
    datum (separators and look-alike digits folded). It is the datum itself: `repr`, `str` and `masked` never show it,
    and no report may. `evidence` says what supports the finding: `checksum`, `issuer`, `context`, `format`, `prefix`,
    `structure`, `entropy`, `phrase`, `quoted`, `normalised`, `decoded:base64` and so on. `confidence` is 0..1.
    `strength` is `deny` when the evidence is enough to block on, `warn` when it is only enough to point at.
    """

    type: str
    kind: str
    start: int
    end: int
    value: str
    evidence: tuple[str, ...]
    confidence: float
    strength: Strength

    @property
    def masked(self) -> str:
        """The datum with every character hidden, but the last two of a number."""
        if self.type in _TAIL_SHOWN:
            return "*" * (len(self.value) - _TAIL) + self.value[-_TAIL:]
        return "*" * min(len(self.value), _MASK_WIDTH)

    def __repr__(self) -> str:
        return (
            f"Finding(type={self.type!r}, kind={self.kind!r}, start={self.start}, end={self.end}, "
            f"value={self.masked!r}, evidence={self.evidence!r}, confidence={self.confidence}, "
            f"strength={self.strength!r})"
        )
