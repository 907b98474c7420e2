"""Backends over HTTP: a JSON request by POST, a JSON answer.

One pooled client per backend, HTTP/1.1 with kept-alive connections. Redirects are not followed: neither the key nor the state
goes anywhere but where the user sent them. An answer has a limit of bytes and must be JSON.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from http.cookiejar import DefaultCookiePolicy
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson

from yb_eval import UsageError
from yb_eval.digest import finite_json, identifiable, identify
from yb_eval.errors import printable, shorten
from yb_eval.targets import mask
from yb_eval.targets.failures import failed, quoted
from yb_eval.targets.waiting import retry_after
from yb_eval.targets.wire import NotJson
from yb_eval_decision.backends.addresses import Address
from yb_eval_decision.backends.base import Limits, Price, Request
from yb_eval_decision.backends.bodies import decode_body
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Failed, Prepared, RemoteBackend, Reply

#: What a fingerprint has for the way this package speaks a wire; it rises when the same request is written otherwise.
WIRE_VERSION = 1

_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",  # a compressed answer could unfold to far more than the limit
    "content-type": "application/json",
    "user-agent": "yb-eval",
}
#: Statuses of a server that has too much to do (529: TypeSafe's and Anthropic's "overloaded").
_BUSY = frozenset([429, 503, 529])
#: What services write in an error that may pass.
_PASSING = (
    "overload", "rate limit", "rate_limit", "ratelimit", "too many requests", "timeout", "timed out", "unavailable",
    "temporar", "try again", "server_error", "internal", "capacity",
)  # fmt: skip


class HttpBackend(RemoteBackend):
    """A service at one address that speaks one wire; subclasses give `encode` and `read`."""

    wire: str = ""

    def __init__(
        self,
        address: Address,
        path: str,
        *,
        spec: str,
        model: str | None = None,
        headers: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        pace: Pace | None = None,
        limits: Limits | None = None,
        price: Price | None = None,
    ) -> None:
        """`path` is appended to the address. `headers` and `options` are the wire's own; options that change answers belong
        in the fingerprint and headers do not."""
        self.address = address
        self.url = address.url + path
        self.model = model
        self._headers = {**_HEADERS, **(headers or {})}
        if address.key is not None:
            self._headers["authorization"] = f"Bearer {address.key}"
        for name, value in self._headers.items():
            if not value.isascii() or not value.isprintable():
                raise UsageError(f"the header {name!r} would hold what cannot be sent", where=mask(spec), hint="ASCII")
        self._client: httpx.AsyncClient | None = None
        parts = urlsplit(self.url)
        identity = {
            "class": type(self).__name__,
            "address": f"{parts.netloc}{parts.path}",
            "model": model,
            "wire": f"{self.wire}/{WIRE_VERSION}",
            "options": identifiable(dict(options or {})),
        }
        super().__init__(
            spec=mask(spec),
            fingerprint=identify("decision-backend", identity),
            pace=pace,
            limits=limits,
            price=price,
            secrets=[] if address.key is None else [address.key],
            pin=model,
        )

    # What a wire gives

    def encode(self, request: Request) -> tuple[dict[str, Any], Any]:
        """The body as a JSON value, and what `read` wants to know of it."""
        raise NotImplementedError

    def read(self, prepared: Prepared, value: Mapping[str, Any]) -> Reply:
        """The reply in the answer's JSON object. Raises `Failed` for one that is none."""
        raise NotImplementedError

    # What is done with it

    def let_go(self) -> None:
        self._client = None

    def prepare(self, request: Request) -> Prepared:
        try:
            finite_json(request.state, "$.state")
            value, more = self.encode(request)
            finite_json({name: part for name, part in value.items() if name != "state"})
            body = orjson.dumps(value, default=dict)  # in its own order: that of options is part of the question
        except (ValueError, TypeError, RecursionError) as error:
            raise Failed(f"the request is not JSON: {error}") from None
        most = self.limits.body_bytes
        if most is not None and len(body) > most:
            raise Failed(f"the request has {len(body):,} bytes, the backend takes {most:,}")
        return Prepared(request, body, more)

    async def ask(self, prepared: Prepared) -> Reply:
        value = await self._post(prepared.body)
        if not isinstance(value, dict):
            raise Failed(f"answered {shorten(value)}, not an object", unpriced=True)
        error = value.get("error")
        if error and not isinstance(value.get("answers"), Mapping | list):
            raise error_in_answer(error)
        return self.read(prepared, value)

    async def _post(self, body: bytes) -> Any:
        client = self._connected()
        try:
            async with client.stream("POST", self.url, content=body, headers=self._headers) as response:
                raw = await self._body(response)
        except httpx.ConnectTimeout as error:
            raise Failed(f"no connection: {failed(error)}", again=True, backend=True) from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            # Some was sent, perhaps all: the server may have answered, and billed, what never arrived.
            sent = not isinstance(error, httpx.ConnectError)
            raise Failed(failed(error), again=True, backend=True, unpriced=sent) from error
        status = response.status_code
        if not 200 <= status <= 299:
            raise self._refused(status, response.headers, raw)
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind and kind != "application/json" and not kind.endswith("+json"):
            said = quoted(raw, self._masker)
            raise Failed(f"answered {kind}, not application/json: {said}", backend=True, unpriced=True)
        try:
            return decode_body(raw)
        except NotJson as error:
            said = quoted(raw, self._masker)
            raise Failed(f"the answer is {error}: {said}", again=True, backend=True, unpriced=True) from None

    async def _body(self, response: httpx.Response) -> bytes:
        limit = self.pace.answer_limit
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > limit:
                raise Failed(f"answered more than {limit:,} bytes", unpriced=True)
        return bytes(body)

    def _connected(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                # The time a request has is kept by whoever asks, all of it.
                timeout=httpx.Timeout(None, connect=self.pace.connect_timeout),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=self.pace.concurrency),
                follow_redirects=False,
                trust_env=not self.address.local,  # this machine is not reached through a proxy
                verify=certificates(self.address),
            )
            self._client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=[]))
            self.background.at_end(self._client.aclose)
        return self._client

    def _refused(self, status: int, headers: httpx.Headers, raw: bytes) -> Failed:
        if 300 <= status <= 399:
            where = printable(mask(headers.get("location", "somewhere").partition("?")[0]))
            said = f"HTTP {status}: it has moved to {shorten(where, 120)}, which is not followed"
            return Failed(said, backend=True, lasting=True)
        after = retry_after(headers.get("retry-after"), self.pace.now())
        return refused(status, said_in(raw) or quoted(raw, self._masker), after, self.address)


def certificates(address: Address) -> ssl.SSLContext | bool:
    """How a server is verified. Reading all the world's certificates takes a while, and plain http on this machine needs none: a
    context without any trusts nobody."""
    plain = address.local and address.url.startswith("http:")
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True


def refused(status: int, said: str, after: float | None, address: Address) -> Failed:
    """The failure of an attempt that was answered with an HTTP status other than success. Codes: RFC 9110, section 15."""
    if status == 401:
        key = f"the key in {address.names} is refused" if address.key else f"no key was sent; set {address.names}"
        return Failed(f"HTTP 401: {key}", backend=True, lasting=True)
    if status == 402:
        return Failed(f"HTTP 402: {said}", backend=True, lasting=True)
    again = status in (408, 425, 429) or status >= 500
    backend = again or status == 404
    return Failed(f"HTTP {status}: {said}", again=again, after=after, busy=status in _BUSY, backend=backend)


def said_in(raw: bytes) -> str | None:
    """The message in the body of an error, where there is one in one of the usual places."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        return None
    for name in ("error", "detail", "message"):
        said = value.get(name) if isinstance(value, dict) else None
        if isinstance(said, dict):
            said = said.get("message") or said.get("code")
        if isinstance(said, str) and said:
            return said
    return None


def error_in_answer(error: Any) -> Failed:
    """The failure that the body of a 200 reports. It may pass if it says so, or has the code of one that may."""
    told = error if isinstance(error, Mapping) else {"message": error}
    code = told.get("code", told.get("status"))
    status = code if isinstance(code, int) else int(code) if isinstance(code, str) and code.isdecimal() else 0
    words = " ".join(str(told.get(name, "")) for name in ("type", "code", "message")).lower()[:500]
    again = status in (408, 425, 429) or 500 <= status <= 599 or told.get("retryable") is True
    again = again or (status == 0 and any(word in words for word in _PASSING))
    said = told.get("message") or told.get("code") or error
    text = said if isinstance(said, str) else shorten(said)
    return Failed(f"an error in the answer: {text}", again=again, busy=status in _BUSY, backend=again)


def whole(value: Any) -> int:
    """A count of tokens as a service reports it; 0 where it does not."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def dollars(value: Any) -> float | None:
    """A cost as a service reports it: a number, or a number in a text."""
    try:
        cost = float(value) if isinstance(value, float | int | str) and not isinstance(value, bool) else -1.0
    except ValueError:
        return None
    return cost if 0 <= cost < float("inf") else None


def text_or_none(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
