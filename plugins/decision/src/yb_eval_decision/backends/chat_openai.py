"""Chat models over OpenAI's SDK: OpenAI's own, OpenRouter's, and any server that speaks chat completions."""

from __future__ import annotations

from typing import Any

from yb_eval import UsageError
from yb_eval.targets.failures import failed
from yb_eval_decision.backends.addresses import Address, address, variable
from yb_eval_decision.backends.chat import ChatBackend, Completion, Prompt, Unstructured, unstructured
from yb_eval_decision.backends.http import certificates, dollars, error_in_answer, refused, whole
from yb_eval_decision.backends.openai_decisions import OPENAI
from yb_eval_decision.backends.pacing import Pace, retry_after
from yb_eval_decision.backends.remote import Failed

OPENROUTER = "https://openrouter.ai/api/v1"
#: A server of one's own may want no key; the SDK wants one.
_NO_KEY = "none"


class OpenAIChatBackend(ChatBackend):
    """No temperature and no `max_tokens`: reasoning models refuse both. Retries are this backend's own, so the SDK makes none."""

    wire = "openai-chat"

    def let_go(self) -> None:
        self._client: Any = None

    async def complete(self, prompt: Prompt, *, structured: bool) -> Completion:
        import openai

        arguments: dict[str, Any] = {}
        if structured:
            schema = {"name": "answers", "strict": True, "schema": prompt.schema}
            arguments["response_format"] = {"type": "json_schema", "json_schema": schema}
        try:
            said = await self._connected().chat.completions.create(
                model=self.model,
                messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
                max_completion_tokens=prompt.tokens,
                **arguments,
            )
        except openai.APIStatusError as error:
            if structured and unstructured(error.status_code, str(error)):
                raise Unstructured from None
            raise status_failure(error, self.address, self.pace) from error
        except openai.APITimeoutError as error:
            raise Failed(f"no connection: {failed(error)}", again=True, backend=True) from error
        except openai.APIConnectionError as error:
            raise Failed(failed(error.__cause__ or error), again=True, backend=True, unpriced=True) from error
        except (openai.APIError, ValueError) as error:
            raise Failed(f"no completion came: {failed(error)}", again=True, backend=True, unpriced=True) from error
        return from_completion(said)

    def _connected(self) -> Any:
        if self._client is None:
            import openai

            # The time a request has is kept by whoever asks; the SDK's own limit must not come first.
            timeout = openai.Timeout(2 * self.pace.timeout, connect=self.pace.connect_timeout)
            self._client = openai.AsyncOpenAI(
                api_key=self.address.key or _NO_KEY,
                base_url=self.address.url,
                max_retries=0,
                timeout=timeout,
                http_client=openai.DefaultAsyncHttpxClient(
                    base_url=self.address.url,
                    timeout=timeout,
                    follow_redirects=False,
                    trust_env=not self.address.local,
                    verify=certificates(self.address),
                ),
            )
            self.background.at_end(self._client.close)
        return self._client


def from_completion(said: Any) -> Completion:
    """The answer in a completion of the SDK. Raises `Failed` where there is none."""
    choices = getattr(said, "choices", None)
    if not choices or getattr(choices[0], "message", None) is None:
        error = (getattr(said, "model_extra", None) or {}).get("error")
        if error:
            raise error_in_answer(error)
        raise Failed("the answer is no completion", again=True, backend=True, unpriced=True)
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


def status_failure(error: Any, address: Address, pace: Pace) -> Failed:
    """The failure in an SDK's error that has a status (both SDKs have the same shape)."""
    status, headers = error.status_code, error.response.headers
    if 300 <= status <= 399:
        return Failed(f"HTTP {status}: it has moved, which is not followed", backend=True, lasting=True)
    body = error.body if isinstance(error.body, dict) else {}
    told = body.get("error", body)
    said = told.get("message") if isinstance(told, dict) else None
    return refused(status, str(said or error.message), retry_after(headers.get("retry-after"), pace.now()), address)


def need_openai(spec: str) -> None:
    """Raises `UsageError` without the SDK."""
    try:
        import openai  # noqa: F401
    except ImportError as error:
        hint = "pip install 'yb-eval-decision[openai]'"
        raise UsageError("the openai SDK is not installed", where=spec, hint=hint) from error


def openai_chat(model: str, spec: str, pace: Pace) -> OpenAIChatBackend:
    """OPENAI_API_KEY goes to OPENAI_BASE_URL or api.openai.com; a server of one's own may do without."""
    need_openai(spec)
    own = variable("OPENAI_BASE_URL")
    found = address(own or OPENAI, where=spec, keys=("OPENAI_API_KEY",), required=own is None)
    return OpenAIChatBackend(found, model, spec=spec, pace=pace)


def openrouter_chat(model: str, spec: str, pace: Pace) -> OpenAIChatBackend:
    """OPENROUTER_API_KEY goes to openrouter.ai, or to OPENROUTER_BASE_URL and `/v1` below it."""
    need_openai(spec)
    own = variable("OPENROUTER_BASE_URL")
    base = OPENROUTER if own is None else f"{own.rstrip('/')}/v1"
    found = address(base, where=spec, keys=("OPENROUTER_API_KEY",), required=True)
    return OpenAIChatBackend(found, model, spec=spec, pace=pace)
