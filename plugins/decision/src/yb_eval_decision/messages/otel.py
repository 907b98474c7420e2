"""OpenTelemetry GenAI spans: what one span says, by the GenAI semantic conventions.

Current (since 1.37): `gen_ai.input.messages`, `gen_ai.output.messages` and `gen_ai.system_instructions`, messages made of parts,
on the span or on its `gen_ai.client.inference.operation.details` event; `gen_ai.tool.*` on `execute_tool` spans;
`gen_ai.tool.definitions`; `gen_ai.retrieval.documents`. Before (to 1.36): an event for each message
(`gen_ai.user.message`, …, `gen_ai.choice`). Also the indexed `gen_ai.prompt.N.*` and `gen_ai.completion.N.*` of OpenLLMetry.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from yb_eval.errors import UsageError, shorten
from yb_eval_decision.messages import openai_chat
from yb_eval_decision.messages.content import (
    arguments,
    canonical_text,
    clean,
    documents,
    join,
    kind_of,
    part_text,
    peek,
    plain,
    text_of,
)
from yb_eval_decision.messages.model import Message, ToolCall
from yb_eval_decision.messages.openai_chat import identifier, role_of
from yb_eval_decision.messages.spans import Span, parsed
from yb_eval_decision.messages.traces import Said, ToolRun

_MODEL = frozenset({"chat", "generate_content", "text_completion"})
_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_DETAILS = "gen_ai.client.inference.operation.details"
_CALLS = frozenset({"tool_call", "server_tool_call", "function_call"})
_RESULTS = frozenset({"tool_call_response", "server_tool_call_response", "function_call_response"})


def read(span: Span) -> Said | None:
    """What a span of these conventions says; None when it is none of theirs. Raises `UsageError` for a malformed one."""
    if not isinstance(span.at("gen_ai"), dict) and not any(name.startswith("gen_ai.") for name, _ in span.events):
        return None
    operation = span.text("gen_ai.operation.name")
    run = _tool_run(span) if operation == "execute_tool" or span.at("gen_ai.tool.call") else None
    heard, said = _messages(span)
    found = parsed(span.at("gen_ai.retrieval.documents"))
    return Said(
        heard=heard,
        said=said,
        model=operation in _MODEL or not operation,
        tool=run,
        tools=tuple(_listed(span.at("gen_ai.tool.definitions"))),
        contexts=tuple(_contexts(found, span)),
        conversation=span.text("gen_ai.conversation.id"),
    )


def _messages(span: Span) -> tuple[list[Message], list[Message]]:
    """The messages that a span heard and, of several candidates, the first that it said."""
    holders = [span.attributes, *(attributes for name, attributes in span.events if name == _DETAILS)]
    for holder in holders:
        section = holder.get("gen_ai") or {}
        heard = messages(peek(peek(section, "input"), "messages"), f"{span.where}.gen_ai.input.messages")
        said = messages(peek(peek(section, "output"), "messages"), f"{span.where}.gen_ai.output.messages", first=True)
        system = _instructions(peek(section, "system_instructions"), f"{span.where}.gen_ai.system_instructions")
        if heard or said or system:
            return system + heard, said
    heard, said = _from_events(span)
    if heard or said:
        return heard, said
    return _indexed(span, "prompt"), _indexed(span, "completion")[:1]


def _listed(value: Any) -> list[Any]:
    value = parsed(value)
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def messages(value: Any, where: str, *, first: bool = False) -> list[Message]:
    """The messages of `[{"role", "parts"}]`, given as JSON text or as a value. `first` takes one candidate of several."""
    listed = _listed(value)
    found: list[Message] = []
    for index, item in enumerate(listed[:1] if first else listed):
        found += message(item, f"{where}[{index}]")
    return found


def message(item: Any, where: str) -> list[Message]:
    """The messages of one with `parts`: each result of a tool is one of its own."""
    parts = peek(item, "parts")
    if parts is None:
        return openai_chat.read(item, where)
    if not isinstance(parts, list | tuple):
        raise UsageError(f"a list of parts, not {shorten(parts)}", where=f"{where}.parts")
    role = role_of(item, where)
    name = identifier(peek(item, "name"))
    glue = "" if role == "assistant" else "\n"
    found: list[Message] = []
    texts: list[str | None] = []
    calls: list[ToolCall] = []
    for index, part in enumerate(parts):
        place = f"{where}.parts[{index}]"
        kind = kind_of(part)
        if kind in _CALLS:
            calls.append(_call(part, place))
        elif kind in _RESULTS:
            if texts or calls:
                found.append(Message(role, join(texts, glue), tuple(calls), None, name))
                texts, calls = [], []
            found.append(Message("tool", _response(part, place), (), identifier(peek(part, "id")), name))
        else:
            texts.append(_part(part, place))
    if texts or calls or not found:
        found.append(Message(role, join(texts, glue), tuple(calls), None, name))
    return found


def _part(part: Any, where: str) -> str | None:
    if peek(part, "type") == "text":
        return text_of(peek(part, "content"), where)
    if isinstance(part, str) or isinstance(peek(part, "type"), str):
        return part_text(part, where)
    raise UsageError(f"a part without a type: {shorten(part)}", where=where)


def _call(part: Any, where: str) -> ToolCall:
    inner = peek(part, "server_tool_call")  # a server tool's request lies one level deeper
    name = peek(part, "name") or peek(inner, "name") or peek(inner, "type")
    if not isinstance(name, str) or not name:
        raise UsageError(f"a tool call without a name: {shorten(part)}", where=where)
    given = peek(part, "arguments")
    given = inner if given is None and inner is not None else given
    return ToolCall(identifier(peek(part, "id")), clean(name), arguments(given, f"{where}.arguments"))


def _response(part: Any, where: str) -> str:
    # `result` is what the field was called at first.
    found = next((f for key in ("response", "result") if (f := peek(part, key)) is not None), None)
    return _text(peek(part, "server_tool_call_response") if found is None else found, where)


def _text(value: Any, where: str) -> str:
    if value is None or isinstance(value, str):
        return clean(value or "")
    return canonical_text(plain(value, where))


def _instructions(value: Any, where: str) -> list[Message]:
    parts = _listed(value)
    text = join(_part(part, f"{where}[{index}]") for index, part in enumerate(parts))
    return [Message("system", text)] if text else []


def _from_events(span: Span) -> tuple[list[Message], list[Message]]:
    heard: list[Message] = []
    said: list[Message] = []
    for index, (name, attributes) in enumerate(span.events):
        where = f"{span.where}.events[{index}]"
        body = _body(attributes)
        if name == "gen_ai.choice":
            if not said:
                inner = parsed(peek(body, "message"))
                said = openai_chat.read({"role": "assistant", **(inner if isinstance(inner, dict) else body)}, where)
        elif name in _EVENTS:
            role = peek(body, "role")
            answers = {"tool_call_id": peek(body, "id")} if name == "gen_ai.tool.message" else {}
            known = role if isinstance(role, str) and role in openai_chat.ROLE else _EVENTS[name]
            heard += openai_chat.read({**body, **answers, "role": known, "tool_calls": _calls(body)}, where)
    return heard, said


def _body(attributes: dict[str, Any]) -> dict[str, Any]:
    """The body of an event: its attributes, or the JSON that some exporters put into one of them."""
    section = attributes.get("gen_ai")
    found = parsed(peek(peek(section, "event"), "content"))
    if isinstance(found, dict):
        return found
    return {key: parsed(value) if key != "content" else value for key, value in attributes.items()}


def _calls(body: dict[str, Any]) -> Any:
    return parsed(body.get("tool_calls"))


def _indexed(span: Span, name: str) -> list[Message]:
    listed = span.at(f"gen_ai.{name}")
    listed = listed if isinstance(listed, list) else _listed(listed) if isinstance(listed, str) else []
    found: list[Message] = []
    for index, item in enumerate(listed):
        where = f"{span.where}.gen_ai.{name}[{index}]"
        if isinstance(item, dict):
            content = item.get("content")
            parts = parsed(content)
            role = item.get("role") or ("assistant" if name == "completion" else "user")
            given = parts if isinstance(parts, list) else content
            found += openai_chat.read({**item, "role": role, "content": given}, where)
    return found


def _tool_run(span: Span) -> ToolRun:
    name = span.text("gen_ai.tool.name") or span.name.removeprefix("execute_tool ")
    given = span.at("gen_ai.tool.call.arguments")
    result = span.at("gen_ai.tool.call.result")
    call = ToolCall(identifier(span.at("gen_ai.tool.call.id")), clean(name), arguments(given, span.where))
    return ToolRun(call, None if result is None else _text(result, span.where))


def _contexts(found: Any, span: Span) -> Iterable[str]:
    """The texts of retrieved documents. The conventions promise an id and a score only; without a text there is none."""
    listed = found if isinstance(found, list | tuple) else []
    with_text = [item for item in listed if isinstance(item, str) or any(peek(item, k) for k in ("content", "text"))]
    return documents(with_text, f"{span.where}.gen_ai.retrieval.documents")
