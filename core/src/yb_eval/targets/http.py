"""`http://...` and `https://...`: a service that is sent one JSON request by POST and answers with one JSON answer."""

from __future__ import annotations

import os
import threading
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import httpx
import orjson
import tenacity

from yb_eval.digest import identify
from yb_eval.errors import UsageError
from yb_eval.interfaces import Answer, Concurrency
from yb_eval.targets.deadline import DeadlineTransport
from yb_eval.targets.failures import clip, failed, quoted
from yb_eval.targets.secrets import HTTP_HEADERS, MASK, Masker, secret_name
from yb_eval.targets.settings import Settings
from yb_eval.targets.waiting import retry_after
from yb_eval.targets.wire import NotJson, decode, encode, mismatch

Request = Mapping[str, Any]

BEARER_VARIABLE = "YB_EVAL_HTTP_TOKEN"
_MOST_REDIRECTS = 5
#: The statuses that ask for the same POST somewhere else; the others would have it asked as a GET.
_ASK_ELSEWHERE = frozenset([307, 308])
_PLAIN = {
    "accept": "application/json",
    "accept-encoding": "identity",  # a compressed answer could unfold to far more than the limit
    "content-type": "application/json",
    "user-agent": "yb-eval",
}
# Chosen by whoever sends the message, not by whoever configures it.
_OURS = frozenset(["host", "content-length", "content-type", "transfer-encoding", "connection"])


class _Failed(Exception):
    """An attempt did not bring an answer. `again`: another may; `after`: seconds the service asks to be left alone."""

    def __init__(self, reason: str, *, again: bool = False, after: float | None = None) -> None:
        super().__init__(reason)
        self.again = again
        self.after = after


class HttpTarget:
    """A service at one address, over a pool of connections that threads share.

    Credentials: `YB_EVAL_HTTP_TOKEN` is sent as `Authorization: Bearer ...`, `YB_EVAL_HTTP_HEADERS` (a JSON object)
    as further headers, a user:password in the address as basic authentication. All of them, and the address's query,
    go to the address's own scheme, host and port only: a redirect elsewhere (307 and 308 are followed) carries none
    of them. No cookies are kept.

    Asked again, with a growing pause, after 429, 5xx and transport errors; a request that has used up its time is not.
    """

    batch_size = 1
    concurrency: Concurrency = "threads"

    def __init__(self, url: httpx.URL, settings: Settings) -> None:
        """Raises `UsageError` if the address or the environment's headers mean nothing."""
        self._headers, secrets = _credentials(url)
        self._masker = Masker.from_environment(*secrets)
        self._url = url.copy_with(userinfo=b"", fragment=None)
        self._settings = settings
        self.spec = _shown(url)
        self.fingerprint = identify("target", {"url": str(self._url.copy_with(query=None)), "query": _identity(url)})
        self._closed = threading.Event()
        try:
            self._transport = DeadlineTransport(self._url, keep=settings.jobs)
        except ValueError as error:
            raise UsageError(str(error), where=self.spec, hint="see HTTP_PROXY, HTTPS_PROXY, NO_PROXY") from error
        self._retry = tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, _Failed) and error.again),
            stop=tenacity.stop_after_attempt(settings.retries + 1) | tenacity.stop_when_event_set(self._closed),
            wait=self._pause,
            sleep=tenacity.sleep_using_event(self._closed),
            reraise=True,
        )
        # The pause is drawn at random, so that jobs that were turned away together do not come back together. It
        # changes when a request is sent, never what is sent.
        self._backoff = tenacity.wait_random_exponential(multiplier=settings.backoff, max=settings.longest_wait)

    def ask(self, requests: Sequence[Request], *, repeat: int = 0) -> Sequence[Answer]:
        return [self._ask(request) for request in requests]

    def close(self) -> None:
        """Closes all connections; requests under way fail."""
        self._closed.set()
        self._transport.close()

    def _ask(self, request: Request) -> Answer:
        started = perf_counter()
        retry = self._retry.copy()
        try:
            body = encode(request)
            answer, failure = retry(self._attempt, body, request), None
        except (_Failed, NotJson) as error:
            attempts = retry.statistics.get("attempt_number", 1)
            times = f" ({attempts} attempts)" if attempts > 1 else ""
            answer, failure = None, clip(self._masker.mask(str(error))) + times
        return Answer(answer, failure, perf_counter() - started)

    def _attempt(self, body: bytes, request: Request) -> Any:
        if self._closed.is_set():
            raise _Failed("the target was closed")
        self._transport.clock.start(self._settings.timeout)
        url = self._url
        for _ in range(_MOST_REDIRECTS + 1):
            status, headers, raw = self._post(url, body)
            if status not in _ASK_ELSEWHERE or "location" not in headers:
                return self._answer(status, headers, raw, request)
            url = self._elsewhere(url, headers["location"])
        raise _Failed(f"more than {_MOST_REDIRECTS} redirects")

    def _post(self, url: httpx.URL, body: bytes) -> tuple[int, httpx.Headers, bytes]:
        settings = self._settings
        headers = {**_PLAIN, **(self._headers if _origin(url) == _origin(self._url) else {})}
        timeout = httpx.Timeout(settings.timeout, connect=min(settings.connect_timeout, settings.timeout))
        request = httpx.Request("POST", url, headers=headers, content=body, extensions={"timeout": timeout.as_dict()})
        try:
            # The bare transport: a client's cookies and its own ideas of redirects have no place here.
            response = self._transport.handle_request(request)
            try:
                return response.status_code, response.headers, self._body(response)
            finally:
                response.close()
        except httpx.ConnectTimeout as error:
            raise _Failed(f"no connection: {failed(error)}", again=True) from error
        except httpx.TimeoutException as error:
            raise _Failed(f"no answer within {settings.timeout:g} s") from error
        except httpx.TransportError as error:
            raise _Failed(failed(error), again=True) from error
        except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: the pool was closed meanwhile
            raise _Failed(failed(error)) from error

    def _body(self, response: httpx.Response) -> bytes:
        limit = self._settings.answer_limit
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > limit:
                raise _Failed(f"answered more than {limit:,} bytes: {quoted(bytes(body[:1000]), self._masker)}")
        return bytes(body)

    def _answer(self, status: int, headers: httpx.Headers, raw: bytes, request: Request) -> Any:
        shown = quoted(raw, self._masker)
        if not 200 <= status <= 299:
            moved = f", moved to {_shown(_joined(self._url, headers['location']))}" if "location" in headers else ""
            again = status == 429 or status >= 500
            after = retry_after(headers.get("retry-after"), time.time()) if again else None
            raise _Failed(f"HTTP {status}{moved}: {shown}", again=again, after=after)
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind and kind != "application/json" and not kind.endswith("+json"):
            raise _Failed(f"answered {kind}, not application/json: {shown}")
        try:
            answer = decode(raw)
        except NotJson as error:
            raise _Failed(f"the answer is {error}: {shown}") from None
        if wrong := mismatch(request, answer):
            raise _Failed(wrong)
        return self._masker.mask_value(answer)

    def _elsewhere(self, url: httpx.URL, location: str) -> httpx.URL:
        target = _joined(url, location)
        if target.scheme not in ("http", "https") or not _has_place(target):
            raise _Failed(f"redirected to {_shown(target)}, which is not an http address")
        return target.copy_with(userinfo=b"", fragment=None)

    def _pause(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = error.after if isinstance(error, _Failed) else None
        return min(max(self._backoff(state), asked or 0.0), self._settings.longest_wait)


def open_http(spec: str, settings: Settings) -> HttpTarget:
    """The target at the address `spec`."""
    try:
        url = httpx.URL(spec)
    except (httpx.InvalidURL, ValueError, TypeError) as error:
        # The message of such an error may quote the address, password and all.
        raise UsageError("the target's address is not a URL", where=spec.partition(":")[0], hint=_hint(spec)) from error
    if not _has_place(url):
        raise UsageError("the target's address has no host or no possible port", where=url.scheme, hint=_hint(spec))
    return HttpTarget(url, settings)


def _hint(spec: str) -> str:
    return f"{spec.partition(':')[0]}://host:port/path"


def _has_place(url: httpx.URL) -> bool:
    return bool(url.host) and (url.port is None or 0 < url.port < 1 << 16)


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or {"http": 80, "https": 443}.get(url.scheme)


def _joined(url: httpx.URL, location: str) -> httpx.URL:
    try:
        return url.join(location)
    except (httpx.InvalidURL, ValueError):
        raise _Failed("redirected to something that is not an address") from None


def _shown(url: httpx.URL) -> str:
    """An address as it may be shown: without its user:password and without the values of its query."""
    bare = str(url.copy_with(userinfo=b"", query=None, fragment=None))
    scheme, _, rest = bare.partition("://")
    query = "&".join(f"{name}={MASK}" for name, _ in url.params.multi_items())
    return Masker.from_environment().mask(f"{scheme}://{rest}{'?' if query else ''}{query}")


def _identity(url: httpx.URL) -> list[list[str | None]]:
    """The query's part in the fingerprint: `?model=a` and `?model=b` are two systems, whatever key either is asked
    with.
    """
    masker = Masker.from_environment()
    return [[name, None if secret_name(name) else masker.mask(value)] for name, value in url.params.multi_items()]


def _credentials(url: httpx.URL) -> tuple[dict[str, str], list[str]]:
    """The headers that carry credentials, and the secrets in them and in the address."""
    headers: dict[str, str] = {}
    secrets = [value for name, value in url.params.multi_items() if secret_name(name)]
    if url.userinfo:
        pair = b64encode(f"{url.username}:{url.password}".encode()).decode("ascii")
        headers["authorization"] = f"Basic {pair}"
        secrets += [url.password, pair]
    if token := os.environ.get(BEARER_VARIABLE, "").strip():
        headers["authorization"] = f"Bearer {token}"
        secrets.append(token)
    if text := os.environ.get(HTTP_HEADERS, "").strip():
        headers |= _more_headers(text)
    for name, value in headers.items():
        if not value.isascii() or not value.isprintable() or not value:
            raise UsageError(
                f"the value of the header {name!r} cannot be sent", where=HTTP_HEADERS, hint="printable ASCII"
            )
    return headers, secrets


def _more_headers(text: str) -> dict[str, str]:
    hint = '{"X-Api-Key": "..."}'
    try:
        headers = orjson.loads(text)
    except orjson.JSONDecodeError:
        raise UsageError("it is not a JSON object", where=HTTP_HEADERS, hint=hint) from None
    if not isinstance(headers, dict) or not all(isinstance(value, str) for value in headers.values()):
        raise UsageError("it is not a JSON object of strings", where=HTTP_HEADERS, hint=hint)
    for name in headers:
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum() or name.lower() in _OURS:
            raise UsageError(f"{name!r} cannot be set", where=HTTP_HEADERS, hint=hint)
    return {name.lower(): value for name, value in headers.items()}
