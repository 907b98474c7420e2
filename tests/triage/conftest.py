"""Fixtures of the triage suite's tests: a small task, rows, runs, and model servers on the loopback interface."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from yb_eval import run_suite
from yb_eval_triage.task import Task

DESK = """
name = "desk"
out_of_scope = "other"

[labels]
outage = "It does not work."
billing = "Money."
question = "How something is done."
other = "Nothing for this desk."

[severity]
levels = ["none", "minor", "major", "critical"]
critical = 2
under_cost = 3
over_cost = 1
ranges = { question = [0, 1] }

[escalate]
required_from = 2
allowed_from = 1

[handoffs]
names = { billing = "Billing desk" }
"""


@pytest.fixture
def desk_file(tmp_path: Path) -> Path:
    path = tmp_path / "desk.toml"
    path.write_text(DESK, encoding="utf-8")
    return path


@pytest.fixture
def desk(desk_file: Path) -> Task:
    return Task.load(desk_file)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes objects as JSON Lines."""

    def write(rows: list[Any], name: str = "rows.jsonl") -> Path:
        path = tmp_path / name
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
        return path

    return write


@pytest.fixture
def scored(tmp_path: Path, desk_file: Path, write: Callable[..., Path]) -> Callable[..., dict[str, Any]]:
    """Runs the suite over rows of the desk and answers that are given by id; returns the suite's part of the report,
    with the outcomes by id under `rows`."""

    def scored(rows: list[Any], answers: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        said = [{"id": name, **answer} for name, answer in answers.items()]
        log = tmp_path / "outcomes.jsonl"
        options = {"task": [str(desk_file)], "rows": write(rows), **more.pop("options", {})}
        report = run_suite(
            "triage",
            store=tmp_path / "store",
            options=options,
            target=f"predictions:{write(said, 'predictions.jsonl')}",
            **more,
        )
        suite: dict[str, Any] = report["suites"][0]
        blob = (
            tmp_path
            / "store"
            / "objects"
            / "sha256"
            / suite["outcomes"]["sha256"][:2]
            / suite["outcomes"]["sha256"][2:]
        )
        log.write_bytes(blob.read_bytes())
        suite["rows"] = {row["id"]: row for row in map(json.loads, log.read_text(encoding="utf-8").splitlines())}
        return suite

    return scored


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which models stay once they are trained."""
    return tmp_path_factory.mktemp("triage-store")


class ModelServer(ThreadingHTTPServer):
    """Answers each POST with what `reply` makes of its JSON body; keeps the bodies."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply: Callable[[dict[str, Any]], Any] = lambda body: {}
        self.status = 200
        self.bodies: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        said = json.dumps(self.server.reply(body)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def model_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server that the SDKs of OpenAI and Anthropic are pointed to."""
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-a-loopback-server")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.address}/v1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-a-loopback-server")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def completion() -> Callable[..., dict[str, Any]]:
    """A chat completion that says a text, or calls tools."""
    count = iter(range(1_000_000))

    def completion(text: str | None = None, *tools: str, finish: str | None = None, refusal: str | None = None) -> Any:
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": refusal}
        if tools:
            message["tool_calls"] = [
                {"id": f"call-{next(count)}", "type": "function", "function": {"name": name, "arguments": "{}"}}
                for name in tools
            ]
        ended = finish or ("tool_calls" if tools else "stop")
        return {
            "id": "completion",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": ended}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }

    return completion
