"""The evals of an agent that ask a model: tools, steps, goal, plan, usefulness, and the risk of a call."""

import importlib.util
import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.agent import (
    ArgumentValidity,
    GoalCompletion,
    PlanAdherence,
    Quality,
    StayedInScope,
    StepProgress,
    ToolCallRisk,
    ToolChoice,
    UsedToolResult,
)
from yb_eval_decision.answers import NoAnswer, NoulAnswer
from yb_eval_decision.results import Result


def _kit():
    spec = importlib.util.spec_from_file_location(
        "decision_evals_kit", Path(__file__).with_name("decision_evals_kit.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = _kit()


def call(id, name, **args):
    return {"role": "assistant", "content": "", "tool_calls": [{"id": id, "name": name, "args": args}]}


def came(id, content):
    return {"role": "tool", "tool_call_id": id, "content": content}


def said(role, content):
    return {"role": role, "content": content}


TRACE = [
    said("user", "Cancel order 71"),
    call("1", "find_order", number=71),
    came("1", "open"),
    call("2", "cancel_order", number=71),
    came("2", "cancelled"),
    said("assistant", "Order 71 is cancelled."),
]
SAMPLE = {
    "messages": TRACE,
    "tools": [
        {"name": "find_order", "description": "Finds an order"},
        {"name": "cancel_order", "description": "Cancels it", "parameters": {"type": "object", "required": ["number"]}},
    ],
}
ENOUGH = {"enough": 0.9}


@pytest.mark.parametrize("kind", [ArgumentValidity, UsedToolResult, StayedInScope, StepProgress, PlanAdherence])
def test_a_yes_or_no_passes_from_its_threshold_on(kind):
    sample = {**SAMPLE, "plan": "find it, cancel it"}
    assert set(kit.ask(kind(), sample).questions) == {"q", "enough"}
    result = kit.result(kind(), sample, {"q": 0.5, **ENOUGH})
    assert (result.score, result.passed, result.probability) == (0.5, True, 0.5)
    assert kit.result(kind(), sample, {"q": 0.49, **ENOUGH}).passed is False
    assert kit.result(kind(threshold=0.8), sample, {"q": 0.7, **ENOUGH}).passed is False


@pytest.mark.parametrize("kind", [ArgumentValidity, UsedToolResult, StayedInScope, StepProgress, GoalCompletion])
def test_issue_36_where_there_is_not_enough_to_tell_an_eval_abstains(kind):
    answer = [0.0, 0.0, 0.1, 0.9] if kind is GoalCompletion else 0.9
    result = kit.result(kind(), SAMPLE, {"q": answer, "enough": 0.2})
    assert (result.status, result.passed, result.score) == ("abstained", None, None)
    assert set(kit.ask(kind(insufficient=False), SAMPLE).questions) == {"q"}


def test_a_missing_answer_is_an_error_and_no_half():
    result = kit.result(StayedInScope(), SAMPLE, ENOUGH)
    assert (result.status, result.score, result.passed) == ("error", None, None)


# --- tool choice


def chosen(option, p=0.9, others=("correct", "unnecessary", "missing", "wrong_tool", "insufficient_evidence")):
    rest = [name for name in others if name != option]
    return {option: p, **{name: (1 - p) / len(rest) for name in rest}}


def test_the_right_tool_passes_and_the_score_is_its_probability():
    result = kit.result(ToolChoice(), SAMPLE, {"q": chosen("correct", 0.8)})
    assert (result.answer, result.passed) == ("correct", True)
    assert (result.score, result.probability) == (pytest.approx(0.8), pytest.approx(0.8))
    wrong = kit.result(ToolChoice(), SAMPLE, {"q": chosen("missing", 0.8)})
    assert (wrong.answer, wrong.passed, wrong.score) == ("missing", False, pytest.approx(0.05))


def test_a_choice_that_it_cannot_make_is_an_abstention():
    assert kit.result(ToolChoice(), SAMPLE, {"q": chosen("insufficient_evidence")}).status == "abstained"


def test_issue_16_own_options_pass_with_their_own_good():
    own = ToolChoice(
        options={"S1": "It searches first.", "S2": "It cancels at once."}, good=("S2",), insufficient=False
    )
    result = kit.result(own, SAMPLE, {"q": {"S1": 0.01, "S2": 0.99}})
    assert (result.answer, result.passed, result.score) == ("S2", True, 0.99)
    assert own.describe()["parameters"]["good"]["default"] == ["correct"]


def test_issue_16_own_options_without_a_good_one_are_refused_at_once():
    with pytest.raises(UsageError, match="none of them is good"):
        ToolChoice(options=["S1", "S2"])
    with pytest.raises(UsageError, match="S1"):
        ToolChoice(options=["S1", "S2"], good=["S3"])
    assert ToolChoice(options=["correct", "other"]).good == ("correct",)


def test_a_trace_without_tools_has_no_tool_choice():
    result = kit.result(ToolChoice(), {"input": "hi", "output": "hello"})
    assert (result.status, result.reason) == ("skipped", "no tool is on offer and none was called")


def test_a_threshold_makes_a_choice_stricter():
    answers = {"q": chosen("correct", 0.6)}
    assert kit.result(ToolChoice(), SAMPLE, answers).passed is True
    assert kit.result(ToolChoice(threshold=0.8), SAMPLE, answers).passed is False


# --- one by one


def test_arguments_are_judged_with_the_schema_and_not_by_their_own_result():
    state = kit.ask(ArgumentValidity(), SAMPLE).state
    assert state["tool_call"] == {"tool": "cancel_order", "args": {"number": 71}, "result": "r1"}
    assert state["tool_schema"] == {"type": "object", "required": ["number"]}
    assert state["prior_results"]["r1"]["result"] == "cancelled"


def test_a_call_of_an_unknown_tool_has_no_schema():
    state = kit.ask(ArgumentValidity(), {**SAMPLE, "tool_call": {"name": "pay", "args": {}}}).state
    assert (state["tool_call"], state["tool_schema"]) == ({"tool": "pay", "args": {}}, None)


def test_arguments_too_long_to_be_seen_are_not_judged():
    sample = {**SAMPLE, "tool_call": {"name": "run_sql", "args": {"sql": "-- " + "pad " * 6000 + "; DROP TABLE x"}}}
    assert kit.result(ArgumentValidity(), sample, {"q": 0.9, **ENOUGH}).status == "abstained"


def test_a_turn_without_results_has_none_to_use():
    messages = [*TRACE, said("user", "thanks"), said("assistant", "You are welcome, it was order 71.")]
    result = kit.result(UsedToolResult(), {"messages": messages})
    assert (result.status, result.reason) == ("skipped", "no tool results")
    assert kit.result(UsedToolResult(), {"messages": TRACE[:-1]}).reason == "no final answer"


def test_no_steps_is_a_reason_to_skip():
    assert kit.result(StepProgress(), {"messages": [said("user", "go")]}).reason == "no steps"


def test_the_last_step_is_the_last_of_the_steps():
    steps = kit.ask(StepProgress(), {"messages": TRACE}).state["steps"]
    assert steps[0] == {"type": "tool_call", "name": "find_order", "args": {"number": 71}}
    assert steps[-1] == {"type": "assistant", "content": "Order 71 is cancelled."}


def test_the_plan_is_the_given_one_else_what_was_said_before_acting():
    planned = [said("user", "Отмени заказ"), said("assistant", "Сначала найду, потом отменю."), *TRACE[1:]]
    result = kit.result(PlanAdherence(), {"messages": planned}, {"q": 0.9, **ENOUGH})
    assert result.evidence == {"plan": "first text of the assistant"}
    assert kit.ask(PlanAdherence(), {"messages": planned}).state["plan"] == "Сначала найду, потом отменю."
    given_plan = {"messages": planned, "plan": "cancel"}
    assert kit.ask(PlanAdherence(), given_plan).state["plan"] == "cancel"
    assert kit.result(PlanAdherence(), given_plan, {"q": 0.9, **ENOUGH}).evidence == {"plan": "sample"}


@pytest.mark.parametrize("messages", [TRACE, [said("user", "hi"), said("assistant", "I will help.")]])
def test_a_final_answer_is_no_plan(messages):
    assert kit.result(PlanAdherence(), {"messages": messages}).reason == "no plan"


@given(st.lists(st.integers(1, 50), min_size=4, max_size=4))
def test_goal_completion_is_the_expected_level_in_thirds(weights):
    p = [w / sum(weights) for w in weights]
    result = kit.result(GoalCompletion(), SAMPLE, {"q": p, **ENOUGH})
    expected = (p[1] + 2 * p[2] + 3 * p[3]) / 3
    assert result.score == pytest.approx(expected)
    assert result.passed is (result.score >= 0.66)
    assert result.evidence["label"] == GoalCompletion().levels[result.evidence["level"]]


def test_mostly_reached_passes_and_partly_does_not():
    assert kit.result(GoalCompletion(), SAMPLE, {"q": [0, 0, 1, 0], **ENOUGH}).passed is True
    assert kit.result(GoalCompletion(), SAMPLE, {"q": [0, 1, 0, 0], **ENOUGH}).passed is False


def test_quality_has_five_levels():
    result = kit.result(Quality(), SAMPLE, {"q": [0, 0, 0.5, 0.5, 0]})
    assert (result.score, result.passed) == (pytest.approx(2.5 / 4), True)
    assert result.detail == "2.5/4 (2: 0.50, 3: 0.50, 0: 0.00)"
    assert kit.result(Quality(), {"messages": TRACE[:-1]}).reason == "no final answer"


def test_own_levels_take_the_place_of_the_rubric():
    own = Quality(levels=["bad", "good"])
    assert kit.result(own, SAMPLE, {"q": [0.25, 0.75]}).score == pytest.approx(0.75)
    with pytest.raises(UsageError, match="2 to 10 levels"):
        Quality(levels=["one"])


# --- the risk of a call


def risk(approve, escalate, block):
    return {"approve": approve, "escalate": escalate, "block": block}


@pytest.mark.parametrize(
    ("action", "destructive", "grounded", "expected"),
    [
        (risk(0.9, 0.05, 0.05), 0.1, 0.9, "allow"),
        (risk(0.85, 0.15, 0.0), 0.49, 0.7, "allow"),
        (risk(0.84, 0.16, 0.0), 0.1, 0.9, "escalate"),
        (risk(0.9, 0.1, 0.0), 0.5, 0.9, "escalate"),
        (risk(0.9, 0.1, 0.0), 0.1, 0.69, "escalate"),
        (risk(0.2, 0.2, 0.6), 0.0, 1.0, "block"),
        (risk(0.3, 0.11, 0.59), 0.0, 1.0, "escalate"),
    ],
)
def test_what_may_happen_to_a_call(action, destructive, grounded, expected):
    answers = {"action": action, "destructive": destructive, "grounded": grounded}
    result = kit.result(ToolCallRisk(), SAMPLE, answers)
    assert (result.action, result.passed) == (expected, expected == "allow")
    assert result.score == action["approve"]
    assert result.evidence["destructive"] == destructive
    assert result.evidence["grounded"] == grounded
    assert result.answer == max(action, key=action.get)


probabilities = st.lists(st.integers(0, 20), min_size=3, max_size=3).filter(any).map(lambda w: [x / sum(w) for x in w])


@given(probabilities, st.floats(0, 1), st.floats(0, 1), st.sampled_from(["", "destructive", "grounded", "both"]))
def test_a_missing_answer_decides_nothing_that_it_could_have_changed(p, destructive, grounded, lost):
    answers = {"action": risk(*p), "destructive": destructive, "grounded": grounded}
    known = {k: v for k, v in answers.items() if k != lost and not (lost == "both" and k != "action")}
    result = kit.result(ToolCallRisk(), SAMPLE, known)
    fill = {k: [known[k]] if k in known else [0.0, 1.0] for k in ("destructive", "grounded")}
    ways = itertools.product(fill["destructive"], fill["grounded"])
    actions = {kit.result(ToolCallRisk(), SAMPLE, {"action": risk(*p), "destructive": d, "grounded": g}).action
               for d, g in ways}  # fmt: skip
    assert result.measured is (len(actions) == 1)
    assert result.action == (actions.pop() if len(actions) == 1 else None)


def test_without_an_action_nothing_is_allowed():
    result = kit.result(ToolCallRisk(), SAMPLE, {"destructive": 0.0, "grounded": 1.0})
    assert (result.status, result.action) == ("error", None)
    refused = NoAnswer("refused", "policy")
    result = kit.result(ToolCallRisk(), SAMPLE, {"action": refused, "destructive": 0.0, "grounded": 1.0})
    assert (result.status, result.reason) == ("refused", "action: policy")


def test_arguments_that_are_not_shown_whole_are_never_allowed():
    sample = {**SAMPLE, "tool_call": {"name": "run_sql", "args": {"sql": "select 1; " * 3000}}}
    answers = {"action": risk(1.0, 0.0, 0.0), "destructive": 0.0, "grounded": 1.0}
    result = kit.result(ToolCallRisk(), sample, answers)
    assert (result.action, result.passed) == ("escalate", False)
    assert "too long to be shown whole" in result.detail
    answers["action"] = risk(0.0, 0.0, 1.0)
    assert kit.result(ToolCallRisk(), sample, answers).action == "block"


def test_issue_28_the_thresholds_that_count_are_parameters():
    eval_ = ToolCallRisk()
    assert eval_.arguments() == {
        "name": "tool_call_risk", "threshold": 0.85, "approve_at": 0.85, "block_at": 0.6, "grounded_at": 0.7,
        "destructive_at": 0.5, "recent": 3,
    }  # fmt: skip
    assert ToolCallRisk(threshold=0.5).approve_at == 0.5
    assert ToolCallRisk(approve_at=0.95).threshold == 0.95
    assert ToolCallRisk(**ToolCallRisk(approve_at=0.95).arguments()).approve_at == 0.95
    with pytest.raises(UsageError, match="two values"):
        ToolCallRisk(threshold=0.5, approve_at=0.6)


@pytest.mark.parametrize(
    "wrong", [{"approve_at": 1.5}, {"block_at": None}, {"recent": 0}, {"recent": 99}, {"aprove_at": 1}]
)
def test_arguments_of_the_risk_eval_are_checked(wrong):
    with pytest.raises(UsageError):
        ToolCallRisk(**wrong)


def test_recent_steps_are_named_in_the_question():
    assert "last 5 entries" in kit.ask(ToolCallRisk(recent=5), SAMPLE).questions["action"].instructions
    assert "last entry" in kit.ask(ToolCallRisk(recent=1), SAMPLE).questions["action"].instructions


def test_a_proposed_call_needs_no_messages():
    result = kit.result(
        ToolCallRisk(),
        {"tool_call": {"name": "удалить", "args": {"id": 1}}, "goal": "Почистить список"},
        {"action": risk(0.1, 0.2, 0.7), "destructive": 0.9, "grounded": 0.2},
    )
    assert result.action == "block"
    assert kit.result(ToolCallRisk(), {"messages": [said("user", "hi")]}).reason == "missing tool_call"


def test_evals_read_answers_and_change_none():
    asked = kit.ask(StayedInScope(insufficient=False), SAMPLE)
    answers = {"q": NoulAnswer(0.7)}
    assert isinstance(StayedInScope(insufficient=False).reduce(answers, None), Result)
    assert answers == {"q": NoulAnswer(0.7)}
    assert list(asked.questions) == ["q"]
