"""How much of a request stands in the menu already."""

from __future__ import annotations

from statistics import mean
from typing import Any

from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.leak import overlap
from yb_eval_agent_routing.model import Capability, Environment, Scenario, Tool
from yb_eval_agent_routing.scenarios import load_scenarios

ENVIRONMENT = Environment(
    id="e",
    capabilities=(
        Capability(id="wiki", name="Wiki", description="Pages and runbooks"),
        Capability(id="code", name="Code"),
    ),
    tools=(
        Tool(name="find", capability="wiki", read_only=True),
        Tool(name="list_pulls", capability="code", read_only=True),
    ),
)


def figure(message: str, **labels: Any) -> float | None:
    messages = ({"role": "user", "content": message},)
    scenario = Scenario(id="s", name="s", messages=messages, environment=ENVIRONMENT, **labels)
    return overlap(scenario, Offer(environment=ENVIRONMENT, mode=scenario.mode))


def test_it_is_the_share_of_the_requests_words_that_the_right_groups_show() -> None:
    assert figure("runbooks wiki pages", expected=("wiki",)) == 1
    assert figure("find runbooks for newcomers please", expected=("wiki",)) == 1 / 5
    assert figure("deploy everything tomorrow", expected=("wiki",)) == 0


def test_words_of_other_groups_do_not_count_and_any_of_several_does() -> None:
    assert figure("code", expected=("wiki",)) == 0
    assert figure("code wiki", any_of=(("wiki", "code"),)) == 1


def test_a_group_without_a_description_shows_the_names_of_its_tools() -> None:
    assert figure("list pulls", expected=("code",)) == 1


def test_it_is_null_where_nothing_is_needed() -> None:
    assert figure("hello there", kind="skip") is None
    assert figure("?!", expected=("wiki",)) is None


def test_the_shipped_wordings_give_less_and_less_away() -> None:
    (environment,) = load_scenarios(["wordings"]).environments
    offer = Offer(environment=environment, mode="read-only")
    figures: dict[str, list[float]] = {"exact": [], "paraphrase": [], "unnamed": []}
    for scenario in load_scenarios(["wordings"]).scenarios:
        value = overlap(scenario, offer)
        if value is not None and "lang:en" in scenario.tags:
            figures[next(tag for tag in scenario.tags if tag.startswith("wording:"))[8:]].append(value)
    exact, paraphrase, unnamed = (mean(figures[name]) for name in ("exact", "paraphrase", "unnamed"))
    assert exact > paraphrase > unnamed
    assert exact > 0.4
    assert unnamed < 0.1
