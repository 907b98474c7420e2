"""Chat models over OpenAI's SDK: OpenAI's own, OpenRouter's, and any server that speaks chat completions."""

from __future__ import annotations

from typing import Any

from yb_eval_decision.backends.addresses import address, variable
from yb_eval_decision.backends.chat import Completion, Prompt
from yb_eval_decision.backends.chat_sdk import SdkChatBackend, need_sdk
from yb_eval_decision.backends.http import dollars, whole
from yb_eval_decision.backends.openai_decisions import OPENAI
from yb_eval_decision.backends.pacing import Pace

OPENROUTER = "https://openrouter.ai/api/v1"


class OpenAIChatBackend(SdkChatBackend):
    """Chat completions, with a strict JSON schema. No `max_tokens`: reasoning models refuse it."""

    wire = "openai-chat"
    sdk, client, noun = "openai", "AsyncOpenAI", "completion"

    async def create(self, client: Any, prompt: Prompt, *, structured: bool) -> Any:
        arguments: dict[str, Any] = {}
        if structured:
            schema = {"name": "answers", "strict": True, "schema": prompt.schema}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        return await client.chat.completions.create(
            model=self.model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            max_completion_tokens=prompt.tokens,
            **arguments,
        )

    def read(self, said: Any) -> Completion:
        choices = getattr(said, "choices", None)
        if not choices or getattr(choices[0], "message", None) is None:
            raise self.nothing(said)
        choice, usage = choices[0], getattr(said, "usage", None)
        message = choice.message
        refusal = getattr(message, "refusal", None)
        stopped = choice.finish_reason
        if refusal or stopped == "content_filter":
            kind, refusal = "refusal", refusal or "stopped by the content filter"
        else:
            kind = "length" if stopped == "length" else "done"
        return Completion(
            text=message.content or "",
            stopped=kind,  # type: ignore[arg-type]
            refusal=refusal or "",
            model=said.model or None,
            input_tokens=whole(getattr(usage, "prompt_tokens", None)),
            output_tokens=whole(getattr(usage, "completion_tokens", None)),
            cost_usd=dollars((getattr(usage, "model_extra", None) or {}).get("cost")),
        )


def openai_chat(model: str, spec: str, pace: Pace) -> OpenAIChatBackend:
    """OPENAI_API_KEY goes to OPENAI_BASE_URL or api.openai.com; a server of one's own may do without."""
    need_sdk("openai", spec)
    own = variable("OPENAI_BASE_URL")
    found = address(own or OPENAI, where=spec, keys=("OPENAI_API_KEY",), required=own is None)
    return OpenAIChatBackend(found, model, spec=spec, pace=pace)


def openrouter_chat(model: str, spec: str, pace: Pace) -> OpenAIChatBackend:
    """OPENROUTER_API_KEY goes to openrouter.ai, or to OPENROUTER_BASE_URL and `/v1` below it."""
    need_sdk("openai", spec)
    own = variable("OPENROUTER_BASE_URL")
    base = OPENROUTER if own is None else f"{own.rstrip('/')}/v1"
    found = address(base, where=spec, keys=("OPENROUTER_API_KEY",), required=True)
    return OpenAIChatBackend(found, model, spec=spec, pace=pace)
