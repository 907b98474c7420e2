"""Cascades: what is undecided goes on, and only that; who decided what; what it cost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval.digest import HEX_ID
from yb_eval_decision.answers import ChoiceAnswer, NoAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.backends import opening
from yb_eval_decision.backends.base import Backend, Limits, Price, Request, Response
from yb_eval_decision.backends.cascade import Band, CascadeBackend, parse
from yb_eval_decision.backends.mock import MockBackend
from yb_eval_decision.questions import Choice, Noul, Score
from yb_eval_decision.results import Usage

N = Noul("?")


class Down(Backend):
    """A backend whose requests all fail, for reasons of its own."""

    spec = "down"
    fingerprint = "0" * 64

    def decide(self, requests: Sequence[Request]) -> list[Response]:
        return [Response.without(request, "error", "down", retry_later=True) for request in requests]


def cascade(*answers: Any, **more: Any) -> CascadeBackend:
    stages = [
        given if isinstance(given, Backend) else MockBackend(given, spec=f"m{place}", model=f"model {place}")
        for place, given in enumerate(answers)
    ]
    return CascadeBackend(stages, **more)


def asked_of(stage: Any) -> list[list[str]]:
    return [list(call["questions"]) for call in stage.calls]


def test_only_what_is_undecided_goes_on_with_what_it_reads() -> None:
    both = cascade({"a": 0.99, "b": 0.5, "c": 0.02, "d": 0.6}, {"*": 0.8})
    state = {"x": "one", "y": {"c0": "two", "c1": "three"}, "z": "four"}
    questions = {
        "a": Noul("?", reads=("x",)), "b": Noul("?", reads=("x",)), "c": Noul("?", reads=("z",)),
        "d": Noul("?", reads=("y.c1",)),
    }  # fmt: skip
    response = both.decide([Request(state, questions)])[0]
    assert list(response.answers) == ["a", "b", "c", "d"]
    assert {id: answer.probability for id, answer in response.answers.items()} == {
        "a": 0.99,
        "b": 0.8,
        "c": 0.02,
        "d": 0.8,
    }  # type: ignore[union-attr]
    assert response.decided_by == {"a": "m0", "b": "m1", "c": "m0", "d": "m1"}
    assert asked_of(both.stages[1]) == [["b", "d"]]
    assert both.stages[1].calls[0]["state"] == {"x": "one", "y": {"c1": "three"}}  # type: ignore[attr-defined]


def test_a_question_that_says_nothing_of_what_it_reads_sees_the_whole_state() -> None:
    both = cascade({}, {"*": 0.9})
    both.decide([Request({"x": 1, "y": 2}, {"a": Noul("?", reads=("x",)), "b": N})])
    assert both.stages[1].calls[0]["state"] == {"x": 1, "y": 2}  # type: ignore[attr-defined]


def test_what_is_decided_at_once_costs_nothing_more() -> None:
    both = cascade({"*": True}, {"*": False})
    response = both.decide([Request({}, {"a": N}), Request({}, {"b": N})])[0]
    assert asked_of(both.stages[1]) == []
    assert response.model == "model 0"
    assert response.usage.requests == 1


def test_all_undecided_questions_of_a_batch_go_on_in_one_call() -> None:
    class Counting(MockBackend):
        batches = 0

        def decide(self, requests: Sequence[Request]) -> list[Response]:
            self.batches += 1
            return super().decide(requests)

    last = Counting({"*": 0.9})
    both = cascade({}, last)
    responses = both.decide([Request({"n": n}, {"q": N}) for n in range(10)])
    assert last.batches == 1
    assert len(responses) == 10


def test_an_abstention_goes_on_and_failures_only_where_told() -> None:
    first = {
        "a": NoAnswer("abstained", "cannot tell"),
        "e": NoAnswer("error", "broken"),
        "r": NoAnswer("refused", "no"),
    }
    asked = Request({}, {"a": N, "e": N, "r": N})
    plain = cascade(first, {"*": 0.9})
    response = plain.decide([asked])[0]
    assert response.decided_by == {"a": "m1", "e": "m0", "r": "m0"}
    assert response.answers["e"] == NoAnswer("error", "broken")
    falling = cascade(first, {"*": 0.9}, on_failure=True)
    assert falling.decide([asked])[0].decided_by == {"a": "m1", "e": "m1", "r": "m1"}
    assert plain.fingerprint != falling.fingerprint


def test_the_last_answer_stands_undecided_or_not() -> None:
    three = cascade({}, {"a": 0.4}, {"a": 0.55, "b": NoAnswer("abstained", "who knows")})
    response = three.decide([Request({}, {"a": N, "b": N})])[0]
    assert response.answers == {"a": NoulAnswer(0.55), "b": NoAnswer("abstained", "who knows")}
    assert response.decided_by == {"a": "m2", "b": "m2"}
    assert response.model == "model 0 -> model 1 -> model 2"


def test_a_failure_of_the_last_backend_is_not_hidden_by_an_undecided_answer() -> None:
    response = cascade({}, Down()).decide([Request({}, {"a": N})])[0]
    assert response.answers["a"] == NoAnswer("error", "down")
    assert response.retry_later
    # Where another backend made up for it, nothing is to be asked again.
    response = cascade(Down(), {"*": 0.9}, on_failure=True).decide([Request({}, {"a": N})])[0]
    assert response.answers["a"] == NoulAnswer(0.9)
    assert not response.retry_later


def test_usage_adds_up_and_a_part_of_the_cost_that_is_unknown_shows() -> None:
    class Priced(MockBackend):
        def decide(self, requests: Sequence[Request]) -> list[Response]:
            made = super().decide(requests)
            return [
                Response(
                    answers=one.answers, usage=Usage(requests=1, questions=1, input_tokens=100, cost_usd=self.cost)
                )
                for one in made
            ]

        cost: float | None = 0.5

    one, other = Priced({}), Priced({"*": 0.9})
    usage = cascade(one, other).decide([Request({}, {"a": N})])[0].usage
    assert (usage.requests, usage.questions, usage.input_tokens, usage.cost_usd) == (2, 2, 200, 1.0)
    assert usage.cost_complete
    other.cost = None
    usage = cascade(one, other).decide([Request({}, {"a": N})])[0].usage
    assert usage.cost_usd == 0.5
    assert not usage.cost_complete


@pytest.mark.parametrize(
    ("answer", "undecided"),
    [
        (NoulAnswer(0.35), False), (NoulAnswer(0.36), True), (NoulAnswer(0.64), True), (NoulAnswer(0.65), False),
        (ChoiceAnswer("a", {"a": 0.64, "b": 0.36}), True), (ChoiceAnswer("a", {"a": 0.7, "b": 0.3}), False),
        (ChoiceAnswer("a", {"a": 0.5, "b": 0.3, "c": 0.2}), True), (ChoiceAnswer("a", {"a": 1.0}), False),
        (ScoreAnswer(1.0, (0.1, 0.8, 0.1), ("x", "y", "z")), False),
        (ScoreAnswer(0.5, (0.5, 0.5), ("x", "y")), True),
        (NoAnswer("abstained", ""), True), (NoAnswer("error", ""), False), (NoAnswer("refused", ""), False),
    ],
)  # fmt: skip
def test_the_usual_band(answer: Any, undecided: bool) -> None:
    assert Band().holds(answer) is undecided


def test_bands_are_per_question() -> None:
    first = {"sure.q": 0.7, "other.q": 0.7, "third.q": 0.7, "kind": {"a": 0.6, "b": 0.4}}
    asked = Request({}, {**dict.fromkeys(["sure.q", "other.q", "third.q"], N), "kind": Choice("?", ["a", "b"])})
    bands = {"sure.*": (0.2, 0.9), "third.q": Band(0.69, 0.71), "kind": Band(margin=0.1)}
    response = cascade(first, {"*": 0.95, "kind": "b"}, bands=bands).decide([asked])[0]
    assert response.decided_by == {"sure.q": "m1", "other.q": "m0", "third.q": "m1", "kind": "m0"}


def test_bands_may_come_from_a_calibration_of_the_backend_and_model_that_answered() -> None:
    seen = []

    class Calibration:
        fingerprint = "f" * 64

        def __call__(self, id: str, question: Any, backend: Backend, model: str | None) -> Band | None:
            seen.append((id, question.type, backend.spec, model))
            return Band(0.0, 1.0) if id == "a" else None

    both = cascade({"*": 0.9}, {"*": 0.8}, bands=Calibration())
    assert both.decide([Request({}, {"a": N, "b": N})])[0].decided_by == {"a": "m1", "b": "m0"}
    assert seen[:2] == [("a", "noul", "m0", "model 0"), ("b", "noul", "m0", "model 0")]
    assert both.fingerprint != cascade({"*": 0.9}, {"*": 0.8}).fingerprint


def test_a_later_stage_gets_requests_that_it_can_take() -> None:
    small = MockBackend({"*": 0.9}, limits=Limits(questions=3, options=2), spec="small")
    wide = Choice("?", ["a", "b", "c"])
    both = cascade({}, small)
    asked = Request({}, {**{f"n{n}": Noul(f"{n}?") for n in range(7)}, "wide": wide})
    response = both.decide([asked])[0]
    assert max(len(ids) for ids in asked_of(small)) <= 3
    assert all(response.answers[f"n{n}"] == NoulAnswer(0.9) for n in range(7))
    # What it cannot take at all keeps the answer that there is, or goes to the one after it.
    assert response.decided_by["wide"] == "m0"
    three = cascade({}, small, {"wide": "b"})
    assert three.decide([asked])[0].decided_by["wide"] == "m2"
    assert both.limits == both.stages[0].limits


def test_repeats_are_passed_on() -> None:
    class Noting(MockBackend):
        def decide(self, requests: Sequence[Request]) -> list[Response]:
            self.repeats = [request.repeat for request in requests]
            return super().decide(requests)

    last = Noting({"*": 0.9})
    cascade({}, last).decide([Request({}, {"a": N}, 2)])
    assert last.repeats == [2]


def test_it_answers_the_same_awaited() -> None:
    asked = [Request({"n": n}, {"a": N, "b": Score("?", ["x", "y"])}) for n in range(3)]

    def made() -> CascadeBackend:
        return cascade({"b": 1}, {"a": 0.9})

    assert asyncio.run(made().adecide(asked)) == made().decide(asked)


def test_a_cascade_of_cascades_names_who_decided() -> None:
    inner = cascade({}, {"a": 0.9})
    outer = CascadeBackend([MockBackend({}, spec="first"), inner])
    assert outer.decide([Request({}, {"a": N, "b": N})])[0].decided_by == {"a": "m1", "b": "m1"}


def test_closing_it_closes_all() -> None:
    closed = []

    class Closing(MockBackend):
        def close(self) -> None:
            closed.append(self.spec)

    cascade(Closing(spec="x"), Closing(spec="y")).close()
    assert closed == ["x", "y"]


# Specs


@pytest.mark.parametrize(
    ("spec", "stages"),
    [
        ("a -> b", [("a", False), ("b", False)]),
        ("a->b~>c", [("a", False), ("b", True), ("c", False)]),
        ("local -> kev://h:1#m -> llm:x/y", [("local", False), ("kev://h:1#m", False), ("llm:x/y", False)]),
        ("a -> (b ~> c)", [("a", False), ("b", True), ("c", False)]),
        ("(a -> b) ~> c", [("a", False), ("b", True), ("c", False)]),
        ("((a)->((b->c)))", [("a", False), ("b", False), ("c", False)]),
        ("a", [("a", False)]),
    ],
)
def test_arrows_parse(spec: str, stages: Any) -> None:
    assert parse(spec) == stages


@pytest.mark.parametrize(
    "spec", ["->", "a ->", "-> b", "a -> -> b", "a -> (b", "a) -> b", "a -> ()", "( -> a)", "a -> (b ->)"]
)
def test_arrows_that_lead_nowhere_are_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        opening.open_backend(spec)


@given(st.text(alphabet="a->~() ", max_size=30))
def test_any_spec_parses_or_is_refused(spec: str) -> None:
    try:
        stages = parse(spec)
    except UsageError:
        return
    assert all(name.strip() == name and name for name, _ in stages)


def test_a_cascade_opens_from_its_spec_and_its_identity_is_that_of_its_stages() -> None:
    with opening.open_backend("mock ~> mock -> mock") as backend:
        assert isinstance(backend, CascadeBackend)
        assert backend.spec == "mock ~> mock -> mock"
        assert HEX_ID.match(backend.fingerprint)
        assert not backend.waits
    with opening.open_backend("mock -> kev://localhost:8009") as other:
        assert other.waits
        assert other.fingerprint != backend.fingerprint


def test_a_stage_that_cannot_be_opened_closes_those_that_were(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Closing(MockBackend):
        def close(self) -> None:
            closed.append(1)

    monkeypatch.setitem(opening._registered, "closing", lambda spec, settings: Closing())
    with pytest.raises(UsageError, match="unknown backend"):
        opening.open_backend("closing -> nonesuch")
    assert closed == [1]


@pytest.mark.parametrize(
    "wrong", [{"low": 0.7, "high": 0.3}, {"low": -0.1}, {"high": 1.1}, {"margin": float("nan")}, {"low": True}]
)
def test_a_band_that_means_nothing_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError):
        Band(**wrong)


def test_a_cascade_needs_two() -> None:
    with pytest.raises(UsageError):
        CascadeBackend([MockBackend()])
    with pytest.raises(UsageError):
        CascadeBackend([MockBackend(), MockBackend()], on_failure=[True, True])


def test_its_price_is_the_most_that_it_costs() -> None:
    class Priced(MockBackend):
        waits = True
        price = Price(input=0.5, output=2.0)

    class Unpriced(Priced):
        price = None

    class Local(MockBackend):
        price = None

    assert cascade(Priced(), Priced()).price == Price(input=1.0, output=4.0)
    assert cascade(Local(), Priced()).price == Price(input=0.5, output=2.0)
    assert cascade(Priced(), Unpriced()).price is None
