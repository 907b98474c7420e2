"""What the providers that ask a model over its vendor's SDK have in common."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.digest import decimal_string, identify
from yb_eval.targets import CallableTarget, mask

Event = TypeVar("Event")


@frozen(slots=True, kw_only=True)
class ModelOptions:
    """How a model is asked. `endpoint` is the base URL, `None` the SDK's own (or its environment variable's).

    `timeout` (seconds) and `retries` bound the work; `stream` is how answers come. None of the three changes what is
    asked, so they are no part of the fingerprint.
    """

    endpoint: str | None = None
    temperature: float | None = None
    max_output_tokens: int = 1024
    stream: bool = False
    timeout: float = 60.0
    retries: int = 3
    api_key: str | None = field(default=None, repr=False)


class ProviderFailure(Exception):
    """The provider's answer is not one."""


class ModelTarget(CallableTarget):
    """A model behind an SDK's client, which is closed with it."""

    def __init__(
        self, provider: str, model: str, options: ModelOptions, ask: Callable[..., Any], close: Callable[[], None]
    ) -> None:
        if not model:
            raise UsageError(f"{provider}: names no model", hint=f"{provider}:MODEL")
        identity = {
            "provider": provider,
            "model": model,
            "endpoint": None if options.endpoint is None else shown_endpoint(options.endpoint),
            "temperature": decimal_string(options.temperature),
            "max_output_tokens": options.max_output_tokens,
            "version": 1,
        }
        super().__init__(
            ask, fingerprint=identify("agent-routing-model", identity), spec=mask(f"{provider}:{model}"), batch_size=1
        )
        self._close_client = close

    def close(self) -> None:
        super().close()
        self._close_client()


def address_and_key(provider: str, model: str, options: ModelOptions) -> tuple[str | None, str]:
    """The base URL (`None`: the SDK's own) and the key, from the options or else from PROVIDER_BASE_URL and
    PROVIDER_API_KEY. A server with an address of its own is asked without a key where there is none.

    Raises `UsageError` for the SDK's own address without a key, and for an address that is none.
    """
    prefix = provider.upper()
    endpoint = options.endpoint or os.environ.get(f"{prefix}_BASE_URL") or None
    key = options.api_key or os.environ.get(f"{prefix}_API_KEY") or ("none" if endpoint else None)
    if key is None:
        raise UsageError("there is no API key", where=f"{provider}:{model}", hint=f"set {prefix}_API_KEY")
    if endpoint is not None:
        shown_endpoint(endpoint)
    return endpoint, key


def shown_endpoint(endpoint: str) -> str:
    """A base URL without user, password and query."""
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("the endpoint is no http address", where="--endpoint", hint="https://host/v1")
    port = "" if parts.port is None else f":{parts.port}"
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path.rstrip('/')}"


def before(events: Iterable[Event], seconds: float) -> Iterator[Event]:
    """The events of a stream. Raises `TimeoutError` once they have taken longer than `seconds` together: an SDK's own
    limit starts anew with each of them."""
    end = time.monotonic() + seconds
    for event in events:
        if time.monotonic() > end:
            raise TimeoutError(f"the answer was still streaming after {seconds:g} s")
        yield event


def message_text(message: Mapping[str, Any]) -> str:
    return str(message.get("content") or "")
