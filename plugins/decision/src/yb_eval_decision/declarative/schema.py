"""The format of a declarative eval as a JSON Schema, and the check of a document against it.

Whether names in expressions, paths and rules mean something is checked by the modules that read them; here is the shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.declarative.documents import Document
from yb_eval_decision.declarative.policy import ACTIONS, RULES
from yb_eval_decision.questions import LEAST_LEVELS, MAX_OPTIONS, MOST_LEVELS

NAME = r"^[a-z][a-z0-9_]{0,63}$"
IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
_NAMED = {NAME: "lower-case letters, digits and _", IDENTIFIER: "letters, digits and _"}
_TYPES = {"string": "a text", "number": "a number", "object": "an object", "array": "a list", "boolean": "true or false",
          "null": "null"}  # fmt: skip

_EXPRESSION = {"type": "string", "minLength": 1, "maxLength": 2000}
_INSTRUCTIONS = {"type": ["string", "object", "array"], "minLength": 1, "minItems": 1, "minProperties": 1}
_OPTIONS = {
    "type": ["object", "array"], "minProperties": 1, "maxProperties": MAX_OPTIONS, "minItems": 1, "maxItems": MAX_OPTIONS,
    "uniqueItems": True, "propertyNames": {"minLength": 1}, "additionalProperties": {"type": ["string", "null"]},
    "items": {"type": "string", "minLength": 1},
}  # fmt: skip
_LEVELS = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": LEAST_LEVELS,
    "maxItems": MOST_LEVELS,
    "uniqueItems": True,
}
_SHARED = {
    "instructions": _INSTRUCTIONS,
    "reads": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1},
    "task": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "parts": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["name"],
        "additionalProperties": False,
    },
}
_NOUL = ["noul", "boolean", "bool"]


def _question(types: list[str], properties: Mapping[str, Any], one_of: list[str]) -> dict[str, Any]:
    return {
        "if": {"properties": {"type": {"enum": types}}, "required": ["type"]},
        "then": {
            "properties": {"type": True, **_SHARED, **properties},
            "additionalProperties": False,
            **({"oneOf": [{"required": [name]} for name in one_of]} if one_of else {}),
        },
    }


def eval_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of a declarative eval, for editors and for `load_eval`, which enforces it."""
    noul = {
        "type": "object",
        "properties": {"true": {"type": ["string", "object"]}, "false": {"type": ["string", "object"]}},
        "additionalProperties": False,
    }
    question = {
        "type": "object",
        "properties": {"type": {"enum": [*_NOUL, "choice", "score"]}},
        "required": ["type", "instructions"],
        "allOf": [
            _question(_NOUL, {"criteria": noul}, []),
            _question(["choice"], {"criteria": _OPTIONS, "options": _OPTIONS, "abstain": {"type": "string"}},
                      ["criteria", "options"]),
            _question(["score"], {"criteria": _LEVELS, "levels": _LEVELS}, ["criteria", "levels"]),
        ],
    }  # fmt: skip
    names = {"type": "array", "items": {"type": "string", "minLength": 1}, "uniqueItems": True}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A declarative eval",
        "type": "object",
        "properties": {
            "name": {"type": "string", "pattern": NAME, "description": "The file's name where it is left out."},
            "description": {"type": "string", "description": "What the eval is about, for people."},
            "category": {"type": "string", "pattern": NAME, "default": "custom"},
            "requires": {**names, "description": "Fields of the sample without which the eval does not apply."},
            "fields": {
                **names, "items": {"type": "string", "pattern": IDENTIFIER},
                "description": "Keys of the sample of your own that paths may begin with.",
            },
            "state": {
                "type": "object",
                "description": "What the model sees: literals, $.paths and {{ paths }}. Default: input and output.",
            },
            "questions": {
                "type": "object",
                "minProperties": 1,
                "propertyNames": {"pattern": IDENTIFIER},
                "additionalProperties": question,
            },
            "score": {**_EXPRESSION, "description": "The score, cut to 0..1."},
            "pass": {**_EXPRESSION, "description": "The condition to pass. Default: the policy allows, or the threshold."},
            "threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
            "answer": {"type": "string", "description": "The choice whose option is the result's answer."},
            "policy": {
                "type": "object",
                "properties": {
                    **dict.fromkeys(RULES, _EXPRESSION),
                    "else": {"enum": list(ACTIONS)},
                    "modify_to": {"description": "What modify_if puts in place of the payload; written like the state."},
                },
                "additionalProperties": False,
            },
            "gate": {
                "type": "object",
                "properties": {rule.removesuffix("_if"): _EXPRESSION for rule in RULES},
                "additionalProperties": False,
                "minProperties": 1,
                "description": "An older spelling of the policy's rules.",
            },
        },
        "required": ["questions"],
        "additionalProperties": False,
    }  # fmt: skip


def check_shape(document: Document) -> None:
    """Raises `UsageError` for the first fault against the schema, in the order of lines."""
    faults = [_fault(error, document) for error in _validator().iter_errors(document.value)]
    if faults:
        raise min(faults, key=lambda fault: fault[:2])[2]


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(eval_schema())


def _fault(error: Any, document: Document) -> tuple[int, bool, UsageError]:
    trail = list(error.absolute_path)
    what, hint = _described(error)
    if error.validator == "additionalProperties":
        trail.append(_strange(error)[0])
    elif error.validator in ("pattern", "minLength") and "propertyNames" in error.absolute_schema_path:
        trail.append(error.instance)
    fault = document.error(what, *trail, hint=hint)
    line = next((document.lines[tuple(trail[:end])] for end in range(len(trail), -1, -1)
                 if tuple(trail[:end]) in document.lines), 0)  # fmt: skip
    # A key that is misspelt is also missing; it is the misspelling that mends both.
    return line, error.validator == "required", fault


def _strange(error: Any) -> list[str]:
    return [key for key in error.instance if key not in error.schema.get("properties", {})]


def _described(error: Any) -> tuple[str, str | None]:
    """What is wrong in words, and what would mend it."""
    kind, value, wanted = error.validator, error.instance, error.validator_value
    key = str(error.absolute_path[-1]) if error.absolute_path else "the eval"
    if kind == "additionalProperties":
        strange = _strange(error)[0]
        return f"unknown key {shorten(strange)}", nearest(str(strange), error.schema["properties"])
    if kind == "required":
        missing = next(name for name in wanted if name not in value)
        return f"{key} has no {missing}", None
    if kind == "oneOf":
        return f"{key} needs either {' or '.join(option['required'][0] for option in wanted)}", "they mean the same"
    if kind == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        words = " or ".join(_TYPES[name] for name in types)
        mend = f"write a list: [{value}]" if types == ["array"] and isinstance(value, str) else None
        if "number" in types and isinstance(value, str):
            mend = "write it without quotes, from 0 to 1"
        return f"{key} must be {words}, not {shorten(value)}", mend
    if kind == "enum":
        return f"{key} cannot be {shorten(value)}", nearest(str(value), wanted)
    if kind in ("minimum", "maximum"):
        return f"{key} is {value}, out of 0..1", "probabilities lie in 0..1"
    if kind == "pattern":
        return f"{shorten(value)} is no name here", f"a name is {_NAMED[wanted]}, beginning with a letter"
    if kind in ("minItems", "minProperties", "minLength") and wanted == 1:
        return f"{key} is empty", None
    if kind in ("minItems", "maxItems", "minProperties", "maxProperties"):
        return f"{key} has {len(value)} entries", f"at {'least' if kind.startswith('min') else 'most'} {wanted}"
    if kind == "maxLength":
        return f"{key} has {len(value)} characters", f"at most {wanted}"
    if kind == "uniqueItems":
        twice = next(item for place, item in enumerate(value) if item in value[:place])
        return f"{key} has {shorten(twice)} twice", None
    return f"{key}: {shorten(error.message)}", None
