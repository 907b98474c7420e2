"""What a guard is asked and what it answers, as JSON Schema."""

from __future__ import annotations

from typing import Any

_NAME = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_. /-]{0,59}$"}

_FINDING = {
    "type": "object",
    "properties": {
        "type": {
            **_NAME,
            "description": "inn, snils, ogrn, ogrnip, pan, iban, secret, injection, or a name of its own",
        },
        "start": {"type": "integer", "minimum": 0, "description": "code points into the text"},
        "end": {"type": "integer", "minimum": 1, "description": "exclusive"},
        "kind": {**_NAME, "description": "which of its type: visa, github-pat, ..."},
        "evidence": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[a-z]{1,20}(:[a-z0-9-]{1,20})?$"},
            "maxItems": 12,
        },
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["type", "start", "end"],
}

REQUEST: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"id": {"type": "string"}, "text": {"type": "string", "minLength": 1}},
    "required": ["id", "text"],
}

ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {"findings": {"type": "array", "items": _FINDING}},
    "required": ["findings"],
}
