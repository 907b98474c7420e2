"""The guards as detectors for other plugins (hook `yb_eval_detectors`): importing this compiles nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from yb_eval import hookimpl

if TYPE_CHECKING:
    from yb_eval_guards.scanner import Scanner

YB_EVAL_API = 1


class DataDetector:
    """Finds numbers with a checksum and secrets: what is founded well enough to block on. Phrases are not data."""

    types = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan", "iban", "secret"})

    @cached_property
    def _scanner(self) -> Scanner:
        from yb_eval_guards.scanner import Scanner

        # It is asked text by text: there both engines take the same time, and google-re2 compiles in a fiftieth of it.
        return Scanner(detectors=self.types, engine="re2")

    def __call__(self, text: str) -> list[Mapping[str, Any]]:
        return [
            {
                "type": finding.type,
                "kind": finding.kind,
                "start": finding.start,
                "end": finding.end,
                "confidence": finding.confidence,
            }
            for finding in self._scanner.scan(text)
        ]

    @cached_property
    def fingerprint(self) -> str:
        """The scanner's: over the code and tables that decide what is found."""
        return self._scanner.fingerprint


_DETECTORS = {"guards": DataDetector()}


@hookimpl
def yb_eval_detectors() -> Mapping[str, DataDetector]:
    return _DETECTORS
