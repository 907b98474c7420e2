"""Finding personal data, health data and secrets in a text, and taking them out of it.

    >>> from yb_eval_decision.security import detect_pii, redact
    >>> text = "write to ivan@example.org"
    >>> redact(text, detect_pii(text, detector="own"))
    'write to <EMAIL_ADDRESS>'

What an installed plugin can find (entry-point group `yb_eval.detectors`) it finds; small patterns of our own find the rest, on
an engine whose time is linear in the text. They read English and Russian, and do not undo what somebody did to hide a datum
(spaced letters, encodings): for that, install `yb-eval-guards`. Names of people and places need `detector="presidio"`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.detection.detectors import DETECTORS, Detection, DetectorName, open_detection
from yb_eval_decision.detection.finding import Finding, resolve
from yb_eval_decision.detection.known import NAMED_ENTITIES, TYPES, Group
from yb_eval_decision.detection.redaction import STYLES, Style, redact
from yb_eval_decision.detection.view import View


def detect_pii(text: str, *, entities: Sequence[str] | None = None, detector: DetectorName = "auto") -> list[Finding]:
    """The personal data in `text`, in text order. Offsets are code points; no finding holds its datum.

    `entities` narrows the types. `detector`: see `open_detection`. Raises `UsageError` for an unknown type or detector.
    """
    return _detect("pii", text, entities, detector)


def detect_phi(text: str, *, entities: Sequence[str] | None = None, detector: DetectorName = "auto") -> list[Finding]:
    """Like `detect_pii`, the identifiers of health care included."""
    return _detect("phi", text, entities, detector)


def detect_secrets(
    text: str, *, entities: Sequence[str] | None = None, detector: DetectorName = "auto"
) -> list[Finding]:
    """The passwords, keys and tokens in `text`, in text order."""
    return _detect("secrets", text, entities, detector)


def health_terms(text: str) -> list[str]:
    """The words in `text` that say it is about somebody's health (English and Russian): small letters, sorted, each once."""
    from yb_eval_decision.detection.health import health_terms as terms

    return sorted({term for _, term in terms(View(_checked_text(text)))})


def check_entities(value: Any, group: Group, detector: DetectorName = "auto") -> tuple[str, ...]:
    """`value` as a list of types that `detector` can find in `group`. Raises `UsageError` that names the nearest type."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"a list of types is expected, not {shorten(value)}", where="entities")
    listed = tuple(value)
    if not listed:
        raise UsageError("no type at all", where="entities", hint="leave it out to look for all")
    known = set(TYPES[group]) | (set(NAMED_ENTITIES) if detector == "presidio" and group != "secrets" else set())
    for name in listed:
        if name not in known:
            hint = nearest(str(name), known)
            if name in NAMED_ENTITIES and group != "secrets":
                hint = "detector='presidio' finds it"
            raise UsageError(f"unknown type {shorten(name)}", where="entities", hint=hint)
    return listed


def _detect(group: Group, text: str, entities: Sequence[str] | None, detector: DetectorName) -> list[Finding]:
    wanted = None if entities is None else check_entities(entities, group, detector)
    return open_detection(group, detector).find(_checked_text(text), wanted)


def _checked_text(text: Any) -> str:
    if not isinstance(text, str):
        raise UsageError(f"a text is expected, not {type(text).__name__}")
    return text


__all__ = [
    "DETECTORS", "STYLES", "Detection", "Finding", "Style", "check_entities", "detect_phi", "detect_pii", "detect_secrets",
    "health_terms", "open_detection", "redact", "resolve",
]  # fmt: skip
