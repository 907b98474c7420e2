"""A server on the loopback interface that speaks OpenAI's chat completions and Anthropic's messages, plain and streamed.

Each request is answered by the next of `answers`: `{"text", "tool_calls": [{"name", "arguments"}]}` in our words (the
arguments a string where they are meant to be malformed), or `{"status": 429, ...}`, `{"hang": seconds}`, `{"raw":
body}`, `{"cut": True}` for a stream that ends early.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """`seen` holds (path, headers, body) of each request."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.default: dict[str, Any] = {"text": "Hello."}
        self.choose: Any = None
        self.seen: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with model.lock:
                    model.seen.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                    answer = model.answers.pop(0) if model.answers else model.default
                if model.choose is not None:
                    answer = model.choose(body)
                if "hang" in answer:
                    time.sleep(answer["hang"])
                speak = Anthropic if self.path.endswith("/messages") else OpenAI
                if "status" in answer:
                    error = json.dumps({"error": {"message": "it was said so", "type": "some_error"}}).encode()
                    self.say(answer["status"], error, "application/json")
                elif "raw" in answer:
                    self.say(200, answer["raw"].encode(), "application/json")
                elif body.get("stream"):
                    self.say(200, b"".join(speak.stream(answer)), "text/event-stream")
                else:
                    self.say(200, json.dumps(speak.whole(answer)).encode(), "application/json")

            def say(self, status: int, body: bytes, kind: str) -> None:
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", kind)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True  # the client has hung up

            def log_message(self, *arguments: Any) -> None:
                pass

        return Handler


def _event(data: Any, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def _pieces(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


class OpenAI:
    """Chat completions, as OpenAI's reference describes them."""

    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

    @classmethod
    def whole(cls, answer: dict[str, Any]) -> dict[str, Any]:
        calls = [
            {"id": f"c{i}", "type": "function", "function": {"name": c["name"], "arguments": _written(c["arguments"])}}
            for i, c in enumerate(answer.get("tool_calls", ()))
        ]
        message = {"role": "assistant", "content": answer.get("text"), **({"tool_calls": calls} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}
        return {
            "id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": cls.usage,
        }  # fmt: skip

    @classmethod
    def stream(cls, answer: dict[str, Any]) -> list[bytes]:
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": piece} for piece in _pieces(answer.get("text") or "")]
        for i, call in enumerate(answer.get("tool_calls", ())):
            start = {"index": i, "id": f"c{i}", "type": "function", "function": {"name": call["name"], "arguments": ""}}
            deltas.append({"tool_calls": [start]})
            deltas += [
                {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}
                for piece in _pieces(_written(call["arguments"]))
            ]
        stop = "tool_calls" if answer.get("tool_calls") else "stop"
        choices = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
        head = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        events = [_event({**head, "choices": choice}) for choice in choices]
        if answer.get("cut"):
            return events
        events.append(_event({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": stop}]}))
        return [*events, _event({**head, "choices": [], "usage": cls.usage}), _event("[DONE]")]


class Anthropic:
    """Messages, as Anthropic's reference describes them."""

    @staticmethod
    def whole(answer: dict[str, Any]) -> dict[str, Any]:
        content: list[dict[str, Any]] = [{"type": "text", "text": answer["text"]}] if answer.get("text") else []
        content += [
            {"type": "tool_use", "id": f"toolu_{i}", "name": c["name"], "input": c["arguments"]}
            for i, c in enumerate(answer.get("tool_calls", ()))
        ]
        return {
            "id": "msg", "type": "message", "role": "assistant", "model": "m", "content": content,
            "stop_reason": "tool_use" if answer.get("tool_calls") else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 11, "output_tokens": 7},
        }  # fmt: skip

    @staticmethod
    def stream(answer: dict[str, Any]) -> list[bytes]:
        message = {**Anthropic.whole({}), "stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
        events: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": message})]
        index = 0
        if answer.get("text"):
            block = {"type": "text", "text": ""}
            events.append(("content_block_start", {"index": 0, "content_block": block}))
            for piece in _pieces(answer["text"]):
                events.append(("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": piece}}))
            events.append(("content_block_stop", {"index": 0}))
            index = 1
        for number, call in enumerate(answer.get("tool_calls", ()), start=index):
            use = {"type": "tool_use", "id": f"toolu_{number}", "name": call["name"], "input": {}}
            events.append(("content_block_start", {"index": number, "content_block": use}))
            for piece in _pieces(_written(call["arguments"])):
                delta = {"type": "input_json_delta", "partial_json": piece}
                events.append(("content_block_delta", {"index": number, "delta": delta}))
            events.append(("content_block_stop", {"index": number}))
        stop = "tool_use" if answer.get("tool_calls") else "end_turn"
        end = {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": {"output_tokens": 7}}
        if not answer.get("cut"):
            events += [("ping", {}), ("message_delta", end), ("message_stop", {})]
        return [_event({"type": name, **data}, name) for name, data in events]
