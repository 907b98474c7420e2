"""Scenario files: what they mean, and that what contradicts itself is refused with its place."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import DatasetError, UsageError
from yb_eval.datasets import DataFile
from yb_eval.model import FileDigest
from yb_eval_agent_routing.documents import read_value
from yb_eval_agent_routing.model import Capability, Environment, Scenario, Tool
from yb_eval_agent_routing.scenarios import SHIPPED, load_scenarios

Document = dict[str, Any]

DESK: Document = {
    "id": "desk",
    "capabilities": [
        {"id": "wiki", "name": "Wiki", "description": "pages"},
        {"id": "code", "name": "Code"},
        {"id": "mail", "state": "off"},
        {"id": "chat", "state": "ask-on-write"},
        {"id": "empty"},
    ],
    "tools": [
        {"name": "search", "capability": "wiki", "read_only": True},
        {"name": "write", "capability": "wiki"},
        {"name": "search", "capability": "code", "read_only": True, "description": "Find code"},
        {"name": "push", "capability": "code"},
        {"name": "send", "capability": "mail"},
        {"name": "post", "capability": "chat"},
    ],
}


def document(*scenarios: Document, **header: Any) -> Document:
    return {"environments": [copy.deepcopy(DESK)], "scenarios": list(scenarios), **header}


def case(**fields: Any) -> Document:
    return {"id": "one", "message": "Where is the page?", **fields}


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., tuple[Scenario, ...]]:
    """Writes a document as JSON and loads it."""

    def loaded(value: Any, name: str = "cases.json") -> tuple[Scenario, ...]:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return load_scenarios([path]).scenarios

    return loaded


def test_a_scenario_has_the_defaults_of_the_model_where_it_says_nothing(load: Any) -> None:
    (scenario,) = load(document(case(expected=["wiki"])))
    assert (scenario.id, scenario.name, scenario.mode, scenario.kind) == ("one", "one", "read-only", "load")
    assert scenario.messages == ({"role": "user", "content": "Where is the page?"},)
    assert scenario.message == "Where is the page?"
    assert (scenario.expand_threshold, scenario.tags, scenario.any_of, scenario.acceptable) == (0, (), (), ())
    assert scenario.environment.groups["code"] == Capability(id="code", name="Code")
    assert scenario.environment.groups["chat"].name == "chat"


def test_the_files_defaults_hold_where_a_scenario_says_nothing_and_tags_are_added(load: Any) -> None:
    defaults = {"environment": "desk", "mode": "read-write", "expand_threshold": 3, "tags": ["lang:en", "set:x"]}
    first, second = load(
        document(
            case(expected=["wiki"], tags=["kind:easy", "lang:en"]),
            case(id="two", mode="read-only", expand_threshold=0, kind="skip"),
            id="mine",
            defaults=defaults,
        )
    )
    assert (first.id, first.name, first.mode, first.expand_threshold) == ("mine/one", "one", "read-write", 3)
    assert first.tags == ("lang:en", "set:x", "kind:easy")
    assert (second.mode, second.expand_threshold) == ("read-only", 0)


def test_an_environment_is_in_menu_order_whatever_the_files_order(load: Any) -> None:
    (scenario,) = load(document(case(expected=["wiki"])))
    environment = scenario.environment
    assert [group.id for group in environment.capabilities] == ["chat", "code", "empty", "mail", "wiki"]
    assert [tool.qualified_id for tool in environment.tools_of("code")] == ["code/push", "code/search"]


def test_scenarios_share_one_environment_object_also_across_files(tmp_path: Path) -> None:
    for name in ("a", "b"):
        value = document(case(expected=["wiki"]), case(id="two", kind="skip"), id=name)
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    loaded = load_scenarios([tmp_path / "a.json", tmp_path / "b.json"])
    assert len(loaded.scenarios) == 4
    assert len(loaded.environments) == 1


def test_yaml_json_and_jsonl_say_the_same(load: Any) -> None:
    value = document(case(expected=["wiki"]), case(id="two", message="Hi", kind="skip"))
    from_json = load(value)
    header, rows = {"environments": value["environments"]}, value["scenarios"]
    lines = "\n".join(json.dumps(row) for row in [header, *rows]) + "\n\n"
    assert load(yaml.safe_dump(value), "cases.yaml") == from_json
    assert load(lines, "cases.jsonl") == from_json


def test_the_scenarios_can_stand_in_a_jsonl_file_beside(tmp_path: Path, load: Any) -> None:
    (tmp_path / "rows.jsonl").write_text(json.dumps(case(expected=["wiki"])), encoding="utf-8")
    assert load({**document(), "scenarios": "rows.jsonl"}) == load(document(case(expected=["wiki"])))


def test_an_environment_can_be_a_file_or_stand_in_the_scenario(tmp_path: Path, load: Any) -> None:
    (tmp_path / "desk.yaml").write_text(yaml.safe_dump(DESK), encoding="utf-8")
    (from_file,) = load({"environments": [{"file": "desk.yaml"}], "scenarios": [case(expected=["wiki"])]})
    (in_place,) = load({"scenarios": [case(expected=["wiki"], environment=DESK)]})
    assert from_file == in_place == load(document(case(expected=["wiki"])))[0]


def test_a_catalogue_becomes_an_environment_and_can_be_cut_and_changed(tmp_path: Path, load: Any) -> None:
    captured = {
        "git": {"tools": [{"name": "log", "annotations": {"readOnlyHint": True}}, {"name": "commit"}]},
        "time": {"tools": [{"name": "now", "description": "The time", "annotations": {"readOnlyHint": True}}]},
        "fetch": {"tools": [{"name": "get"}]},
    }
    (tmp_path / "servers.json").write_text(json.dumps(captured), encoding="utf-8")
    environment = {
        "id": "real",
        "catalogue": "servers.json",
        "servers": ["git", "time"],
        "capabilities": [{"id": "time", "description": "clocks", "always_on": True}],
    }
    (scenario,) = load({"environments": [environment], "scenarios": [case(expected=["git"])]})
    made = scenario.environment
    assert made.id == "real"
    assert made.capabilities == (
        Capability(id="git", name="git"),
        Capability(id="time", name="time", description="clocks", always_on=True),
    )
    assert [(tool.name, tool.read_only) for tool in made.tools] == [("commit", False), ("log", True), ("now", True)]


def test_every_file_is_part_of_the_set_and_read_once(tmp_path: Path) -> None:
    (tmp_path / "desk.json").write_text(json.dumps(DESK), encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text(json.dumps(case(expected=["wiki"])), encoding="utf-8")
    for name in ("a", "b"):
        value = {"id": name, "environments": [{"file": "desk.json"}], "scenarios": "rows.jsonl"}
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    loaded = load_scenarios([tmp_path / "a.json", tmp_path / "b.json"])
    assert [Path(file.name).name for file in loaded.files] == ["a.json", "rows.jsonl", "desk.json", "b.json"]
    assert len({file.digest.role for file in loaded.files}) == 4


def test_a_conversation_ends_with_the_message_the_labels_are_about(load: Any) -> None:
    turns = [
        {"role": "user", "content": "Where is the page?"},
        {"role": "assistant", "content": "In the wiki."},
        {"role": "user", "content": "Show me."},
    ]
    (scenario,) = load(document({"id": "one", "messages": turns, "expected": ["wiki"]}))
    assert scenario.messages == tuple(turns)
    assert scenario.message == "Show me."


def test_a_tools_name_on_several_servers_is_told_apart_by_the_group(load: Any) -> None:
    both = case(expected=["wiki", "code"], expected_tools=["wiki/search", "code/search"])
    (scenario,) = load(document(both))
    assert scenario.expected_tools == ("wiki/search", "code/search")
    environment = scenario.environment
    assert [tool.qualified_id for tool in environment.named("search")] == ["code/search", "wiki/search"]
    assert [tool.qualified_id for tool in environment.named("wiki/search")] == ["wiki/search"]
    assert environment.named("wiki/nothing") == environment.named("nothing") == ()


def test_a_bare_name_means_the_tool_of_the_expected_group(load: Any) -> None:
    (scenario,) = load(document(case(expected=["code"], expected_tools=["search"])))
    assert scenario.expected_tools == ("code/search",)
    (either,) = load(document(case(any_of=[["code", "wiki"]], any_of_tools=[["code/search", "wiki/search"]])))
    assert either.any_of_tools == (("code/search", "wiki/search"),)


def test_the_mode_filter_drops_what_writes_unless_the_mode_or_the_group_allows_it(load: Any) -> None:
    (scenario,) = load(document(case(expected=["wiki"])))
    environment = scenario.environment
    assert [group.id for group in environment.offered("read-only")] == ["chat", "code", "wiki"]
    assert [tool.name for tool in environment.allowed_tools("wiki", "read-only")] == ["search"]
    assert [tool.name for tool in environment.allowed_tools("wiki", "read-write")] == ["search", "write"]
    assert [tool.name for tool in environment.allowed_tools("chat", "read-only")] == ["post"]
    assert environment.allowed_tools("mail", "read-write") == ()


REFUSED: dict[str, tuple[Document, str]] = {
    "unknown group": (
        case(expected=["wikki"]),
        "$.scenarios[0].expected[0]: the environment 'desk' has no group 'wikki'",
    ),
    "unknown group in any_of": (case(any_of=[["wiki", "x"]]), "$.scenarios[0].any_of[0][1]: the environment"),
    "unknown acceptable": (case(expected=["wiki"], acceptable=["x"]), "$.scenarios[0].acceptable[0]: the environment"),
    "group that is off": (case(expected=["mail"]), "$.scenarios[0].expected[0]: the group 'mail' is off"),
    "group without tools": (case(expected=["empty"]), "$.scenarios[0].expected[0]: the group 'empty' has no tools"),
    "repeated group": (case(expected=["wiki", "wiki"]), "$.scenarios[0].expected[1]: 'wiki' is repeated"),
    "expected and any_of": (case(expected=["wiki"], any_of=[["wiki", "code"]]), "$.scenarios[0].any_of[0][0]: "),
    "expected and acceptable": (case(expected=["wiki"], acceptable=["wiki"]), "$.scenarios[0].acceptable[0]: "),
    "any_of of one": (case(any_of=[["wiki"]]), "$.scenarios[0].any_of[0]: any_of has lists of two"),
    "unknown tool": (case(expected=["wiki"], expected_tools=["serch"]), "$.scenarios[0].expected_tools[0]: no group"),
    "tool of another group": (
        case(expected=["wiki"], expected_tools=["push"]),
        "$.scenarios[0].expected_tools[0]: the tool 'push' belongs to 'code', which is not expected",
    ),
    "ambiguous tool": (
        case(expected=["wiki", "code"], expected_tools=["search"]),
        "$.scenarios[0].expected_tools[0]: several expected groups have a tool 'search' (say which: group/tool, so code/",
    ),
    "same tool twice": (
        case(expected=["wiki"], expected_tools=["search", "wiki/search"]),
        "$.scenarios[0].expected_tools[1]: the tool 'wiki/search' is repeated",
    ),
    "tool that writes": (
        case(expected=["wiki"], expected_tools=["write"]),
        "$.scenarios[0].expected_tools[0]: the tool 'write' writes, so it is not offered in the mode read-only",
    ),
    "load without a group": (case(kind="load"), "$.scenarios[0].kind: a scenario of the kind 'load' expects at least"),
    "skip with a group": (case(kind="skip", expected=["wiki"]), "$.scenarios[0].kind: a scenario of the kind 'skip'"),
    "unknown kind": (case(kind="lod"), "$.scenarios[0].kind: "),
    "unknown mode": (case(mode="readonly"), "$.scenarios[0].mode: "),
    "unknown field": (case(expectd=["wiki"]), "$.scenarios[0].expectd: unknown field (did you mean 'expected'?)"),
    "no id": ({"message": "x"}, "$.scenarios[0].id: missing field"),
    "id with a line break": (case(id="a\nb"), "$.scenarios[0].id: "),
    "no message": ({"id": "one"}, "$.scenarios[0].message: a scenario has either a message or messages"),
    "both": (case(messages=[{"role": "user", "content": "x"}]), "$.scenarios[0].messages: a scenario has either"),
    "empty message": (case(message="  "), "$.scenarios[0].message: must not be empty"),
    "no turn": ({"id": "one", "messages": []}, "$.scenarios[0].messages: the last message is the user's"),
    "assistant last": (
        {"id": "one", "messages": [{"role": "assistant", "content": "x"}]},
        "$.scenarios[0].messages: the last message is the user's",
    ),
    "system turn": (
        {"id": "one", "messages": [{"role": "system", "content": "x"}]},
        "$.scenarios[0].messages[0].role: ",
    ),
    "empty turn": (
        {"id": "one", "messages": [{"role": "user", "content": " "}]},
        "$.scenarios[0].messages[0].content: ",
    ),
    "negative threshold": (case(expand_threshold=-1), "$.scenarios[0].expand_threshold: "),
    "threshold that is no integer": (case(expand_threshold=2.5), "$.scenarios[0].expand_threshold: must be an integer"),
    "repeated tag": (case(tags=["a", "a"]), "$.scenarios[0].tags: "),
    "unknown environment": (case(environment="dask"), "$.scenarios[0].environment: no environment 'dask' in this file"),
    "a string as a list": (case(expected="wiki"), "$.scenarios[0].expected: must be a list"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_scenario_that_contradicts_itself_is_refused_with_its_place(name: str, load: Any, tmp_path: Path) -> None:
    row, message = REFUSED[name]
    with pytest.raises(DatasetError) as caught:
        load(document(row))
    assert f"{tmp_path / 'cases.json'}: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_expected_group_must_be_offered_in_the_scenarios_mode(load: Any) -> None:
    value = document(case(expected=["mail"]))
    value["environments"][0]["capabilities"][2]["state"] = "allow"
    with pytest.raises(DatasetError, match="'mail' is not offered in the mode read-only: all of its tools write"):
        load(value)
    value["scenarios"][0]["mode"] = "read-write"
    assert load(value)[0].expected == ("mail",)


def _changed(change: Callable[[Document], Any]) -> Document:
    value = copy.deepcopy(DESK)
    change(value)
    return value


ENVIRONMENTS: dict[str, tuple[Document, str]] = {
    "repeated group": (
        _changed(lambda e: e["capabilities"].append({"id": "wiki"})),
        ".capabilities[5].id: the group 'w",
    ),
    "slash in a group": (_changed(lambda e: e["capabilities"].append({"id": "a/b"})), ".capabilities[5].id: "),
    "repeated tool": (
        _changed(lambda e: e["tools"].append({"name": "search", "capability": "wiki"})),
        ".tools[6].name: the group 'wiki' has another tool 'search'",
    ),
    "tool of no group": (
        _changed(lambda e: e["tools"].append({"name": "x", "capability": "wikki"})),
        ".tools[6].capability: no group 'wikki' for the tool 'x' (did you mean 'wiki'?)",
    ),
    "unknown state": (
        _changed(lambda e: e["capabilities"].append({"id": "x", "state": "on"})),
        ".capabilities[5].state: ",
    ),
    "no group": ({"id": "desk"}, ": an environment without a group"),
    "catalogue and file": ({"catalogue": "a.json", "file": "b.json"}, ".file: an environment from another file"),
    "file and groups": ({**DESK, "file": "b.json"}, ".file: an environment from another file"),
    "catalogue and tools": ({**DESK, "catalogue": "b.json"}, ".tools: the tools are the catalogue's"),
    "servers without a catalogue": ({**DESK, "servers": ["wiki"]}, ".servers: servers are taken from a catalogue"),
    "absolute path": ({"catalogue": "/etc/hostname"}, ".catalogue: a file is referred to by a path relative"),
    "windows path": ({"file": "C:\\x.json"}, ".file: a file is referred to by a path relative"),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_that_contradicts_itself_is_refused_with_its_place(name: str, load: Any) -> None:
    environment, message = ENVIRONMENTS[name]
    with pytest.raises(DatasetError) as caught:
        load({"environments": [environment], "scenarios": [case(expected=["wiki"])]})
    assert f"$.environments[0]{message}" in str(caught.value)


def test_repeated_environments_and_scenarios_are_refused(tmp_path: Path, load: Any) -> None:
    with pytest.raises(DatasetError, match=r"\$\.environments\[1\]\.id: the environment 'desk' is repeated"):
        load({"environments": [DESK, DESK], "scenarios": [case(expected=["wiki"])]})
    with pytest.raises(DatasetError, match=r"\$\.scenarios\[1\]\.id: the id 'one' is repeated: it is that of .*\[0\]"):
        load(document(case(expected=["wiki"]), case(kind="skip")))
    with pytest.raises(DatasetError, match="no environment 'dusk' in this file"):
        load(document(case(expected=["wiki"]), defaults={"environment": "dusk"}))
    with pytest.raises(DatasetError, match="several environments, and the scenario names none"):
        load({"environments": [DESK, {**DESK, "id": "other"}], "scenarios": [case(expected=["wiki"])]})
    with pytest.raises(DatasetError, match=r"\$\.scenarios\[0\]\.environment: no environment"):
        load({"scenarios": [case(expected=["wiki"])]})


def test_ids_that_repeat_across_files_are_refused_unless_the_files_have_ids(tmp_path: Path) -> None:
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in paths:
        path.write_text(json.dumps(document(case(expected=["wiki"]))), encoding="utf-8")
    with pytest.raises(DatasetError, match=r"b\.json: \$\.scenarios\[0\]\.id: the id 'one' is repeated.*a\.json"):
        load_scenarios(paths)
    for path in paths:
        path.write_text(json.dumps(document(case(expected=["wiki"]), id=path.stem)), encoding="utf-8")
    assert [scenario.id for scenario in load_scenarios(paths).scenarios] == ["a/one", "b/one"]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "a.json", "an empty file"),
        ("[]", "a.json", "a file of scenarios is an object, not a list"),
        ("{}", "a.json", "$.scenarios: missing field"),
        ('{"scenarios": []}', "a.json", "no scenarios"),
        ('{"scenarios": {}}', "a.json", "$.scenarios: must be a list, not an object"),
        ('{"scenarios": "x.json"}', "a.json", "$.scenarios: the file of the scenarios is JSONL"),
        ('{"scenarios": [1]}', "a.json", "$.scenarios[0]: must be an object, not an integer"),
        ('{"scenarios": [], "scenarios": []}', "a.json", "$.scenarios: the key is repeated"),
        ('{"a":', "a.json", "ends in the middle of a value"),
        ('{"environments": []}\n{"id": 3}\n', "a.jsonl", "a.jsonl:2: $.id: must be a string"),
        ('{"environments": []}\n{"id"\n', "a.jsonl", "a.jsonl:2: "),
        ("scenarios: [", "a.yaml", "a.yaml: not YAML"),
        ("a: 1\na: 2\n", "a.yaml", "a.yaml:2: not YAML as it is read here: the key is repeated"),
        ("a: &x [1]\nb: *x\n", "a.yaml", "a.yaml:2: not YAML as it is read here: aliases are not read"),
        ("a: !!python/object/apply:os.getcwd []\n", "a.yaml", "a.yaml: not YAML as it is read here: could not determine"),
        ("a: !!timestamp 2020-01-01\n", "a.yaml", "$.a: "),
        ("1: x\n", "a.yaml", "a.yaml: not YAML as it is read here: a key must be a string"),
        ("a: " + "9" * 6000 + "\n", "a.yaml", "a number that is too long"),
        ("a: " + "9" * 30 + "\n", "a.yaml", "$.a: an integer beyond 64 bits"),
        ("a: 1e999\n", "a.yaml", "$.a: a number that is not finite"),
        ("a: " + "[" * 5000, "a.yaml", "a.yaml"),
        ("a: " + "[" * 100 + "]" * 100, "a.yaml", "nested deeper than 64"),
        ("a: \x00\n", "a.yaml", "not YAML"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_refused_in_one_line(load: Any, text: str, name: str, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        load(text, name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_yaml_words_are_words(load: Any) -> None:
    """By the rules of YAML 1.1 `off` is false, `no` is false and `2024-05-01` a date."""
    text = """
environments:
  - id: no
    capabilities:
      - {id: on, state: allow, description: 2024-05-01}
      - {id: y, state: off}
    tools:
      - {name: 012, capability: on, read_only: true}
scenarios:
  - {id: 1:20, message: 'yes', expected: [on]}
"""
    (scenario,) = load(text.replace("id: 1:20", "id: '1:20'").replace("name: 012", "name: 0x12"), "cases.yaml")
    assert scenario.environment.id == "no"
    assert scenario.environment.groups["on"].description == "2024-05-01"
    assert scenario.environment.groups["y"].state == "off"
    assert scenario.environment.tools[0].name == "0x12"


def test_names_of_sets_are_looked_up_and_misspelt_ones_are_refused() -> None:
    assert set(SHIPPED) >= {"default", "wordings", "negatives", "livemcpbench", "livemcpbench-25", "metatool"}
    with pytest.raises(UsageError, match=r"no scenarios called 'defalt'.*did you mean 'default'"):
        load_scenarios(["defalt"])
    with pytest.raises(DatasetError, match="no such file"):
        load_scenarios(["no/such/file.json"])
    with pytest.raises(UsageError, match="no scenarios to run"):
        load_scenarios([])


def test_a_message_never_reaches_an_error(load: Any) -> None:
    with pytest.raises(DatasetError) as caught:
        load(document(case(message="my card is 4111 1111 1111 1111", expected=["wiki"], mode=7)))
    assert "4111" not in str(caught.value)


def test_an_environment_survives_pickling_with_its_digest() -> None:
    environment = Environment(
        id="e", capabilities=(Capability(id="g", name="G"),), tools=(Tool(name="t", capability="g"),)
    )
    before = environment.digest
    again = pickle.loads(pickle.dumps(environment))
    assert again == environment
    assert again.digest == before


def test_the_digest_of_an_environment_does_not_depend_on_the_process() -> None:
    program = "from yb_eval_agent_routing.scenarios import *; print(load_scenarios(['default']).environments[0].digest)"
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "7")
    }
    assert len(said) == 1


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=12)


@given(names=st.lists(_TEXT.map(str.strip).filter(lambda n: n and "/" not in n), min_size=1, max_size=6, unique=True),
       tools=st.lists(st.tuples(st.integers(0, 5), _TEXT.map(str.strip).filter(bool)), max_size=12, unique=True))  # fmt: skip
def test_every_tool_is_found_by_its_qualified_id(names: list[str], tools: list[tuple[int, str]]) -> None:
    made = tuple(
        Tool(name=name, capability=group)
        for group, name in dict.fromkeys((names[index % len(names)], name) for index, name in tools)
    )
    environment = Environment(
        id="e", capabilities=tuple(Capability(id=name, name=name) for name in names), tools=made
    )  # fmt: skip
    assert len(environment.tools_by_id) == len(made)
    for tool in made:
        assert environment.named(tool.qualified_id)[0] == tool
        assert tool in environment.tools_of(tool.capability)
    assert sum(len(environment.tools_of(name)) for name in names) == len(made)


_SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | _TEXT | st.floats(allow_nan=False, allow_infinity=False)
)


@given(_SCALARS)
def test_a_yaml_scalar_reads_as_what_was_written(value: Any) -> None:
    style = '"' if isinstance(value, str) else None
    file = DataFile("x.yaml", yaml.safe_dump([value], default_style=style).encode(), FileDigest("x", 0, ""))
    assert read_value(file) == [value]


@given(st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4)))
def test_json_reads_the_same_as_yaml(value: Any) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    assert read_value(DataFile("x.yaml", data, FileDigest("x", 0, ""))) == value
