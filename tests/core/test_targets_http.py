"""Services over http as targets, against real servers on the loopback interface."""

from __future__ import annotations

import gzip
import json
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from yb_eval.errors import UsageError
from yb_eval.targets import Settings, open_target
from yb_eval.targets.deadline import loopback, proxy_for
from yb_eval.targets.http import HttpTarget

Behave = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Reads a request, notes it down, and leaves the answer to the test."""

    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.request_ = json.loads(self.body)
        with self.server.lock:
            self.server.seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.server.peers.add(self.client_address)
            self.turn = len(self.server.seen)
        self.server.behave(self)

    def do_GET(self) -> None:
        self.say(200, b'"by GET"')

    def say(self, status: int, body: bytes, kind: str | None = "application/json", **headers: str) -> None:
        self.send_response(status)
        if kind is not None:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, value: object) -> None:
        self.say(200, json.dumps(value).encode())

    def log_message(self, *_: object) -> None:
        pass


class Service(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, behave: Behave) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behave = behave
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.peers: set[object] = set()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        pass  # clients that leave are what these tests are about


@pytest.fixture(autouse=True)
def no_proxies_no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith("YB_EVAL_HTTP"):
            monkeypatch.delenv(name)


@pytest.fixture
def served() -> Iterator[Callable[[Behave], Service]]:
    services: list[Service] = []

    def serve(behave: Behave) -> Service:
        service = Service(behave)
        services.append(service)
        threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True).start()
        return service

    yield serve
    for service in services:
        service.over.set()
        service.shutdown()
        service.server_close()


@pytest.fixture
def opened() -> Iterator[Callable[..., HttpTarget]]:
    targets: list[HttpTarget] = []

    def open_(url: str, **settings: Any) -> HttpTarget:
        given = {"timeout": 20.0, "retries": 2, "backoff": 0.001, "longest_wait": 0.05, **settings}
        target = open_target(url, builtins={}, settings=Settings(**given))
        assert isinstance(target, HttpTarget)
        targets.append(target)
        return target

    yield open_
    for target in targets:
        target.close()


Serve = Callable[[Behave], Service]
Open = Callable[..., HttpTarget]


def failure(target: HttpTarget, request: dict[str, Any] | None = None) -> str:
    (answer,) = target.ask([request or {"id": "a"}])
    assert answer.failure is not None, answer
    assert answer.failure.isprintable()
    return answer.failure


def echo(handler: Handler) -> None:
    handler.answer({"id": handler.request_["id"], "said": handler.request_})


def test_a_request_is_posted_and_its_answer_comes_back(served: Serve, opened: Open) -> None:
    service = served(echo)
    request = {"id": "a", "text": "привет \u2028", "n": [1, 2.5, None]}
    (answer,) = opened(service.url + "/ask").ask([request])
    assert answer.value == {"id": "a", "said": request}
    path, headers = service.seen[0]
    assert path == "/ask"
    assert headers["content-type"] == "application/json"
    assert "authorization" not in headers


def test_threads_share_a_pool_of_connections(served: Serve, opened: Open) -> None:
    service = served(echo)
    target = opened(service.url, jobs=4)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda n: target.ask([{"id": n}])[0], range(60)))
    assert [answer.value["id"] for answer in answers] == list(range(60))
    assert len(service.peers) <= 8


def test_a_503_is_asked_again(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(503, b"busy") if handler.turn == 1 else echo(handler))
    assert opened(service.url).ask([{"id": "a"}])[0].failure is None
    assert len(service.seen) == 2


def test_after_the_last_retry_the_failure_says_what_came_back(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(500, b"boom\x1b[2J", "text/plain"))
    assert failure(opened(service.url)) == "HTTP 500: 'boom\\x1b[2J' (3 attempts)"
    assert len(service.seen) == 3


def test_a_404_is_not_asked_again(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(404, b"{}"))
    assert failure(opened(service.url)) == "HTTP 404: '{}'"
    assert len(service.seen) == 1


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_honoured_up_to_the_longest_wait(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch, as_date: bool
) -> None:
    later = formatdate(time.time() + 3600, usegmt=True) if as_date else "3600"
    service = served(lambda handler: handler.say(429, b"", Retry_After=later) if handler.turn == 1 else echo(handler))
    target = opened(service.url, longest_wait=7.0)
    waited: list[float] = []
    monkeypatch.setattr(target._closed, "wait", lambda timeout: waited.append(timeout))
    assert target.ask([{"id": "a"}])[0].failure is None
    assert waited == [7.0]


def test_retry_after_lengthens_the_pause_and_never_shortens_it(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = served(lambda handler: handler.say(429, b"", Retry_After="3") if handler.turn == 1 else echo(handler))
    target = opened(service.url, longest_wait=100.0)
    waited: list[float] = []
    monkeypatch.setattr(target._closed, "wait", lambda timeout: waited.append(timeout))
    target.ask([{"id": "a"}])
    assert waited == [3.0]


@pytest.mark.parametrize("header", ["soon", "-1", "", "Wed, 99 Nov 2030 00:00:00 GMT", "9" * 400])
def test_a_senseless_retry_after_is_ignored(served: Serve, opened: Open, header: str) -> None:
    service = served(lambda handler: handler.say(429, b"", Retry_After=header) if handler.turn == 1 else echo(handler))
    assert opened(service.url).ask([{"id": "a"}])[0].failure is None


def test_a_service_that_is_not_there_is_a_failure(opened: Open) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = failure(opened(f"http://127.0.0.1:{port}"))
    assert told.startswith("ConnectError: ")
    assert told.endswith("(3 attempts)")


def test_a_service_that_never_answers_has_its_time(served: Serve, opened: Open) -> None:
    def hang(handler: Handler) -> None:
        handler.server.over.wait(30)

    service = served(hang)
    assert failure(opened(service.url, timeout=0.3)) == "no answer within 0.3 s"
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    "head", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n"]
)
def test_a_drip_of_bytes_does_not_stretch_the_time(served: Serve, opened: Open, head: bytes) -> None:
    def drip(handler: Handler) -> None:
        handler.wfile.write(head or b"HTTP/1.1 200 OK\r\nX-Long: ")
        while not handler.server.over.wait(0.02):
            handler.wfile.write(b"1")

    assert failure(opened(served(drip).url, timeout=0.4)) == "no answer within 0.4 s"


def test_a_server_that_does_not_read_does_not_stretch_the_time(opened: Open) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        target = opened(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.3)
        assert failure(target, {"text": "x" * 20_000_000}) == "no answer within 0.3 s"


def test_an_answer_that_breaks_off_is_a_failure(served: Serve, opened: Open) -> None:
    def break_off(handler: Handler) -> None:
        handler.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"tier')
        handler.close_connection = True

    told = failure(opened(served(break_off).url))
    assert told.startswith("RemoteProtocolError: ")
    assert "incomplete" in told or "without sending complete" in told


def test_a_connection_that_is_reset_is_asked_again(served: Serve, opened: Open) -> None:
    def reset(handler: Handler) -> None:
        if handler.turn > 1:
            return echo(handler)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True
        return None

    assert opened(served(reset).url).ask([{"id": "a"}])[0].failure is None


@pytest.mark.parametrize(
    ("body", "kind", "told"),
    [
        (
            b"<html>hello</html>",
            "text/html; charset=utf-8",
            "answered text/html, not application/json: '<html>hello</html>'",
        ),
        (b'{"a": NaN}', "application/json", "the answer is not JSON"),
        (b"", "application/json", "nothing"),
        (b'{"a": 1', "application/json", "'{\"a\": 1'"),
        (b"\xff\xfe", "application/json", "the answer is not JSON"),
        (b"x" * 5000, None, "(5,000 bytes)"),
        (b'{"id": "b"}', "application/json", "the answer is for the id 'b', the request has 'a'"),
    ],
)
def test_what_is_no_answer_is_quoted(served: Serve, opened: Open, body: bytes, kind: str | None, told: str) -> None:
    service = served(lambda handler: handler.say(200, body, kind))
    assert told in failure(opened(service.url))
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    "kind", ["application/json", "Application/JSON; charset=utf-8", "application/vnd.bot+json", None]
)
def test_json_by_any_of_its_names_is_read(served: Serve, opened: Open, kind: str | None) -> None:
    assert opened(served(lambda handler: handler.say(200, b"[1]", kind)).url).ask([{}])[0].value == [1]


@pytest.mark.parametrize("squeezed", [False, True])
def test_an_answer_beyond_the_limit_is_cut_off(served: Serve, opened: Open, squeezed: bool) -> None:
    body = b'"' + b"x" * 2_000_000 + b'"'

    def answer(handler: Handler) -> None:
        if squeezed:
            handler.say(200, gzip.compress(body), Content_Encoding="gzip")
        else:
            handler.say(200, body)

    told = failure(opened(served(answer).url, answer_limit=1 << 20))
    assert told.startswith("answered more than 1,048,576 bytes: '\"xxx")


def test_credentials_go_to_the_service_and_are_never_shown(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YB_EVAL_HTTP_TOKEN", "tok-abcdef")
    monkeypatch.setenv("YB_EVAL_HTTP_HEADERS", '{"X-Api-Key": "key-ghijkl"}')

    def leak(handler: Handler) -> None:
        text = f"no: {handler.headers['Authorization']} {handler.headers['X-Api-Key']} {handler.path}"
        if handler.turn == 1:
            handler.say(403, text.encode())
        else:
            handler.answer(text)

    service = served(leak)
    target = opened(service.url + "/ask?token=q-mnopqr&model=small")
    told = failure(target)
    assert told == "HTTP 403: 'no: Bearer *** *** /ask?token=***&model=small'"
    (answer,) = target.ask([{"id": "a"}])
    assert answer.value == "no: Bearer *** *** /ask?token=***&model=small"
    assert service.seen[0][1]["authorization"] == "Bearer tok-abcdef"
    assert service.seen[0][1]["x-api-key"] == "key-ghijkl"
    assert service.seen[0][0] == "/ask?token=q-mnopqr&model=small"
    assert target.spec == service.url + "/ask?token=***&model=***"


def test_a_password_in_the_address_is_sent_and_not_shown(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(403, handler.headers["Authorization"].encode()))
    target = opened(service.url.replace("//", "//bob:hunter22@"))
    assert target.spec == service.url
    assert "hunter22" not in failure(target)
    assert service.seen[0][1]["authorization"] == "Basic Ym9iOmh1bnRlcjIy"
    assert "Ym9iOmh1bnRlcjIy" not in failure(target)


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_to_another_port_carries_no_credentials(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv("YB_EVAL_HTTP_TOKEN", "tok-abcdef")
    monkeypatch.setenv("YB_EVAL_HTTP_HEADERS", '{"X-Api-Key": "key-ghijkl"}')
    other = served(echo)
    first = served(lambda handler: handler.say(status, b"", Location=other.url + "/there", Set_Cookie="sid=cookie"))
    (answer,) = opened(first.url.replace("//", "//bob:hunter22@") + "/?token=q-mnopqr").ask([{"id": "a"}])
    assert answer.value["said"] == {"id": "a"}
    path, headers = other.seen[0]
    assert path == "/there"
    sent = json.dumps(headers)
    for secret in ("authorization", "x-api-key", "cookie", "tok-abcdef", "key-ghijkl", "hunter22", "q-mnopqr"):
        assert secret not in sent


def test_a_redirect_on_the_same_service_keeps_credentials(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YB_EVAL_HTTP_TOKEN", "tok-abcdef")
    service = served(
        lambda handler: handler.say(307, b"", Location="/new") if handler.path == "/old" else echo(handler)
    )
    assert opened(service.url + "/old").ask([{"id": "a"}])[0].failure is None
    assert [headers["authorization"] for _, headers in service.seen] == ["Bearer tok-abcdef"] * 2


def test_a_redirect_and_back_gives_the_other_service_nothing(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("YB_EVAL_HTTP_TOKEN", "tok-abcdef")
    other = served(lambda handler: handler.say(307, b"", Location=first.url + "/back"))
    first = served(lambda handler: handler.say(307, b"", Location=other.url) if handler.path == "/" else echo(handler))
    assert opened(first.url).ask([{"id": "a"}])[0].failure is None
    assert "authorization" not in other.seen[0][1]
    assert first.seen[1][1]["authorization"] == "Bearer tok-abcdef"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_lose_the_request_is_a_failure(served: Serve, opened: Open, status: int) -> None:
    service = served(lambda handler: handler.say(status, b"", Location="/new?key=abc"))
    assert failure(opened(service.url)) == f"HTTP {status}, moved to {service.url}/new?key=***: nothing"


def test_endless_redirects_end(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(307, b"", Location="/again"))
    assert failure(opened(service.url)) == "more than 5 redirects"
    assert len(service.seen) == 6


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://[::1", "javascript:0", "//h:70000"])
def test_a_redirect_to_no_address_is_a_failure(served: Serve, opened: Open, location: str) -> None:
    service = served(lambda handler: handler.say(307, b"", Location=location))
    assert failure(opened(service.url)).startswith("redirected to ")


def test_no_cookie_is_kept_from_one_request_to_the_next(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(200, b"1", Set_Cookie="sid=abc; Path=/"))
    opened(service.url).ask([{"id": 1}, {"id": 2}])
    assert all("cookie" not in headers for _, headers in service.seen)


def test_loopback_is_never_asked_through_a_proxy(served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert opened(served(echo).url).ask([{"id": "a"}])[0].failure is None


def test_the_environments_proxy_is_used_for_other_hosts(
    served: Serve, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = served(echo)
    monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//bob:hunter22@"))
    assert opened("http://bot.example:8080/ask").ask([{"id": "a"}])[0].failure is None
    path, headers = proxy.seen[0]
    assert path == "http://bot.example:8080/ask"
    assert headers["proxy-authorization"] == "Basic Ym9iOmh1bnRlcjIy"
    monkeypatch.setenv("no_proxy", "bot.example")
    assert proxy_for(httpx.URL("http://bot.example/")) is None


def test_a_proxy_of_an_unknown_kind_is_refused(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:1")
    with pytest.raises(UsageError, match="a socks5 proxy is not supported"):
        opened("http://bot.example/")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("10.0.0.1", False),
        ("example", False),
    ],
)
def test_loopback_hosts_are_known(host: str, expected: bool) -> None:
    assert loopback(host) is expected


def test_the_fingerprint_knows_the_address_and_not_the_credentials(opened: Open) -> None:
    first = opened("http://127.0.0.1:9/ask?model=a&token=abc").fingerprint
    assert opened("http://bob:hunter22@127.0.0.1:9/ask?model=a&token=xyz").fingerprint == first
    for other in ("http://127.0.0.1:8/ask?model=a&token=abc", "http://127.0.0.1:9/ask?model=b&token=abc",
                  "http://127.0.0.1:9/?model=a&token=abc", "https://127.0.0.1:9/ask?model=a&token=abc"):  # fmt: skip
        assert opened(other).fingerprint != first


@pytest.mark.parametrize(
    "spec", ["http://", "http:", "http://:80", "http://bob:hunter22@[::1", "http://bob:hunter22@h:99999999"]
)
def test_what_is_no_address_is_refused_without_its_password(opened: Open, spec: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened(spec)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    "headers", ["nonsense-secret", "[1]", '{"X": 1}', '{"Host": "x"}', '{"A B": "x"}', '{"X": "a\\nb"}', '{"X": ""}']
)
def test_headers_that_cannot_be_sent_are_refused_unseen(
    opened: Open, monkeypatch: pytest.MonkeyPatch, headers: str
) -> None:
    monkeypatch.setenv("YB_EVAL_HTTP_HEADERS", headers)
    with pytest.raises(UsageError, match="YB_EVAL_HTTP_HEADERS") as caught:
        opened("http://127.0.0.1:9/")
    assert "nonsense-secret" not in str(caught.value)


def test_closing_wakes_a_thread_that_waits_for_an_answer(served: Serve, opened: Open) -> None:
    asked = threading.Event()

    def hang(handler: Handler) -> None:
        asked.set()
        handler.server.over.wait(30)

    target = opened(served(hang).url)
    told: list[str] = []
    waiting = threading.Thread(target=lambda: told.append(failure(target)))
    waiting.start()
    assert asked.wait(10)
    target.close()
    waiting.join(10)
    assert len(told) == 1
    assert failure(target) == "the target was closed"


def test_closing_wakes_a_thread_that_waits_to_ask_again(served: Serve, opened: Open) -> None:
    service = served(lambda handler: handler.say(429, b"", Retry_After="30"))
    target = opened(service.url, longest_wait=30.0)
    told: list[str] = []
    waiting = threading.Thread(target=lambda: told.append(failure(target)))
    waiting.start()
    while not service.seen:
        time.sleep(0.01)
    target.close()
    waiting.join(10)
    assert len(told) == 1
    assert len(service.seen) == 1


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts what /proc shows")
def test_a_closed_target_holds_no_connection(served: Serve, opened: Open) -> None:
    service = served(echo)
    before = len(os.listdir("/proc/self/fd"))
    target = opened(service.url, jobs=4)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: target.ask([{"id": n}]), range(8)))
    target.close()
    deadline = time.monotonic() + 10
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < deadline:
        time.sleep(0.01)  # the server's ends close when it notices
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_request_that_is_not_json_is_never_sent(served: Serve, opened: Open) -> None:
    service = served(echo)
    assert "the request is not JSON" in failure(opened(service.url), {"id": float("nan")})
    assert not service.seen
