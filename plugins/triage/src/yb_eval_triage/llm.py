"""`openai:MODEL` and `anthropic:MODEL`: a language model as triager, its answer held to the task's JSON Schema.

The official SDKs read their keys and base addresses from the environment. Whatever goes wrong with one item - a
refusal, an answer cut off, text that is not JSON - is that item's error outcome, never a guess.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from yb_eval import UsageError
from yb_eval.digest import identify, sha256_hex
from yb_eval.targets import CallableTarget, Settings
from yb_eval_triage.extras import need
from yb_eval_triage.prompts import answer_schema, instructions, item
from yb_eval_triage.task import Task

_MAX_TOKENS = 1_024


class NoAnswer(Exception):
    """The model said something that is no answer."""


def openai_target(model: str, tasks: Sequence[Task], settings: Settings | None = None) -> CallableTarget:
    """A model behind the chat completions API. Raises `UsageError` without the SDK or a key."""
    openai = need("openai", "openai")
    require_key("OPENAI_API_KEY")
    # Both SDKs ask again after 429, 5xx and transport errors.
    run = settings or Settings()
    client = openai.OpenAI(timeout=run.timeout, max_retries=run.retries)

    def ask(system: str, schema: Mapping[str, Any], user: str) -> str:
        said = client.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "triage", "strict": True, "schema": schema},
            },
        )
        choice = said.choices[0]
        if choice.message.refusal:
            raise NoAnswer(f"the model refused: {choice.message.refusal}")
        return _whole(choice.message.content, choice.finish_reason, "stop")

    return _target("openai", model, str(client.base_url), tasks, ask)


def anthropic_target(model: str, tasks: Sequence[Task], settings: Settings | None = None) -> CallableTarget:
    """A model behind the messages API. Raises `UsageError` without the SDK or a key."""
    anthropic = need("anthropic", "anthropic")
    require_key("ANTHROPIC_API_KEY")
    run = settings or Settings()
    client = anthropic.Anthropic(timeout=run.timeout, max_retries=run.retries)

    def ask(system: str, schema: Mapping[str, Any], user: str) -> str:
        said = client.messages.create(
            model=model,
            max_tokens=_MAX_TOKENS,
            system=system,
            messages=[{"role": "user", "content": user}],
            output_config={"format": {"type": "json_schema", "schema": schema}},
        )
        text = "".join(block.text for block in said.content if block.type == "text")
        return _whole(text, said.stop_reason, "end_turn")

    return _target("anthropic", model, str(client.base_url), tasks, ask)


def require_key(variable: str) -> None:
    """Raises `UsageError` if the environment has no such key; its value is never looked at."""
    if not os.environ.get(variable):
        raise UsageError(f"{variable} is not set", hint="keys come from the environment only")


def _whole(text: str | None, reason: str | None, end: str) -> str:
    if reason != end:
        raise NoAnswer(f"the model stopped because of {reason}")
    if not text:
        raise NoAnswer("the model said nothing")
    return text


def _target(
    provider: str, model: str, base: str, tasks: Sequence[Task], ask: Callable[[str, Mapping[str, Any], str], str]
) -> CallableTarget:
    prompts = {task.name: (instructions(task), answer_schema(task)) for task in tasks}

    def call(request: Mapping[str, Any]) -> Any:
        system, schema = prompts[request["task"]]
        text = ask(system, schema, item(request))
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise NoAnswer(f"the model's answer is not JSON ({error}): {text[:80]!r}") from None

    identity = {
        "provider": provider,
        "model": model,
        "base": base,
        "prompts": {name: sha256_hex(orjson.dumps(prompt)) for name, prompt in prompts.items()},
        "max_tokens": _MAX_TOKENS,
    }
    return CallableTarget(
        call, fingerprint=identify("triage-model", identity), spec=f"{provider}:{model}", batch_size=1
    )
