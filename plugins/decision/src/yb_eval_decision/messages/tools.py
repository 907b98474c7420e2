"""The tools on offer, from any way to declare them."""

from __future__ import annotations

import inspect
import marshal
from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages.content import clean, peek, plain
from yb_eval_decision.messages.known import Known, is_json, written
from yb_eval_decision.messages.model import Tool

# What OpenAI, Anthropic, the Agents SDK, MCP and LangChain call a tool's JSON Schema.
_SCHEMAS = ("parameters", "input_schema", "params_json_schema", "inputSchema", "json_schema", "args_schema")

#: The tools of an agent are the same in all its samples. Kept as bytes, so that no two samples share what they hold.
_KNOWN = Known()


def read_tools(value: Any, where: str = "tools") -> list[Tool]:
    """The tools of a list: names, `{"type": "function", "function": …}`, flat mappings, SDK objects, functions.

    Raises `UsageError`, naming the place, for what is no tool.
    """
    if value is None:
        return []
    key = written(value) if type(value) is list else None
    if key is not None and (known := _KNOWN.get(key)) is not None:
        read = marshal.loads(known)  # noqa: S302 - bytes that were written below
        return [Tool(name, description, schema) for name, description, schema in read]
    if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
        raise UsageError(f"a list of tools, not {shorten(value)}", where=where)
    found: list[Tool] = []
    for index, item in enumerate(value):
        found += _tools(item, f"{where}[{index}]")
    if key is not None and is_json(value):
        _KNOWN.keep(key, marshal.dumps([(tool.name, tool.description, tool.parameters) for tool in found]))
    return found


def _tools(item: Any, where: str) -> list[Tool]:
    grouped = peek(item, "function_declarations") or peek(item, "functionDeclarations")
    if isinstance(grouped, list | tuple):
        return [_tool(one, f"{where}.function_declarations[{index}]") for index, one in enumerate(grouped)]
    return [_tool(item, where)]


def _tool(item: Any, where: str) -> Tool:
    if isinstance(item, Tool):
        return item
    if isinstance(item, str):
        return Tool(clean(item))
    inner = peek(item, "function")
    inner = item if inner is None or callable(inner) else inner
    if inspect.isroutine(item) or isinstance(item, type):
        return Tool(item.__name__, inspect.getdoc(item) or "", _schema(item, where) if isinstance(item, type) else {})
    # A tool of the platform (`{"type": "web_search"}`) has no name but its type.
    name = peek(inner, "name") or peek(inner, "__name__") or peek(inner, "type")
    if not isinstance(name, str):
        raise UsageError(f"a tool without a name: {shorten(item)}", where=where)
    description = peek(inner, "description")
    if description is None and not isinstance(inner, Mapping) and not isinstance(item, type):
        description = inspect.getdoc(inner)
    schema = next((found for key in _SCHEMAS if (found := peek(inner, key)) is not None), None)
    return Tool(clean(name), clean(description) if isinstance(description, str) else "", _schema(schema, where))


def _schema(schema: Any, where: str) -> dict[str, Any]:
    if schema is None:
        return {}
    for maker in ("model_json_schema", "schema"):
        if callable(make := getattr(schema, maker, None)):
            schema = make()
            break
    found = plain(schema, f"{where}.parameters") if isinstance(schema, Mapping) else {}
    return found if isinstance(found, dict) else {}
