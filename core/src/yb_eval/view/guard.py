"""What stands before the pages: who may ask, what may be asked, and the headers of every answer.

A page of another site can make a browser ask a server on loopback. It cannot read the answers, unless it gives its own
name the address 127.0.0.1 (DNS rebinding): then the request carries that name in `Host`, and is refused. A numeric
address cannot be rebound.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

#: The names under which a server that is bound to everything is known cannot be listed; numeric ones are let through.
ANY_ADDRESS = frozenset({"0.0.0.0", "::"})  # noqa: S104 - recognised here, never bound by default

_HOST = re.compile(r"(?P<name>[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?\Z")

_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_POLICY = "default-src 'none'; frame-ancestors 'none'"


class Guard:
    """An ASGI middleware that lets through GET and HEAD, asked under one of the names `hosts`, from no other site."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] = LOOPBACK) -> None:
        self.app = app
        self.hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"no {scope['type']} here")  # the server is told to speak HTTP only

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", _POLICY)
            await send(message)

        refused = self._refusal(scope["method"], Headers(scope=scope))
        await (refused or self.app)(scope, receive, answer)

    def _refusal(self, method: str, headers: Headers) -> PlainTextResponse | None:
        names = headers.getlist("host")
        host = _HOST.match(names[0].lower()) if len(names) == 1 else None
        if host is None:
            return PlainTextResponse("One Host header is needed.\n", 400)
        name = host["name"].strip("[]")
        if not self._known(name):
            return PlainTextResponse("This server does not go by that name (start it with --host NAME).\n", 421)
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in (f"http://{names[0].lower()}", f"https://{names[0].lower()}"):
            return PlainTextResponse("Other sites may not ask.\n", 403)
        # A link on another page may lead here; what it embeds or fetches may not.
        foreign = headers.get("sec-fetch-site", "none") not in ("none", "same-origin")
        link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if foreign and not link:
            return PlainTextResponse("Other sites may not ask.\n", 403)
        if method not in ("GET", "HEAD"):
            return PlainTextResponse("This server only shows.\n", 405, {"Allow": "GET, HEAD"})
        return None

    def _known(self, name: str) -> bool:
        if name in self.hosts:
            return True
        if not self.hosts & ANY_ADDRESS:
            return False
        try:
            ip_address(name)
        except ValueError:
            return False
        return True
