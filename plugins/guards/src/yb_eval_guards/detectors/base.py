"""What a detector is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ..finding import Finding, Strength
from ..views import View

__all__ = ["Detector", "report"]


class Detector(Protocol):
    """Finds data of its types in a view. Stateless after construction, so thread-safe; linear in the view's size."""

    types: frozenset[str]
    """The finding types it can report."""

    announced_by: int
    """The feature bits one of which is in every view that holds something for it."""

    def find(self, view: View, features: int) -> Iterable[Finding]:
        """Return what the view holds, of both strengths, in any order; findings may overlap."""
        ...


def report(
    view: View,
    start: int,
    end: int,
    *,
    type: str,
    kind: str,
    value: str,
    evidence: tuple[str, ...],
    confidence: float,
    strength: Strength = "deny",
) -> Finding:
    """Return the finding for the view's characters `start`..`end`, with the view's trail among its evidence."""
    first, last = view.span(start, end)
    return Finding(
        type=type,
        kind=kind,
        start=first,
        end=last,
        value=value,
        evidence=evidence + view.trail if view.trail else evidence,
        confidence=confidence,
        strength=strength,
    )
