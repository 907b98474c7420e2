"""The socket that the site is served on, from bind to Ctrl-C."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import uvicorn

from yb_eval.errors import UsageError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

_BACKLOG = 64


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """A listening socket and its URL. Port 0 is any free one.

    Raises `UsageError` where the address is not this machine's or the port is taken.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"no such address: {error.strerror}", where=f"--host {host}") from error
    bound = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(_BACKLOG)
    except OSError as error:
        bound.close()
        hint = "choose another with --port; --port 0 takes any free one"
        raise UsageError(f"cannot listen on port {port} of {host}: {error.strerror}", hint=hint) from error
    name = f"[{host}]" if ":" in host else host
    return bound, f"http://{name}:{bound.getsockname()[1]}/"


def serve(app: ASGIApp, bound: socket.socket) -> None:
    """Serves `app` on a listening socket until Ctrl-C, which is raised as `KeyboardInterrupt` when the last answer has
    been given."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws="none",
        http="h11",
        loop="asyncio",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_BACKLOG,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run(sockets=[bound])
