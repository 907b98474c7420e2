"""Dividing a long sample costs about what sending its evidence once costs."""

from __future__ import annotations

from collections.abc import Sequence

from yb_eval_decision import evaluate
from yb_eval_decision.answers import NoulAnswer
from yb_eval_decision.backends.base import Backend, Limits, Request, Response


class Narrow(Backend):
    """Takes as much as Kev does; yes to all."""

    spec, fingerprint = "narrow", "0" * 64
    limits = Limits(request_tokens=8_192)

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        self.requests += requests
        return [Response(answers=dict.fromkeys(request.questions, NoulAnswer(0.9))) for request in requests]


def sample(claims: int, pages: int) -> dict:
    return {
        "contexts": [f"Page {page}. " + f"Engine {page} was tested in hall {page}. " * 140 for page in range(pages)],
        "output": " ".join(f"Engine {claim} was tested in hall {claim}." for claim in range(claims)),
    }


def asked(backend: Narrow) -> list[tuple[str, ...]]:
    return [tuple(request.questions) for request in backend.requests]


def test_many_claims_about_many_pages_take_as_many_requests_as_the_pages_fill():
    backend = Narrow()
    report = evaluate(sample(10, 8), ["faithfulness"], backend=backend)
    assert report.faithfulness.passed is True and len(report.faithfulness.evidence["per_claim"]) == 10
    ids = [id for request in asked(backend) for id in request]
    assert len(ids) == len(set(ids)) >= 10 * 6
    # Some 40 KB of pages at about 3 bytes a token are two limits' worth; one claim a request would be dozens.
    assert len(backend.requests) <= 4, len(backend.requests)


def test_a_state_that_leaves_hardly_any_room_is_not_sent_again_for_every_claim():
    backend = Narrow()
    report = evaluate(sample(40, 4), ["faithfulness"], backend=backend)
    assert report.faithfulness.passed is True
    assert len(backend.requests) <= 4, len(backend.requests)


def test_every_question_still_has_what_it_reads():
    backend = Narrow()
    evaluate(sample(10, 8), ["faithfulness"], backend=backend)
    for request in backend.requests:
        for question in request.questions.values():
            for path in question.task.parts.values():
                here = request.state
                for step in path.split("."):
                    here = here[step]
                assert here
