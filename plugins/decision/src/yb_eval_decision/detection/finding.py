"""What a detector found: where a datum stands and what it is taken for, never the datum itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import frozen

#: From this confidence on a finding needs nobody's judgement, unless its kind is one that always does.
DECISIVE = 0.9


@frozen(slots=True)
class Finding:
    """The datum of `type` at `start`..`end` of a text, in code points, end exclusive. `confidence` is 0..1.

    `decisive` findings are what they are taken for, whoever may be asked: a key of a vendor's form, a card number that its
    issuer and checksum bear out. `hints` say what is known of the datum without showing it ("reserved domain").
    """

    type: str
    start: int
    end: int
    confidence: float
    decisive: bool = False
    hints: tuple[str, ...] = ()

    def of(self, text: str) -> str:
        """The datum, in the text that was looked at. For redaction; not for reports."""
        return text[self.start : self.end]

    def to_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "type": self.type, "start": self.start, "end": self.end, "confidence": self.confidence
        }  # fmt: skip
        return {**found, "hints": list(self.hints)} if self.hints else found


def resolve(findings: Iterable[Finding]) -> list[Finding]:
    """`findings` in text order, one for each stretch of text: of those that overlap, directly or through others, the best
    founded one stays (then the longer, then the first by name), and it is widened to cover them all, so that no part of a
    datum is left standing. O(n log n)."""
    done: list[Finding] = []
    group: list[Finding] = []
    end = -1
    for finding in sorted(findings, key=lambda found: (found.start, found.end, found.type)):
        if group and finding.start >= end:
            done.append(_joined(group, end))
            group = []
        end = max(end, finding.end) if group else finding.end
        group.append(finding)
    if group:
        done.append(_joined(group, end))
    return done


def _joined(group: list[Finding], end: int) -> Finding:
    if len(group) == 1:
        return group[0]
    best = min(group, key=lambda found: (not found.decisive, -found.confidence, found.start - found.end, found.type))
    return Finding(best.type, group[0].start, end, best.confidence, best.decisive, best.hints)
