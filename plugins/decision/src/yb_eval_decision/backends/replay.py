"""`replay:FILE`: answers that were recorded earlier; and the backend that records them."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path

from yb_eval import StoreError, UsageError
from yb_eval.digest import identify, sha256_hex
from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.backends.base import Backend, Price, Request, Response
from yb_eval_decision.backends.recordings import Entry, entries, key, line, state_digest
from yb_eval_decision.results import Usage

#: A recording is read whole.
LARGEST = 1 << 30


class ReplayBackend(Backend):
    """Answers from a recording, this package's or core's (`--record`); a question that is not in it, of that state, is an error.

    The file is read once, so that the bytes that answer are those of the fingerprint. It does not matter how questions are
    packed into requests: each is found by itself.
    """

    batch = 256

    def __init__(self, path: Path, *, spec: str | None = None) -> None:
        """Raises `UsageError`, with file and line, for a line that is no entry and for two that contradict each other."""
        self.spec = spec or f"replay:{path}"
        self._name = path.name
        data = _bytes(path)
        self.fingerprint = identify("decision-backend", {"class": "ReplayBackend", "file": sha256_hex(data)})
        self._entries: dict[bytes, Entry] = {}
        first: dict[bytes, int] = {}
        for number, found, entry in entries(data, str(path)):
            earlier = self._entries.setdefault(found, entry)
            if earlier.answer != entry.answer:
                told = f"it answers the question of line {first[found]} otherwise"
                raise UsageError(told, where=f"{path}:{number}", hint="keep one of the two")
            first.setdefault(found, number)
        if not self._entries:
            raise UsageError("nothing is recorded in it", where=str(path))

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        return [self._respond(request) for request in requests]

    def _respond(self, request: Request) -> Response:
        try:
            state = state_digest(request.state)
        except TypeError as error:
            return Response.without(request, "error", f"the state is not JSON: {error}")
        answers: dict[str, Answer] = {}
        decided_by: dict[str, str] = {}
        models: dict[str, None] = {}
        for id, question in request.questions.items():
            entry = self._entries.get(key(state, question, request.repeat))
            if entry is None:
                entry = self._entries.get(key(state, question, request.repeat, ordered=False))
            if entry is None:
                answers[id] = NoAnswer("error", f"not recorded in {self._name}")
                continue
            answers[id] = entry.answer
            if entry.decided_by is not None:
                decided_by[id] = entry.decided_by
            if entry.model is not None:
                models[entry.model] = None
        usage = Usage(questions=len(answers), cached=len(answers), cost_usd=0.0, backend=self.spec)
        return Response(answers=answers, usage=usage, model=" + ".join(models) or None, decided_by=decided_by)


class RecordingBackend(Backend):
    """Asks another backend and writes down its answers, whole and at once, when it is closed. What failed for the backend's
    own reasons is not written: it says nothing of the question. Two different answers to one question of one state keep
    the first.

    It stands for the backend it asks: same fingerprint, limits and price. Thread-safe.
    """

    def __init__(self, backend: Backend, path: Path) -> None:
        """Raises `StoreError` if the file cannot be written."""
        self.backend = backend
        self.spec = backend.spec
        self.fingerprint = backend.fingerprint
        self.limits = backend.limits
        self.price = backend.price or (None if backend.waits else Price(input=0.0))
        self.batch = backend.batch
        #: What is recorded is kept here until the end, whatever the backend could do in other processes.
        self.waits = True
        self._path = path
        self._lock = threading.Lock()
        self._lines: dict[bytes, bytes] = {}
        self._closed = False
        self._write()  # what cannot be written is known before anything is asked

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        return self._record(requests, self.backend.decide(requests))

    async def adecide(self, requests: Sequence[Request]) -> list[Response]:
        return self._record(requests, await self.backend.adecide(requests))

    def close(self) -> None:
        """Writes the recording and closes the backend. Raises `StoreError` if it cannot be written."""
        try:
            with self._lock:
                if not self._closed:
                    self._write()
                self._closed = True
        finally:
            self.backend.close()

    def _record(self, requests: Sequence[Request], responses: list[Response]) -> list[Response]:
        for request, response in zip(requests, responses, strict=True):
            with contextlib.suppress(TypeError):  # a state that is not JSON has no digest; it was an error anyway
                self._keep(request, response, state_digest(request.state))
        return responses

    def _keep(self, request: Request, response: Response, state: str) -> None:
        for id, answer in response.answers.items():
            if isinstance(answer, NoAnswer) and answer.state == "error" and response.retry_later:
                continue
            question = request.questions[id]
            entry = Entry(answer, response.model, response.decided_by.get(id))
            with self._lock:
                found = key(state, question, request.repeat)
                self._lines.setdefault(found, line(state, id, question, request.repeat, entry))

    def _write(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        try:
            with temporary.open("wb") as file:
                file.writelines(line for _, line in sorted(self._lines.items()))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise StoreError(f"the recording cannot be written: {error.strerror}", where=str(self._path)) from error


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST:
            raise UsageError(f"the recording is larger than {LARGEST >> 20} MiB", where=str(path))
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"the recording cannot be read: {error.strerror}", where=str(path)) from error
