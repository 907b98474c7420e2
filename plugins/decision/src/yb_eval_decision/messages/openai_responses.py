"""Items of OpenAI's Responses API, as mappings or SDK objects, in a request's `input` or a response's `output`.

An item that calls a tool (its type ends in `_call`) becomes a call of the assistant; one that ends in `_output` its result;
items that carry their own result (file search, code interpreter, MCP) become both. Reasoning, and items that only manage the
context, are said to nobody and left out. Types: the API reference, "The response object".
"""

from __future__ import annotations

from typing import Any

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages.content import arguments, canonical_text, clean, kind_of, peek, plain, text_of
from yb_eval_decision.messages.model import Message, ToolCall
from yb_eval_decision.messages.openai_chat import identifier
from yb_eval_decision.messages.openai_chat import read as read_chat

SILENT = frozenset(
    {
        "reasoning",
        "compaction",
        "compaction_trigger",
        "context_compaction",
        "item_reference",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "additional_tools",
    }
)
_ALSO = frozenset({"message", "program"})


def recognises(kind: str) -> bool:
    """Is this the type of an item?"""
    return kind in _ALSO or kind in SILENT or kind.endswith(("_call", "_call_output", "_output"))


def read(item: Any, where: str) -> list[Message]:
    """The messages of one item; none for a silent one. Raises `UsageError` for a malformed one."""
    kind = kind_of(item)
    if kind in SILENT:
        return []
    if kind == "message":
        return read_chat(item, where)
    if kind.endswith("_output"):
        return [Message("tool", _output(item, where), (), identifier(peek(item, "call_id")), None)]
    call = _call(item, kind, where)
    said = Message("assistant", "", (call,))
    result = _own_result(item, kind, where)
    return [said] if result is None else [said, Message("tool", result, (), call.id, call.name)]


def _call(item: Any, kind: str, where: str) -> ToolCall:
    found = identifier(peek(item, "call_id")) or identifier(peek(item, "id"))
    if kind in {"function_call", "custom_tool_call", "mcp_call"}:
        name = peek(item, "name")
        if not isinstance(name, str) or not name:
            raise UsageError(f"a {kind} without a name: {shorten(item, 60)}", where=where)
        given = peek(item, "input") if kind == "custom_tool_call" else peek(item, "arguments")
        return ToolCall(found, clean(name), arguments(given, f"{where}.arguments"))
    # A tool of the platform: what it was asked to do lies under a name of its own.
    keys = ("action", "actions", "queries", "code", "operation", "arguments", "input", "prompt")
    given = {key: plain(value, where) for key in keys if (value := peek(item, key)) is not None}
    only = next(iter(given.values())) if len(given) == 1 else None
    return ToolCall(found, kind.removesuffix("_call"), only if isinstance(only, dict) else given)


def _own_result(item: Any, kind: str, where: str) -> str | None:
    if kind == "image_generation_call":
        return "[image]" if peek(item, "result") else None
    error = peek(item, "error")
    if error:
        return f"[error] {error if isinstance(error, str) else canonical_text(plain(error, where))}"
    for key in ("output", "outputs", "results"):
        found = peek(item, key)
        if found:
            return _text(found, f"{where}.{key}")
    return None


def _output(item: Any, where: str) -> str:
    found = peek(item, "output")
    if found is None:
        found = peek(item, "tools") or peek(item, "result")
    return "" if found is None else _text(found, f"{where}.output")


def _text(value: Any, where: str) -> str:
    parts = value if isinstance(value, list | tuple) else [value]
    if all(isinstance(part, str) or _is_content(part) for part in parts):
        return text_of(value, where)
    return canonical_text(plain(value, where))


def _is_content(part: Any) -> bool:
    kind = kind_of(part)
    return kind.startswith("input_") or kind in {"output_text", "text", "computer_screenshot"}
