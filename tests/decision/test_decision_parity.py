"""Parity with jevals 0.1.4: what both libraries do by design they do alike, and where they differ there is a reason.

Both are asked by mock backends that give the same answers to the same questions. The tests that compare run where jevals is
installed (`pip install jevals==0.1.4`, a development requirement); the others pin the behaviours of its own test suite.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from yb_eval_decision import (
    Eval,
    MockBackend,
    Noul,
    Result,
    Sample,
    builtin_evals,
    evaluate,
    evaluate_dataset,
    get_eval,
    load_eval,
)
from yb_eval_decision.kinds import INSUFFICIENT
from yb_eval_decision.security import detect_pii, detect_secrets

#: Where the two differ on purpose: what, and why. The tests below ask no eval in a way that a line of this table covers.
DELIBERATE = {
    "choices have the option insufficient_evidence, scores and nouls a question `enough`": "a decision model always "
    "answers what it is asked (weakness 36); with the option at 0 and `enough` at 1 the results are the same",
    "a bad-noul with its own threshold passes above it, theirs where p < threshold": "their threshold is one of p(bad) "
    "there and of goodness elsewhere (weakness 2); at 0.5 both mean the same",
    "PII, PHI and SecretsExposure score 1 - p, theirs 0 or 1": "a 0/1 score has no curve to choose a threshold on "
    "(weakness 28); the verdict at 0.5 is the same",
    "PII and the like do not modify what was judged harmless": "weakness 5",
    "TrajectoryMatch and ToolCallF1 count calls as often as they were made": "weakness 21; without duplicates the "
    "scores are the same",
    "unordered trajectories pass exactly where the score is 1": "weakness 21",
    "the request is that of the turn which the answer belongs to": "weakness 22; the same in a conversation of one turn",
    "headings, greetings and questions are no claims": "weakness 24; the same for plain sentences",
    "a missing or impossible answer is an error": "weakness 17; theirs is 0.5 or uniform",
    "a score question of a YAML eval counts once in the default mean": "weakness 20; theirs adds the level's index",
    "keys in the environment choose no backend": "an offline default never turns into one that sends data away; theirs "
    "takes the first key that it finds",
    "a result without a verdict gets one from the threshold": "theirs stays without; whoever reads `passed` has to guess",
    "report.passed is None where something was not measured": "weakness 19; theirs is True",
}

SAMPLE: dict[str, Any] = {
    "messages": [
        {"role": "system", "content": "You help the customers of a shop."},
        {"role": "user", "content": "Where is my order 1042, and when does it arrive?"},
        {
            "role": "assistant",
            "content": "I will look the order up and tell you where it is.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": '{"order": "1042"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '{"status": "shipped", "by": "2 May"}'},
        {
            "role": "assistant",
            "content": "Order 1042 has been shipped already. It should arrive by 2 May. Delivery costs nothing at all.",
        },
    ],
    "tools": [{"type": "function", "function": {"name": "find_order", "description": "Looks an order up."}}],
    "contexts": ["Orders arrive within five days.", "Gift cards never expire.", "Delivery is free of charge."],
    "expected": "The order has been shipped. It arrives by 2 May.",
    "expected_tool_calls": [{"name": "find_order", "args": {"order": "1042"}}],
    "allowed_topics": ["orders"],
}
RUBRIC = {"instructions": "How polite is output?", "levels": ["rude", "neutral", "polite"]}
ASKING = sorted(
    set(builtin_evals()) - {"trajectory_match", "tool_call_f1", "loop_detection", "pii", "phi", "secrets_exposure"}
)


@pytest.fixture
def jevals() -> Any:
    return pytest.importorskip("jevals")


def theirs(jevals: Any, name: str, **arguments: Any) -> Any:
    if name == "custom_rubric":
        arguments = {**RUBRIC, **arguments}
    return jevals.get_eval(name, **arguments)


def ours(name: str, **arguments: Any) -> Eval:
    if name == "custom_rubric":
        arguments = {**RUBRIC, **arguments}
    return get_eval(name, **arguments)


class Answers:
    """The same answers for both libraries, from a seed: by the type of the question and its place among those of an eval."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, id: str, question: Any, state: Any) -> Any:
        # Ids differ (`q` there, `input` or `r0` here); which item of a list is meant does not.
        tail = id.partition(".")[2]
        if tail.endswith("enough"):
            return 1.0
        item = re.fullmatch(r"(?:c|s|r|chunk)(\d+)", tail)
        place = int(item[1]) if item else 0
        named = tail if tail in ("relevance", "noncommittal", "destructive", "grounded", "action") else "q"
        drawn = f"{self.seed}/{question.type}/{named}/{place}"
        if question.type == "noul":
            return round(random.Random(drawn).random(), 3)
        names = list(question.criteria) if question.type == "choice" else list(range(len(question.criteria)))
        # By the name of the option: the libraries list them in different orders.
        weights = {name: 0.05 + random.Random(f"{drawn}/{name}").random() ** 3 for name in names}
        weights |= {name: 0.0 for name in names if name == INSUFFICIENT}
        return {name: weight / sum(weights.values()) for name, weight in weights.items()}


def both(jevals: Any, name: str, sample: Any, answers: Any, **arguments: Any) -> tuple[Any, Any]:
    one = evaluate(sample, [ours(name, **arguments)], backend=MockBackend(fn=answers)).results[0]
    other = jevals.evaluate(
        sample, [theirs(jevals, name, **arguments)], backend=jevals.MockBackend(fn=answers)
    ).results[0]
    assert one.measured, (one.status, one.reason)
    assert not other.skipped
    assert other.error is None
    return one, other


def agree(one: Any, other: Any) -> None:
    assert one.score == pytest.approx(other.score)
    assert one.passed == other.passed
    assert one.answer == other.answer
    if one.probability is not None and other.probability is not None:
        assert one.probability == pytest.approx(other.probability)


# Both libraries, one set of answers


def test_both_know_the_same_37_evals_in_the_same_categories(jevals: Any) -> None:
    assert {name: kind.category for name, kind in builtin_evals().items()} == {
        name: kind.category for name, kind in jevals.builtin_evals().items()
    }
    assert len(builtin_evals()) == 37


@pytest.mark.parametrize("name", ASKING)
def test_the_same_answers_give_the_same_score_verdict_and_answer(jevals: Any, name: str) -> None:
    verdicts = set()
    for seed in range(60):
        one, other = both(jevals, name, SAMPLE, Answers(seed))
        agree(one, other)
        verdicts.add(one.passed)
    # Both verdicts occurred, so the comparison said something. (To approve a call takes more: see below.)
    assert verdicts == {True, False} or name == "tool_call_risk"


@pytest.mark.parametrize("name", ASKING)
def test_both_need_the_same_fields_of_a_sample(jevals: Any, name: str) -> None:
    """Where theirs skips for want of a field ours does; ours may want what theirs judged without."""
    stricter = {"step_progress", "plan_adherence", "instruction_following"}
    for field in ("messages", "contexts", "expected", "tools"):
        less = {key: value for key, value in SAMPLE.items() if key != field}
        one = evaluate(less, [ours(name)], backend=MockBackend(fn=Answers(1))).results[0]
        other = jevals.evaluate(less, [theirs(jevals, name)], backend=jevals.MockBackend(fn=Answers(1))).results[0]
        assert one.status in ("measured", "skipped")
        if field != "messages" or name not in stricter:
            # Without messages theirs judges empty texts (`prompt_injection` of ""): ours has nothing to look at.
            assert one.skipped or not other.skipped, (field, one, other)


@pytest.mark.parametrize(("name", "arguments"), [
    ("grounded", {"threshold": 0.34, "claim_threshold": 0.7}),
    ("faithfulness", {"threshold": 0.3}),
    ("hallucination", {"threshold": 0.3}),
    ("answer_relevancy", {"threshold": 0.2}),
    ("context_precision", {"threshold": 0.9}),
    ("context_recall", {"threshold": 1.0}),
    ("argument_validity", {"threshold": 0.8}),
    ("goal_completion", {"threshold": 0.4}),
    ("quality", {"levels": ["bad", "fair", "good"]}),
    ("coherence", {"levels": ["no", "yes"]}),
    ("tool_call_risk", {"approve_at": 0.4, "block_at": 0.5, "grounded_at": 0.2, "destructive_at": 0.9}),
    ("topic_adherence", {"topics": ["orders"], "threshold": 0.3}),
])  # fmt: skip
def test_arguments_mean_the_same(jevals: Any, name: str, arguments: dict[str, Any]) -> None:
    for seed in range(40):
        one, other = both(jevals, name, SAMPLE, Answers(seed), **arguments)
        agree(one, other)
        if name == "tool_call_risk":
            assert one.action == other.action


@pytest.mark.parametrize("p", [0.0, 0.49, 0.5, 0.51, 1.0])
@pytest.mark.parametrize(
    "name", [name for name in ASKING if builtin_evals()[name].category == "security" and name != "toxicity"]
)
def test_at_the_boundary_the_undecided_counts_the_same(jevals: Any, name: str, p: float) -> None:
    one, other = both(jevals, name, SAMPLE, lambda id, question, state: 1.0 if id.endswith("enough") else p)
    agree(one, other)


def test_three_outcomes_of_a_tool_call_are_the_same(jevals: Any) -> None:
    actions = set()
    for seed in range(200):
        one, other = both(jevals, "tool_call_risk", SAMPLE, Answers(seed), approve_at=0.6, block_at=0.6)
        assert one.action == other.action
        actions.add(one.action)
    assert actions == {"allow", "escalate", "block"}


@pytest.mark.parametrize("mode", ["strict", "unordered", "subset", "superset"])
@pytest.mark.parametrize("match_args", [False, True])
def test_trajectories_without_duplicates_score_the_same(jevals: Any, mode: str, match_args: bool) -> None:
    numbers = random.Random(f"{mode}/{match_args}")
    for _ in range(60):
        made = numbers.sample("abcde", numbers.randint(1, 5))
        wanted = numbers.sample("abcde", len(made) if mode == "strict" else numbers.randint(1, 5))
        sample = {
            "messages": [{"role": "user", "content": "go"}],
            "tool_calls": [{"name": name, "args": {"of": name}} for name in made],
            "expected_tool_calls": [{"name": name, "args": {"of": name}} for name in wanted],
        }
        one = evaluate(sample, [ours("trajectory_match", mode=mode, match_args=match_args)], backend=MockBackend())[
            "trajectory_match"
        ]
        other = jevals.evaluate(
            sample, [theirs(jevals, "trajectory_match", mode=mode, match_args=match_args)], backend=jevals.MockBackend()
        )["trajectory_match"]
        assert (one.score, one.passed) == (pytest.approx(other.score), other.passed), (made, wanted)
        one = evaluate(sample, [ours("tool_call_f1")], backend=MockBackend()).tool_call_f1
        other = jevals.evaluate(sample, [theirs(jevals, "tool_call_f1")], backend=jevals.MockBackend()).tool_call_f1
        assert (one.score, one.passed) == (pytest.approx(other.score), other.passed)


@pytest.mark.parametrize("stuck", [0.1, 0.9])
def test_a_loop_is_counted_and_judged_the_same(jevals: Any, stuck: float) -> None:
    for n in range(5):
        call = {"id": "c", "type": "function", "function": {"name": "find", "arguments": '{"b": 1, "a": 2}'}}
        again = {"id": "d", "type": "function", "function": {"name": "find", "arguments": '{"a": 2, "b": 1}'}}
        messages = [{"role": "user", "content": "go"}]
        for index in range(n):
            messages += [{"role": "assistant", "content": None, "tool_calls": [call if index % 2 else again]}]
            messages += [{"role": "tool", "tool_call_id": "d", "content": "nothing"}]

        def answer(id: str, question: Any, state: Any) -> float:
            return 1.0 if id.endswith("enough") else stuck

        agree(*both(jevals, "loop_detection", {"messages": messages}, answer))


@pytest.mark.parametrize(("text", "p"), [
    ("write to anna.k@mail-of-anna.net", 0.9), ("write to anna.k@mail-of-anna.net", 0.1), ("nothing here", 0.9)
])  # fmt: skip
def test_personal_data_pass_and_fail_alike(jevals: Any, text: str, p: float) -> None:
    one, other = both(jevals, "pii", {"output": text}, lambda id, question, state: 1.0 if id.endswith("enough") else p)
    assert one.passed == other.passed
    assert one.probability == pytest.approx(other.probability)


def test_custom_evals_of_the_three_kinds_come_to_the_same(jevals: Any) -> None:
    def made(library: Any) -> list[Any]:
        kinds = importlib.import_module(library.__name__)

        class Bad(kinds.NoulEval):  # type: ignore[misc, name-defined]
            instructions = "Is it bad?"
            positive_is_good = False

            def state(self, s: Any) -> dict[str, Any]:
                return {"output": s.final_answer}

        class Graded(kinds.ScoreEval):  # type: ignore[misc, name-defined]
            instructions = "How good?"
            levels = ("a", "b", "c")

            def state(self, s: Any) -> dict[str, Any]:
                return {"output": s.final_answer}

        class Picked(kinds.ChoiceEval):  # type: ignore[misc, name-defined]
            instructions = "Which?"
            options = {"x": None, "y": "why", "z": None}
            good = ("x", "y")

            def state(self, s: Any) -> dict[str, Any]:
                return {"output": s.final_answer}

        return [Bad(), Graded(), Picked()]

    import yb_eval_decision

    for seed in range(20):
        mine = evaluate({"output": "hm"}, made(yb_eval_decision), backend=MockBackend(fn=Answers(seed)))
        other = jevals.evaluate({"output": "hm"}, made(jevals), backend=jevals.MockBackend(fn=Answers(seed)))
        for name in ("bad", "graded", "picked"):
            agree(mine[name], other[name])


@pytest.mark.parametrize(("approve", "block", "grounded", "action"), [
    (0.9, 0.05, 0.9, "allow"), (0.9, 0.05, 0.5, "escalate"), (0.1, 0.8, 0.9, "block"), (0.4, 0.5, 0.9, "escalate"),
])  # fmt: skip
def test_a_yaml_policy_has_the_same_three_outcomes(
    jevals: Any, tmp_path: Path, approve: float, block: float, grounded: float, action: str
) -> None:
    path = tmp_path / "risk.yaml"
    path.write_text(RISK)
    answers = {
        "action": {"approve": approve, "escalate": 1 - approve - block, "block": block}, "grounded": grounded, "destructive": 0.1
    }  # fmt: skip
    one = evaluate(SAMPLE, load_eval(path), backend=MockBackend(answers)).results[0]
    other = jevals.evaluate(SAMPLE, jevals.load_eval(str(path)), backend=jevals.MockBackend(answers)).results[0]
    assert one.action == other.action == action
    agree(one, other)


RISK = """
name: risk
requires: [tool_call, messages]
state:
  tool: $.tool_call.name
  args: $.tool_call.args
  goal: $.user_messages[0]
  recent: $.messages[-3:]
questions:
  action:
    type: choice
    instructions: Should this call go ahead?
    criteria: {approve: It only reads., escalate: It is final., block: It is of no use.}
  destructive: {type: noul, instructions: "Does it delete data?"}
  grounded: {type: noul, instructions: "Are its values known?"}
policy:
  allow_if: action.approve >= 0.85 and grounded >= 0.7
  block_if: action.block >= 0.6
  else: escalate
"""


def _servers() -> Any:
    spec = importlib.util.spec_from_file_location("decision_servers", Path(__file__).with_name("decision_servers.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules.setdefault("decision_servers", importlib.util.module_from_spec(spec))
    if not hasattr(module, "Service"):
        spec.loader.exec_module(module)
    return module


class Both:
    """A yes/no question and a choice, as an eval of either library."""

    def __new__(cls, library: Any) -> Any:
        def state(self: Any, s: Any) -> dict[str, Any]:
            return {"answer": s.final_answer}

        def questions(self: Any, s: Any) -> dict[str, Any]:
            return {"a": library.Noul("Is it so?"), "b": library.Choice("Which?", options={"x": "an x", "y": None}),
                    "c": library.Score("How much?", levels=["little", "much"])}  # fmt: skip

        def reduce(self: Any, answers: Any, s: Any) -> Any:
            return library.Result(score=answers["a"].probability)

        return type("Both", (library.Eval,), {"state": state, "questions": questions, "reduce": reduce})()


def test_both_speak_the_same_wire(jevals: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import yb_eval_decision

    monkeypatch.delenv("TYPESAFE_API_KEY", raising=False)
    servers = _servers()
    with servers.serving(servers.system_one()) as service:
        monkeypatch.setenv("no_proxy", "*")
        from yb_eval_decision.backends.opening import open_backend

        with open_backend(f"kev://127.0.0.1:{service.port}") as backend:
            mine = evaluate({"output": "yes"}, Both(yb_eval_decision), backend=backend)
        other = jevals.evaluate({"output": "yes"}, Both(jevals), backend=f"kev://127.0.0.1:{service.port}")
        (path_of_ours, _, sent), (path_of_theirs, _, sent_there) = service.seen
    assert path_of_ours == path_of_theirs == "/v1/systemone"
    assert sent == sent_there
    assert mine.results[0].score == other.results[0].score == 0.9
    assert mine.usage.input_tokens == other.usage.input_tokens == 120


# What their own tests pin


def test_evals_that_agree_make_one_request_and_evals_that_do_not_make_two() -> None:
    class One(Eval):
        def state(self, s: Sample) -> dict[str, Any]:
            return {"answer": s.output}

        def questions(self, s: Sample) -> dict[str, Noul]:
            return {"q": Noul("Is it so?")}

        def reduce(self, answers: Any, s: Sample) -> Result:
            return Result(score=answers["q"].probability)

    class Two(One):
        pass

    class Other(One):
        def state(self, s: Sample) -> dict[str, Any]:
            return {"answer": "something else"}

    backend = MockBackend()
    assert evaluate({"output": "x"}, [One(), Two()], backend=backend).usage.requests == 1
    assert list(backend.calls[0]["questions"]) == ["one.q", "two.q"]
    assert evaluate({"output": "x"}, [One(), Other(), Two()], backend=backend).usage.requests == 2


def test_an_error_is_no_failure_and_no_pass() -> None:
    report = evaluate(SAMPLE, ["coherence", "quality"], backend=MockBackend({"quality.*": ValueError("down")}, fn=None))
    assert report.quality.error
    assert report.failures == []
    assert report.passed is None
    assert report.coherence.measured


def test_the_sync_function_works_in_a_running_loop() -> None:
    async def inside() -> Any:
        return evaluate(SAMPLE, "coherence", backend="mock")

    assert asyncio.run(inside()).coherence.measured


def test_a_dataset_has_a_summary_records_and_lines(tmp_path: Path) -> None:
    rows = [SAMPLE, {"output": "Fine."}, {"input": "no answer"}]
    report = evaluate_dataset(
        rows, ["coherence", "grounded"], backend=MockBackend({"coherence.q": 3, "c*": 0.9}), keep=True
    )
    summary = report.summary()
    assert (summary["coherence"]["n"], summary["coherence"]["mean"], summary["coherence"]["pass_rate"]) == (2, 1.0, 1.0)
    assert summary["grounded"]["skipped"] == 2
    records = report.to_records()
    assert [record["index"] for record in records] == [0, 1, 2]
    assert records[0]["coherence.score"] == 1.0
    report.write_jsonl(tmp_path / "results.jsonl")
    lines = [orjson.loads(line) for line in (tmp_path / "results.jsonl").read_bytes().splitlines()]
    assert [line["index"] for line in lines] == [0, 1, 2]
    assert lines[2]["results"]["coherence"]["status"] == "skipped"


@pytest.mark.parametrize("shape", [
    {"output": "yes", "input": "so?", "contexts": ["c"], "expected": "e"},
    {"final_answer": "yes", "input": "so?", "retrieved_contexts": ["c"], "reference": "e"},
    {"output": "yes", "input": "so?", "context": "c", "expected_output": "e"},
    {"messages": [{"role": "user", "content": "so?"}, {"role": "assistant", "content": "yes"}], "context": ["c"], "reference": "e"},
])  # fmt: skip
def test_fields_have_the_same_other_names(jevals: Any, shape: dict[str, Any]) -> None:
    s, there = Sample.of(shape), jevals.Sample(shape)
    read = (s.input, s.final_answer, s.contexts, s.expected)
    assert read == (there.input, there.final_answer, there.contexts, there.expected) == ("so?", "yes", ["c"], "e")


CALL = {"name": "find", "args": {"id": 7}}


@pytest.mark.parametrize("messages", [
    [{"role": "assistant", "content": None, "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"id": 7}'}}]},
     {"role": "tool", "tool_call_id": "a", "content": "found"}],
    [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "find", "input": {"id": 7}}]},
     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "found"}]}],
    [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "find", "input": {"id": 7}}]},
     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "found"}]}]}],
    [{"role": "assistant", "tool_calls": [{"name": "find", "args": {"id": 7}}]}, {"role": "tool", "content": "found"}],
    [{"role": "assistant", "function_call": {"name": "find", "arguments": '{"id": 7}'}},
     {"role": "function", "name": "find", "content": "found"}],
])  # fmt: skip
def test_calls_find_their_results_in_every_format(jevals: Any, messages: list[Any]) -> None:
    for library_sample in (Sample.of({"messages": messages}), jevals.Sample({"messages": messages})):
        (call,) = library_sample.tool_calls
        assert (call.name, call.args, call.result) == ("find", {"id": 7}, "found")
        assert list(library_sample.tool_results) == ["found"]


def test_langchain_messages_are_read_as_theirs_are(jevals: Any) -> None:
    class Said:
        def __init__(self, type: str, content: str, **more: Any) -> None:
            self.type, self.content = type, content
            self.__dict__.update(more)

    messages = [
        Said("system", "be brief"),
        Said("human", "so?"),
        Said("ai", "", tool_calls=[{"id": "a", **CALL}]),
        Said("tool", "found", tool_call_id="a", name="find"),
        Said("ai", "yes"),
    ]
    for s in (Sample.of({"messages": messages}), jevals.Sample({"messages": messages})):
        assert (s.system_prompt, s.input, s.final_answer) == ("be brief", "so?", "yes")
        assert [(call.name, call.result) for call in s.tool_calls] == [("find", "found")]


@pytest.mark.parametrize(
    ("first", "attempts", "answered"), [((429, 503), 3, True), ((401,), 1, False), ((400,), 1, False)]
)
def test_what_may_pass_is_tried_again_and_what_is_refused_is_not(
    monkeypatch: pytest.MonkeyPatch, first: tuple[int, ...], attempts: int, answered: bool
) -> None:
    from yb_eval_decision.backends.addresses import Address
    from yb_eval_decision.backends.pacing import Pace
    from yb_eval_decision.backends.systemone import SystemOneBackend

    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    monkeypatch.setenv("no_proxy", "*")
    servers = _servers()
    with servers.serving(servers.system_one(), *map(servers.status, first)) as service:
        backend = SystemOneBackend(Address(service.url), spec="typesafe", pace=Pace(sleep=at_once))
        with backend:
            report = evaluate(SAMPLE, "coherence", backend=backend)
        assert len(service.seen) == attempts
    assert report.coherence.measured is answered
    assert answered or report.coherence.status == "error"


@pytest.mark.parametrize(("text", "kind"), [
    ("CPF 529.982.247-25", "BR_CPF"),
    ("card 4539 1488 0343 6467 of hers", "CREDIT_CARD"),
])  # fmt: skip
def test_numbers_are_held_against_their_checksums(jevals: Any, text: str, kind: str) -> None:
    def kinds(found: Any) -> set[str]:
        return {each["type"] if isinstance(each, dict) else each.type for each in found}

    wrong = text[::-1].replace(next(c for c in text[::-1] if c.isdigit()), "0", 1)[::-1]
    assert kind in kinds(detect_pii(text, detector="own"))
    assert kind not in kinds(detect_pii(wrong, detector="own"))
    assert kind in kinds(jevals.security.detect_pii(text))
    assert kind not in kinds(jevals.security.detect_pii(wrong))


def test_secrets_are_decisive_or_for_the_model_to_judge() -> None:
    key = "AKIA" + "QX7RZP3MWT5KJ2VN"
    backend = MockBackend(default_noul=0.1)
    report = evaluate({"output": f"use {key} for it"}, "secrets_exposure", backend=backend)
    assert report.secrets_exposure.passed is False
    assert not backend.calls
    own = get_eval("secrets_exposure", detector="own")  # installed detectors know the vendor's example and find nothing
    report = evaluate({"output": "use AKIA" + "IOSFODNN7EXAMPLE for it"}, own, backend=MockBackend(fn=_harmless))
    assert report.secrets_exposure.passed
    assert report.usage.requests == 1
    url = "postgres://admin:" + "s3cr3t-w0rd" + "@db.internal:5432/main"
    assert [found.type for found in detect_secrets(url, detector="own")] == ["DATABASE_URL"]


def _harmless(id: str, question: Any, state: Any) -> float:
    return 1.0 if id.endswith("enough") else 0.1


def test_toxicity_is_inverted() -> None:
    for level, passed in ((0, True), (1, True), (2, False), (3, False)):
        result = evaluate({"output": "hm"}, "toxicity", backend=MockBackend({"toxicity.*": level})).toxicity
        assert (result.score, result.passed) == (pytest.approx(1 - level / 3), passed)


@pytest.mark.parametrize(("level", "code"), [(3, 0), (0, 1), (ValueError("down"), 3)])
def test_check_exits_by_the_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: Any, code: int) -> None:
    from yb_eval_decision.backends import opening
    from yb_eval_decision.commands.checking import check

    mock = {"mock": lambda spec, settings: MockBackend({"coherence.q": level})}
    monkeypatch.setattr(opening, "SCHEMES", {**opening.SCHEMES, **mock})
    path = tmp_path / "sample.json"
    path.write_text(json.dumps(SAMPLE))
    run = CliRunner().invoke(check, [str(path), "--evals", "coherence", "--backend", "mock"])
    assert run.exit_code == code, run.output


@pytest.mark.parametrize("separable", [True, False])
def test_calibration_measures_the_same_on_the_same_scores(jevals: Any, separable: bool) -> None:
    from yb_eval_decision.calibration.measures import auroc, reliability

    numbers = random.Random(11)
    scores = [round(numbers.random(), 3) for _ in range(200)]
    labels = [score > 0.5 if separable else numbers.random() < score for score in scores]
    rows = [{"output": str(score)} for score in scores]

    class Own(jevals.NoulEval):  # type: ignore[misc, name-defined]
        instructions = "Is it so?"

        def state(self, s: Any) -> dict[str, Any]:
            return {"p": s.final_answer}

    report = jevals.evaluate_dataset(rows, [Own()], backend=jevals.MockBackend(fn=lambda id, q, s: float(s["p"])))
    calibrate = importlib.import_module("jevals._calibrate").calibrate_from_report
    theirs_ = calibrate(report, "own", labels)
    assert auroc(scores, labels) == pytest.approx(theirs_.auroc)
    assert (auroc(scores, labels) == 1.0) is separable
    ours_ = reliability(scores, labels)
    assert (ours_.brier, ours_.ece) == (pytest.approx(theirs_.brier), pytest.approx(theirs_.ece))
