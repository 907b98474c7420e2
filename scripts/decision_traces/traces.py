"""A trace, and the four ways in which it is written down: OpenAI chat, Anthropic blocks, Responses items and plain mappings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

Format = Literal["openai", "anthropic", "responses", "plain"]
FORMATS: tuple[Format, ...] = ("openai", "anthropic", "responses", "plain")


@frozen(slots=True)
class Call:
    """A tool call and what came back."""

    tool: str
    args: Mapping[str, Any]
    result: Any


@frozen(slots=True)
class Said:
    """What a user or the assistant said."""

    role: Literal["user", "assistant"]
    text: str


Event = Said | Call


@frozen(slots=True)
class Tool:
    """A tool on offer; `schema` is a JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@frozen(slots=True)
class Trace:
    """What happened, in order, under a system prompt (empty: none) and with tools on offer."""

    system: str
    tools: Sequence[Tool]
    events: Sequence[Event]

    @property
    def calls(self) -> list[Call]:
        return [event for event in self.events if isinstance(event, Call)]


def written(trace: Trace, format: Format) -> dict[str, Any]:
    """The trace as a sample in one of the formats."""
    return {"openai": _openai, "anthropic": _anthropic, "responses": _responses, "plain": _plain}[format](trace)


def written_call(call: Call, format: Format) -> dict[str, Any]:
    """A call alone, as a proposed or expected one."""
    if format in ("openai", "responses"):
        return {"type": "function", "function": {"name": call.tool, "arguments": _text(call.args)}}
    return {"name": call.tool, "args" if format == "plain" else "input": dict(call.args)}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _openai(trace: Trace) -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": trace.system}] if trace.system else []
    for index, event in enumerate(trace.events):
        if isinstance(event, Said):
            messages.append({"role": event.role, "content": event.text})
            continue
        function = {"name": event.tool, "arguments": _text(event.args)}
        call = {"id": f"call_{index}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{index}", "content": _text(event.result)})
    tools = [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema}}
        for t in trace.tools
    ]
    return {"messages": messages, **({"tools": tools} if tools else {})}


def _anthropic(trace: Trace) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    for index, event in enumerate(trace.events):
        if isinstance(event, Said):
            messages.append({"role": event.role, "content": [{"type": "text", "text": event.text}]})
            continue
        use = {"type": "tool_use", "id": f"toolu_{index}", "name": event.tool, "input": dict(event.args)}
        result = {"type": "tool_result", "tool_use_id": f"toolu_{index}", "content": _text(event.result)}
        messages.append({"role": "assistant", "content": [use]})
        messages.append({"role": "user", "content": [result]})
    tools = [{"name": t.name, "description": t.description, "input_schema": t.schema} for t in trace.tools]
    system = {"system": trace.system} if trace.system else {}
    return {**system, "messages": messages, **({"tools": tools} if tools else {})}


def _responses(trace: Trace) -> dict[str, Any]:
    items: list[dict[str, Any]] = [{"role": "developer", "content": trace.system}] if trace.system else []
    for index, event in enumerate(trace.events):
        if isinstance(event, Said):
            kind = "input_text" if event.role == "user" else "output_text"
            content = [{"type": kind, "text": event.text}]
            items.append({"type": "message", "role": event.role, "content": content})
            continue
        call = {"type": "function_call", "call_id": f"fc_{index}", "name": event.tool, "arguments": _text(event.args)}
        items.append(call)
        items.append({"type": "function_call_output", "call_id": f"fc_{index}", "output": _text(event.result)})
    tools = [
        {"type": "function", "name": t.name, "description": t.description, "parameters": t.schema} for t in trace.tools
    ]
    return {"messages": items, **({"tools": tools} if tools else {})}


def _plain(trace: Trace) -> dict[str, Any]:
    """Single fields where there is one turn, else messages with flat calls."""
    said = [event for event in trace.events if isinstance(event, Said)]
    tools = {"tools": [{"name": t.name, "description": t.description, "parameters": t.schema} for t in trace.tools]}
    kept = tools if trace.tools else {}
    if [each.role for each in said] in (["user"], ["user", "assistant"]):
        sample: dict[str, Any] = {"system_prompt": trace.system} if trace.system else {}
        sample["input"] = said[0].text
        if trace.calls:
            sample["tool_calls"] = [{"name": c.tool, "args": dict(c.args), "result": c.result} for c in trace.calls]
        if len(said) == 2:
            sample["output"] = said[1].text
        return {**sample, **kept}
    messages: list[dict[str, Any]] = [{"role": "system", "content": trace.system}] if trace.system else []
    for event in trace.events:
        if isinstance(event, Said):
            messages.append({"role": event.role, "content": event.text})
        else:
            call = {"name": event.tool, "args": dict(event.args)}
            messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
            messages.append({"role": "tool", "name": event.tool, "content": _text(event.result)})
    return {"messages": messages, **kept}
