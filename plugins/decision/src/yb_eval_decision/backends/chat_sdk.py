"""What the chat backends over a vendor's SDK share. OpenAI's and Anthropic's are generated alike: the same client, the same
errors."""

from __future__ import annotations

from importlib import import_module
from typing import Any, ClassVar

from yb_eval import UsageError
from yb_eval.targets.failures import failed
from yb_eval.targets.waiting import retry_after
from yb_eval_decision.backends.addresses import Address
from yb_eval_decision.backends.chat import ChatBackend, Completion, Prompt, Unstructured, unstructured
from yb_eval_decision.backends.http import certificates, error_in_answer, refused
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Failed

#: A server of one's own may want no key; the SDKs want one.
_NO_KEY = "none"


class SdkChatBackend(ChatBackend):
    """A chat backend over the SDK in the module `sdk`, whose client is its class `client`; `noun` is what it answers with.

    Subclasses give `create`, the call, and `read`, what came of it. No temperature is set: reasoning models refuse one.
    Retries are this package's own, so the SDK makes none.
    """

    sdk: ClassVar[str]
    client: ClassVar[str]
    noun: ClassVar[str]

    async def create(self, client: Any, prompt: Prompt, *, structured: bool) -> Any:
        """The SDK's answer to `prompt`."""
        raise NotImplementedError

    def read(self, said: Any) -> Completion:
        """The completion in it. Raises `Failed` where there is none."""
        raise NotImplementedError

    def let_go(self) -> None:
        self._client: Any = None

    async def complete(self, prompt: Prompt, *, structured: bool) -> Completion:
        sdk = import_module(self.sdk)
        try:
            said = await self.create(self._connected(), prompt, structured=structured)
        except sdk.APIStatusError as error:
            if structured and unstructured(error.status_code, str(error)):
                raise Unstructured from None
            raise _status_failure(error, self.address, self.pace) from error
        except sdk.APITimeoutError as error:
            raise Failed(f"no connection: {failed(error)}", again=True, backend=True) from error
        except sdk.APIConnectionError as error:
            raise Failed(failed(error.__cause__ or error), again=True, backend=True, unpriced=True) from error
        except (sdk.APIError, ValueError) as error:
            raise Failed(f"no {self.noun} came: {failed(error)}", again=True, backend=True, unpriced=True) from error
        return self.read(said)

    def _connected(self) -> Any:
        if self._client is None:
            sdk = import_module(self.sdk)
            # The time a request has is kept by whoever asks; the SDK's own limit must not come first.
            timeout = sdk.Timeout(2 * self.pace.timeout, connect=self.pace.connect_timeout)
            self._client = getattr(sdk, self.client)(
                api_key=self.address.key or _NO_KEY,
                base_url=self.address.url,
                max_retries=0,
                timeout=timeout,
                http_client=sdk.DefaultAsyncHttpxClient(
                    base_url=self.address.url,
                    timeout=timeout,
                    follow_redirects=False,
                    trust_env=not self.address.local,
                    verify=certificates(self.address),
                ),
            )
            self.background.at_end(self._client.close)
        return self._client

    def nothing(self, said: Any) -> Failed:
        """Why an answer of the SDK holds nothing: the error that it carries, or that it is of no known form."""
        error = (getattr(said, "model_extra", None) or {}).get("error")
        if error:
            return error_in_answer(error)
        return Failed(f"the answer is no {self.noun}", again=True, backend=True, unpriced=True)


def need_sdk(name: str, spec: str) -> None:
    """Raises `UsageError` without the SDK, which is the extra of the same name."""
    try:
        import_module(name)
    except ImportError as error:
        hint = f"pip install 'yb-eval-decision[{name}]'"
        raise UsageError(f"the {name} SDK is not installed", where=spec, hint=hint) from error


def _status_failure(error: Any, address: Address, pace: Pace) -> Failed:
    """The failure in an SDK's error that has a status."""
    status, headers = error.status_code, error.response.headers
    if 300 <= status <= 399:
        return Failed(f"HTTP {status}: it has moved, which is not followed", backend=True, lasting=True)
    body = error.body if isinstance(error.body, dict) else {}
    told = body.get("error", body)
    said = told.get("message") if isinstance(told, dict) else None
    return refused(status, str(said or error.message), retry_after(headers.get("retry-after"), pace.now()), address)
