"""Checksum, secret and injection detectors, measured: the guard that was evaluated is the guard that runs.

    >>> from yb_eval_guards import redact, scan
    >>> [finding.kind for finding in scan("card 4111 1111 1111 1111")]
    ['visa']
    >>> redact("card 4111 1111 1111 1111")
    'card *******************'

`scan`, `scan_many` and `redact` are all that most programs need. `Scanner` holds compiled detectors of its own: another
engine, user-defined detectors (`load_custom`), another strength. Importing this package compiles nothing and loads
neither hyperscan, google-re2 nor python-stdnum; the first scan does.
"""

from __future__ import annotations

from .api import redact, scan, scan_many
from .custom import CustomDetectorError, CustomRule, load_custom
from .finding import Finding, Strength
from .scanner import BUILTIN_TYPES, Scanner

__all__ = [
    "BUILTIN_TYPES",
    "CustomDetectorError",
    "CustomRule",
    "Finding",
    "Scanner",
    "Strength",
    "load_custom",
    "redact",
    "scan",
    "scan_many",
]
