"""The agent's loop: loading, nudging, calling, its limit; and what is kept of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_agent_routing.agent.replies import read_reply, written_calls


def test_a_loaded_group_is_delivered_from_the_next_call_on(world, says, recorded):
    model = recorded(says.load("jira"), says.text())
    outcome = world.judge(world.scenario(expected=["jira"]), model)
    assert [tool["name"] for tool in model.requests[0]["tools"]] == ["load_tools"]
    assert [tool["name"] for tool in model.requests[1]["tools"]] == ["load_tools", "jira_get", "jira_search"]
    assert outcome.details["verdict"] == "EXACT" and outcome.correct is True
    assert outcome.predicted == ["jira"] and outcome.details["asked"] == outcome.details["loaded"] == ["jira"]


def test_loads_add_up_and_a_repeated_one_is_redundant(world, says):
    outcome = world.judge(
        world.scenario(expected=["jira", "wiki"]),
        [says.load("jira"), says.load("wiki"), says.load("jira"), says.text()],
    )
    assert outcome.details["loaded"] == ["jira", "wiki"]
    assert (outcome.details["load_calls"], outcome.details["reloads"], outcome.details["redundant_reloads"]) == (
        3,
        2,
        1,
    )
    assert outcome.details["first_choice"] == ["jira"]
    assert outcome.details["first_hit"] is False and outcome.details["exact"] is True


def test_an_unknown_group_is_told_with_those_there_are_and_the_known_ones_of_the_call_are_loaded(world, says, recorded):
    model = recorded(says.load("Jira", "wiki"), says.text())
    outcome = world.judge(world.scenario(expected=["wiki"]), model)
    result = model.requests[1]["messages"][-1]
    assert (
        result["role"] == "tool"
        and "Unknown groups: Jira" in result["content"]
        and "calendar, jira" in result["content"]
    )
    assert "failed" not in result
    assert outcome.details["hallucinated"] is True and outcome.details["unknown"] == ["Jira"]
    assert outcome.details["exact"] is True


@pytest.mark.parametrize("arguments", ["{not json", "[1]", {"groups": "jira"}, {"groups": [1]}, {}, {"groups": []}])
def test_a_load_call_that_means_nothing_is_an_error_result_and_not_counted(world, says, recorded, arguments):
    model = recorded({"tool_calls": [{"name": "load_tools", "arguments": arguments}]}, says.text())
    outcome = world.judge(world.scenario(expected=["jira"]), model, nudge=False)
    result = model.requests[1]["messages"][-1]
    assert result["failed"] is True and result["content"].startswith("Error: load_tools")
    assert outcome.details["load_calls"] == 0 and outcome.details["malformed_call"] is True
    assert outcome.status == "scored" and outcome.details["verdict"] == "SKIP"


def test_a_single_tool_of_a_large_group_loads_that_tool_and_counts_for_its_group(world, says, recorded):
    model = recorded(says.load(tools=["metrics_volumes"]), says.text())
    outcome = world.judge(world.scenario(expected=["metrics"]), model, threshold=3)
    assert [tool["name"] for tool in model.requests[1]["tools"]] == ["load_tools", "metrics_volumes"]
    assert outcome.details["exact"] is True and outcome.details["asked_tools"] == ["metrics/metrics_volumes"]


def test_a_model_that_answers_without_loading_is_reminded_once(world, says, recorded):
    model = recorded(says.text("No idea."), says.load("jira"), says.text())
    outcome = world.judge(world.scenario(expected=["jira"]), model)
    assert model.requests[1]["messages"][-1]["role"] == "system"
    details = outcome.details
    assert details["nudged"] and details["rescued"] is True
    assert details["raw_skipped"] is True and details["skipped"] is False and details["exact"] is True


def test_a_reminder_that_does_not_help_is_a_skip_and_there_is_no_second_one(world, says, recorded):
    model = recorded(says.text("No."), says.text("Still no."), says.load("jira"))
    outcome = world.judge(world.scenario(expected=["jira"]), model)
    assert len(model.requests) == 2
    assert outcome.details["verdict"] == "SKIP" and outcome.details["rescued"] is False


def test_a_model_that_loads_at_once_differs_from_one_that_had_to_be_reminded(world, says):
    scenario = world.scenario(expected=["jira"])
    at_once = world.judge(scenario, [says.load("jira"), says.text()])
    reminded = world.judge(scenario, [says.text(), says.load("jira"), says.text()])
    assert at_once.predicted == reminded.predicted
    assert (at_once.details["raw_skipped"], reminded.details["raw_skipped"]) == (False, True)


def test_the_reminder_can_be_switched_off(world, says, recorded):
    model = recorded(says.text())
    world.judge(world.scenario(expected=["jira"]), model, nudge=False)
    assert len(model.requests) == 1


def test_nobody_is_reminded_while_something_is_always_on(world, says, recorded):
    model = recorded(says.text())
    there = world.with_groups(wiki={"always_on": True})
    outcome = there.judge(there.scenario(expected=["jira"]), model)
    assert len(model.requests) == 1 and outcome.details["nudged"] is False


def test_only_unknown_names_count_as_a_load_call_but_load_nothing(world, says):
    outcome = world.judge(world.scenario(), [says.load("nowhere"), says.text(), says.text()])
    assert outcome.details["load_calls"] == 1 and outcome.details["hallucinated"] is True
    assert outcome.details["exact"] is True  # nothing was delivered; the attempt is seen apart


def test_a_tool_that_was_called_without_being_loaded_is_refused_and_is_no_hit(world, says, recorded):
    model = recorded(says.call("jira_search"), says.text(), says.text())
    outcome = world.judge(world.scenario(expected=["jira"]), model)
    assert model.requests[1]["messages"][-1]["content"] == "Error: the tool jira_search is not loaded."
    assert outcome.details["unloaded_calls"] == ["jira/jira_search"] and outcome.details["verdict"] == "SKIP"


def test_a_tool_called_in_the_very_turn_that_loads_it_was_not_offered_yet(world, says):
    both = {"tool_calls": [*says.load("jira")["tool_calls"], *says.call("jira_get")["tool_calls"]]}
    outcome = world.judge(world.scenario(expected=["jira"]), [both, says.text()])
    assert outcome.details["unloaded_call"] is True and outcome.details["exact"] is True


def test_a_loaded_tool_answers_the_same_each_time(world, says, recorded):
    model = recorded(says.load("jira"), says.call("jira_get", key="A-1"), says.call("jira_get"), says.text())
    outcome = world.judge(world.scenario(expected=["jira"]), model)
    assert [m["content"] for m in model.requests[3]["messages"] if m["role"] == "tool"][1:] == ["(ok)", "(ok)"]
    assert outcome.details["called"] == ["jira/jira_get"] and outcome.details["model_calls"] == 4


def test_a_tool_that_does_not_exist_is_a_hallucination(world, says):
    outcome = world.judge(world.scenario(), [says.call("make_coffee"), says.text(), says.text()])
    assert outcome.details["hallucinated"] is True and outcome.details["unknown"] == ["make_coffee"]


def test_a_loop_of_loads_ends_at_the_limit_with_a_summary_without_tools(world, says, recorded):
    model = recorded(*[says.load("jira")] * 50)
    outcome = world.judge(world.scenario(expected=["jira"]), model, max_calls=10)
    assert len(model.requests) == 11 and model.requests[-1]["tools"] == []
    assert outcome.details["hit_limit"] is True and outcome.details["redundant_reloads"] == 9


@pytest.mark.parametrize(
    "written",
    [
        'load_tools({"groups": ["jira"]})',
        '<tool_call>{"name": "load_tools", "arguments": {"groups": ["jira"]}}</tool_call>',
        '```json\n{"function": {"name": "load_tools", "arguments": {}}}\n```',
        '<invoke name="load_tools"><parameter name="groups">["jira"]</parameter></invoke>',
        "<function=load_tools>{}</function>",
    ],
)
def test_a_call_that_is_written_as_text_loads_nothing_and_is_seen(world, says, written):
    outcome = world.judge(world.scenario(expected=["jira"]), [says.text(written), says.text()])
    assert outcome.details["written_calls"] == ["load_tools"]
    assert outcome.details["verdict"] == "SKIP"


@pytest.mark.parametrize("said", ["I can load tools for you.", '{"name": "load_tools"}', '{"a": 1} {', "load_tools"])
def test_talking_about_a_tool_is_no_call(said):
    assert written_calls(said, frozenset({"load_tools"})) == []


@given(st.text(st.sampled_from('{}[]"ab:,\\('), max_size=200))
def test_looking_for_written_calls_reads_any_text(said):
    assert set(written_calls(said, frozenset({"ab"}))) <= {"ab"}


def test_a_conversation_replays_scripted_answers_and_judges_the_last_message(world, says, recorded):
    history = (
        {"role": "user", "content": "Find the runbook."},
        {"role": "assistant", "content": "Here it is."},
        {"role": "user", "content": "And my open issues?"},
    )
    model = recorded(says.load("jira"), says.text())
    outcome = world.judge(world.scenario(messages=history, expected=["jira"]), model)
    assert [m["content"] for m in model.requests[0]["messages"]] == [m["content"] for m in history]
    assert outcome.details["exact"] is True


@pytest.mark.parametrize(("sticky", "verdict"), [(False, "SKIP"), (True, "EXACT")])
def test_what_was_loaded_is_forgotten_after_a_turn_unless_it_is_sticky(world, says, sticky, verdict):
    answers = [says.load("jira"), says.text(), says.text(), says.text()]
    scenario = world.scenario(["My open issues?", "And the closed ones?"], expected=["jira"])
    outcome = world.judge(scenario, answers, sticky=sticky)
    assert outcome.details["verdict"] == verdict
    assert outcome.details["load_calls"] == 0


def test_the_transcript_holds_the_whole_conversation(world, says):
    outcome = world.judge(world.scenario(expected=["jira"]), [says.load("jira"), says.text("Two issues.")])
    roles = [part["role"] for part in outcome.details["transcript"]]
    assert roles == ["user", "system", "assistant", "tool", "assistant"]
    assert outcome.details["transcript"][-1]["content"] == "Two issues."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ([], "an object is expected"),
        ({"text": 1}, "text must be a string"),
        ({"tool_calls": {}}, "tool_calls must be a list"),
        ({"tool_calls": [{"arguments": {}}]}, "name is missing"),
        ({"tool_calls": [{"name": "a", "arguments": 5}]}, "an object is expected"),
        ({"usage": {"input_tokens": -1}}, "input_tokens must be a number"),
        ({"content": "hello"}, "unknown part 'content'"),
    ],
)
def test_an_answer_of_another_shape_is_an_error_and_says_what_came(world, answer, told):
    outcome = world.judge(world.scenario(expected=["jira"]), [answer] if isinstance(answer, dict) else lambda _: answer)
    assert outcome.status == "error" and told in outcome.reason
    assert outcome.details["verdict"] == "ERROR"


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_provider_that_fails_in_any_call_makes_the_outcome_an_error(world, says, failing):
    answers = [says.load("jira"), says.call("jira_get"), says.text()]
    answers[failing] = {"error": "HTTP 500"}
    outcome = world.judge(world.scenario(expected=["jira"]), answers)
    assert outcome.status == "error" and "HTTP 500" in outcome.reason and outcome.correct is None
    assert outcome.details["transcript"][0]["role"] == "user"


def test_usage_is_summed_where_it_is_reported(world, says):
    answers = [says.load("jira") | {"usage": {"input_tokens": 100, "output_tokens": 5}}, says.text()]
    outcome = world.judge(world.scenario(expected=["jira"]), answers)
    assert (outcome.details["input_tokens"], outcome.details["output_tokens"]) == (100, 5)
    silent = world.judge(world.scenario(expected=["jira"]), [says.load("jira"), says.text()])
    assert silent.details["input_tokens"] is None


def test_arguments_may_come_as_an_object_or_as_its_text():
    for arguments in ({"groups": ["a"]}, '{"groups": ["a"]}'):
        (read,) = read_reply({"tool_calls": [{"name": "x", "arguments": arguments}]}).calls
        assert read.arguments == {"groups": ["a"]} and read.malformed is None
