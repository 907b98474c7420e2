"""Backends and evals for tests of packing, running, caching and budgets."""

from __future__ import annotations

import threading

from yb_eval_decision.answers import ChoiceAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.backends.base import Backend, Limits, Price, Response
from yb_eval_decision.eval import Eval
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import Choice, Noul
from yb_eval_decision.results import Result, Usage


def sure(question, p=0.9):
    """A valid answer: yes, the first option or the lowest level with `p`."""
    if isinstance(question, Noul):
        return NoulAnswer(p)
    n = len(question.criteria)
    shares = [p, *[(1 - p) / (n - 1)] * (n - 1)]
    if isinstance(question, Choice):
        return ChoiceAnswer(next(iter(question.criteria)), dict(zip(question.criteria, shares)))
    return ScoreAnswer(sum(i * x for i, x in enumerate(shares)), tuple(shares), question.criteria)


class FakeBackend(Backend):
    """Answers every question with `answer(id, question, state)`, or yes. `seen` are the requests, in order."""

    def __init__(
        self, answer=None, *, limits=None, price=None, waits=False, cost=None, fingerprint="f" * 64, fail=None
    ):
        self.spec = "fake"
        self.fingerprint = fingerprint
        self.limits = limits or Limits()
        self.price = price
        self.waits = waits
        self.batch = 4
        self.answer = answer or (lambda id, question, state: sure(question))
        self.cost = cost
        self.fail = fail
        self.seen = []
        self.calls = 0
        self.closed = False
        self._lock = threading.Lock()

    def decide(self, requests):
        with self._lock:
            self.calls += 1
            self.seen.extend(requests)
        return [self._one(request) for request in requests]

    def _one(self, request):
        usage = Usage(1, len(request.questions), 120, 7, self.cost, True, 1, 0, 3.7, "fake")
        if self.fail and (reason := self.fail(request)):
            return Response.without(request, "error", reason, usage=usage, retry_later=True)
        answers = {id: self.answer(id, question, request.state) for id, question in request.questions.items()}
        return Response(answers=answers, usage=usage, model="fake-1")

    def close(self):
        self.closed = True

    @property
    def asked(self):
        return [id for request in self.seen for id in request.questions]


PRICE = Price(input=1000.0)  # a tenth of a cent for a token: costs that can be read


class Polite(Eval):
    """Is the answer polite?"""

    requires = ("output",)

    def state(self, s):
        return {"final_answer": s.output}

    def questions(self, s):
        return {"q": Noul("Is final_answer polite?")}

    def reduce(self, answers, s):
        return Result(score=answers["q"].probability, probability=answers["q"].probability)


class Short(Polite):
    """Is the answer short?"""

    def questions(self, s):
        return {"q": Noul("Is final_answer short?"), "r": Noul("Is it one sentence?")}


class Asks(Eval):
    """Asks what it is given: `state` and `questions` as they are, for any sample."""

    shown = parameter({}, help="The state.")
    asked = parameter({}, help="The questions.")

    def state(self, s):
        return self.shown

    def questions(self, s):
        return self.asked

    def reduce(self, answers, s):
        return Result(score=1.0, evidence={"ids": list(answers)})
