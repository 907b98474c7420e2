"""The group menu: what it shows, what it hides, and that text from a catalogue cannot change it."""

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_agent_routing.agent import Offers, render
from yb_eval_agent_routing.agent.menu import LONGEST_CELL, cell
from yb_eval_agent_routing.agent.naming import LONGEST, wire_names
from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.model import Capability, Environment, Tool


def rows(text):
    """The cells of a Markdown table's body, read with its escapes."""
    found = []
    for line in text.splitlines()[2:]:
        if not line.startswith("|"):
            break
        cells, current, escaped = [], "", False
        for character in line[1:]:
            if escaped or character not in "\\|":
                current, escaped = current + character, False
            elif character == "\\":
                escaped = True
            else:
                cells.append(current.strip())
                current = ""
        found.append(cells)
    return found


def menu_of(scenario):
    return Offers().of(scenario)[1]


def test_a_menu_lists_each_group_with_its_id_name_and_description(world):
    menu = menu_of(world.scenario())
    assert menu.text.splitlines()[0] == "| Group ID | Name | Covers |"
    assert ["jira", "Jira", "issues and tickets"] in rows(menu.text)
    assert menu.groups == ("calendar", "jira", "metrics", "wiki")


def test_the_menu_stands_in_the_system_prompt_of_every_call_and_in_the_outcome(world, says, recorded):
    model = recorded(says.load("jira"), says.text())
    scenario = world.scenario(expected=["jira"])
    outcome = world.judge(scenario, model)
    menu = menu_of(scenario)
    assert len(model.requests) == 2
    assert all(menu.text in request["system"] for request in model.requests)
    assert any(menu.text in part["content"] for part in outcome.details["transcript"] if part["role"] == "system")


def test_a_group_that_is_off_is_not_offered(world):
    assert "jira" not in menu_of(world.with_groups(jira={"state": "off"}).scenario()).groups


def test_a_group_whose_tools_all_write_is_offered_where_it_may_write_only(world):
    writing = evolve(
        world.environment, tools=tuple(evolve(t, read_only=t.capability != "calendar") for t in world.environment.tools)
    )
    there = world.over(writing)
    assert "calendar" not in menu_of(there.scenario()).groups
    assert "calendar" in menu_of(there.scenario(mode="read-write")).groups
    assert "calendar" in menu_of(there.with_groups(calendar={"state": "ask-on-write"}).scenario()).groups


def test_a_group_that_is_always_on_needs_no_loading_and_is_not_in_the_menu(world):
    assert menu_of(world.with_groups(jira={"always_on": True}).scenario()).groups == ("calendar", "metrics", "wiki")


def test_without_anything_to_load_there_is_no_menu_and_no_loader(world, says, recorded):
    everything = world.with_groups(**{name: {"always_on": True} for name in ("calendar", "jira", "metrics", "wiki")})
    model = recorded(says.text())
    everything.judge(everything.scenario(), model)
    (request,) = model.requests
    assert "Tool Groups" not in request["system"]
    assert "load_tools" not in [tool["name"] for tool in request["tools"]]


def test_a_group_without_a_description_shows_up_to_eight_of_its_tools(world):
    many = Environment(
        id="many",
        capabilities=(Capability(id="big", name="Big"), Capability(id="small", name="Small")),
        tools=(
            *(Tool(name=f"tool_{number:02}", capability="big", read_only=True) for number in range(11)),
            Tool(name="only", capability="small", read_only=True),
        ),
    )
    covers = {row[0]: row[2] for row in rows(menu_of(world.over(many).scenario()).text)}
    assert covers["big"] == f"Tools: {', '.join(f'tool_{n:02}' for n in range(8))}, ... (11 tools in all)"
    assert covers["small"] == "Tools: only"


def test_a_group_above_the_threshold_is_offered_tool_by_tool_and_one_at_it_is_not(world):
    at, above = (Offers(threshold).of(world.scenario())[1].text for threshold in (4, 3))
    assert "Tools of metrics" not in at
    assert "#### Tools of metrics" in above and "metrics_volumes" in above
    assert "#### Tools of jira" not in above


def test_the_threshold_counts_what_the_mode_leaves(world):
    # jira has two tools that read and one that writes.
    assert Offers(2).of(world.scenario())[0].expanded == {"metrics"}
    assert Offers(2).of(world.scenario(mode="read-write"))[0].expanded == {"jira", "metrics"}


def test_an_option_overrides_the_threshold_of_a_scenario(world):
    scenario = world.scenario(expand_threshold=1)
    assert Offers().of(scenario)[0].expanded
    assert not Offers(0).of(scenario)[0].expanded


def test_the_loader_gives_no_example_that_could_be_a_right_answer(world, says, recorded):
    model = recorded(says.text())
    world.judge(world.scenario(), model)
    (loader,) = model.requests[0]["tools"]
    for name in ("jira", "confluence", "harvest", "ontap", "bitbucket", "zoom"):
        assert name not in str(loader).lower()


@given(st.text(max_size=60), st.text(max_size=600), st.text(max_size=60))
def test_whatever_a_catalogue_says_the_menu_keeps_its_rows_and_columns(name, description, tool):
    environment = Environment(
        id="hostile",
        capabilities=(Capability(id="one", name=name, description=description), Capability(id="two", name="Two")),
        tools=(
            Tool(name="a", capability="one", read_only=True, description=tool),
            Tool(name="b", capability="two", read_only=True),
        ),
    )
    text = render(Offer(environment=environment, mode="read-only")).text
    found = rows(text)
    assert [row[0] for row in found] == ["one", "two"]
    assert all(len(row) == 3 for row in found)
    assert len(text.splitlines()) == 4


@given(st.text(max_size=3000))
def test_a_cell_is_one_line_of_limited_length(text):
    made = cell(text)
    assert ("\n" not in made and made.isprintable()) or made == ""
    assert len(made.replace("\\\\", "x").replace("\\|", "x")) <= LONGEST_CELL


NAMES = st.text(st.sampled_from("ab._-/ é"), min_size=1, max_size=80)


@given(st.sets(st.tuples(st.sampled_from(["git", "docs", "a b"]), NAMES), min_size=1, max_size=8))
def test_wire_names_are_fit_for_providers_and_tell_every_tool_apart(pairs):
    tools = [Tool(name=name, capability=group) for group, name in sorted(pairs)]
    names = wire_names(tools, {"load_tools"})
    assert len(set(names.values())) == len(tools)
    for name in names.values():
        assert 1 <= len(name) <= LONGEST and all(c.isascii() and (c.isalnum() or c in "_-") for c in name)


def test_a_name_that_several_groups_share_is_qualified_and_one_that_is_reserved_is_renamed():
    tools = [
        Tool(name="search", capability="wiki"),
        Tool(name="search", capability="web"),
        Tool(name="load_tools", capability="web"),
        Tool(name="fetch", capability="web"),
    ]
    assert wire_names(tools, {"load_tools"}) == {
        "wiki/search": "wiki__search",
        "web/search": "web__search",
        "web/load_tools": "load_tools_2",
        "web/fetch": "fetch",
    }


def test_menus_and_offers_are_built_once_per_environment_mode_and_threshold(world):
    offers = Offers()
    first, again = offers.of(world.scenario(id="a")), offers.of(world.scenario("Other words", id="b"))
    assert first[0] is again[0] and first[1] is again[1]
    assert offers.of(world.scenario(mode="read-write"))[0] is not first[0]
