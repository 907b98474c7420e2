"""An httpx transport on which a request has one deadline, from the first byte sent to the last one read.

httpx's own time limits hold for each single read, so that a server that sends a byte now and then is waited for without
end. Here each operation on the socket gets what is left of the request's time. Environment proxies are used as httpx
would, except for loopback addresses: those are this machine, whatever a proxy would make of them.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
import urllib.request
import weakref
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from typing import Any

import httpcore
import httpx

_SLICE = 1 << 16


class Clock(threading.local):
    """When the request of this thread has to be done."""

    ends = float("inf")

    def start(self, seconds: float) -> None:
        self.ends = time.monotonic() + seconds

    def left(self, limit: float | None = None) -> float:
        """The seconds left, at most `limit`. Raises `httpcore.ReadTimeout` if there are none."""
        left = self.ends - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout("the time is up")
        return left if limit is None else min(left, limit)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, backend: _Backend) -> None:
        self._stream = stream
        self._backend = backend
        backend.streams.add(self)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._backend.clock.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # In slices, so that a server that reads slowly cannot stretch one write without end.
        for start in range(0, len(buffer), _SLICE):
            self._stream.write(buffer[start : start + _SLICE], self._backend.clock.left(timeout))

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._backend.clock.left(timeout))
        return _Stream(secured, self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()


class _Backend(httpcore.NetworkBackend):
    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.streams: weakref.WeakSet[_Stream] = weakref.WeakSet()
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left = self.clock.left(timeout)
        return _Stream(self._backend.connect_tcp(host, port, left, local_address, socket_options), self)


class DeadlineTransport(httpx.BaseTransport):
    """Pooled HTTP/1.1 connections, shared by threads. `clock.start(seconds)` begins the calling thread's next
    request.
    """

    def __init__(self, url: httpx.URL, *, keep: int) -> None:
        """Connections to `url`'s host; at most `keep` idle ones are kept. Raises `ValueError` for a proxy of an
        unknown kind.
        """
        self.clock = Clock()
        self._backend = _Backend(self.clock)
        common: dict[str, Any] = {
            # SSL_CERT_FILE and SSL_CERT_DIR are honoured.
            "ssl_context": httpx.create_ssl_context(trust_env=True) if url.scheme == "https" else None,
            "max_connections": None,
            "max_keepalive_connections": keep,
            "keepalive_expiry": 30.0,
            "network_backend": self._backend,
        }
        proxy = proxy_for(url)
        self._pool: httpcore.ConnectionPool
        if proxy is None:
            self._pool = httpcore.ConnectionPool(**common)
        elif proxy.scheme in ("http", "https"):
            auth = (proxy.username, proxy.password) if proxy.userinfo else None
            self._pool = httpcore.HTTPProxy(str(proxy.copy_with(userinfo=b"")), proxy_auth=auth, **common)
        else:
            raise ValueError(f"a {proxy.scheme} proxy is not supported")

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with _as_httpx():
            response = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    target,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(
            response.status, headers=response.headers, stream=_Body(response), extensions=response.extensions
        )

    def close(self) -> None:
        """Closes all connections. A thread that waits for an answer is woken and fails."""
        for stream in list(self._backend.streams):
            connection = stream.get_extra_info("socket")
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._response.iter_stream()

    def close(self) -> None:
        self._response.close()


@contextlib.contextmanager
def _as_httpx() -> Iterator[None]:
    """Both libraries have the same names for the same errors."""
    try:
        yield
    except (
        httpcore.TimeoutException,
        httpcore.NetworkError,
        httpcore.ProtocolError,
        httpcore.ProxyError,
        httpcore.UnsupportedProtocol,
    ) as error:
        raise getattr(httpx, type(error).__name__, httpx.TransportError)(str(error)) from error


def loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(url: httpx.URL) -> httpx.URL | None:
    """The proxy that the environment (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY) has for `url`; none for this
    machine.
    """
    if loopback(url.host):
        return None
    proxies = urllib.request.getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(url.host):
        return None
    return httpx.URL(proxy if "://" in proxy else f"http://{proxy}")
