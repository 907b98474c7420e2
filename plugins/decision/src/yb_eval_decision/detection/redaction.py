"""Text without the data that were found in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from yb_eval import UsageError
from yb_eval.errors import nearest
from yb_eval_decision.detection.finding import Finding, resolve

Style = Literal["type", "mask", "partial"]
STYLES: tuple[Style, ...] = ("type", "mask", "partial")

#: Characters that `partial` shows, and the least length of a datum of which so few say nothing.
_TAIL, _LONG = 4, 20
#: What people choose or what is made of many parts: nothing of it is shown.
_NEVER_SHOWN = frozenset({"PASSWORD", "PRIVATE_KEY", "GENERIC_SECRET", "DATABASE_URL", "US_SSN", "DATE_OF_BIRTH"})


def redact(text: str, findings: Iterable[Finding], style: Style = "type") -> str:
    """`text` with each datum of `findings` replaced, and nothing else changed.

    `type` writes `<TYPE>`, `mask` as many asterisks as the datum has characters, `partial` leaves the last four letters or
    digits of a datum of 20 characters or more that nobody chose (a token, an account number). Raises `UsageError` for
    another style, and for what is no text or no finding.
    """
    if not isinstance(text, str):
        raise UsageError(f"a text is expected, not {type(text).__name__}")
    if style not in STYLES:
        raise UsageError(f"no style {style!r}", hint=nearest(str(style), STYLES))
    listed = list(findings) if isinstance(findings, Iterable) else [findings]
    if not all(isinstance(each, Finding) for each in listed):
        raise UsageError("findings are expected, as detect_pii and its like give them")
    return replaced(text, resolve(listed), lambda finding: _shown(finding, text, style))


def replaced(text: str, findings: Iterable[Finding], by: Callable[[Finding], str]) -> str:
    """`text` with each of the `findings`, which are resolved, replaced by what `by` makes of it."""
    pieces: list[str] = []
    position = 0
    for finding in findings:
        pieces += (text[position : finding.start], by(finding))
        position = finding.end
    return "".join(pieces) + text[position:]


def _shown(finding: Finding, text: str, style: Style) -> str:
    if style == "type":
        return f"<{finding.type}>"
    size = finding.end - finding.start
    tail = text[max(finding.start, finding.end - _TAIL) : finding.end]
    shown = style == "partial" and size >= _LONG and finding.type not in _NEVER_SHOWN and tail.isalnum()
    return "*" * (size - _TAIL) + tail if shown else "*" * size


def shape(datum: str) -> str:
    """What a datum looks like without what it says: `9` for a digit, `x` and `X` for letters, other signs as they are;
    cut to 40 characters."""
    signs = ("9" if c.isdigit() else ("X" if c.isupper() else "x") if c.isalpha() else c for c in datum[:40])
    return "".join(signs) + ("..." if len(datum) > 40 else "")
