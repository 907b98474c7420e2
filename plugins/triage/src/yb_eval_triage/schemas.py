"""The rows, what a triager is asked and what it answers, as JSON Schema."""

from __future__ import annotations

from typing import Any

_DIALECT = "https://json-schema.org/draft/2020-12/schema"

ROW: dict[str, Any] = {
    "$schema": _DIALECT,
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "text": {"type": "string", "description": "the item; it may be empty"},
        "meta": {"type": "object", "description": "what is known beside the text: a channel, a sender's role"},
        "gold": {
            "type": "object",
            "description": "what is right; what is absent is not judged",
            "properties": {
                "label": {"type": "string", "description": "one of the task's labels"},
                "severity": {"type": "integer", "minimum": 0, "description": "an index into the task's levels"},
                "escalate": {"type": "boolean", "description": "must a person come at once?"},
            },
            "additionalProperties": False,
        },
        "acceptable": {
            "type": "object",
            "properties": {"label": {"type": "array", "items": {"type": "string"}}},
            "additionalProperties": False,
        },
        "tags": {
            "type": "array",
            "items": {"type": "string"},
            "description": "key:value; measurements are sliced by them",
        },
        "source": {"type": "string"},
        "note": {"type": "string"},
    },
    "required": ["text", "gold"],
    "additionalProperties": False,
}

REQUEST: dict[str, Any] = {
    "$schema": _DIALECT,
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "task": {"type": "string", "description": "the task's name: it decides the labels"},
        "text": {"type": "string"},
        "meta": {"type": "object"},
    },
    "required": ["id", "task", "text", "meta"],
}

ANSWER: dict[str, Any] = {
    "$schema": _DIALECT,
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the request's, where the answer repeats it"},
        "label": {"type": "string", "description": "one of the task's labels"},
        "severity": {"type": "integer", "minimum": 0, "description": "an index into the task's levels"},
        "escalate": {"type": "boolean"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "probability that label is right"},
        "abstain": {"type": "boolean", "description": "a person must look: the label is a guess nobody should act on"},
        "handoff": {"type": ["string", "null"], "description": "who has the item now; null: whoever got it first"},
        "path": {"type": "array", "items": {"type": "string"}, "description": "everybody it was handed to, in order"},
        "promised": {"type": "boolean", "description": "the text says that the item is handed on"},
    },
    "anyOf": [{"required": [name]} for name in ("label", "severity", "escalate", "abstain", "handoff", "path")],
}
