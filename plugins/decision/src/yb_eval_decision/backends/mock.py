"""A backend that answers what it is told: for tests, demonstrations and benchmarks.

```python
MockBackend({"grounded.c0": True, "refusal.*": "answered", "quality": 3, "c1": 0.2})
```
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import orjson

from yb_eval import UsageError
from yb_eval.digest import identifiable, identify
from yb_eval.errors import shorten
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.backends.base import Backend, Limits, Price, Request, Response
from yb_eval_decision.questions import ENOUGH, Choice, Noul, Question
from yb_eval_decision.results import Usage
from yb_eval_decision.validation import read_answers

_identity = id  # ids of questions are called id here
#: What a plain yes, no or label is worth.
SURE, CHOSEN = 0.95, 0.9
_READY = (NoulAnswer, ChoiceAnswer, ScoreAnswer, NoAnswer)
#: Answers to so many different questions are kept.
_KEPT = 100_000


class MockBackend(Backend):
    """Answers by question id.

    An answer is looked up in `answers` by the whole id (`grounded.c0`), then by the patterns among its keys in their order
    (`grounded.*`, as fnmatch has them), then by the id without the eval's name (`c0`). A pattern means the questions of an
    eval, not whether they can be answered: `bias.*` leaves out `bias.enough`, which gets what its own id (or `enough`), a pattern
    that ends with it (`*.enough`) or `default_noul` says. Its value is

    - for a noul a bool (0.95 or 0.05) or a probability,
    - for a choice an option (0.9, the others share the rest) or `{option: weight}`,
    - for a score a level (all of it there) or `{level: weight}` or a list of weights,
    - for any of them an `Answer`, or the exception that it is to fail with.

    `fn(id, question, state)`, where given, is asked first; `None` leaves it to `answers`. What neither knows gets
    `default_noul` or equal probabilities: nothing is decided by default, and nothing abstains. A value that does not fit its
    question is an error of that question.

    `calls` are the latest requests (`keep` of them) as `{"state": ..., "questions": ...}`. Tokens are counted as a fourth of
    the state's JSON bytes, at no cost. What copies of it are asked in other processes (`evaluate_dataset(...,
    concurrency=2)`) is not among the `calls` of this one.
    """

    price = Price(input=0.0)

    def __init__(
        self,
        answers: Mapping[str, Any] | None = None,
        default_noul: float = 0.5,
        fn: Callable[[str, Question, Mapping[str, Any]], Any] | None = None,
        *,
        keep: int = 1000,
        limits: Limits | None = None,
        model: str = "mock",
        spec: str = "mock",
    ) -> None:
        if type(default_noul) not in (int, float) or not 0 <= default_noul <= 1:
            raise UsageError(f"default_noul is a probability, not {shorten(default_noul)}")
        if answers is not None and not (
            isinstance(answers, Mapping) and all(isinstance(name, str) for name in answers)
        ):
            raise UsageError(f"answers by question id are expected, not {shorten(answers)}")
        if fn is not None and not callable(fn):
            raise UsageError(f"fn is called with id, question and state; this is {shorten(fn)}")
        if type(keep) is not int or keep < 0:
            raise UsageError(f"keep is a number of requests, not {shorten(keep)}")
        self.spec = spec
        self.limits = limits or Limits()
        self.calls: deque[dict[str, Any]] = deque(maxlen=keep)
        self._answers = dict(answers or {})
        self._patterns = [name for name in self._answers if any(sign in name for sign in "*?[")]
        self._default = float(default_noul)
        self._fn = fn
        self._model = model
        self._made: dict[tuple[str, int], tuple[Question, Answer]] = {}
        known = {name: _shown(value) for name, value in self._answers.items()}
        told = (
            None if fn is None else f"{getattr(fn, '__module__', '')}.{getattr(fn, '__qualname__', type(fn).__name__)}"
        )
        self.fingerprint = identify(
            "decision-backend",
            {
                "class": "MockBackend",
                "answers": identifiable(known),
                "default": repr(self._default),
                "fn": told,
                "model": model,
                "patterns": 2,  # rises when the same ones match other ids
            },
        )

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        return [self._respond(request) for request in requests]

    def _respond(self, request: Request) -> Response:
        if self.calls.maxlen != 0:
            self.calls.append({"state": request.state, "questions": request.questions})
        answers = self._all_made(request.questions)
        if answers is None:
            answers = {id: self._answer(id, question, request.state) for id, question in request.questions.items()}
        try:
            tokens = len(orjson.dumps(request.state, default=dict)) // 4
        except TypeError:
            tokens = 0
        usage = Usage(1, len(answers), tokens, cost_usd=0.0, backend=self.spec)
        return Response(answers=answers, usage=usage, model=self._model)

    def _all_made(self, questions: Mapping[str, Question]) -> dict[str, Answer] | None:
        """The answers to `questions`, if all of them were answered before."""
        # The question is kept beside its answer, so that no other one can come to have its identity.
        made = [*map(self._made.get, zip(questions, map(_identity, questions.values()), strict=True))]
        answers = [kept[1] for kept in made if kept is not None]
        return dict(zip(questions, answers, strict=True)) if len(answers) == len(made) else None

    def __getstate__(self) -> dict[str, Any]:
        # Identities mean nothing in another process, and what this one was asked is not asked there.
        return {**self.__dict__, "_made": {}, "calls": deque(maxlen=self.calls.maxlen)}

    def _answer(self, id: str, question: Question, state: Mapping[str, Any]) -> Answer:
        value = None
        if self._fn is not None:
            try:
                value = self._fn(id, question, state)
            except Exception as error:
                return NoAnswer("error", f"{self.spec}: {type(error).__name__}: {error}")
        if value is None:
            value = self._find(id)
        answer = self._read(id, question, value)
        if self._fn is None and len(self._made) < _KEPT:
            self._made[id, _identity(question)] = (question, answer)
        return answer

    def _find(self, id: str) -> Any:
        if id in self._answers:
            return self._answers[id]
        follow_up = id.rpartition(".")[2] == ENOUGH
        for pattern in self._patterns:
            if fnmatchcase(id, pattern) and (not follow_up or pattern.endswith(ENOUGH)):
                return self._answers[pattern]
        return self._answers.get(id.partition(".")[2])

    def _read(self, id: str, question: Question, value: Any) -> Answer:
        if isinstance(value, Exception):
            return NoAnswer("error", f"{self.spec}: {type(value).__name__}: {value}")
        try:
            raw = value if isinstance(value, _READY) else self._wire(question, value)
        except (ValueError, TypeError, ZeroDivisionError):
            return NoAnswer("error", f"{self.spec}: {shorten(value)} is no answer to the {question.type} {id!r}")
        return read_answers({id: question}, {id: raw})[id]

    def _wire(self, question: Question, value: Any) -> dict[str, Any]:
        """The value as the wire has it. Raises `ValueError` for one that does not fit."""
        if isinstance(question, Noul):
            if value is None:
                value = self._default
            elif isinstance(value, bool):
                value = SURE if value else 1 - SURE
            return {"noul": round(float(value), 12)}
        names: list[Any] = (
            list(question.criteria) if isinstance(question, Choice) else list(range(len(question.criteria)))
        )
        if value is None:
            weights = dict.fromkeys(names, 1.0)
        elif isinstance(value, Mapping):
            weights = {name if isinstance(question, Choice) else int(name): float(w) for name, w in value.items()}
        elif isinstance(value, list | tuple):
            weights = dict(zip(names, map(float, value), strict=True))
        elif isinstance(question, Choice):
            rest = (1 - CHOSEN) / max(1, len(names) - 1)
            weights = {name: CHOSEN if name == value else rest for name in names}
        else:
            weights = {name: float(name == value) for name in names}
        if not set(weights) <= set(names) or (isinstance(value, str | int | float) and value not in names):
            raise ValueError(value)
        total = sum(weights.values())
        return {"probabilities": {name: weights.get(name, 0.0) / total for name in names}}


def _shown(value: Any) -> Any:
    if isinstance(value, _READY):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {str(name): _shown(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
