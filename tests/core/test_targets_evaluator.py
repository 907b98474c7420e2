"""An evaluator made of a target and a judge, and the reading of answers."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from yb_eval.errors import EvaluationError
from yb_eval.interfaces import Answer, Evaluator
from yb_eval.model import Outcome, Sample
from yb_eval.targets import (
    AnswerError,
    CallableTarget,
    TargetEvaluator,
    expect_boolean,
    expect_choice,
    expect_list,
    expect_number,
    expect_object,
    expect_probability,
    expect_text,
)

TIERS = ("low", "mid", "high")


def request_of(sample: Sample) -> Mapping[str, Any]:
    return {"id": sample.id, "text": sample.data}


def judge(sample: Sample, answer: Any) -> Outcome:
    tier = expect_choice(answer, "tier", TIERS)
    return Outcome(id=sample.id, correct=tier == "low", predicted=tier, tags=sample.tags, repeat=sample.repeat)


def reference(request: Mapping[str, Any]) -> Mapping[str, Any]:
    if request["text"] == "crash":
        raise ValueError("boom")
    return {"tier": request["text"]}


def evaluator(call: Callable[..., Any] = reference, **more: Any) -> TargetEvaluator:
    target = CallableTarget(call, fingerprint="0" * 64, batch_size=7, concurrency="processes")
    return TargetEvaluator(target=target, request=request_of, judge=judge, **more)


def samples(*texts: str) -> list[Sample]:
    return [Sample(f"s{place}", text, tags=("t",)) for place, text in enumerate(texts)]


class Asked:
    """A target that notes what it is asked, and answers the repeat."""

    spec, fingerprint, batch_size, concurrency = "asked", "1" * 64, 4, "threads"

    def __init__(self, missing: int = 0) -> None:
        self.calls: list[tuple[int, list[str]]] = []
        self.missing = missing

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        self.calls.append((repeat, [request["id"] for request in requests]))
        return [Answer({"tier": "low", "repeat": repeat})] * (len(requests) - self.missing)

    def close(self) -> None:
        self.calls.append((-1, []))


def test_it_is_an_evaluator_that_takes_after_its_target() -> None:
    made: Evaluator = evaluator()
    assert (made.batch_size, made.concurrency) == (7, "processes")


def test_good_bad_and_failing_answers_become_outcomes_in_order() -> None:
    made = evaluator(expected=lambda sample: "low")
    outcomes = made.evaluate(samples("low", "crash", "huge", "mid"))
    assert [outcome.status for outcome in outcomes] == ["scored", "error", "error", "scored"]
    assert [outcome.id for outcome in outcomes] == ["s0", "s1", "s2", "s3"]
    assert outcomes[1].reason == "ValueError: boom"
    assert outcomes[2].reason == "tier is 'huge', which is unknown (known: high, low, mid)"
    assert outcomes[1].expected == "low"
    assert all(outcome.tags == ("t",) for outcome in outcomes)
    assert [outcome.correct for outcome in outcomes] == [True, None, None, False]


def test_a_fault_of_the_judge_is_not_an_outcome() -> None:
    def faulty(sample: Sample, answer: Any) -> Outcome:
        raise KeyError("fault of the suite")

    target = CallableTarget(reference, fingerprint="0" * 64)
    with pytest.raises(KeyError, match="fault of the suite"):
        TargetEvaluator(target=target, request=request_of, judge=faulty).evaluate(samples("low"))


def test_samples_are_grouped_by_repeat_and_put_back_in_order() -> None:
    target = Asked()
    made = TargetEvaluator(
        target=target,  # type: ignore[arg-type]
        request=request_of,
        judge=lambda sample, answer: Outcome(id=sample.id, predicted=answer["repeat"], repeat=sample.repeat),
    )
    mixed = [sample.again(repeat) for sample in samples("a", "b") for repeat in (2, 0, 1)]
    outcomes = made.evaluate(mixed)
    assert [(outcome.id, outcome.predicted) for outcome in outcomes] == [(s.id, s.repeat) for s in mixed]
    assert target.calls == [(0, ["s0", "s1"]), (1, ["s0", "s1"]), (2, ["s0", "s1"])]
    made.close()
    assert target.calls[-1] == (-1, [])


def test_a_target_that_breaks_its_contract_ends_the_run() -> None:
    made = TargetEvaluator(target=Asked(missing=1), request=request_of, judge=judge)  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match="asked: the target gave 1 answers to 2 requests"):
        made.evaluate(samples("a", "b"))


def test_a_batch_that_decodes_when_looked_into_is_looked_into_once() -> None:
    class Lazy(Sequence[Sample]):
        looks = 0

        def __len__(self) -> int:
            return 1

        def __getitem__(self, index: Any) -> Any:
            raise AssertionError

        def __iter__(self) -> Any:
            Lazy.looks += 1
            return iter(samples("low"))

    assert evaluator().evaluate(Lazy())[0].correct is True
    assert Lazy.looks == 1


def test_an_empty_batch_asks_nothing() -> None:
    target = Asked()
    assert TargetEvaluator(target=target, request=request_of, judge=judge).evaluate([]) == []  # type: ignore[arg-type]
    assert target.calls == []


def test_the_fingerprint_follows_the_target_and_the_identity() -> None:
    first = evaluator(identity={"tolerance": 0.1, "Policy Name": ["x", None]}).fingerprint
    assert evaluator(identity={"Policy Name": ["x", None], "tolerance": 0.1}).fingerprint == first
    assert evaluator(identity={"tolerance": 0.2, "Policy Name": ["x", None]}).fingerprint != first
    assert evaluator().fingerprint != first
    other = TargetEvaluator(target=Asked(), request=request_of, judge=judge)  # type: ignore[arg-type]
    assert other.fingerprint != evaluator().fingerprint


def test_it_pickles_and_begins_its_observations_anew() -> None:
    made = evaluator()
    made.evaluate(samples("low"))
    again = pickle.loads(pickle.dumps(made))
    assert again.observations()["requests"] == 0
    assert again.evaluate(samples("low", "mid")) == made.evaluate(samples("low", "mid"))
    assert again.fingerprint == made.fingerprint


def test_observations_add_up_over_threads() -> None:
    made = evaluator()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: made.evaluate(samples("low", "crash", "huge")), range(50)))
    seen = made.observations()
    assert (seen["requests"], seen["failures"], seen["cached"]) == (150, 50, 0)
    assert seen["seconds"] >= 0


def refused(read: Callable[..., Any], *arguments: Any, **more: Any) -> str:
    with pytest.raises(AnswerError) as caught:
        read(*arguments, **more)
    return caught.value.reason


def test_an_answer_of_the_right_shape_is_read() -> None:
    answer = {"t": "x", "n": 2, "p": 0.5, "b": False, "l": [1], "none": None, "zero": 0}
    assert expect_object(answer) is answer
    assert expect_text(answer, "t") == "x"
    assert expect_number(answer, "n", minimum=2, maximum=2) == 2
    assert expect_number(answer, "zero") == 0
    assert expect_probability(answer, "p") == 0.5
    assert expect_choice(answer, "t", ("x", "y")) == "x"
    assert expect_boolean(answer, "b") is False
    assert expect_list(answer, "l") == [1]
    for read in (expect_text, expect_number, expect_probability, expect_boolean, expect_list):
        assert read(answer, "none", optional=True) is None
        assert read(answer, "absent", optional=True) is None
    assert expect_choice(answer, "absent", ("x",), optional=True) is None


@pytest.mark.parametrize("answer", [None, 1, "low", ["low"], True])
def test_what_is_no_object_is_said(answer: Any) -> None:
    assert refused(expect_text, answer, "tier") == f"an object is expected, not {answer!r}"


def test_a_missing_and_a_null_value_are_told_apart() -> None:
    assert refused(expect_text, {"a": 1}, "tier") == "tier is missing in the answer {'a': 1}"
    assert refused(expect_number, {"tier": None}, "tier") == "tier is null in the answer {'tier': None}"


def test_a_value_of_the_wrong_kind_is_quoted() -> None:
    assert refused(expect_text, {"a": 1}, "a") == "a must be a string, not 1"
    assert refused(expect_boolean, {"a": 1}, "a") == "a must be true or false, not 1"
    assert refused(expect_list, {"a": {}}, "a") == "a must be a list, not {}"
    assert refused(expect_choice, {"a": "hgih"}, "a", TIERS) == "a is 'hgih', which is unknown (did you mean 'high'?)"
    assert refused(expect_choice, {"a": "Low"}, "a", TIERS).startswith("a is 'Low', which is unknown")
    assert len(refused(expect_text, {"a": ["x" * 10_000]}, "a")) < 200


@pytest.mark.parametrize("value", [True, False, "0.5", [0.5], float("nan"), float("inf"), 10**400, -0.01, 1.01, 2])
def test_what_is_no_probability_is_refused(value: Any) -> None:
    assert refused(expect_probability, {"p": value}, "p", optional=True).startswith(
        "p must be a number from 0 to 1, not "
    )


def test_bounds_of_numbers_are_inclusive_and_named() -> None:
    assert refused(expect_number, {"n": 0}, "n", minimum=1) == "n must be a number of at least 1, not 0"
    assert refused(expect_number, {"n": 9}, "n", maximum=5) == "n must be a number of at most 5, not 9"
    assert refused(expect_number, {"n": "9"}, "n") == "n must be a number, not '9'"
