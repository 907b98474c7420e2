"""Chat models over Anthropic's SDK."""

from __future__ import annotations

from typing import Any

from yb_eval import UsageError
from yb_eval.targets.failures import failed
from yb_eval_decision.backends.addresses import address, variable
from yb_eval_decision.backends.chat import ChatBackend, Completion, Prompt, Unstructured, unstructured
from yb_eval_decision.backends.chat_openai import status_failure
from yb_eval_decision.backends.http import certificates, error_in_answer, whole
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Failed

ANTHROPIC = "https://api.anthropic.com"
_CUT = frozenset(["max_tokens", "model_context_window_exceeded"])


class AnthropicChatBackend(ChatBackend):
    """No temperature. Retries are this backend's own, so the SDK makes none."""

    wire = "anthropic-messages"

    def let_go(self) -> None:
        self._client: Any = None

    async def complete(self, prompt: Prompt, *, structured: bool) -> Completion:
        import anthropic

        arguments: dict[str, Any] = {}
        if structured:
            arguments["output_config"] = {"format": {"type": "json_schema", "schema": prompt.schema}}
        try:
            said = await self._connected().messages.create(
                model=self.model,
                system=prompt.system,
                messages=[{"role": "user", "content": prompt.user}],
                max_tokens=prompt.tokens,
                **arguments,
            )
        except anthropic.APIStatusError as error:
            if structured and unstructured(error.status_code, str(error)):
                raise Unstructured from None
            raise status_failure(error, self.address, self.pace) from error
        except anthropic.APITimeoutError as error:
            raise Failed(f"no connection: {failed(error)}", again=True, backend=True) from error
        except anthropic.APIConnectionError as error:
            raise Failed(failed(error.__cause__ or error), again=True, backend=True, unpriced=True) from error
        except (anthropic.APIError, ValueError) as error:
            raise Failed(f"no message came: {failed(error)}", again=True, backend=True, unpriced=True) from error
        return from_message(said)

    def _connected(self) -> Any:
        if self._client is None:
            import anthropic

            # The time a request has is kept by whoever asks; the SDK's own limit must not come first.
            timeout = anthropic.Timeout(2 * self.pace.timeout, connect=self.pace.connect_timeout)
            self._client = anthropic.AsyncAnthropic(
                api_key=self.address.key or "none",
                base_url=self.address.url,
                max_retries=0,
                timeout=timeout,
                http_client=anthropic.DefaultAsyncHttpxClient(
                    base_url=self.address.url,
                    timeout=timeout,
                    follow_redirects=False,
                    trust_env=not self.address.local,
                    verify=certificates(self.address),
                ),
            )
            self.background.at_end(self._client.close)
        return self._client


def from_message(said: Any) -> Completion:
    """The answer in a message of the SDK. Raises `Failed` where there is none."""
    blocks = getattr(said, "content", None)
    if not isinstance(blocks, list):
        error = (getattr(said, "model_extra", None) or {}).get("error")
        if error:
            raise error_in_answer(error)
        raise Failed("the answer is no message", again=True, backend=True, unpriced=True)
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
    try:
        import anthropic  # noqa: F401
    except ImportError as error:
        hint = "pip install 'yb-eval-decision[anthropic]'"
        raise UsageError("the anthropic SDK is not installed", where=spec, hint=hint) from error
    own = variable("ANTHROPIC_BASE_URL")
    found = address(own or ANTHROPIC, where=spec, keys=("ANTHROPIC_API_KEY",), required=own is None)
    return AnthropicChatBackend(found, model, spec=spec, pace=pace)
