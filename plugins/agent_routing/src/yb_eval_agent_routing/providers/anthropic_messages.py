"""`anthropic:MODEL`: Anthropic's messages API, through the official SDK.

The address comes from `--endpoint`, or else from ANTHROPIC_BASE_URL; the key from ANTHROPIC_API_KEY.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import define, evolve, field

from yb_eval import UsageError
from yb_eval_agent_routing.providers.client import (
    ModelOptions,
    ModelTarget,
    ProviderFailure,
    address_and_key,
    before,
    message_text,
)

#: The API refuses a message without text.
SILENCE = "(no answer)"


def anthropic_target(model: str, options: ModelOptions) -> ModelTarget:
    """Raises `UsageError` without the SDK or without a key."""
    try:
        from anthropic import Anthropic
    except ImportError as error:
        hint = "pip install 'yb-eval-agent-routing[anthropic]'"
        raise UsageError("the anthropic SDK is not installed", where=f"anthropic:{model}", hint=hint) from error
    endpoint, key = address_and_key("anthropic", model, options)
    client = Anthropic(api_key=key, base_url=endpoint, timeout=options.timeout, max_retries=options.retries)
    return ModelTarget(
        "anthropic", model, evolve(options, endpoint=endpoint), Messages(client, model, options), client.close
    )


@define(slots=True)
class Messages:
    """Asks for one message."""

    client: Any = field(repr=False)
    model: str
    options: ModelOptions

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.options.max_output_tokens,
            "system": request["system"],
            "messages": to_messages(request),
        }
        if request["tools"]:
            arguments["tools"] = list(request["tools"])
        if self.options.temperature is not None:
            # Not every model takes it, and the SDK no longer has a parameter for it.
            arguments["extra_body"] = {"temperature": self.options.temperature}
        if not self.options.stream:
            return from_message(self.client.messages.create(**arguments))
        with self.client.messages.create(**arguments, stream=True) as stream:
            return from_events(before(stream, self.options.timeout))


def to_messages(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation as Anthropic writes it: blocks, by the user and the assistant in turn. What the system says in
    the middle is said by the user.
    """
    made: list[dict[str, Any]] = []
    for message in request["messages"]:
        role = "assistant" if message["role"] == "assistant" else "user"
        if not made or made[-1]["role"] != role:
            made.append({"role": role, "content": []})
        made[-1]["content"] += _blocks(message)
    return made


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    text = message_text(message)
    if message["role"] == "tool":
        result = {"type": "tool_result", "tool_use_id": message["id"], "content": text}
        return [{**result, "is_error": True} if message.get("failed") else result]
    calls = [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"]}
        for call in message.get("tool_calls", ())
    ]
    texts = [{"type": "text", "text": text}] if text.strip() else []
    return [*texts, *calls] or [{"type": "text", "text": SILENCE}]


def from_message(message: Any) -> dict[str, Any]:
    """The answer in a message. Raises `ProviderFailure` where there is none."""
    blocks = getattr(message, "content", None)
    if not isinstance(blocks, list):
        raise ProviderFailure("the message has no content")
    text = "".join(block.text for block in blocks if block.type == "text")
    calls = [{"name": block.name, "arguments": _input(block.input)} for block in blocks if block.type == "tool_use"]
    usage = message.usage
    return _answer(
        text, calls, usage.input_tokens if usage else None, usage and usage.output_tokens, message.stop_reason
    )


def from_events(events: Any) -> dict[str, Any]:
    """The answer in a stream of events. Raises `ProviderFailure` for a stream that ends before its end.

    Arguments are put together as they were written: the SDK's own helper gives up on a model's malformed JSON.
    """
    text: list[str] = []
    calls: dict[int, dict[str, Any]] = {}
    tokens: dict[str, int | None] = {"input": None, "output": None}
    stop = None
    ended = False
    for event in events:
        if event.type == "message_start":
            tokens = {"input": event.message.usage.input_tokens, "output": event.message.usage.output_tokens}
        elif event.type == "content_block_start" and event.content_block.type == "tool_use":
            calls[event.index] = {"name": event.content_block.name, "arguments": ""}
        elif event.type == "content_block_start" and event.content_block.type == "text":
            text.append(event.content_block.text)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            text.append(event.delta.text)
        elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
            calls[event.index]["arguments"] += event.delta.partial_json
        elif event.type == "message_delta":
            tokens["output"] = event.usage.output_tokens
            stop = event.delta.stop_reason
        elif event.type == "message_stop":
            ended = True
    if not ended:
        raise ProviderFailure("the stream ended before the answer did")
    return _answer("".join(text), [calls[index] for index in sorted(calls)], tokens["input"], tokens["output"], stop)


def _input(value: Any) -> Any:
    return value if isinstance(value, str | dict) else ""


def _answer(
    text: str, calls: list[dict[str, Any]], came: int | None, gave: int | None, stop: str | None
) -> dict[str, Any]:
    answer: dict[str, Any] = {"text": text, "tool_calls": calls}
    if came is not None or gave is not None:
        answer["usage"] = {"input_tokens": came or 0, "output_tokens": gave or 0}
    if stop is not None:
        answer["stop"] = stop
    return answer
