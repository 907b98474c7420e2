"""Requests to a forge's REST API: tried again where that can help, read page by page, tokens never shown.

Rate limits are what GitHub describes (docs.github.com, "Rate limits for the REST API"): 429, or 403 with `retry-after`,
with `x-ratelimit-remaining: 0`, or with words that say so. Any other 403 is a permission that is not there.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
import orjson
import tenacity
from attrs import frozen

from yb_eval.errors import NotMeasured, UsageError, shorten
from yb_eval.targets.secrets import Masker

PAGE = 100
_MOST_PAGES = 200
_ANSWER_LIMIT = 32 * 2**20
_LOOPBACK = frozenset(("127.0.0.1", "::1", "localhost"))


class ForgeError(NotMeasured):
    """The forge did not do what it was asked."""


class Forbidden(ForgeError):
    """The token may not do this: on GitHub, that of a pull request from a fork can only read."""


class Gone(ForgeError):
    """What was asked for is not there (404, 410)."""


class Rejected(ForgeError):
    """The forge finds the request itself wrong (400, 413, 422): too long, for one."""


class _Again(Exception):
    """An attempt failed in a way that another may not. `after`: the seconds the forge asks to be left alone."""

    def __init__(self, error: ForgeError, after: float = 0.0) -> None:
        super().__init__(str(error))
        self.error = error
        self.after = after


@frozen(slots=True, kw_only=True)
class Patience:
    """How long to try: `attempts` in all, `wait` seconds before the second one and twice as long before each further
    one. What the forge asks for counts where it is longer; over `longest` seconds nobody waits."""

    attempts: int = 5
    wait: float = 1.0
    longest: float = 120.0
    timeout: float = 30.0


class Api:
    """One REST API. `base` is its root; `headers` carry the token, which `secret` is, so that no message shows it."""

    def __init__(self, base: str, headers: Mapping[str, str], *, secret: str, patience: Patience) -> None:
        """Raises `UsageError` for an address that is none, or over which a token would travel unencrypted."""
        parts = urlsplit(base)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UsageError(f"{shorten(base)} is not the address of an API")
        if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
            raise UsageError("the token would be sent unencrypted", where=base, hint="use https")
        if not secret.isascii() or not secret.isprintable() or " " in secret:
            raise UsageError("the token cannot be one: it has characters that no token has")
        self._host = parts.hostname
        self._base = base.rstrip("/")
        self._masker = Masker.from_environment(secret)
        self._patience = patience
        self._client = httpx.Client(
            headers={"user-agent": "yb-eval", "accept": "application/json", **headers},
            timeout=patience.timeout,
            follow_redirects=False,  # a token goes where it was meant to go, and nowhere else
        )

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, **query: str | int) -> Any:
        return self._tried("GET", path, query=query)[0]

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The decoded answer to a request that changes something; `None` where there is no body."""
        return self._tried(method, path, body=body)[0]

    def pages(self, path: str, **query: str | int) -> Iterator[dict[str, Any]]:
        """Every item of a list, over all its pages."""
        for page in range(1, _MOST_PAGES + 1):
            items, more = self._tried("GET", path, query={**query, "per_page": PAGE, "page": page})
            if not isinstance(items, list):
                raise ForgeError("a list was expected", where=f"GET {path}")
            yield from (item for item in items if isinstance(item, dict))
            # A forge that caps the page below what was asked says so by a link; one without links by a full page.
            if not more and len(items) < PAGE:
                return

    def _tried(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> tuple[Any, bool]:
        patience = self._patience
        backoff = tenacity.wait_exponential_jitter(
            initial=patience.wait, max=patience.longest, jitter=patience.wait / 2
        )

        def pause(state: tenacity.RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome is not None else None
            return max(backoff(state), error.after if isinstance(error, _Again) else 0.0)

        retry = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Again),
            stop=tenacity.stop_after_attempt(patience.attempts),
            wait=pause,
            reraise=True,
        )
        try:
            return retry(self._once, method, path, query or {}, body)
        except _Again as failed:
            attempts = retry.statistics.get("attempt_number", 1)
            error = failed.error
            raise ForgeError(f"{error.what} ({attempts} attempts)", where=error.where, hint=error.hint) from None

    def _once(
        self, method: str, path: str, query: Mapping[str, str | int], body: Mapping[str, Any] | None
    ) -> tuple[Any, bool]:
        where = f"{method} {self._host}{path}"
        content = None if body is None else orjson.dumps(body)
        headers = {} if body is None else {"content-type": "application/json"}
        try:
            with self._client.stream(
                method, self._base + path, params=dict(query), content=content, headers=headers
            ) as response:
                raw = bytearray()
                for chunk in response.iter_bytes():
                    raw += chunk
                    if len(raw) > _ANSWER_LIMIT:
                        raise ForgeError("the answer is too long", where=where)
        except httpx.TransportError as error:
            said = self._masker.mask(str(error) or type(error).__name__)
            raise _Again(ForgeError(f"no answer: {said}", where=where)) from None
        except httpx.HTTPError as error:
            raise ForgeError(self._masker.mask(str(error) or type(error).__name__), where=where) from None
        if not 200 <= response.status_code <= 299:
            raise self._failure(response, bytes(raw), where)
        if not raw.strip():
            return None, False
        try:
            return orjson.loads(raw), "next" in response.links
        except orjson.JSONDecodeError:
            raise _Again(ForgeError("the answer is not JSON", where=where)) from None

    def _failure(self, response: httpx.Response, raw: bytes, where: str) -> Exception:
        """The error that an answer means."""
        status, said = response.status_code, self._masker.mask(_message(raw))
        what = f"HTTP {status}: {said}" if said else f"HTTP {status}"
        if status >= 500 or status in (408, 425):
            return _Again(ForgeError(what, where=where), _asked(response.headers))
        if status == 429 or (status == 403 and _limited(response.headers, said)):
            after = _asked(response.headers)
            limit = ForgeError(f"rate limit: {what}", where=where)
            if after > self._patience.longest:
                return ForgeError(f"rate limit, for another {after:.0f} s: {what}", where=where)
            return _Again(limit, after)
        if status == 401:
            return ForgeError(what, where=where, hint="the token is not valid, or has expired")
        kinds = {403: Forbidden, 404: Gone, 410: Gone, 400: Rejected, 413: Rejected, 422: Rejected}
        return kinds.get(status, ForgeError)(what, where=where)


def _limited(headers: httpx.Headers, said: str) -> bool:
    words = said.lower()
    return (
        "retry-after" in headers
        or headers.get("x-ratelimit-remaining") == "0"
        or "rate limit" in words
        or "abuse detection" in words
    )


def _asked(headers: httpx.Headers) -> float:
    """The seconds that the forge asks to be left alone: `retry-after`, or the end of an exhausted limit."""
    after = headers.get("retry-after", "").strip()
    if after.isdecimal() and len(after) < 9:
        return float(after)
    reset = (headers.get("x-ratelimit-reset") or headers.get("ratelimit-reset") or "").strip()
    spent = headers.get("x-ratelimit-remaining") == "0" or headers.get("ratelimit-remaining") == "0"
    if spent and reset.isdecimal() and len(reset) < 12:
        return max(0.0, float(reset) - time.time())
    return 0.0


def _message(raw: bytes) -> str:
    """What an error's body says, on one line and short."""
    try:
        body = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return ""
    if not isinstance(body, dict):
        return ""
    said = body.get("message", body.get("error", ""))
    parts = [said if isinstance(said, str) else orjson.dumps(said).decode()]
    errors = body.get("errors")
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict) and isinstance(error.get("message"), str):
            parts.append(error["message"])
        elif isinstance(error, str):
            parts.append(error)
    text = "; ".join(part for part in parts if part)
    return text if len(text) <= 300 else text[:297] + "..."
