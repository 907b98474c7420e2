"""`openai:MODEL`: any server that speaks OpenAI's chat completions, through the official SDK.

The address comes from `--endpoint`, or else from OPENAI_BASE_URL; the key from OPENAI_API_KEY. A server with an address
of its own (Ollama, vLLM, LiteLLM) is asked without a key where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import orjson
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

OFFICIAL = "api.openai.com"


def openai_target(model: str, options: ModelOptions) -> ModelTarget:
    """Raises `UsageError` without the SDK or without a key."""
    try:
        from openai import OpenAI
    except ImportError as error:
        hint = "pip install 'yb-eval-agent-routing[openai]'"
        raise UsageError("the openai SDK is not installed", where=f"openai:{model}", hint=hint) from error
    endpoint, key = address_and_key("openai", model, options)
    client = OpenAI(api_key=key, base_url=endpoint, timeout=options.timeout, max_retries=options.retries)
    chat = Chat(client, model, options, official=endpoint is None or urlsplit(endpoint).hostname == OFFICIAL)
    return ModelTarget("openai", model, evolve(options, endpoint=endpoint), chat, client.close)


@define(slots=True)
class Chat:
    """Asks for one completion. `official`: OpenAI's own servers, which have renamed `max_tokens`."""

    client: Any = field(repr=False)
    model: str
    options: ModelOptions
    official: bool = False

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self.model,
            "messages": to_messages(request),
            "max_completion_tokens" if self.official else "max_tokens": self.options.max_output_tokens,
        }
        if request["tools"]:
            arguments["tools"] = [to_tool(tool) for tool in request["tools"]]
        if self.options.temperature is not None:
            arguments["temperature"] = self.options.temperature
        if not self.options.stream:
            return from_completion(self.client.chat.completions.create(**arguments))
        stream_options = {"include_usage": True}
        with self.client.chat.completions.create(**arguments, stream=True, stream_options=stream_options) as stream:
            return from_chunks(before(stream, self.options.timeout))


def to_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool's definition as OpenAI writes it."""
    return {
        "type": "function",
        "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]},
    }


def to_messages(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversation as OpenAI writes it."""
    made: list[dict[str, Any]] = [{"role": "system", "content": request["system"]}]
    for message in request["messages"]:
        if message["role"] == "tool":
            made.append({"role": "tool", "tool_call_id": message["id"], "content": message_text(message)})
        elif message.get("tool_calls"):
            made.append(
                {
                    "role": "assistant",
                    "content": message["content"] or None,
                    "tool_calls": [_made_call(call) for call in message["tool_calls"]],
                }
            )
        else:
            made.append({"role": message["role"], "content": message_text(message)})
    return made


def _made_call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": orjson.dumps(call["arguments"]).decode()}
    return {"id": call["id"], "type": "function", "function": function}


def from_completion(completion: Any) -> dict[str, Any]:
    """The answer in a completion. Raises `ProviderFailure` where there is none."""
    choices = getattr(completion, "choices", None)
    if not choices or choices[0].message is None:
        raise ProviderFailure("the completion has no choices")
    message = choices[0].message
    calls = [_call(call.function) for call in message.tool_calls or () if getattr(call, "function", None) is not None]
    return _answer(message.content or message.refusal, calls, completion.usage, choices[0].finish_reason)


def from_chunks(chunks: Any) -> dict[str, Any]:
    """The answer in a stream of chunks. Raises `ProviderFailure` for a stream that ends before its end."""
    text: list[str] = []
    parts: dict[int, tuple[list[str], list[str]]] = {}
    usage = stop = None
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices[:1]:
            text.append(choice.delta.content or choice.delta.refusal or "")
            for call in choice.delta.tool_calls or ():
                name, arguments = parts.setdefault(call.index, ([], []))
                if call.function is not None:
                    name.append(call.function.name or "")
                    arguments.append(call.function.arguments or "")
            stop = choice.finish_reason or stop
    if stop is None:
        raise ProviderFailure("the stream ended before the answer did")
    calls = [{"name": "".join(name), "arguments": "".join(arguments)} for _, (name, arguments) in sorted(parts.items())]
    return _answer("".join(text), calls, usage, stop)


def _call(function: Any) -> dict[str, Any]:
    arguments = function.arguments
    # Some compatible servers send the object itself.
    return {"name": function.name, "arguments": arguments if isinstance(arguments, str | dict) else ""}


def _answer(text: str | None, calls: list[dict[str, Any]], usage: Any, stop: str | None) -> dict[str, Any]:
    answer: dict[str, Any] = {"text": text or "", "tool_calls": calls}
    if usage is not None:
        answer["usage"] = {"input_tokens": usage.prompt_tokens or 0, "output_tokens": usage.completion_tokens or 0}
    if stop is not None:
        answer["stop"] = stop
    return answer
