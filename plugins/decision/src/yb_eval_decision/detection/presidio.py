"""Microsoft Presidio as a detector, where it is asked for by name. An extra: `yb-eval-decision[presidio]`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import metadata
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.detection.finding import Finding
from yb_eval_decision.detection.known import NAMED_ENTITIES

#: Presidio's language models read a text of limited length: it is given parts, which overlap by more than an entity has.
_PART, _OVERLAP = 100_000, 1_000
_LEAST = 0.5

#: What it finds that we name; all other entities of it are left out.
KINDS = frozenset(NAMED_ENTITIES) | {
    "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "IP_ADDRESS", "US_SSN", "US_PASSPORT",
}  # fmt: skip


class Presidio:
    """Presidio's analyser (English model, scores from 0.5)."""

    name = "presidio"
    kinds = KINDS
    #: Names are told by the words around them: in a masked text others would be.
    looks_again = False

    @property
    def fingerprint(self) -> str:
        return metadata.version("presidio-analyzer")

    def find(self, text: str) -> list[Finding]:
        """Its findings. A finding that stands in two parts is given once."""
        found: dict[tuple[str, int, int], Finding] = {}
        for offset, part in _parts(text):
            for one in _analyzer().analyze(text=part, language="en", score_threshold=_LEAST):
                if one.entity_type in KINDS and one.end > one.start:
                    start, end = one.start + offset, one.end + offset
                    found[one.entity_type, start, end] = Finding(one.entity_type, start, end, float(one.score))
        return list(found.values())


def open_presidio() -> Presidio:
    """Presidio, ready. Raises `UsageError` where it, or the language model it needs, is not installed."""
    _analyzer()
    return Presidio()


@cache
def _analyzer() -> Any:
    try:
        from presidio_analyzer import AnalyzerEngine
    except ImportError as error:
        raise UsageError(
            "the detector 'presidio' is not installed", hint='pip install "yb-eval-decision[presidio]"'
        ) from error
    try:
        return AnalyzerEngine()
    except (Exception, SystemExit) as error:  # spaCy ends the process where a model cannot be had
        raise UsageError(
            f"presidio cannot start: {type(error).__name__}: {shorten(str(error))}",
            hint="it needs a language model: python -m spacy download en_core_web_lg",
        ) from error


def _parts(text: str) -> Iterator[tuple[int, str]]:
    for start in range(0, max(1, len(text) - _OVERLAP), _PART - _OVERLAP):
        yield start, text[start : start + _PART]
