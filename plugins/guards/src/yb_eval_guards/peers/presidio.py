"""Presidio's pattern recognisers, called one by one.

Presidio's analyser wants a language model for named entities; card numbers and IBANs need none, for their recognisers
accept a match by its checksum. Its other recognisers find what our corpora do not label (dates, URLs, phones, national
numbers of other countries), so their hits could not be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from yb_eval import Target
from yb_eval.digest import identify
from yb_eval.targets import CallableTarget

#: Presidio's name of an entity -> our type.
TYPES = {"CREDIT_CARD": "pan", "IBAN_CODE": "iban"}


@lru_cache(maxsize=1)
def _recognizers() -> Sequence[Any]:
    from presidio_analyzer.predefined_recognizers import CreditCardRecognizer, IbanRecognizer

    return CreditCardRecognizer(), IbanRecognizer()


def find(request: dict[str, Any]) -> dict[str, Any]:
    """The findings in the text of one request."""
    text = request["text"]
    findings = [
        {
            "type": TYPES[result.entity_type],
            "kind": result.entity_type,
            "start": result.start,
            "end": result.end,
            "confidence": result.score,
        }
        for recognizer in _recognizers()
        for result in recognizer.analyze(text, recognizer.supported_entities, None)
    ]
    return {"findings": sorted(findings, key=lambda finding: (finding["start"], finding["end"]))}


def open_target() -> Target:
    """Presidio as a target. Raises ImportError where it is not installed."""
    import presidio_analyzer  # noqa: F401  (found missing here rather than in the middle of a run)

    fingerprint = identify(
        "target",
        {"peer": "presidio", "version": version("presidio-analyzer"), "types": sorted(map(list, TYPES.items()))},
    )
    return CallableTarget(find, fingerprint=fingerprint, spec="presidio", batch_size=200, concurrency="processes")
