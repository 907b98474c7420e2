"""Larger menus and altered ones: the labels stay right, the draws are nested and hang on the seed alone."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_agent_routing.agent.menu import render
from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.model import Scenario
from yb_eval_agent_routing.scenarios import ScenarioSet, load_scenarios
from yb_eval_agent_routing.sweep import ABLATIONS, SIZES, Pool, ablated, scaled


@cache
def loaded(*names: str) -> ScenarioSet:
    return load_scenarios(names)


def groups(scenario: Scenario) -> set[str]:
    return {group.id for group in scenario.environment.offered(scenario.mode)}


def needed(scenario: Scenario) -> set[str]:
    return {*scenario.expected, *scenario.acceptable, *(group for part in scenario.any_of for group in part)}


@pytest.mark.parametrize("name", ["default", "wordings", "livemcpbench", "metatool"])
def test_every_menu_has_exactly_its_size_and_holds_what_is_needed(name: str) -> None:
    made = scaled(loaded(name), seed=0)
    assert len(made.scenarios) == len(SIZES) * len(loaded(name).scenarios)
    for scenario in made.scenarios:
        size = int(scenario.id.rpartition("@")[2])
        assert f"size:{size}" in scenario.tags
        assert len(groups(scenario)) == size
        assert needed(scenario) <= groups(scenario)
        assert set(scenario.expected_tools) <= scenario.environment.tools_by_id.keys()
    assert len({scenario.id for scenario in made.scenarios}) == len(made.scenarios)


@pytest.mark.parametrize("name", ["default", "livemcpbench", "metatool"])
def test_a_smaller_menu_is_a_part_of_a_larger_one(name: str) -> None:
    menus: dict[str, list[set[str]]] = {}
    for scenario in scaled(loaded(name), seed=3).scenarios:
        menus.setdefault(scenario.id.rpartition("@")[0], []).append(groups(scenario))
    for case in menus.values():
        assert all(small < large for small, large in pairwise(case))


def test_the_draw_hangs_on_the_seed_and_on_nothing_else() -> None:
    first = scaled(loaded("default"), seed=1)
    assert scaled(loaded("default"), seed=1).scenarios == first.scenarios
    assert scaled(loaded("default"), seed=2).scenarios != first.scenarios
    alone = scaled(loaded("default"), [70], seed=1).scenarios
    assert alone == tuple(scenario for scenario in first.scenarios if "size:70" in scenario.tags)


def test_distractors_are_there_in_every_mode_and_stand_among_the_others() -> None:
    scenario = scaled(loaded("default"), [70], seed=0).scenarios[0]
    assert scenario.mode == "read-only"
    ids = [group.id for group in scenario.environment.capabilities]
    assert ids == sorted(ids)
    assert ids[:5] != sorted(loaded("default").environments[0].groups)


def test_the_files_of_the_distractors_belong_to_the_revision() -> None:
    base, made = loaded("default"), scaled(loaded("default"), seed=0)
    assert made.files[: len(base.files)] == base.files
    assert [file.digest.role for file in made.files[len(base.files) :]] == ["distractors-1", "distractors-2"]


def test_an_environment_is_made_once_for_scenarios_that_share_it() -> None:
    assert len(scaled(loaded("default", "wordings"), [20, 200], seed=0).environments) == 2


def test_scenarios_without_a_suitable_group_are_not_put_among_strangers() -> None:
    made = scaled(loaded("negatives"), [20], seed=0).scenarios
    assert {scenario.kind for scenario in made} == {"skip"}
    only = ScenarioSet(tuple(s for s in loaded("negatives").scenarios if s.kind == "no_suitable_group"), ())
    with pytest.raises(UsageError, match="no scenario can be scaled"):
        scaled(only, [20], seed=0)


def test_sizes_that_cannot_be_had_are_refused() -> None:
    with pytest.raises(UsageError, match="needs a menu of 2 groups, not of 1"):
        scaled(loaded("default"), [1], seed=0)
    with pytest.raises(UsageError, match=r"a menu of 275 groups cannot be made.*at most 274"):
        scaled(loaded("default"), [275], seed=0)
    with pytest.raises(UsageError, match="the size 20 is given twice"):
        scaled(loaded("default"), [20, 20], seed=0)


@given(size=st.integers(3, 270), seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_any_size_can_be_had_with_any_seed(size: int, seed: int) -> None:
    for scenario in scaled(loaded("default"), [size], seed=seed, pool=_pool()).scenarios:
        assert len(groups(scenario)) == size
        assert needed(scenario) <= groups(scenario)


@cache
def _pool() -> Pool:
    return Pool.shipped()


def test_ablations_keep_the_full_menu_beside_the_altered_ones() -> None:
    base = loaded("livemcpbench")
    made = ablated(base, seed=0)
    assert len(made.scenarios) == (1 + len(ABLATIONS)) * len(base.scenarios)
    assert len(made.environments) == 1 + len(ABLATIONS)
    assert [scenario.id for scenario in made.scenarios[:90]] == [scenario.id for scenario in base.scenarios]
    assert {tag for s in made.scenarios for tag in s.tags if tag.startswith("menu:")} == {
        "menu:full", *(f"menu:{name}" for name in ABLATIONS),
    }  # fmt: skip
    with pytest.raises(UsageError, match="the ablation 'shuffled' is given twice"):
        ablated(base, ["shuffled", "shuffled"], seed=0)


def test_without_descriptions_names_are_all_there_is() -> None:
    for scenario in ablated(loaded("default"), ["no-descriptions"], seed=0).scenarios[9:]:
        environment = scenario.environment
        assert {group.description for group in environment.capabilities} == {""}
        assert {tool.description for tool in environment.tools} == {""}
        assert environment.groups.keys() == loaded("default").environments[0].groups.keys()


def test_shuffling_changes_the_order_and_nothing_else() -> None:
    base = loaded("livemcpbench").environments[0]
    shuffled = ablated(loaded("livemcpbench"), ["shuffled"], seed=0).scenarios[-1].environment
    assert shuffled.capabilities != base.capabilities
    assert set(shuffled.capabilities) == set(base.capabilities)
    assert sorted(tool.qualified_id for tool in shuffled.tools) == sorted(tool.qualified_id for tool in base.tools)
    assert shuffled.digest != base.digest


def test_what_an_ablation_changes_is_what_the_model_sees() -> None:
    shown = {
        scenario.id.partition("@")[2]: render(Offer(environment=scenario.environment, mode="read-only")).text
        for scenario in ablated(loaded("default"), seed=0).scenarios
    }
    assert len(set(shown.values())) == 4
    assert "Tools: jira_get_issue, jira_search_issues" in shown["no-descriptions"]
    assert sorted(shown["shuffled"].splitlines()) == sorted(shown[""].splitlines())
    assert "jira" not in shown["anonymised"].lower()


def test_anonymised_menus_lose_names_and_keep_labels() -> None:
    base = loaded("livemcpbench").scenarios
    made = ablated(loaded("livemcpbench"), ["anonymised"], seed=0).scenarios[90:]
    for before, after in zip(base, made, strict=True):
        old, new = before.environment, after.environment
        for group, renamed in zip(before.expected, after.expected, strict=True):
            assert renamed != group
            assert new.groups[renamed].description == old.groups[group].description
            assert new.groups[renamed].name == renamed
        for tool, renamed in zip(before.expected_tools, after.expected_tools, strict=True):
            assert new.tools_by_id[renamed].description == old.tools_by_id[tool].description
        assert [len(part) for part in after.any_of_tools] == [len(part) for part in before.any_of_tools]
    names = {group.id for group in base[0].environment.capabilities}
    assert not names & {group.id for group in made[0].environment.capabilities}
