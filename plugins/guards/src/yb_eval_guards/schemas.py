"""What a guard is asked and what it answers, as JSON Schema."""

from __future__ import annotations

from typing import Any

_FINDING = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "description": "inn, snils, ogrn, ogrnip, pan, iban, secret, injection, ..."},
        "start": {"type": "integer", "minimum": 0, "description": "code points into the text"},
        "end": {"type": "integer", "description": "exclusive"},
        "kind": {"type": "string"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["type", "start", "end"],
}

REQUEST: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"id": {"type": "string"}, "text": {"type": "string"}},
    "required": ["id", "text"],
}

ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"findings": {"type": "array", "items": _FINDING}},
    "required": ["findings"],
}
