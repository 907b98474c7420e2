"""Loopback services, one for each wire that a decision backend speaks. Each answers by the rules of its own wire, from one
table of probabilities, and refuses requests that its wire does not allow; faults are put in front of it, a turn each."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behave = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Reads a request, notes it down and leaves the answer to the service's faults, in their turn, or its wire."""

    protocol_version = "HTTP/1.1"
    server: Service

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.asked = json.loads(self.body)
        self.given = {name.lower(): value for name, value in self.headers.items()}
        server = self.server
        with server.lock:
            server.seen.append((self.path, self.given, self.asked))
            server.peers.add(self.client_address)
            server.under_way += 1
            server.most_at_once = max(server.most_at_once, server.under_way)
            turn = len(server.seen)
        try:
            behave = server.faults[turn - 1] if turn <= len(server.faults) else server.wire
            behave(self)
        finally:
            with server.lock:
                server.under_way -= 1

    def say(self, status: int, body: bytes | str, kind: str | None = "application/json", **headers: str) -> None:
        body = body.encode() if isinstance(body, str) else body
        with self.server.lock:  # before the answer is out: whoever has it may look at once
            self.server.answered += 1
        self.send_response(status)
        if kind is not None:
            self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def answer(self, value: object) -> None:
        self.say(200, json.dumps(value))

    def log_message(self, *_: object) -> None:
        pass


class Service(ThreadingHTTPServer):
    """A service on this machine. `seen` holds (path, headers in lower case, body) of each request."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, wire: Behave, faults: Sequence[Behave] = ()) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.wire = wire
        self.faults = list(faults)
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.peers: set[object] = set()
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.under_way = self.most_at_once = self.answered = 0
        self.port = self.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"

    def handle_error(self, *_: object) -> None:
        pass  # clients that leave are what these tests are about


@contextmanager
def serving(wire: Behave, *faults: Behave) -> Iterator[Service]:
    service = Service(wire, faults)
    thread = threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.over.set()
        service.shutdown()
        service.server_close()
        thread.join()


# Faults


def status(code: int, said: str = "no", **headers: str) -> Behave:
    body = json.dumps({"error": {"message": said}})
    return lambda handler: handler.say(code, body, **headers)


def body(raw: bytes | str, kind: str | None = "application/json") -> Behave:
    return lambda handler: handler.say(200, raw, kind)


def error_in_200(code: Any, message: str = "the provider failed") -> Behave:
    return lambda handler: handler.answer({"error": {"code": code, "message": message}})


def hang(handler: Handler) -> None:
    handler.server.over.wait(10)


def drop(handler: Handler) -> None:
    """Ends the connection in the middle of an answer."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"answers": {"q"')
    handler.wfile.flush()
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """Sends a byte now and then: each read is quick, the answer never ends."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    while not handler.server.over.wait(0.02):
        try:
            handler.wfile.write(b" ")
            handler.wfile.flush()
        except OSError:
            return


def redirect(to: str, code: int = 307) -> Behave:
    return lambda handler: handler.say(code, b"", None, Location=to)


# Wires


def shares(names: Sequence[str], first: float) -> dict[str, float]:
    """The first of `names` with p = `first`, the others equally likely."""
    if len(names) == 1:
        return {names[0]: 1.0}
    rest = (1 - first) / (len(names) - 1)
    return {name: first if place == 0 else rest for place, name in enumerate(names)}


def expected(levels: dict[str, float]) -> float:
    return sum(int(level) * p for level, p in levels.items())


def system_one(
    p: float = 0.9, model: str = "jev-1.13.0", *, wrong: dict[str, Any] | None = None, **more: Any
) -> Behave:
    """`wrong` answers take the place of right ones by id, `None` that of no answer."""

    def behave(handler: Handler) -> None:
        asked = handler.asked
        if not handler.path.endswith("/systemone"):
            return handler.say(404, '{"error": "no such path"}')
        if set(asked) - {"state", "model", "questions"}:
            return handler.say(422, '{"detail": "unknown field"}')
        answers: dict[str, Any] = {}
        for id, question in asked["questions"].items():
            answers[id] = system_one_answer(question, p)
            if wrong is not None and id in wrong:
                answers[id] = wrong[id]
        answers = {id: answer for id, answer in answers.items() if answer is not None}
        usage = {"input_tokens": 120, "output_tokens": 8}
        return handler.answer({"model": asked.get("model", model), "answers": answers, "usage": usage, **more})

    return behave


def system_one_answer(question: dict[str, Any], p: float) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": p}
    if question["type"] == "choice":
        spread = shares(list(question["criteria"]), p)
        return {"type": "choice", "choice": next(iter(spread)), "probabilities": spread, "confidence": 0.8}
    spread = shares([str(level) for level in range(len(question["criteria"]))], p)
    return {"type": "score", "score": expected(spread), "probabilities": spread, "confidence": 0.7}


def openrouter(p: float = 0.9, cost: float | None = 0.00042) -> Behave:
    def behave(handler: Handler) -> None:
        asked = handler.asked
        if handler.path != "/alpha/decisions" or set(asked) != {"model", "state", "questions"}:
            return handler.say(400, '{"error": {"message": "model, state and questions are needed", "code": 400}}')
        answers = {id: system_one_answer(question, p) for id, question in asked["questions"].items()}
        usage: dict[str, Any] = {"input_tokens": 120, "output_tokens": 8}
        if cost is not None:
            usage["cost"] = cost
        model = asked["model"] + "-20260917"
        return handler.answer(
            {"id": "gen-1", "model": model, "provider": "TypeSafe", "answers": answers, "usage": usage}
        )

    return behave


def vercel(p: float = 0.9, cost: str | None = None) -> Behave:
    def behave(handler: Handler) -> None:
        given, asked = handler.given, handler.asked
        needed = {"ai-gateway-protocol-version": "0.0.1", "ai-evaluation-model-specification-version": "4"}
        if not handler.path.endswith("/evaluation-model") or any(given.get(k) != v for k, v in needed.items()):
            return handler.say(400, '{"error": {"message": "not the protocol"}}')
        answers: dict[str, Any] = {}
        confidence: dict[str, float] = {}
        for id, question in asked["questions"].items():
            if question["type"] == "noul":
                return handler.say(400, '{"error": {"message": "unknown question type"}}')
            made = system_one_answer({**question, "type": question["type"].replace("boolean", "noul")}, p)
            made.pop("type")
            confidence[id] = made.pop("confidence", 0.5)
            answers[id] = {"probability": made["noul"]} if "noul" in made else made
        metadata: dict[str, Any] = {"typesafe": {"confidence": confidence}}
        if cost is not None:
            metadata["gateway"] = {"cost": cost}
        usage = {"inputTokens": 50, "outputTokens": 3}
        return handler.answer({"answers": answers, "usage": usage, "providerMetadata": metadata})

    return behave


def openai_decisions(p: float = 0.9, *, refuse: Sequence[int] = (), order: Sequence[int] | None = None) -> Behave:
    def behave(handler: Handler) -> None:
        asked = handler.asked
        if not handler.path.endswith("/decisions") or not isinstance(asked["input"], str):
            return handler.say(400, '{"error": {"message": "bad request"}}')
        answers: list[dict[str, Any]] = []
        for place, question in enumerate(asked["questions"]):
            if place in refuse:
                answers.append({"type": "refusal", "name": question["name"]})
            elif question["type"] == "predicate":
                answers.append({"type": "predicate", "name": question["name"], "probability": p})
            elif question["type"] == "choice":
                if not 2 <= len(question["choices"]) <= 255:
                    return handler.say(400, '{"error": {"message": "2 to 255 choices"}}')
                spread = shares([choice["value"] for choice in question["choices"]], p)
                told = [{"value": value, "probability": share} for value, share in spread.items()]
                answers.append(
                    {"type": "choice", "name": question["name"], "choice": next(iter(spread)), "confidence": 0.8,
                     "probabilities": told}
                )  # fmt: skip
            elif question["type"] == "score":
                spread = shares([str(level) for level in range(len(question["levels"]))], p)
                told = [
                    {"value": int(level), "label": question["levels"][int(level)]["label"], "probability": share}
                    for level, share in spread.items()
                ]
                answers.append(
                    {"type": "score", "name": question["name"], "score": expected(spread), "confidence": 0.8,
                     "probabilities": told}
                )  # fmt: skip
            else:
                return handler.say(400, '{"error": {"message": "unknown question type"}}')
        if order is not None:
            answers = [answers[place] for place in order]
        usage = {"input_tokens": 80, "output_tokens": 0, "total_tokens": 80}
        return handler.answer({"model": "gpt-6-luna-2026-10-06", "answers": answers, "usage": usage})

    return behave


def by_schema(schema: dict[str, Any], p: float, *, whole: bool = True) -> Any:
    """An answer that a structured-outputs service could give."""
    if schema["type"] == "number":
        return p
    if schema["type"] == "string":
        return schema["enum"][0]
    names = list(schema["properties"])
    parts = schema["properties"]
    if not whole and all(part["type"] == "number" for part in parts.values()):
        return shares(names, p)
    return {name: by_schema(part, p, whole=False) for name, part in parts.items()}


def openai_chat(p: float = 0.9, *, text: str | None = None, finish: str = "stop", refusal: str | None = None,
                structured: bool = True) -> Behave:  # fmt: skip
    """A reasoning model of OpenAI's: it takes neither temperature nor max_tokens."""

    def behave(handler: Handler) -> None:
        asked = handler.asked
        for name in ("temperature", "max_tokens", "top_p"):
            if name in asked:
                said = f"Unsupported parameter: '{name}' is not supported with this model."
                return handler.say(400, json.dumps({"error": {"message": said, "code": "unsupported_parameter"}}))
        written = text
        if "response_format" in asked:
            if not structured:
                said = "'response_format' of type 'json_schema' is not supported with this model"
                return handler.say(400, json.dumps({"error": {"message": said}}))
            written = written or json.dumps(by_schema(asked["response_format"]["json_schema"]["schema"], p))
        message = {"role": "assistant", "content": None if refusal else written, "refusal": refusal}
        return handler.answer(
            {
                "id": "c", "object": "chat.completion", "created": 1, "model": asked["model"] + "-2026-11",
                "choices": [{"index": 0, "finish_reason": finish, "message": message, "logprobs": None}],
                "usage": {"prompt_tokens": 300, "completion_tokens": 40, "total_tokens": 340},
            }
        )  # fmt: skip

    return behave


def anthropic_messages(p: float = 0.9, *, text: str | None = None, stop: str = "end_turn") -> Behave:
    def behave(handler: Handler) -> None:
        asked = handler.asked
        if not handler.path.endswith("/v1/messages") or "temperature" in asked:
            return handler.say(400, '{"type": "error", "error": {"type": "invalid_request_error", "message": "no"}}')
        written = text or json.dumps(by_schema(asked["output_config"]["format"]["schema"], p))
        return handler.answer(
            {
                "id": "m", "type": "message", "role": "assistant", "model": asked["model"], "stop_sequence": None,
                "content": [{"type": "text", "text": written}], "stop_reason": stop,
                "usage": {"input_tokens": 200, "output_tokens": 30, "cache_read_input_tokens": 50},
            }
        )  # fmt: skip

    return behave
