"""Whatever may be a sample, as its raw mapping: spans, logged requests, and what SDKs and frameworks return.

The latter are told by their shape, not their class: OpenAI's `ChatCompletion` and `Response`, Anthropic's `Message`, a run of
the OpenAI Agents SDK (`to_input_list()`), a LangChain result or a state with `messages`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.messages import langchain, openai_chat
from yb_eval_decision.messages.content import peek

# Keys that hold a trace; see `messages.spans`.
SPANS = ("spans", "resourceSpans")
# A mapping with one of these is a sample as it stands, whatever else it carries.
_PLAIN = frozenset(
    {
        "input",
        "output",
        "final_answer",
        "expected",
        "reference",
        "tool_call",
        "tool_calls",
        "tool_result",
        "tool_results",
    }
    | {"contexts", "retrieved_contexts", "context"}
)


def raw_of(value: Any) -> Mapping[str, Any] | None:
    """The raw mapping of a sample; None for what cannot be one. Raises `UsageError` for spans that hold no message."""
    if isinstance(value, str):
        return {"output": value}
    if isinstance(value, Mapping):
        return _of_mapping(value)
    if (raw := from_result(value)) is not None:
        return raw
    if _is_list(value) or hasattr(value, "attributes"):
        if (raw := _of_spans(value)) is not None:
            return raw
        return {"messages": list(value)} if _is_list(value) else None
    return None


def _of_mapping(value: Mapping[str, Any]) -> Mapping[str, Any]:
    spans = {key: value[key] for key in SPANS if _is_list(value.get(key))}
    if spans:
        return {**(_of_spans(spans) or {}), **value}
    if (raw := from_result(value)) is not None:
        return raw
    heard = value.get("input")
    if isinstance(heard, list | tuple) and heard and all(_is_message(item) for item in heard):
        # A request of the Responses API, with the response's items where they are kept beside it.
        said = value.get("output")
        listed = [*heard, *said] if isinstance(said, list | tuple) else list(heard)
        rest = {
            key: found for key, found in value.items() if key != "input" and not (key == "output" and _is_list(said))
        }
        return {**rest, "messages": listed, "system": value.get("instructions", value.get("system"))}
    if not _is_plain(value) and (raw := _of_spans(value)) is not None:
        return raw
    return value


def _is_plain(value: Mapping[str, Any]) -> bool:
    """Is it a sample by its keys? A span has one of them too: its context, with the trace's id."""
    found = _PLAIN & value.keys()
    return bool(found) and (found != {"context"} or peek(value["context"], "trace_id") is None)


def _is_message(item: Any) -> bool:
    return isinstance(peek(item, "role") or peek(item, "type"), str) and not isinstance(item, str)


def _of_spans(value: Any) -> dict[str, Any] | None:
    from yb_eval_decision.messages.spans import looks_like
    from yb_eval_decision.messages.traces import read_trace

    return read_trace(value) if looks_like(value) else None


def from_result(value: Any) -> dict[str, Any] | None:
    """The raw mapping of a returned object or its JSON; None for what is no result."""
    if openai_chat.is_completion(value):
        message = openai_chat.answered(value)
        return _identified(value, {"messages": [] if message is None else [message]})
    if peek(value, "object") == "response" and _is_list(peek(value, "output")):
        return _response(value)
    if peek(value, "type") == "message" and _is_list(peek(value, "content")) and peek(value, "role") is not None:
        return _identified(value, {"messages": [value]})
    if isinstance(value, Mapping):
        held = langchain.dumped(value)
        return None if held is None else {"messages": held}
    if callable(listing := getattr(value, "to_input_list", None)):
        return _agents_run(value, listing())
    if langchain.recognises(value) or (peek(value, "role") is not None and peek(value, "content") is not None):
        return {"messages": [value]}
    if _is_list(peek(value, "messages")):
        raw = {"messages": list(value.messages)}
        if _is_list(peek(value, "tools")):
            raw["tools"] = list(value.tools)
        return raw
    content = peek(value, "page_content")
    return {"contexts": [content]} if isinstance(content, str) else None


def refused(value: Any) -> NoReturn:
    """Raises the `UsageError` for what is no sample."""
    hint = "give a mapping, a list of messages, an output or spans"
    raise UsageError(f"not a sample: {type(value).__name__} {shorten(value, 60)}", hint=hint)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _identified(value: Any, raw: dict[str, Any]) -> dict[str, Any]:
    found = peek(value, "id")
    return {"id": found, **raw} if isinstance(found, str) and found else raw


def _response(value: Any) -> dict[str, Any]:
    heard = peek(value, "input")
    heard = list(heard) if _is_list(heard) else [heard] if isinstance(heard, str) else []
    raw = _identified(value, {"messages": [*heard, *peek(value, "output")]})
    if (system := peek(value, "instructions")) is not None:
        raw["system"] = system
    if tools := peek(value, "tools"):
        raw["tools"] = list(tools)
    return raw


def _agents_run(value: Any, messages: list[Any]) -> dict[str, Any]:
    raw: dict[str, Any] = {"messages": list(messages)}
    agent = peek(value, "last_agent")
    if isinstance(instructions := peek(agent, "instructions"), str):
        raw["system"] = instructions
    if tools := peek(agent, "tools"):
        raw["tools"] = list(tools)
    return raw
