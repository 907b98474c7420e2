"""Readings of encoded text: each decoder yields views whose characters map back to the encoded ones, exactly.

A decoder looks at one view and yields what it can read as text; what decodes to binary (hashes, keys, pictures) is
dropped at once. The scanner scans the yielded views with the same detectors and decodes them again, down to
`MAX_DEPTH` and up to `MAX_DECODED` characters for one input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..views import View
from .bytes import base64_text, binary_text, hexadecimal_text, utf16_text
from .ciphers import CAESAR_KEYS, caesar, caesar_text, reversed_text
from .escapes import entity_text, escape_text, percent_text, tag_text

__all__ = ["CAESAR_KEYS", "DECODERS", "MAX_DECODED", "MAX_DEPTH", "Decoder", "caesar"]

MAX_DEPTH = 4
MAX_DECODED = 1_000_000

Decoder = Callable[[View], Iterator[View]]

# Keyed by the name of the feature that asks for the decoder (see `features`).
DECODERS: dict[str, Decoder] = {
    "base64": base64_text,
    "hex": hexadecimal_text,
    "binary": binary_text,
    "percent": percent_text,
    "escape": escape_text,
    "entity": entity_text,
    "utf16": utf16_text,
    "tags": tag_text,
    "reversed": reversed_text,
    "caesar": caesar_text,
}
