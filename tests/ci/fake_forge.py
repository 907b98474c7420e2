"""A forge on loopback for tests: comments on one request, with GitHub's and GitLab's REST addresses.

It keeps what a real one would (ids that grow, pages, authors, a limit on a body's length) and can be told to fail.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Json = dict[str, Any]

TOKEN = "ghs_tokenOfTheTests0123456789"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
LIMIT = 65_536

GITHUB = re.compile(r"/repos/acme/router/issues/(?:(?P<number>\d+)/comments|comments/(?P<id>\d+))\Z")
GITLAB = re.compile(r"/projects/(?P<project>[^/]+)/merge_requests/(?P<number>\d+)/notes(?:/(?P<id>\d+))?\Z")


class FakeForge:
    """`comments` is what the request has; `requests` what was asked, as (method, path). `fail(...)` plans failures."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.comments: list[Json] = []
        self.pulls: list[Json] = []
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.me: Json | None = None  # None: the token of a job, which may not ask
        self.read_only = False
        self.page_cap = 100
        self.links = True
        self.limit = LIMIT
        self.before: Callable[[str, str], None] | None = None
        self.after: Callable[[str, str], None] | None = None  # what was asked is done, and not answered yet
        self._failures: list[list[Any]] = []
        self._next = 1000
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def fail(
        self,
        times: int,
        status: int,
        *,
        method: str | None = None,
        headers: Json | None = None,
        after: bool = False,
        **body: Any,
    ) -> None:
        """The next `times` requests (of `method`) get this answer; with `after`, once what they ask has been done."""
        self._failures.append([times, method, status, headers or {}, body, after])

    def comment(self, body: str, user: Json | None = None, **more: Any) -> Json:
        """Somebody comments."""
        with self.lock:
            self._next += 1
            address = f"https://forge.invalid/comments/{self._next}"
            author = user or BOT
            made = {"id": self._next, "body": body, "html_url": address, "user": author, "author": author, **more}
            self.comments.append(made)
            return made

    def texts(self) -> list[str]:
        return [comment["body"] for comment in self.comments]

    def asked(self, method: str) -> list[str]:
        return [path for verb, path in self.requests if verb == method]

    def _failure(self, method: str) -> list[Any] | None:
        for planned in self._failures:
            if planned[0] > 0 and planned[1] in (None, method):
                planned[0] -= 1
                return planned
        return None

    def answer(self, method: str, target: str, body: Json | None) -> tuple[int, Json, Any]:
        parts = urlsplit(target)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if parts.path == "/user":
            return (
                (403, {}, {"message": "Resource not accessible by integration"})
                if self.me is None
                else (200, {}, self.me)
            )
        if parts.path == "/repos/acme/router/pulls":
            found = [p for p in self.pulls if f"{p['head']['user']['login']}:{p['head']['ref']}" == query["head"]]
            return 200, {}, found
        place = GITHUB.match(parts.path) or GITLAB.match(parts.path)
        if place is None:
            return 404, {}, {"message": "Not Found"}
        if method == "GET":
            return self._listed(parts.path, query)
        if self.read_only:
            return 403, {}, {"message": "Resource not accessible by integration"}
        if method == "POST":
            return self._checked(body) or (201, {}, self.comment(body["body"], self.me))
        entry = next((c for c in self.comments if str(c["id"]) == place["id"]), None)
        if entry is None:
            return 404, {}, {"message": "Not Found"}
        if method == "DELETE":
            self.comments.remove(entry)
            return 204, {}, None
        refused = self._checked(body)
        if refused is None:
            entry["body"] = body["body"]
        return refused or (200, {}, entry)

    def _checked(self, body: Json | None) -> tuple[int, Json, Any] | None:
        assert body is not None
        self.bodies.append(body["body"])
        if len(body["body"]) <= self.limit:
            return None
        error = {"resource": "IssueComment", "code": "unprocessable", "field": "data"}
        errors = [{**error, "message": f"Body is too long (maximum is {self.limit} characters)"}]
        return 422, {}, {"message": "Validation Failed", "errors": errors}

    def _listed(self, path: str, query: dict[str, str]) -> tuple[int, Json, Any]:
        size = min(int(query.get("per_page", 30)), self.page_cap)
        page = int(query.get("page", 1))
        shown = self.comments[(page - 1) * size : page * size]
        more = self.links and page * size < len(self.comments)
        link = {"link": f'<{self.url}{path}?page={page + 1}>; rel="next"'} if more else {}
        return 200, link, [dict(entry) for entry in shown]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        forge = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _do(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                raw = self.rfile.read(length)
                if forge.before is not None:
                    forge.before(self.command, self.path)
                with forge.lock:
                    forge.requests.append((self.command, self.path))
                    forge.headers.append({name.lower(): value for name, value in self.headers.items()})
                    failure = forge._failure(self.command)
                    if failure is None or failure[5]:
                        status, headers, body = forge.answer(self.command, self.path, json.loads(raw) if raw else None)
                    if failure is not None:
                        status, headers, body = failure[2:5]
                if forge.after is not None:
                    forge.after(self.command, self.path)
                data = b"" if body is None else json.dumps(body).encode()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, str(value))
                self.send_header("content-length", str(len(data)))
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _do

            def log_message(self, *arguments: Any) -> None:
                pass

        return Handler
