"""OpenAI's Decisions API (public beta of October 2026): `POST {base}/decisions`.

Questions are a list of predicates, choices and scores about one input, and answers a list in the same order; any of them may be
a refusal. It is asked over plain HTTP here, as any other decision service is, so that no SDK is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from yb_eval.errors import shorten
from yb_eval_decision.backends.addresses import address, variable
from yb_eval_decision.backends.base import Limits, Price, Request
from yb_eval_decision.backends.http import HttpBackend, dollars, text_or_none, whole
from yb_eval_decision.backends.pacing import Pace
from yb_eval_decision.backends.remote import Failed, Prepared, Reply
from yb_eval_decision.backends.text import as_text
from yb_eval_decision.questions import Choice, Noul, Question

OPENAI = "https://api.openai.com/v1"
MODEL = "gpt-6-luna"
#: At most 400 questions of 2 to 255 choices; the context is 1,050,000 tokens.
LIMITS = Limits(request_tokens=1_000_000, questions=400, options=255, levels=10)
PRICE = Price(input=0.10)


class OpenAIDecisionsBackend(HttpBackend):
    """A question that the API does not take (a choice of one option) is an error of that question alone."""

    wire = "openai-decisions"

    def encode(self, request: Request) -> tuple[dict[str, Any], Any]:
        asked = {id: question for id, question in request.questions.items() if _askable(question)}
        if not asked:
            raise Failed("OpenAI's Decisions API takes choices of at least two options")
        # The ids stay here: they are names of evals, not something to judge by.
        questions = [_question(f"q{place}", question) for place, question in enumerate(asked.values())]
        state = orjson.dumps(request.state, default=dict).decode()
        return {"model": self.model, "input": state, "questions": questions}, tuple(asked)

    def read(self, prepared: Prepared, value: Mapping[str, Any]) -> Reply:
        ids: Sequence[str] = prepared.more
        given = value.get("answers")
        if not isinstance(given, list):
            raise Failed("answered an object without a list of answers")
        if len(given) != len(ids):
            raise Failed(f"{len(given)} answers came back for {len(ids)} questions")
        usage = value.get("usage")
        usage = usage if isinstance(usage, Mapping) else {}
        answers = {id: _answer(f"q{place}", answer) for place, (id, answer) in enumerate(zip(ids, given, strict=True))}
        for id in prepared.request.questions:
            if id not in answers:
                answers[id] = {"error": "OpenAI's Decisions API takes choices of at least two options"}
        return Reply(
            answers=answers,
            model=text_or_none(value.get("model")),
            input_tokens=whole(usage.get("input_tokens")),
            output_tokens=whole(usage.get("output_tokens")),
            cost_usd=dollars(usage.get("cost")),
        )


def _askable(question: Question) -> bool:
    return not isinstance(question, Choice) or len(question.criteria) > 1


def _question(name: str, question: Question) -> dict[str, Any]:
    asked: dict[str, Any] = {"type": question.type, "name": name, "instructions": as_text(question.instructions)}
    if isinstance(question, Noul):
        asked["type"] = "predicate"
        for answer, means in (question.criteria or {}).items():
            # A predicate has no criteria of its own.
            asked["instructions"] += f"\n{'Yes' if answer == 'true' else 'No'} means: {as_text(means)}"
    elif isinstance(question, Choice):
        asked["choices"] = [
            {"value": option} if means is None else {"value": option, "description": means}
            for option, means in question.criteria.items()
        ]
    else:
        asked["levels"] = [{"label": level} for level in question.criteria]
    return asked


def _answer(name: str, answer: Any) -> Any:
    """An answer of theirs as System One has it."""
    if not isinstance(answer, Mapping):
        return answer
    named = answer.get("name")
    if named is not None and named != name:
        return {"error": f"the answer in this place is for another question ({shorten(named, 40)})"}
    kind = answer.get("type")
    if kind == "predicate":
        return {"type": "noul", "noul": answer.get("probability")}
    if kind in ("choice", "score"):
        shares = answer.get("probabilities")
        made = {key: answer[key] for key in ("type", "choice", "score", "confidence") if key in answer}
        return {**made, "probabilities": _shares(shares, str if kind == "score" else None)}
    return answer


def _shares(shares: Any, key: type[str] | None) -> Any:
    """`[{"value": v, "probability": p}, ...]` as a mapping; as it is where it is something else or names a value twice."""
    if not isinstance(shares, list) or not all(isinstance(share, Mapping) and "value" in share for share in shares):
        return shares
    made = {key(share["value"]) if key else share["value"]: share.get("probability") for share in shares
            if isinstance(share["value"], str | int)}  # fmt: skip
    return made if len(made) == len(shares) else shares


def openai_decisions(spec: str, pace: Pace) -> OpenAIDecisionsBackend:
    """`openai-decisions[:MODEL]`. OPENAI_API_KEY goes to OPENAI_BASE_URL or api.openai.com."""
    model = spec.partition(":")[2] or MODEL
    found = address(variable("OPENAI_BASE_URL") or OPENAI, where=spec, keys=("OPENAI_API_KEY",), required=True)
    return OpenAIDecisionsBackend(
        found, "/decisions", spec=spec, model=model, pace=pace, limits=LIMITS, price=PRICE if model == MODEL else None
    )
