"""What a router is asked and what it answers in `routing-quality`, as JSON Schema."""

from __future__ import annotations

from typing import Any

from yb_eval_routing import schemas as routing

REQUEST: dict[str, Any] = {
    **{key: value for key, value in routing.REQUEST.items() if key != "oneOf"},
    "description": "one of prompt and messages, or neither where the data has no text: then metadata.input_tokens",
}

ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "the request's, where the answer repeats it"},
        "score": {"type": "number", "description": "the higher, the rather the strong model; any scale"},
        "tier": {"type": "string", "description": "one of the policy's tiers"},
    },
    "anyOf": [{"required": ["score"]}, {"required": ["tier"]}],
}
