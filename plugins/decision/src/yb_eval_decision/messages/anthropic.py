"""Anthropic messages: content made of blocks, as mappings or SDK objects.

One message may hold text, calls (`tool_use`, `server_tool_use`, `mcp_tool_use`) and results (`…tool_result`). A result ends
what was said before it and becomes a message of its own, so the order stays. Thinking is left out. Block types: the Messages
API reference.
"""

from __future__ import annotations

from typing import Any

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages.content import (
    arguments,
    canonical_text,
    clean,
    is_part,
    join,
    kind_of,
    part_text,
    peek,
    plain,
    text_of,
)
from yb_eval_decision.messages.model import Message, ToolCall
from yb_eval_decision.messages.openai_chat import identifier, role_of


def recognises(content: Any) -> bool:
    """Does this content hold a block that only Anthropic's messages have?"""
    if not isinstance(content, list | tuple):
        return False
    return any("tool_use" in kind or "tool_result" in kind for kind in map(kind_of, content))


def read(item: Any, where: str) -> list[Message]:
    """The messages of one message with blocks. Raises `UsageError`, naming the block, for a malformed one."""
    return blocks(peek(item, "content"), role_of(item, where), f"{where}.content")


def blocks(content: Any, role: str, where: str) -> list[Message]:
    """The messages of a list of blocks, said by `role`."""
    found: list[Message] = []
    texts: list[str | None] = []
    calls: list[ToolCall] = []

    def said() -> None:
        text = join(texts, "" if role == "assistant" else "\n")
        if text or calls:
            found.append(Message(role, text, tuple(calls)))
        texts.clear()
        calls.clear()

    for index, block in enumerate(content):
        place = f"{where}[{index}]"
        kind = kind_of(block)
        if kind.endswith("tool_use"):
            calls.append(_call(block, place))
        elif kind.endswith("tool_result"):
            said()
            found.append(_result(block, place))
        elif is_part(block):
            if calls and role == "assistant" and part_text(block, place):
                said()  # text after a call is a message after it, as in a trace
            texts.append(part_text(block, place))
        else:
            raise UsageError(f"a block without a type: {shorten(block)}", where=place)
    said()
    return found or [Message(role, "")]


def _call(block: Any, where: str) -> ToolCall:
    name = peek(block, "name")
    if not isinstance(name, str) or not name:
        raise UsageError(f"a tool_use without a name: {shorten(block)}", where=where)
    return ToolCall(identifier(peek(block, "id")), clean(name), arguments(peek(block, "input"), f"{where}.input"))


def _result(block: Any, where: str) -> Message:
    content = peek(block, "content")
    if isinstance(content, str) or content is None:
        text = clean(content or "")
    elif isinstance(content, list | tuple) and all(_readable(part) for part in content):
        text = text_of(content, where)
    else:
        # What a server tool found: a structure of its own, kept whole.
        text = canonical_text(plain(content, where))
    failed = peek(block, "is_error") is True or kind_of(content).endswith("_error")
    name = identifier(peek(block, "name"))
    return Message("tool", f"[error] {text}" if failed else text, (), identifier(peek(block, "tool_use_id")), name)


def _readable(part: Any) -> bool:
    return isinstance(part, str) or kind_of(part) in {"text", "image", "document", "search_result"}
