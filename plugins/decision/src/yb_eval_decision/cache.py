"""Answers that were paid for once: a file that keeps them, and a backend that looks there first.

An answer is kept by the sha256 of what was sent for it, byte by byte: the backend's fingerprint (which names the model and,
where it is pinned, its version), the repeat, the state of the request, and the question with its task. Evals asked together
share a state, so adding an eval that looks at more changes what the model sees, and asks again; with `isolate` an eval's
answers are kept whatever is asked beside it. Other questions of the request and question ids are not part of it: decision
models answer each question by itself. Errors are never kept, nor anything of a backend that is down: a run that was
interrupted, or met with errors, asks for just what is missing when it is started again.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from attrs import evolve

from yb_eval import UsageError
from yb_eval_decision import tokens
from yb_eval_decision.answer_store import Kept
from yb_eval_decision.answer_store import ResponseCache as ResponseCache
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoAnswer, ScoreAnswer
from yb_eval_decision.assessing import checked
from yb_eval_decision.backends.base import Backend, Request, Response
from yb_eval_decision.questions import Choice, Question
from yb_eval_decision.results import Usage
from yb_eval_decision.validation import read_answer

_DOMAIN = b"yb-eval/1/decision-answer\0"


def place_in(folder: Path) -> Path:
    """The file of answers in a run's cache folder."""
    return folder / "decision.sqlite"


class CachedBackend(Backend):
    """`backend`, asked only what `cache` (a `ResponseCache`, or a file's path) does not hold. Hits are counted in
    `Usage.cached`, and questions in `hits` and `misses`. What cannot be written is noted in `notes`, and answered all the
    same."""

    def __init__(self, backend: Backend, cache: ResponseCache | str | Path) -> None:
        self.inner = backend
        self.cache = cache if isinstance(cache, ResponseCache) else ResponseCache(cache)
        self.spec, self.fingerprint = backend.spec, backend.fingerprint
        self.limits, self.price = backend.limits, backend.price
        self.batch, self.waits = backend.batch, backend.waits
        self.notes: list[str] = []
        self.hits = self.misses = 0
        self._lock = threading.Lock()
        self._start = hashlib.sha256(_DOMAIN + f"{backend.fingerprint}\0".encode())

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        looked = self._look(requests)
        if looked.wanted:
            wanted = [request for _, request in looked.wanted]
            looked.receive(checked(wanted, self.inner.decide(wanted)))
            self._store(looked)
        return looked.responses()

    async def adecide(self, requests: Sequence[Request]) -> list[Response]:
        looked = self._look(requests)
        if looked.wanted:
            wanted = [request for _, request in looked.wanted]
            looked.receive(checked(wanted, await self.inner.adecide(wanted)))
            self._store(looked)
        return looked.responses()

    def _look(self, requests: Sequence[Request]) -> _Looked:
        keys = [self._keys(request) for request in requests]
        found = self.cache.find({key for some in keys for key in some.values()})
        looked = _Looked(requests, keys, found, free=None if self.price is None else 0.0)
        with self._lock:
            self.hits += looked.hits
            self.misses += sum(len(request.questions) for request in requests) - looked.hits
        return looked

    def _keys(self, request: Request) -> dict[str, bytes]:
        """The key of each question, by its id; none where the state is not JSON."""
        try:
            state = tokens.encode(request.state)
        except UsageError:
            return {}
        seen = self._start.copy()
        seen.update(b"%d\0" % request.repeat + state)
        keys = {}
        for id, question in request.questions.items():
            one = seen.copy()
            one.update(_question_key(question))
            keys[id] = one.digest()
        return keys

    def _store(self, looked: _Looked) -> None:
        try:
            self.cache.keep(looked.new())
        except UsageError as error:
            if str(error) not in self.notes:
                self.notes.append(str(error))

    def close(self) -> None:
        self.inner.close()
        self.cache.close()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in ("_start", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["inner"], state["cache"])  # type: ignore[misc]


def _of_question(question: Question) -> bytes:
    task = None if question.task is None else [question.task.name, dict(question.task.parts)]
    more = [task, question.abstain if isinstance(question, Choice) else None]
    return b"\0" + tokens.question_json(question) + b"\0" + tokens.encode(more)


_question_key = tokens.PerQuestion(_of_question)


class _Looked:
    """A batch of requests after looking in the cache: what was there, and what is still `wanted` of the backend."""

    def __init__(
        self,
        requests: Sequence[Request],
        keys: Sequence[Mapping[str, bytes]],
        found: Mapping[bytes, Kept],
        *,
        free: float | None,
    ) -> None:
        self._requests, self._keys, self._free = requests, keys, free
        self._known: list[dict[str, tuple[Answer, Kept]]] = []
        self._received: dict[int, Response] = {}
        self.wanted: list[tuple[int, Request]] = []
        for place, (request, some) in enumerate(zip(requests, keys, strict=True)):
            known = {id: read for id, key in some.items() if (read := _read(request.questions[id], found.get(key)))}
            self._known.append(known)
            if len(known) < len(request.questions):
                rest = {id: question for id, question in request.questions.items() if id not in known}
                self.wanted.append((place, Request(request.state, rest, request.repeat) if known else request))

    @property
    def hits(self) -> int:
        return sum(map(len, self._known))

    def receive(self, responses: Sequence[Response]) -> None:
        self._received = {place: response for (place, _), response in zip(self.wanted, responses, strict=True)}

    def new(self) -> dict[bytes, Kept]:
        """What was answered just now and may be kept."""
        entries: dict[bytes, Kept] = {}
        for place, response in self._received.items():
            if response.retry_later:
                continue
            for id, answer in response.answers.items():
                key = self._keys[place].get(id)
                if key is not None and not (isinstance(answer, NoAnswer) and answer.state == "error"):
                    entries[key] = Kept(_written(answer), response.model, response.decided_by.get(id))
        return entries

    def responses(self) -> list[Response]:
        return [self._response(place, request) for place, request in enumerate(self._requests)]

    def _response(self, place: int, request: Request) -> Response:
        known, fresh = self._known[place], self._received.get(place)
        if not known and fresh is not None:
            return fresh
        hits = Usage(questions=len(known), cached=len(known), cost_usd=self._free)
        deciders = {id: kept.decided_by for id, (_, kept) in known.items() if kept.decided_by}
        models = [kept.model for _, kept in known.values() if kept.model]
        if fresh is None:
            answers = {id: known[id][0] for id in request.questions}
            return Response(answers=answers, usage=hits, model=next(iter(models), None), decided_by=deciders)
        answers = {id: known[id][0] if id in known else fresh.answers[id] for id in request.questions}
        return evolve(
            fresh,
            answers=answers,
            usage=fresh.usage + hits,
            model=fresh.model or next(iter(models), None),
            decided_by={**deciders, **fresh.decided_by},
        )


def _written(answer: Answer) -> bytes:
    value = answer.to_dict()
    if isinstance(answer, ChoiceAnswer | ScoreAnswer) and answer.stated_confidence is not None:
        value["confidence"] = answer.stated_confidence
    return orjson.dumps(value)


def _read(question: Question, kept: Kept | None) -> tuple[Answer, Kept] | None:
    """A kept answer, unless it cannot be one of this question: then it is asked again."""
    if kept is None:
        return None
    try:
        answer = read_answer(question, orjson.loads(kept.answer))
    except orjson.JSONDecodeError:
        return None
    return None if isinstance(answer, NoAnswer) and answer.state == "error" else (answer, kept)
