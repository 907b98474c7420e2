"""The policies: who decides what is loaded, and what each leaves to be seen."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_agent_routing.agent import Offers
from yb_eval_agent_routing.agent.router import choose_groups
from yb_eval_agent_routing.model import Capability, Environment, Scenario, Tool
from yb_eval_agent_routing.providers.bm25 import bm25_target

WORLD = Scenario(
    id="case",
    name="case",
    messages=({"role": "user", "content": "x"},),
    environment=Environment(
        id="small",
        capabilities=tuple(Capability(id=group, name=group) for group in ("calendar", "jira", "metrics", "wiki")),
        tools=tuple(
            Tool(name=f"{group}_get", capability=group, read_only=True)
            for group in ("calendar", "jira", "metrics", "wiki")
        ),
    ),
)


def retrieve(world, scenario, k=1, **settings):
    """The outcome of a scenario under the BM25 baseline."""
    from yb_eval import Sample
    from yb_eval_agent_routing.agent import Settings
    from yb_eval_agent_routing.evaluator import AgentEvaluator

    offers = Offers(settings.pop("threshold", None))
    evaluator = AgentEvaluator(bm25_target(str(k), offers), Settings(**settings), offers, identity={})
    return evaluator.evaluate([Sample(scenario.id, scenario)])[0]


def test_the_router_sees_the_menu_and_no_tools_and_the_main_model_sees_its_choice_and_no_menu(world, recorded):
    model = recorded({"text": '{"groups": ["jira"], "tools": []}'}, {"text": "Two are open."})
    outcome = world.judge(world.scenario(expected=["jira"]), model, policy="router")
    route, chat = model.requests
    assert route["purpose"] == "route" and route["tools"] == [] and "| jira |" in route["system"]
    assert chat["purpose"] == "chat" and "| jira |" not in chat["system"]
    assert [tool["name"] for tool in chat["tools"]] == ["jira_get", "jira_search"]
    details = outcome.details
    assert details["exact"] is True and (details["model_calls"], details["routing_calls"]) == (2, 1)
    assert details["menu_tokens"] > 0


def test_a_router_that_chooses_nothing_is_a_skip_where_a_group_is_needed_and_right_where_none_is(world):
    answers = [{"text": '{"groups": [], "tools": []}'}, {"text": "Hello."}]
    needed = world.judge(world.scenario(expected=["jira"]), answers, policy="router")
    idle = world.judge(world.scenario(), answers, policy="router")
    assert needed.details["verdict"] == "SKIP" and needed.details["nudged"] is False
    assert idle.details["verdict"] == "EXACT"


@pytest.mark.parametrize("said", ["", "jira", "{}", '{"groups": "jira"}', '{"groups": [1]}', "{" * 1000, "}{"])
def test_a_router_that_gives_no_choice_chooses_nothing_and_is_seen(world, said):
    outcome = world.judge(world.scenario(expected=["jira"]), [{"text": said}, {"text": "?"}], policy="router")
    assert outcome.status == "scored" and outcome.details["malformed_call"] is True
    assert outcome.details["load_calls"] == 0


def test_what_stands_around_a_routers_json_is_overlooked(world):
    offer, _ = Offers().of(world.scenario())
    chosen = choose_groups(offer, 'Sure:\n```json\n{"groups": ["wiki"], "tools": ["metrics_disks"]}\n```')
    assert chosen is not None and chosen.asked == ("wiki", "metrics")


@given(st.text(st.sampled_from('{}[]":, groupstl0jira'), max_size=120) | st.text())
def test_a_routers_answer_can_be_any_text(said):
    offer, _ = Offers().of(WORLD)
    chosen = choose_groups(offer, said)
    assert chosen is None or set(chosen.asked) <= {"calendar", "jira", "metrics", "wiki"}


def test_a_routers_unknown_names_are_hallucinations(world):
    outcome = world.judge(
        world.scenario(expected=["jira"]), [{"text": '{"groups": ["nowhere", "jira"]}'}, {}], policy="router"
    )
    assert outcome.details["unknown"] == ["nowhere"] and outcome.details["exact"] is True


def test_search_loads_what_it_finds(world, says, recorded):
    model = recorded(says.call("search_tools", query="volumes"), says.text())
    outcome = world.judge(world.scenario(expected=["metrics"]), model, policy="search", top_k=1)
    assert [tool["name"] for tool in model.requests[0]["tools"]] == ["search_tools"]
    assert [tool["name"] for tool in model.requests[1]["tools"]] == ["search_tools", "metrics_volumes"]
    assert "metrics_volumes" in model.requests[1]["messages"][-1]["content"]
    assert outcome.details["delivered_tools"] == ["metrics/metrics_volumes"] and outcome.details["exact"] is True


def test_a_search_that_finds_nothing_says_so_and_loads_nothing(world, says, recorded):
    model = recorded(says.call("search_tools", query="xyzzy"), says.text("It is not available."))
    outcome = world.judge(world.scenario(expected=["metrics"]), model, policy="search")
    assert model.requests[1]["messages"][-1]["content"] == "No tool was found."
    assert outcome.details["verdict"] == "MISS" and outcome.details["load_calls"] == 1


@pytest.mark.parametrize("arguments", [{}, {"query": ""}, {"query": 3}, "{"])
def test_a_search_without_a_query_is_an_error_result(world, says, arguments):
    call = {"tool_calls": [{"name": "search_tools", "arguments": arguments}]}
    outcome = world.judge(world.scenario(expected=["metrics"]), [call, says.text()], policy="search")
    assert outcome.details["malformed_call"] is True and outcome.details["load_calls"] == 0


def test_all_delivers_everything_the_mode_allows_without_a_menu_or_a_loader(world, says, recorded):
    model = recorded(says.text())
    outcome = world.judge(world.scenario(expected=["jira"]), model, policy="all")
    (request,) = model.requests
    assert "Tool Groups" not in request["system"]
    assert len(request["tools"]) == 9 and "load_tools" not in [tool["name"] for tool in request["tools"]]
    details = outcome.details
    assert details["verdict"] == "HIT" and details["over_load"] == 3
    assert details["routed_tokens"] == details["all_tokens"] and details["routing_active"] is None


def test_all_is_a_false_load_where_nothing_is_needed(world, says):
    assert world.judge(world.scenario(), [says.text()], policy="all").details["false_load"] is True


def test_none_delivers_nothing_not_even_what_is_always_on(world, says, recorded):
    model = recorded(says.text())
    there = world.with_groups(wiki={"always_on": True})
    outcome = there.judge(there.scenario(expected=["jira"]), model, policy="none")
    assert model.requests[0]["tools"] == [] and len(model.requests) == 1
    assert outcome.details["verdict"] == "SKIP" and outcome.details["nudged"] is False


@pytest.mark.parametrize("policy", ["in-band", "router"])
def test_the_baseline_loads_the_k_groups_closest_in_words(world, policy):
    scenario = world.scenario("Which issues and tickets are open?", expected=["jira"])
    assert retrieve(world, scenario, 1, policy=policy).details["exact"] is True
    two = retrieve(world, world.scenario("volumes and tickets", expected=["jira", "metrics"]), 2, policy=policy)
    assert two.details["exact"] is True


def test_the_baseline_loads_nothing_for_a_request_that_shares_no_word_with_any_group(world):
    assert retrieve(world, world.scenario("Bonjour!"), 3).details["exact"] is True


def test_the_baseline_finds_groups_by_words_of_another_script(world):
    from attrs import evolve

    groups = tuple(
        evolve(c, description="задачи и заявки") if c.id == "jira" else c for c in world.environment.capabilities
    )
    there = world.over(evolve(world.environment, capabilities=groups))
    assert retrieve(there, there.scenario("Какие заявки открыты?", expected=["jira"])).details["exact"] is True


def test_the_baseline_loads_single_tools_of_a_group_that_is_offered_tool_by_tool(world):
    scenario = world.scenario("volumes and clusters", expected=["metrics"], expected_tools=["metrics/metrics_volumes"])
    outcome = retrieve(world, scenario, 1, threshold=3)
    assert "metrics/metrics_volumes" in outcome.details["asked_tools"]


def test_the_baseline_searches_with_the_message_itself(world):
    outcome = retrieve(world, world.scenario("metrics_volumes", expected=["metrics"]), 1, policy="search", top_k=1)
    assert outcome.details["delivered_tools"] == ["metrics/metrics_volumes"]


def test_every_policy_asks_with_json_that_names_no_right_answer(world, recorded, says):
    scenario = world.scenario("hello", expected=["jira"], expected_tools=["jira/jira_get"])
    for policy in ("in-band", "router", "search", "all", "none"):
        model = recorded(says.text(), says.text())
        world.judge(scenario, model, policy=policy)
        for request in model.requests:
            assert orjson.loads(orjson.dumps(request)) == request
            assert "expected" not in request and request["policy"] == policy
