"""Delivery: the mode filter, what is always on, and the budget; asked for, loaded and delivered are three things."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_agent_routing.agent import BYTE_LIMIT, HARD_LIMIT, Budget, Offers
from yb_eval_agent_routing.agent.delivery import deliver
from yb_eval_agent_routing.agent.loading import LOAD_DEFINITION, Loaded
from yb_eval_agent_routing.model import Capability, Environment, Scenario, Tool


def sized(world, **sizes):
    """A world whose groups have so many tools each."""
    environment = Environment(
        id="sized",
        capabilities=tuple(Capability(id=group, name=group) for group in sizes),
        tools=tuple(
            Tool(name=f"{group}_{number:03}", capability=group, read_only=True)
            for group, size in sizes.items()
            for number in range(size)
        ),
    )
    return world.over(environment)


def delivered(world, *groups, budget=Budget(), own=(), **scenario):
    offer, _ = Offers().of(world.scenario(**scenario))
    return deliver(offer, Loaded(frozenset(groups)), budget, own)


def test_a_write_tool_is_delivered_in_read_write_mode_only(world):
    assert delivered(world, "jira").ids == ["jira/jira_get", "jira/jira_search"]
    assert delivered(world, "jira", mode="read-write").ids == ["jira/jira_create", "jira/jira_get", "jira/jira_search"]


def test_ask_on_write_delivers_write_tools_in_any_mode(world):
    asking = world.with_groups(jira={"state": "ask-on-write"})
    assert "jira/jira_create" in delivered(asking, "jira").ids


def test_ask_delivers_as_allow_does_and_off_not_at_all(world):
    assert delivered(world.with_groups(jira={"state": "ask"}), "jira").groups == ["jira"]
    assert delivered(world.with_groups(jira={"state": "off"}), "jira").groups == []


def test_a_group_that_is_always_on_is_delivered_unasked(world):
    assert delivered(world.with_groups(wiki={"always_on": True})).groups == ["wiki"]


def test_a_write_tool_that_was_loaded_by_name_in_read_only_mode_is_not_delivered_and_said_to_be(world, says):
    outcome = world.judge(world.scenario(expected=["jira"]), [says.load(tools=["jira_create"]), says.text()])
    details = outcome.details
    assert (details["asked"], details["loaded"], details["delivered"]) == (["jira"], ["jira"], [])
    assert details["undelivered"] == ["jira"] and details["verdict"] == "MISS"


def test_as_many_tools_as_providers_take_are_delivered_and_one_more_is_not(world):
    assert len(delivered(sized(world, a=100, b=28), "a", "b").tools) == HARD_LIMIT
    over = delivered(sized(world, a=100, b=29), "a", "b")
    assert over.excluded == ("b",) and over.groups == ["a"]


def test_the_agents_own_tools_take_places_of_the_limit(world):
    assert delivered(sized(world, a=100, b=28), "a", "b", own=(LOAD_DEFINITION,)).excluded == ("b",)


def test_the_smallest_group_whose_removal_is_enough_is_left_out(world):
    assert delivered(sized(world, a=60, b=50, c=20), "a", "b", "c").excluded == ("c",)
    assert delivered(sized(world, a=60, b=50, c=20), "a", "b", "c", budget=Budget(tools=100)).excluded == ("b",)


def test_where_no_single_removal_is_enough_the_largest_goes_first(world):
    assert delivered(sized(world, a=60, b=50, c=20), "a", "b", "c", budget=Budget(tools=30)).excluded == ("a", "b")


def test_ties_are_broken_by_the_groups_ids(world):
    assert delivered(sized(world, b=70, a=70), "a", "b").excluded == ("a",)


def test_a_single_group_beyond_the_budget_is_left_out_whole(world):
    made = delivered(sized(world, a=129), "a")
    assert made.excluded == ("a",) and made.tools == ()


def test_bytes_have_a_budget_too(world):
    big = evolve(
        world.environment,
        tools=tuple(
            evolve(tool, description="x" * 200_000) if tool.capability == "metrics" else tool
            for tool in world.environment.tools
        ),
    )
    made = delivered(world.over(big), "metrics", "jira")
    assert made.excluded == ("metrics",) and made.groups == ["jira"]
    assert delivered(world.over(big), "metrics", budget=Budget(bytes=1_000_000)).excluded == ()


def test_a_group_that_was_loaded_and_left_out_by_the_budget_is_no_hit(world, says):
    there = sized(world, a=100, b=40)
    outcome = there.judge(there.scenario(expected=["a", "b"]), [says.load("a", "b"), says.text()])
    details = outcome.details
    assert details["loaded"] == ["a", "b"] and details["delivered"] == ["a"]
    assert details["excluded"] == ["b"] and details["undelivered"] == ["b"]
    assert details["undelivered_any"] is True and outcome.correct is False


def test_a_name_on_several_servers_is_delivered_under_different_names_and_told_apart(world, says, recorded):
    both = Environment(
        id="both",
        capabilities=(Capability(id="web", name="Web"), Capability(id="wiki", name="Wiki")),
        tools=tuple(Tool(name="search", capability=group, read_only=True) for group in ("web", "wiki")),
    )
    there = world.over(both)
    model = recorded(says.load("web", "wiki"), says.call("wiki__search"), says.text())
    outcome = there.judge(there.scenario(expected=["web", "wiki"], expected_tools=["wiki/search"]), model)
    assert [tool["name"] for tool in model.requests[1]["tools"]][1:] == ["web__search", "wiki__search"]
    assert outcome.details["called"] == ["wiki/search"]
    qualified = there.judge(there.scenario(expected=["web"]), [says.load(tools=["web/search"]), says.text()])
    assert qualified.details["delivered_tools"] == ["web/search"]
    bare = there.judge(there.scenario(expected=["web"]), [says.load(tools=["search"]), says.text()])
    assert bare.details["unknown"] == ["search"]  # whose search was meant is not guessed


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 90), min_size=1),
    st.integers(0, 150),
    st.integers(2_000, BYTE_LIMIT),
)
def test_a_delivery_is_within_its_budget_and_leaves_out_whole_groups(sizes, most, most_bytes):
    environment = Environment(
        id="sized",
        capabilities=tuple(Capability(id=group, name=group) for group in sorted(sizes)),
        tools=tuple(
            Tool(name=f"{group}{number}", capability=group, read_only=True)
            for group in sorted(sizes)
            for number in range(sizes[group])
        ),
    )
    scenario = Scenario(id="s", name="s", messages=({"role": "user", "content": "x"},), environment=environment)
    offer, _ = Offers().of(scenario)
    budget = Budget(tools=most, bytes=most_bytes)
    made = deliver(offer, Loaded(frozenset(sizes)), budget)
    assert len(made.tools) <= budget.places(0)
    assert sum(tool.bytes for tool in made.tools) <= most_bytes
    kept = {group: [tool for tool in made.tools if tool.tool.capability == group] for group in sizes}
    for group, size in sizes.items():
        assert len(kept[group]) == (0 if group in made.excluded else size)
    if len(made.excluded) == 1:
        # One group was in the way: with it, the rest would not have fitted.
        (group,) = made.excluded
        whole = [*made.tools, *offer.tools_of(group)]
        assert len(whole) > budget.places(0) or sum(tool.bytes for tool in whole) > most_bytes


@pytest.mark.parametrize("most", [1, 5, 128])
def test_max_tools_bounds_what_is_delivered(world, most):
    made = delivered(sized(world, a=1, b=4, c=60), "a", "b", "c", budget=Budget(tools=most))
    assert len(made.tools) <= most
