"""What a target of this suite is asked and what it answers: System One requests, as JSON Schemas."""

from __future__ import annotations

from typing import Any

_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}

REQUEST: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["state", "questions"],
    "properties": {
        "state": {"type": "object", "description": "What the questions are about: JSON values by name."},
        "questions": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["type", "instructions"],
                "properties": {
                    "type": {"enum": ["noul", "choice", "score"]},
                    "instructions": {"type": ["string", "object", "array"]},
                    "criteria": {
                        "type": ["object", "array"],
                        "description": "noul: true and false; choice: option -> description; score: levels, lowest first",
                    },
                    "task": {
                        "type": "object",
                        "description": "A kind of question that simple models know, and where in the state its parts are.",
                    },
                    "abstain": {
                        "type": "string",
                        "description": "The option that means that there is not enough to tell.",
                    },
                },
            },
        },
    },
}

ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["answers"],
    "properties": {
        "answers": {
            "type": "object",
            "description": "One answer for each question, by its id.",
            "additionalProperties": {
                "oneOf": [
                    {
                        "type": "object",
                        "required": ["noul"],
                        "properties": {"type": {"const": "noul"}, "noul": _PROBABILITY},
                    },
                    {
                        "type": "object",
                        "required": ["choice", "probabilities"],
                        "properties": {
                            "type": {"const": "choice"},
                            "choice": {"type": "string"},
                            "probabilities": {"type": "object", "additionalProperties": _PROBABILITY},
                            "confidence": _PROBABILITY,
                        },
                    },
                    {
                        "type": "object",
                        "required": ["probabilities"],
                        "properties": {
                            "type": {"const": "score"},
                            "score": {"type": "number", "minimum": 0},
                            "probabilities": {"type": "object", "additionalProperties": _PROBABILITY},
                            "confidence": _PROBABILITY,
                        },
                    },
                    {
                        "type": "object",
                        "required": ["type", "state"],
                        "properties": {
                            "type": {"const": "none"},
                            "state": {"enum": ["abstained", "refused", "error"]},
                            "reason": {"type": "string"},
                        },
                    },
                ]
            },
        },
        "model": {"type": "string"},
        "usage": {
            "type": "object",
            "properties": {
                "input_tokens": {"type": "integer", "minimum": 0},
                "output_tokens": {"type": "integer", "minimum": 0},
                "cost_usd": {"type": "number", "minimum": 0},
            },
        },
    },
}
