"""Text with its sensitive data masked."""

from __future__ import annotations

from .scanner import Scanner

__all__ = ["mask_findings"]

_ALLOWED = frozenset("*#\u2588\u25a0\u00d7")
# Masking may bring out what a better founded finding had covered; each round masks at least one character more.
_MAX_ROUNDS = 16


def mask_findings(text: str, scanner: Scanner, mask: str = "*") -> str:
    """Return `text` with every character of every datum replaced by `mask`, until the scanner finds nothing.

    The length stays, and nothing but the data changes. Masking the result again changes nothing. ValueError when `mask`
    is not one of `*#` or a block, square or multiplication sign: others could join with the text around into a datum.
    """
    if mask not in _ALLOWED:
        raise ValueError("mask must be one of * # \u2588 \u25a0 \u00d7")
    for _ in range(_MAX_ROUNDS):
        findings = scanner.scan(text)
        pieces: list[str] = []
        position = 0
        for finding in findings:
            pieces += [text[position : finding.start], mask * (finding.end - finding.start)]
            position = finding.end
        masked = "".join(pieces) + text[position:]
        if masked == text:
            return text
        text = masked
    return text
