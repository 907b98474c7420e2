"""OpenInference spans: what one span says, by the OpenInference semantic conventions.

`llm.input_messages.N.message.*` and `llm.output_messages.N.message.*` with their `contents` and `tool_calls`; `llm.tools.N.tool`;
`retrieval.documents.N.document.content` and `reranker.output_documents`; `tool.name`, `tool.parameters` and `output.value` on
TOOL spans; `input.value` and `output.value` on any span.
"""

from __future__ import annotations

from typing import Any

from yb_eval_decision.messages import openai_chat
from yb_eval_decision.messages.content import arguments, canonical_text, clean, peek, plain
from yb_eval_decision.messages.model import Message, ToolCall
from yb_eval_decision.messages.openai_chat import identifier
from yb_eval_decision.messages.spans import Span, parsed
from yb_eval_decision.messages.traces import Said, ToolRun


def read(span: Span) -> Said | None:
    """What a span of these conventions says; None when it is none of theirs. Raises `UsageError` for a malformed one."""
    kind = span.text("openinference.span.kind").upper()
    if not kind and not isinstance(span.at("llm"), dict) and not span.at("retrieval.documents"):
        return None
    heard = _messages(span, "input_messages")
    said = _messages(span, "output_messages")
    reranked = _documents(span.at("reranker.output_documents"))
    return Said(
        heard=heard,
        said=said,
        model=kind in {"LLM", ""},
        tool=_tool_run(span) if kind == "TOOL" else None,
        tools=tuple(_tools(span)),
        contexts=tuple(reranked or _documents(span.at("retrieval.documents"))),
        reranked=bool(reranked),
        conversation=span.text("session.id"),
        given=_value(span, "input"),
        gave=_value(span, "output"),
    )


def _messages(span: Span, name: str) -> list[Message]:
    listed = span.at(f"llm.{name}")
    found: list[Message] = []
    for index, item in enumerate(listed if isinstance(listed, list) else []):
        found += _message(peek(item, "message") or item, f"{span.where}.llm.{name}[{index}].message")
    return found


def _message(item: Any, where: str) -> list[Message]:
    content = peek(item, "content")
    contents = peek(item, "contents")
    calls = peek(item, "tool_calls")
    older = peek(item, "function_call_name")
    plain_form = {
        "role": peek(item, "role"),
        "content": content
        if content is not None or not isinstance(contents, list)
        else [_part(part) for part in contents],
        "tool_calls": [_call(call) for call in calls] if isinstance(calls, list) else None,
        "function_call": {"name": older, "arguments": peek(item, "function_call_arguments_json")} if older else None,
        "tool_call_id": peek(item, "tool_call_id"),
        "name": peek(item, "name"),
    }
    return openai_chat.read(plain_form, where)


def _part(part: Any) -> Any:
    """One `message_content`, as a part that content readers know."""
    inner = peek(part, "message_content") or part
    kind = peek(inner, "type") or next(
        (name for name in ("image", "audio", "video", "document") if peek(inner, name)), "text"
    )
    text = peek(inner, "text")
    return {"type": kind, "text": text} if text is not None else {"type": kind}


def _call(call: Any) -> Any:
    inner = peek(call, "tool_call") or call
    return {"id": peek(inner, "id"), "function": peek(inner, "function") or {}}


def _tools(span: Span) -> list[Any]:
    listed = span.at("llm.tools")
    found = []
    for item in listed if isinstance(listed, list) else []:
        inner = peek(item, "tool") or item
        schema = parsed(peek(inner, "json_schema"))
        found.append(schema if isinstance(schema, dict) else inner)
    return found


def _documents(listed: Any) -> list[str]:
    found = []
    for item in listed if isinstance(listed, list) else []:
        content = peek(peek(item, "document") or item, "content")
        if isinstance(content, str):
            found.append(clean(content))
    return found


def _tool_run(span: Span) -> ToolRun:
    name = span.text("tool.name") or span.name
    given = parsed(span.at("input.value"))
    if given is None:
        given = parsed(span.at("tool.parameters"))
    call = ToolCall(identifier(span.at("tool.id")), clean(name), arguments(given, span.where))
    result = span.at("output.value")
    return ToolRun(call, None if result is None else _text(result, span))


def _text(value: Any, span: Span) -> str:
    return clean(value) if isinstance(value, str) else canonical_text(plain(value, span.where))


def _value(span: Span, name: str) -> str | None:
    """`input.value` or `output.value` when it is what somebody said: text, or JSON that holds little else."""
    value = span.at(f"{name}.value")
    found = parsed(value)
    if isinstance(found, dict):
        keys = (
            ("input", "question", "query", "user_input")
            if name == "input"
            else ("output", "answer", "result", "response")
        )
        return next((clean(text) for key in keys if isinstance(text := found.get(key), str)), None)
    return clean(value) if isinstance(value, str) and not isinstance(found, list) else None
