"""The JSON Schema of the configuration file, from the options classes: what an editor needs to complete and check it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from yb_eval.configuration import WholeOptions
from yb_eval.discovery import find
from yb_eval.errors import PluginError
from yb_eval.options import OptionInfo, describe
from yb_eval.plugins import load_suite
from yb_eval.runoptions import RunOptions

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", Path: "string"}


def configuration_schema() -> dict[str, Any]:
    """The schema for `yb-eval.toml` (draft 2020-12), with the options of every suite that is installed and not broken."""
    general = _properties(WholeOptions)
    suites = {name: _suite(name) for name in find()}
    known = {name: schema for name, schema in suites.items() if schema is not None}
    tables = {
        "type": "object",
        "properties": {name: {"$ref": f"#/$defs/{name}"} for name in known},
        # A table under another name says which suite it uses.
        "additionalProperties": {
            "required": ["suite"],
            "allOf": [
                {
                    "if": {"required": ["suite"], "properties": {"suite": {"const": name}}},
                    "then": {"$ref": f"#/$defs/{name}"},
                }
                for name in known
            ],
        },
    }
    whole = {"type": "object", "properties": general, "additionalProperties": False}
    profile = {
        "type": "object",
        # A profile's table lies over one that says which suite it is of.
        "properties": {"run": whole, "suites": {**tables, "additionalProperties": {"type": "object"}}},
        "additionalProperties": False,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "yb-eval.toml",
        "type": "object",
        "properties": {
            "run": whole,
            "suites": {"$ref": "#/$defs/suites"},
            "profiles": {"type": "object", "additionalProperties": profile},
        },
        "additionalProperties": False,
        "$defs": {**known, "suites": tables},
    }


def _suite(name: str) -> dict[str, Any] | None:
    try:
        suite, _ = load_suite(name)
    except PluginError:
        return None
    properties = {"suite": {"const": name}, **_properties(suite.options), **_properties(RunOptions)}
    return {
        "type": "object",
        "description": suite.summary,
        "properties": properties,
        "additionalProperties": False,
    }


def _properties(options: type) -> dict[str, Any]:
    return {info.name: _property(info) for info in describe(options)}


def _property(info: OptionInfo) -> dict[str, Any]:
    one: dict[str, Any] = {"enum": list(info.choices)} if info.choices else {"type": _TYPES[info.type]}
    if info.minimum is not None:
        one["minimum"] = info.minimum
    if info.maximum is not None:
        one["maximum"] = info.maximum
    return {"description": info.help, **({"type": "array", "items": one} if info.many else one)}
