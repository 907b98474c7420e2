"""What a router is asked and what it answers, as JSON Schema."""

from __future__ import annotations

from typing import Any

_MESSAGE = {
    "type": "object",
    "properties": {"role": {"type": "string"}, "content": {"type": ["string", "array"]}},
    "required": ["role", "content"],
}

REQUEST: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "prompt": {"type": "string", "description": "the user's message, or ..."},
        "messages": {"type": "array", "items": _MESSAGE, "description": "... the conversation, oldest first"},
        "metadata": {"type": "object", "description": "tools, attachments, max_tokens and the like"},
    },
    "required": ["id"],
    "oneOf": [{"required": ["prompt"]}, {"required": ["messages"]}],
}

ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the request's, where the answer repeats it"},
        "tier": {"type": "string", "description": "one of the policy's tiers"},
        "score": {"type": "number"},
        "model": {"type": "string"},
        "cost_usd": {"type": "number", "minimum": 0},
        "signals": {"type": "object"},
        "rule": {"type": ["string", "null"]},
    },
    "required": ["tier"],
}
