"""What a provider is asked and what it answers, as JSON Schemas: one request is one model call."""

from __future__ import annotations

from typing import Any

_CALL = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string"},
        "arguments": {
            "description": "An object, or the JSON text of one. What is no JSON is the model's mistake.",
            "type": ["object", "string"],
        },
    },
}

REQUEST: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["scenario", "environment", "policy", "purpose", "call", "system", "messages", "tools"],
    "properties": {
        "scenario": {"type": "string", "description": "The scenario's id. No model is shown it."},
        "environment": {"type": "string", "description": "What is offered, by its digest."},
        "policy": {"enum": ["in-band", "router", "search", "all", "none"]},
        "purpose": {"enum": ["chat", "route"], "description": "route: the router's call, answered with JSON text."},
        "call": {"type": "integer", "minimum": 0, "description": "How manieth model call of the scenario it is."},
        "system": {"type": "string", "description": "The system prompt, the group menu in it."},
        "messages": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {
                    "role": {"enum": ["user", "assistant", "tool", "system"]},
                    "content": {"type": "string"},
                    "tool_calls": {"type": "array", "items": _CALL},
                    "id": {"type": "string", "description": "Of the call that a tool's result answers."},
                    "name": {"type": "string", "description": "The tool that was called."},
                    "failed": {"type": "boolean", "description": "The result is an error."},
                },
            },
        },
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name", "description", "input_schema"],
                "properties": {
                    "name": {"type": "string"},
                    "description": {"type": "string"},
                    "input_schema": {"type": "object"},
                },
            },
        },
    },
}

ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "text": {"type": ["string", "null"]},
        "tool_calls": {"type": ["array", "null"], "items": _CALL},
        "usage": {
            "type": ["object", "null"],
            "properties": {
                "input_tokens": {"type": "integer", "minimum": 0},
                "output_tokens": {"type": "integer", "minimum": 0},
            },
        },
        "stop": {"type": ["string", "null"], "description": "Why the model stopped, in the provider's word."},
    },
}
