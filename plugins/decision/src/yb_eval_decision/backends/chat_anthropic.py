"""Chat models over Anthropic's SDK."""

from __future__ import annotations

from typing import Any

from yb_eval_decision.backends.addresses import address, variable
from yb_eval_decision.backends.chat import Completion, Prompt
from yb_eval_decision.backends.chat_sdk import SdkChatBackend, need_sdk
from yb_eval_decision.backends.http import whole
from yb_eval_decision.backends.pacing import Pace

ANTHROPIC = "https://api.anthropic.com"
_CUT = frozenset(["max_tokens", "model_context_window_exceeded"])


class AnthropicChatBackend(SdkChatBackend):
    """Messages, with a JSON schema as the output's format."""

    wire = "anthropic-messages"
    sdk, client, noun = "anthropic", "AsyncAnthropic", "message"

    async def create(self, client: Any, prompt: Prompt, *, structured: bool) -> Any:
        arguments: dict[str, Any] = {}
        if structured:
            arguments["output_config"] = {"format": {"type": "json_schema", "schema": prompt.schema}}
        return await client.messages.create(
            model=self.model,
            system=prompt.system,
            messages=[{"role": "user", "content": prompt.user}],
            max_tokens=prompt.tokens,
            **arguments,
        )

    def read(self, said: Any) -> Completion:
        blocks = getattr(said, "content", None)
        if not isinstance(blocks, list):
            raise self.nothing(said)
        stop = said.stop_reason
        usage = getattr(said, "usage", None)
        seen = [
            getattr(usage, name, None)
            for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        ]
        return Completion(
            text="".join(block.text for block in blocks if getattr(block, "type", None) == "text"),
            stopped="refusal" if stop == "refusal" else "length" if stop in _CUT else "done",
            model=said.model or None,
            input_tokens=sum(map(whole, seen)),
            output_tokens=whole(getattr(usage, "output_tokens", None)),
        )


def anthropic_chat(model: str, spec: str, pace: Pace) -> AnthropicChatBackend:
    """ANTHROPIC_API_KEY goes to ANTHROPIC_BASE_URL or api.anthropic.com; a server of one's own may do without."""
    need_sdk("anthropic", spec)
    own = variable("ANTHROPIC_BASE_URL")
    found = address(own or ANTHROPIC, where=spec, keys=("ANTHROPIC_API_KEY",), required=own is None)
    return AnthropicChatBackend(found, model, spec=spec, pace=pace)
