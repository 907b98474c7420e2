"""Vercel's AI Gateway: the evaluation-model protocol that its AI SDK speaks (`POST {base}/evaluation-model`).

A noul is a `boolean` there, usage is in camel case and confidences stand apart, in `providerMetadata`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yb_eval_decision.backends.addresses import address, variable
from yb_eval_decision.backends.base import Request
from yb_eval_decision.backends.http import HttpBackend, dollars, text_or_none, whole
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Failed, Prepared, Reply
from yb_eval_decision.backends.systemone import JEV_LIMITS, JEV_PRICE
from yb_eval_decision.questions import wire_question

GATEWAY = "https://ai-gateway.vercel.sh/v4/ai"
JEV = "typesafe-ai/jev"


class VercelBackend(HttpBackend):
    """Asks the gateway to keep nothing of what it is sent."""

    wire = "vercel-evaluation-model"

    def encode(self, request: Request) -> tuple[dict[str, Any], Any]:
        questions = {}
        for id, question in request.questions.items():
            asked = wire_question(question)
            questions[id] = {**asked, "type": "boolean"} if question.type == "noul" else asked
        options = {"gateway": {"zeroDataRetention": True}}
        return {"state": request.state, "questions": questions, "providerOptions": options}, None

    def read(self, prepared: Prepared, value: Mapping[str, Any]) -> Reply:
        answers = value.get("answers")
        if not isinstance(answers, Mapping):
            raise Failed("answered an object without answers")
        usage = _object(value.get("usage"))
        metadata = _object(value.get("providerMetadata"))
        gateway = _object(metadata.get("gateway"))
        confidences: dict[str, Any] = {}
        for told in metadata.values():
            confidences |= _object(_object(told).get("confidence"))
        response = _object(value.get("response"))
        return Reply(
            answers=answers,
            model=text_or_none(value.get("model")) or text_or_none(response.get("modelId")),
            input_tokens=whole(usage.get("inputTokens")),
            output_tokens=whole(usage.get("outputTokens")),
            cost_usd=dollars(gateway.get("cost")),
            confidences=confidences,
        )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def vercel(spec: str, pace: Pace) -> VercelBackend:
    """`vercel[:MODEL]`. AI_GATEWAY_API_KEY (else VERCEL_OIDC_TOKEN) goes to AI_GATEWAY_BASE_URL or the gateway; VERCEL_TEAM names
    a team."""
    model = spec.partition(":")[2] or JEV
    found = address(
        variable("AI_GATEWAY_BASE_URL") or GATEWAY,
        where=spec,
        keys=("AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN"),
        required=True,
    )
    headers = {
        "ai-gateway-protocol-version": "0.0.1",
        "ai-gateway-auth-method": "oidc" if found.used == "VERCEL_OIDC_TOKEN" else "api-key",
        "ai-evaluation-model-specification-version": "4",
        "ai-model-id": model,
    }
    if team := variable("VERCEL_TEAM"):
        headers["ai-gateway-team"] = team
    return VercelBackend(
        found,
        "/evaluation-model",
        spec=spec,
        model=model,
        headers=headers,
        pace=pace,
        limits=JEV_LIMITS,
        # Only Jev's price is known; of another model the gateway says what it cost, or nobody.
        price=JEV_PRICE if model.startswith(JEV) else None,
    )
