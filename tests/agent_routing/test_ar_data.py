"""The shipped scenarios: their counts, labels and sources, and that the import makes the same bytes again."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from yb_eval.datasets import DataFile
from yb_eval_agent_routing.catalogue import read_catalogue
from yb_eval_agent_routing.model import Scenario
from yb_eval_agent_routing.scenarios import SHIPPED, load_scenarios
from yb_eval_datasets import path as data_path

FOLDER = data_path("agent_routing")


@cache
def shipped(name: str) -> tuple[Scenario, ...]:
    return load_scenarios([name]).scenarios


def tags(scenarios: tuple[Scenario, ...], key: str) -> Counter[str]:
    return Counter(tag.partition(":")[2] for s in scenarios for tag in s.tags if tag.startswith(f"{key}:"))


@pytest.mark.parametrize(
    ("name", "scenarios", "groups", "tools"),
    [
        ("default", 9, 5, 13),
        ("wordings", 48, 5, 13),
        ("livemcpbench", 90, 70, 527),
        ("livemcpbench-25", 90, 70, 527),
        ("metatool", 200, 199, 199),
    ],
)
def test_a_set_has_its_size(name: str, scenarios: int, groups: int, tools: int) -> None:
    loaded = load_scenarios([name])
    (environment,) = loaded.environments
    assert len(loaded.scenarios) == scenarios
    assert (len(environment.capabilities), len(environment.tools)) == (groups, tools)


def test_all_sets_load_together_and_their_ids_say_where_they_are_from() -> None:
    loaded = load_scenarios(list(SHIPPED))
    assert {scenario.id.partition("/")[0] for scenario in loaded.scenarios} == set(SHIPPED)
    assert all(f"set:{scenario.id.partition('/')[0]}" in scenario.tags for scenario in loaded.scenarios)
    assert all(any(tag.startswith("lang:") for tag in scenario.tags) for scenario in loaded.scenarios)


def test_the_default_set_has_the_shape_of_the_example_it_is_compared_with() -> None:
    scenarios = {scenario.name: scenario for scenario in shipped("default")}
    assert {name: set(scenario.expected) for name, scenario in scenarios.items()} == {
        "jira_single": {"jira"},
        "confluence_single": {"confluence"},
        "bitbucket_single": {"bitbucket"},
        "ontap_single": {"harvest"},
        "zoom_single": {"zoom"},
        "jira_confluence": {"jira", "confluence"},
        "ontap_jira": {"harvest", "jira"},
        "greeting_skip": set(),
        "ontap_single_expanded": {"harvest"},
    }
    assert {scenario.mode for scenario in scenarios.values()} == {"read-only"}
    assert scenarios["ontap_single_expanded"].message == scenarios["ontap_single"].message
    assert [s.expand_threshold for s in scenarios.values()] == [0] * 8 + [2]
    environment = scenarios["jira_single"].environment
    assert {group.id: len(environment.tools_of(group.id)) for group in environment.capabilities} == {
        "bitbucket": 2, "confluence": 3, "harvest": 3, "jira": 3, "zoom": 2,
    }  # fmt: skip
    writing = {tool.name for tool in environment.tools if not tool.read_only}
    assert writing == {"jira_create_issue", "confluence_create_page", "zoom_create_meeting"}


def test_every_case_is_worded_in_three_ways_and_two_languages_with_the_same_labels() -> None:
    scenarios = shipped("wordings")
    assert tags(scenarios, "wording") == {"exact": 16, "paraphrase": 16, "unnamed": 16}
    assert tags(scenarios, "lang") == {"en": 24, "ru": 24}
    assert set(tags(scenarios, "case").values()) == {6}
    default = {scenario.name: set(scenario.expected) for scenario in shipped("default")}
    for scenario in scenarios:
        (case,) = tags((scenario,), "case")
        assert set(scenario.expected) == default[case]
    assert len({scenario.message for scenario in scenarios}) == 48


def test_only_the_wordings_that_should_name_an_app_do() -> None:
    for scenario in shipped("wordings"):
        named = {group for group in scenario.environment.groups if re.search(rf"\b{group}\b", scenario.message.lower())}
        (wording,) = tags((scenario,), "wording")
        assert named == (set() if wording == "unnamed" else set(scenario.expected)), scenario.id


def test_there_are_negatives_of_four_kinds_on_two_menus_in_two_languages() -> None:
    scenarios = shipped("negatives")
    assert len(scenarios) >= 40
    assert tags(scenarios, "negative") == {
        "chit-chat": 16, "general-knowledge": 16, "no-suitable-group": 16, "not-connected": 16,
    }  # fmt: skip
    assert tags(scenarios, "lang") == {"en": 32, "ru": 32}
    assert Counter(len(scenario.environment.capabilities) for scenario in scenarios) == {5: 32, 13: 32}
    assert not any(scenario.expected or scenario.any_of for scenario in scenarios)
    for scenario in scenarios:
        needs_a_tool = bool({"negative:no-suitable-group", "negative:not-connected"} & set(scenario.tags))
        assert scenario.kind == ("no_suitable_group" if needs_a_tool else "skip")
    assert len({scenario.message for scenario in scenarios}) == len(scenarios)


def test_situations_cover_what_the_other_sets_leave_out_in_both_languages() -> None:
    scenarios = shipped("situations")
    assert set(tags(scenarios, "topic")) == {
        "mode", "state", "always-on", "expanded", "near-duplicate", "any-of", "several", "multi-turn",
    }  # fmt: skip
    assert tags(scenarios, "lang") == {"en": 14, "ru": 14}
    assert {scenario.mode for scenario in scenarios} == {"read-only", "read-write"}
    states = {group.state for scenario in scenarios for group in scenario.environment.capabilities}
    assert {"off", "ask-on-write", "allow"} <= states
    english = {s.id.removesuffix("-en"): s for s in scenarios if "lang:en" in s.tags}
    russian = {s.id.removesuffix("-ru"): s for s in scenarios if "lang:ru" in s.tags}
    assert english.keys() == russian.keys()
    for case, scenario in english.items():
        assert scenario.expected == russian[case].expected
        assert [turn["role"] for turn in scenario.messages] == [turn["role"] for turn in russian[case].messages]


def test_russian_scenarios_are_in_russian_and_english_ones_are_not() -> None:
    for scenario in (*shipped("wordings"), *shipped("negatives"), *shipped("situations")):
        russian = re.search("[а-яё]", scenario.message.lower()) is not None
        assert russian == ("lang:ru" in scenario.tags), scenario.id


def test_an_app_that_is_not_connected_is_not_on_the_menu() -> None:
    apps = (
        r"Slack|Salesforce|ServiceNow|GitLab|Trello|PagerDuty|Notion|Microsoft Teams|Todoist|"
        r"Bitbucket|HubSpot|Outlook|MongoDB|Figma|Jira"
    )
    for scenario in shipped("negatives"):
        if "negative:not-connected" in scenario.tags:
            (app,) = re.findall(apps, scenario.message)
            menu = " ".join(f"{group.id} {group.name}" for group in scenario.environment.capabilities).lower()
            assert app.lower() not in menu


def test_livemcpbench_has_the_labels_that_could_be_resolved() -> None:
    scenarios = shipped("livemcpbench")
    unique = [scenario for scenario in scenarios if not scenario.any_of]
    assert len(unique) == 70
    assert Counter(len(scenario.expected) for scenario in unique) == {1: 44, 2: 23, 3: 3}
    assert all(scenario.expected_tools or scenario.any_of_tools for scenario in scenarios)
    assert {scenario.mode for scenario in scenarios} == {"read-write"}
    assert {scenario.expand_threshold for scenario in shipped("livemcpbench-25")} == {25}
    assert [s.id.partition("/")[2] for s in shipped("livemcpbench-25")] == [s.id.partition("/")[2] for s in scenarios]


def test_livemcpbench_has_thirteen_names_on_several_servers_and_two_large_ones() -> None:
    (environment,) = load_scenarios(["livemcpbench"]).environments
    names = Counter(tool.name for tool in environment.tools)
    assert sum(count > 1 for count in names.values()) == 13
    assert len(environment.named("search")) == 4
    large = {group.id for group in environment.capabilities if len(environment.tools_of(group.id)) > 25}
    assert large == {"office-powerpoint-mcp-server", "playwright-mcp-server"}
    assert sum(tool.read_only for tool in environment.tools) == 44


def test_metatool_asks_for_two_different_groups_of_one_tool() -> None:
    scenarios = shipped("metatool")
    assert {len(set(scenario.expected)) for scenario in scenarios} == {2}
    assert len({scenario.message for scenario in scenarios}) == 200
    (environment,) = load_scenarios(["metatool"]).environments
    assert {len(environment.tools_of(group.id)) for group in environment.capabilities} == {1}


def test_the_reference_servers_are_a_catalogue() -> None:
    path = FOLDER / "reference_servers" / "catalogue.json"
    catalogue = read_catalogue(DataFile.read(path, role="catalogue"))
    assert len(catalogue.servers) == 15
    assert sum(len(server.tools) for server in catalogue.servers) == 113
    assert {"git", "time", "fetch"} <= {server.id for server in catalogue.servers}
    assert catalogue.to_bytes() == path.read_bytes()


def test_every_folder_says_what_it_is_and_foreign_data_carry_licence_and_notice() -> None:
    for folder in sorted(path for path in FOLDER.iterdir() if path.is_dir()):
        assert (folder / "README.md").read_text(encoding="utf-8").startswith(f"# {folder.name}:")
    for name in ("livemcpbench", "metatool"):
        assert (FOLDER / name / "LICENSE").stat().st_size > 1_000
        notice = (FOLDER / name / "NOTICE").read_text(encoding="utf-8")
        assert "Changes made by this project" in notice
        assert re.search(r"at commit [0-9a-f]{40}", notice)
    assert "arXiv:2508.01780" in (FOLDER / "livemcpbench" / "README.md").read_text(encoding="utf-8")


def test_no_file_holds_an_address_or_a_key() -> None:
    for path in sorted(FOLDER.rglob("*")):
        if path.suffix in (".json", ".jsonl", ".yaml"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"[\w.+-]+@[\w-]+\.(com|org|net|io|cn)\b", text), path
            assert not re.search(r"\b(sk|ghp|xoxb)[-_][A-Za-z0-9]{16,}", text), path


def test_the_catalogues_say_nothing_of_how_servers_are_started() -> None:
    for name in ("livemcpbench", "metatool", "reference_servers"):
        catalogue = json.loads((FOLDER / name / "catalogue.json").read_text(encoding="utf-8"))
        allowed = {"id", "name", "version", "description", "instructions", "tools"}
        assert all(set(server) <= allowed for server in catalogue["servers"])


SCRIPT = Path(__file__).parents[2] / "scripts" / "import_agent_routing.py"
SOURCE = os.environ.get("YB_EVAL_AGENT_ROUTING_SOURCE")


@cache
def importer() -> Any:
    spec = importlib.util.spec_from_file_location("import_agent_routing", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(SOURCE is None, reason="YB_EVAL_AGENT_ROUTING_SOURCE names no folder with the upstream files")
def test_the_import_makes_the_shipped_files_again() -> None:
    assert importer().main(["--source", str(SOURCE), "--check"]) == 0


def _upstream(folder: Path) -> Path:
    """Small files in the upstreams' shapes."""

    def server(name: str, *tools: str) -> dict[str, Any]:
        listed: list[dict[str, Any]] = [
            {"name": tool, "description": None, "inputSchema": {}, "annotations": None} for tool in tools
        ]
        inner = {"server_name": "x", "version": "1", "tools": listed}
        config = {"mcpServers": {"x": {"env": {"KEY": "hidden"}}}}
        return {"name": name, "description": "d", "web": "w", "config": config, "tools": {f"{name[-1]}-id": inner}}

    def label(task: str, required: list[str], any_of: list[list[str]], tools: list[str], status: str) -> dict[str, Any]:
        return {
            "task_id": task, "category": "Office", "tools": tools, "required_servers": required,
            "any_of_servers": any_of, "status": status,
        }  # fmt: skip

    live, meta = folder / "livemcpbench", folder / "metatool"
    for part in (live, meta):
        part.mkdir(parents=True)
        (part / "LICENSE").write_text("licence", encoding="utf-8")
    tools = [server("A One", "read", "write"), server("B Two", "write", "draw"), server("鸣 C", "write")]
    (live / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    tasks = [{"task_id": f"{n}{n}{n}{n}{n}{n}{n}{n}-x", "Question": f" Do {n}. "} for n in range(3)]
    (live / "all_annotations.json").write_text(json.dumps(tasks), encoding="utf-8")
    labels = [
        label(tasks[0]["task_id"], ["A One"], [], ["read", "write", "read"], "unique"),
        label(tasks[1]["task_id"], ["B Two"], [["A One", "鸣 C"]], ["draw"], "any_of"),
        label(tasks[2]["task_id"], [], [], ["gone"], "unresolved"),
    ]
    (live / "derived_labels.json").write_text(json.dumps({"tasks": labels}), encoding="utf-8")
    described = {"TimeTool": "clocks", "NewsTool": "news"}
    (meta / "plugin_des.json").write_text(json.dumps(described), encoding="utf-8")
    queries = [{"query": '"Quoted?"', "tool": ["TimeTool", "NewsTool"]}, {"query": "Quoted?", "tool": ["TimeTool"]}]
    (meta / "multi_tool_query_golden.json").write_text(json.dumps(queries), encoding="utf-8")
    captured = {"git": {"instructions": None, "server": {"name": "g", "version": "1"}, "tools": [{"name": "log"}]}}
    (folder / "reference_servers.json").write_text(json.dumps(captured), encoding="utf-8")
    return folder


def test_the_import_converts_labels_and_drops_what_is_not_needed(tmp_path: Path, capsys: Any) -> None:
    source, out = _upstream(tmp_path / "in"), tmp_path / "out"
    arguments = ["--source", str(source), "--out", str(out)]
    assert importer().main([*arguments, "--check"]) == 1
    assert not out.exists()
    assert importer().main(arguments) == 0
    assert importer().main([*arguments, "--check"]) == 0
    first, second = load_scenarios([out / "livemcpbench" / "scenarios.json"]).scenarios
    assert (first.id, first.message, first.expected) == ("livemcpbench/00000000", "Do 0.", ("a-one",))
    assert first.expected_tools == ("a-one/read", "a-one/write")
    assert (second.expected, second.any_of) == (("b-two",), (("a-one", "c-id"),))
    assert second.expected_tools == ("b-two/draw",)
    (query,) = load_scenarios([out / "metatool" / "scenarios.json"]).scenarios
    assert (query.message, query.expected) == ("Quoted?", ("newstool", "timetool"))
    written = b"".join(path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file())
    assert b"hidden" not in written
    assert capsys.readouterr().out.count("wrote: ") == 10
