"""LangChain messages: objects told by `.type` and `.content`, their serialised mappings, and `(role, content)` pairs.

The shapes are langchain-core's: `model_dump()`, `messages_to_dict()` (`{"type", "data"}`) and `dumpd()` (`{"lc", "type":
"constructor", "id", "kwargs"}`), which LangChain.js writes too, there without a `type` among the `kwargs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yb_eval.errors import UsageError, nearest, shorten
from yb_eval_decision.messages import anthropic
from yb_eval_decision.messages.content import kind_of, peek, text_of
from yb_eval_decision.messages.model import Message, ToolCall
from yb_eval_decision.messages.openai_chat import ROLE, identifier, tool_call, tool_calls

_TYPES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "developer": "developer",
    "tool": "tool",
    "function": "tool",
    "HumanMessageChunk": "user",
    "AIMessageChunk": "assistant",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
    "FunctionMessageChunk": "tool",
}
_CHAT = frozenset({"chat", "ChatMessageChunk"})
_WRAPPED = ("kwargs", "data")
_DUMPED = "constructor"
_CALLS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call", "function_call", "input_json_delta"}
)


def recognises(item: Any) -> bool:
    """Is this a LangChain message, whole or serialised?"""
    kind = peek(item, "type")
    if not isinstance(kind, str):
        return False
    if isinstance(item, Mapping) and any(isinstance(item.get(key), Mapping) for key in _WRAPPED):
        return kind == _DUMPED or kind in _TYPES or kind in _CHAT
    return (kind in _TYPES or kind in _CHAT) and _has(item, "content")


def dumped(item: Any) -> list[Any] | None:
    """The messages that a mapping of `dumpd()` is or holds (a prompt's value, a state); `None` for any other."""
    inner = peek(item, "kwargs")
    if peek(item, "lc") is None or peek(item, "type") != _DUMPED or not isinstance(inner, Mapping):
        return None
    held = inner.get("messages")
    return list(held) if isinstance(held, list | tuple) else [item]


def _has(item: Any, name: str) -> bool:
    return name in item if isinstance(item, Mapping) else hasattr(item, name)


def is_pair(item: Any) -> bool:
    """Is this `("human", "text")`?"""
    return isinstance(item, list | tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)


def pair(item: Any, where: str) -> list[Message]:
    role = ROLE.get(item[0])
    if role is None:
        raise UsageError(f"unknown role {shorten(item[0])}", where=where, hint=nearest(item[0], ROLE))
    return [Message(role, text_of(item[1], where))]


def read(item: Any, where: str) -> list[Message]:
    """The messages of one: several where blocks of Anthropic's hold results. Raises `UsageError` for a malformed one."""
    inner = item
    kind = peek(item, "type")
    if isinstance(item, Mapping):
        inner = next((item[key] for key in _WRAPPED if isinstance(item.get(key), Mapping)), item)
        kind = inner.get("type") or _named(item) or kind
    known = kind if isinstance(kind, str) else ""
    role = ROLE.get(str(peek(inner, "role"))) if known in _CHAT else _TYPES.get(known)
    if role is None:
        raise UsageError(
            f"a LangChain message of unknown type {shorten(kind)}", where=where, hint=nearest(str(kind), _TYPES)
        )
    content = peek(inner, "content")
    if role == "tool":
        return [_tool(inner, content, where)]
    calls = _calls(inner, where) if role == "assistant" else ()
    if anthropic.recognises(content) and not calls:
        return anthropic.blocks(content, role, f"{where}.content")
    if isinstance(content, list | tuple):
        content = [part for part in content if kind_of(part) not in _CALLS]  # `tool_calls` holds them, parsed
    return [Message(role, text_of(content, f"{where}.content", glue="" if role == "assistant" else "\n"), calls)]


def _named(item: Mapping[str, Any]) -> str:
    """The type of a message by its class, the last part of a dump's `id`: `ai` for `AIMessage` and its chunks."""
    path = item.get("id")
    if item.get("type") != _DUMPED or not isinstance(path, list | tuple) or not path or not isinstance(path[-1], str):
        return ""
    name = path[-1].removesuffix("Chunk").removesuffix("Message").lower()
    return name if name in _TYPES or name in _CHAT else path[-1]


def _tool(inner: Any, content: Any, where: str) -> Message:
    text = text_of(content, f"{where}.content")
    if peek(inner, "status") == "error":
        text = f"[error] {text}"
    return Message("tool", text, (), identifier(peek(inner, "tool_call_id")), identifier(peek(inner, "name")))


def _calls(inner: Any, where: str) -> tuple[ToolCall, ...]:
    """The parsed calls, and those whose arguments LangChain could not parse: the model made them all the same."""
    listed = peek(inner, "invalid_tool_calls")
    invalid = [call for call in listed if peek(call, "name")] if isinstance(listed, list | tuple) else []
    calls = tool_calls(inner, where)
    calls += tuple(tool_call(call, f"{where}.invalid_tool_calls[{index}]") for index, call in enumerate(invalid))
    return calls or tool_calls(peek(inner, "additional_kwargs") or {}, f"{where}.additional_kwargs")
