"""`laya[:MODEL]`: Laya in this process, on Apple silicon, through the package laya-mlx (an extra).

Laya reads 512 or 1,024 tokens: of a longer state it would not see the end. So requests are kept small, and what is still too
long is for another backend.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval import UsageError
from yb_eval.digest import identify
from yb_eval.targets.failures import failed
from yb_eval_decision.backends.addresses import variable
from yb_eval_decision.backends.base import Backend, Limits, Price, Request, Response
from yb_eval_decision.backends.text import as_text
from yb_eval_decision.questions import Question, wire_question
from yb_eval_decision.results import Usage
from yb_eval_decision.validation import read_answers

MODEL = "aac6fef/laya-mlx"
#: Tokens of the smallest Laya; the largest has twice as many.
LIMITS = Limits(request_tokens=480)


class LayaBackend(Backend):
    """A loaded model; one request at a time, for that is how it computes."""

    price = Price(input=0.0)
    limits = LIMITS
    batch = 16
    #: The loaded model belongs to this process.
    waits = True

    def __init__(self, model: str = MODEL, *, spec: str | None = None, limits: Limits | None = None) -> None:
        """Loads the model. Raises `UsageError` without laya-mlx, and if the model cannot be loaded."""
        self.spec = spec or f"laya:{model}"
        try:
            import laya_mlx
        except ImportError as error:
            hint = "pip install 'yb-eval-decision[laya]' (Apple silicon only)"
            raise UsageError("laya-mlx is not installed", where=self.spec, hint=hint) from error
        try:
            self._model = laya_mlx.load(model)
        except Exception as error:
            raise UsageError(f"the model cannot be loaded: {failed(error)}", where=self.spec) from error
        if limits is not None:
            self.limits = limits
        self._name = model
        self._lock = threading.Lock()
        version = getattr(laya_mlx, "__version__", None)
        self.fingerprint = identify(
            "decision-backend",
            {"class": "LayaBackend", "model": model, "version": None if version is None else str(version)},
        )

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        return [self._respond(request) for request in requests]

    def _respond(self, request: Request) -> Response:
        if not request.questions:
            return Response(answers={})
        questions = {id: _question(question) for id, question in request.questions.items()}
        try:
            with self._lock:
                said = self._model.predict(request.state, questions)
        except Exception as error:
            return Response.without(request, "error", f"{self.spec}: {failed(error)}")
        raw = said.get("answers", said) if isinstance(said, Mapping) else said
        usage = Usage(requests=1, questions=len(questions), cost_usd=0.0, backend=self.spec)
        return Response(answers=read_answers(request.questions, raw), usage=usage, model=self._name)


def _question(question: Question) -> dict[str, Any]:
    asked = wire_question(question)
    return {**asked, "instructions": as_text(asked["instructions"])}


def laya(spec: str) -> LayaBackend:
    """`laya[:MODEL]`; the model is that of the spec, YB_EVAL_DECISION_LAYA_MODEL or the usual one."""
    model = spec.partition(":")[2] or variable("YB_EVAL_DECISION_LAYA_MODEL") or MODEL
    return LayaBackend(model, spec=spec)
