"""OpenRouter's decisions API (alpha): `POST {base}/alpha/decisions`, the System One wire with a model that must be named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yb_eval_decision.backends.addresses import address, variable
from yb_eval_decision.backends.base import Request
from yb_eval_decision.backends.http import HttpBackend
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Prepared, Reply
from yb_eval_decision.backends.systemone import JEV_LIMITS, JEV_PRICE, read_system_one
from yb_eval_decision.questions import wire_question

OPENROUTER = "https://openrouter.ai/api"
MODEL = "typesafe/jev-1.13"


class OpenRouterBackend(HttpBackend):
    """Says itself what an answer cost (`usage.cost`)."""

    wire = "openrouter-decisions"

    def encode(self, request: Request) -> tuple[dict[str, Any], Any]:
        questions = {id: wire_question(question) for id, question in request.questions.items()}
        return {"model": self.model, "state": request.state, "questions": questions}, None

    def read(self, prepared: Prepared, value: Mapping[str, Any]) -> Reply:
        return read_system_one(value)


def openrouter(spec: str, pace: Pace) -> OpenRouterBackend:
    """`openrouter[:MODEL]`. OPENROUTER_API_KEY goes to OPENROUTER_BASE_URL or openrouter.ai."""
    model = spec.partition(":")[2] or MODEL
    found = address(
        variable("OPENROUTER_BASE_URL") or OPENROUTER, where=spec, keys=("OPENROUTER_API_KEY",), required=True
    )
    return OpenRouterBackend(
        found,
        "/alpha/decisions",
        spec=spec,
        model=model,
        pace=pace,
        limits=JEV_LIMITS,
        price=JEV_PRICE if model.startswith("typesafe/jev") else None,
    )
