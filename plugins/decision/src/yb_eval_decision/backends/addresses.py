"""Where a backend is, and the key that belongs there.

A key is read from the environment and sent to one place: the vendor's, or the one that the vendor's own `..._BASE_URL` names.
It is never sent over plain http except to this machine, never follows a redirect, and is never shown.
"""

from __future__ import annotations

import os
from urllib.parse import SplitResult, urlsplit

from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.targets import mask
from yb_eval.targets.deadline import loopback

#: The key for an address that the user names (`https://host/...`), and the host it is for.
OWN_KEY = "YB_EVAL_DECISION_API_KEY"
OWN_HOST = "YB_EVAL_DECISION_API_HOST"


@frozen(slots=True)
class Address:
    """A base URL (no slash at its end), its key and the variables that the key may come from."""

    url: str
    key: str | None = field(default=None, repr=False)
    variables: tuple[str, ...] = ()
    used: str | None = None

    @property
    def local(self) -> bool:
        return loopback(urlsplit(self.url).hostname or "")

    @property
    def names(self) -> str:
        """The key's variable, for messages."""
        return self.used or " or ".join(self.variables) or "the key"


def variable(name: str) -> str | None:
    """The value of an environment variable, `None` where it is empty."""
    return os.environ.get(name, "").strip() or None


def address(url: str, *, where: str, keys: tuple[str, ...] = (), required: bool = False) -> Address:
    """The address `url` with the first key that the environment has under the names `keys`.

    Raises `UsageError` at `where` for what is no address, for credentials in it, for a key that is `required` and missing,
    and for one that would go over plain http to another machine.
    """
    parts = split(url, where)
    used = next((name for name in keys if variable(name)), None)
    key = None if used is None else variable(used)
    if key is None and required:
        raise UsageError("there is no key", where=where, hint=f"set {' or '.join(keys)}")
    if key is not None and used is not None:
        if not key.isascii() or not key.isprintable() or " " in key:
            raise UsageError("the key cannot be sent in a header", where=used, hint="printable ASCII without spaces")
        if parts.scheme == "http" and not loopback(parts.hostname or ""):
            hint = f"use https, or unset {used}"
            raise UsageError(f"{used} would be sent over plain http to {parts.hostname}", where=where, hint=hint)
    return Address(origin(parts) + parts.path.rstrip("/"), key, keys, used)


def split(url: str, where: str) -> SplitResult:
    """The parts of an http address. Raises `UsageError` at `where` for anything else, without quoting what may be a secret."""
    hint = "https://host or http://localhost:8000"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError("it is no address", where=mask(where), hint=hint) from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not _printed(url):
        raise UsageError("it is no http address", where=mask(where), hint=hint)
    if "@" in parts.netloc:
        # The user:password is not quoted.
        where = mask(where) if "://" in where else where.partition(":")[0]
        raise UsageError("an address holds no credentials", where=where, hint="keys come from the environment")
    if parts.query:
        raise UsageError("an address has no query", where=mask(where).partition("?")[0], hint="#MODEL names a model")
    return parts


def _printed(url: str) -> bool:
    return url.isprintable() and not any(map(str.isspace, url))


def origin(parts: SplitResult) -> str:
    """Scheme, host and port, in lower case, the usual port left out."""
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{host}" + ("" if parts.port in (None, usual) else f":{parts.port}")


def own_key(url: str, where: str) -> tuple[str, ...]:
    """The names of the keys for an address that the user names: `YB_EVAL_DECISION_API_KEY`, unless
    `YB_EVAL_DECISION_API_HOST` (host or host:port) says that it is for another one."""
    meant = variable(OWN_HOST)
    if meant is None:
        return (OWN_KEY,)
    parts = split(url, where)
    return (OWN_KEY,) if meant.lower() in (parts.hostname, parts.netloc.lower()) else ()
