"""One datum, one finding: of findings that overlap, the best founded one stays."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from .finding import STRENGTHS, Finding

__all__ = ["resolve"]

_RANK = {strength: rank for rank, strength in enumerate(STRENGTHS)}


def _order(finding: Finding) -> tuple[object, ...]:
    """Deny before warn, then confidence, then length; the rest makes the order total."""
    return (
        _RANK[finding.strength],
        -finding.confidence,
        finding.start - finding.end,
        finding.start,
        finding.type,
        finding.kind,
        finding.evidence,
    )


def resolve(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings that remain when of any two that overlap the better one stays, in text order.

    O(n log n) comparisons, plus the moves of a sorted list.
    """
    kept: list[Finding] = []
    starts: list[int] = []
    for finding in sorted(findings, key=_order):
        place = bisect_left(starts, finding.start)
        if place and kept[place - 1].end > finding.start:
            continue
        if place < len(kept) and starts[place] < finding.end:
            continue
        starts.insert(place, finding.start)
        kept.insert(place, finding)
    return kept
