"""Catalogues: the shapes that are read, the one that is written, and the environment they become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import DatasetError
from yb_eval.datasets import DataFile
from yb_eval.model import FileDigest
from yb_eval_agent_routing.catalogue import SCHEMA, Catalogue, group_id, read_catalogue, server_of
from yb_eval_agent_routing.model import Tool

LOG = {
    "name": "log",
    "description": "History",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {"type": "object"},
}
COMMIT = {"name": "commit", "title": "Commit", "annotations": {"readOnlyHint": False}}


def reading(value: Any, name: str = "git.json") -> Catalogue:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return read_catalogue(DataFile(name, data, FileDigest("catalogue", len(data), "")))


def test_a_tools_list_result_is_one_server_named_after_its_file() -> None:
    catalogue = reading({"tools": [LOG, COMMIT]}, "folder/git.tools.json")
    (server,) = catalogue.servers
    assert server.id == "git"
    assert [tool["name"] for tool in server.tools] == ["commit", "log"]
    assert reading({"jsonrpc": "2.0", "id": 1, "result": {"tools": [LOG, COMMIT]}}, "git.json") == catalogue


def test_results_by_server_keep_what_initialize_said() -> None:
    result = {"server": {"name": "mcp-git", "version": "1.2"}, "instructions": "Be careful", "tools": [LOG]}
    catalogue = reading({"time": {"tools": []}, "git": result})
    assert [server.id for server in catalogue.servers] == ["git", "time"]
    git = catalogue.servers[0]
    assert (git.name, git.version, git.instructions) == ("mcp-git", "1.2", "Be careful")


def test_only_what_a_model_can_see_of_a_tool_is_kept() -> None:
    tool = {**LOG, "outputSchema": {}, "icons": [], "_meta": {"x": 1}, "execution": {}, "title": None}
    assert reading({"tools": [tool]}).servers[0].tools == (LOG,)


def test_an_environment_has_a_group_for_each_server_and_may_write_unless_the_hint_says_otherwise() -> None:
    environment = reading({"git": {"tools": [LOG, COMMIT]}}).environment("real")
    assert environment.id == "real"
    assert environment.tools == (
        Tool(
            name="commit", capability="git", description="Commit", input_schema={"type": "object", "properties": {}}
        ),
        Tool(name="log", capability="git", description="History", read_only=True, input_schema={"type": "object"}),
    )  # fmt: skip
    assert environment.groups["git"].state == "allow"


def test_a_catalogue_reads_back_as_it_was_written_one_tool_a_line() -> None:
    catalogue = Catalogue.of(
        [
            server_of("time", [], description="Clocks"),
            server_of("git", [LOG, COMMIT], name="mcp-git", version="1", instructions="Be careful"),
        ]
    )
    data = catalogue.to_bytes()
    assert reading(data) == catalogue
    assert reading(data).to_bytes() == data
    assert json.loads(data)["schema"] == SCHEMA
    assert sum(line.startswith(b'{"name"') for line in data.splitlines()) == 2


_NAME = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=10)
_NAME = _NAME.map(str.strip).filter(bool)
_ID = _NAME.filter(lambda name: "/" not in name)
_TOOL = st.fixed_dictionaries(
    {"name": _NAME},
    optional={"description": st.text(max_size=20).filter(lambda text: text.isprintable()), "inputSchema": st.just({})},
)


@given(
    st.dictionaries(_ID, st.lists(_TOOL, max_size=4, unique_by=lambda tool: str(tool["name"])), min_size=1, max_size=5)
)
def test_any_catalogue_survives_writing_and_reading(servers: dict[str, list[dict[str, Any]]]) -> None:
    catalogue = Catalogue.of(server_of(name, tools) for name, tools in servers.items())
    assert reading(catalogue.to_bytes()) == catalogue
    environment = catalogue.environment("e")
    assert len(environment.tools_by_id) == sum(map(len, servers.values()))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "a catalogue is an object, not a list"),
        ({}, "a catalogue without a server"),
        ({"git": 1}, "$.git: must be an object with a list of tools (a result of tools/list)"),
        ({"git": {"tools": {}}}, "$.git: must be an object with a list of tools"),
        ({"git": {"tools": [1]}}, "$.git.tools[0]: must be an object, not an integer"),
        ({"git": {"tools": [{}]}}, "$.git.tools[0].name: an id is a string, not null"),
        ({"git": {"tools": [{"name": ""}]}}, "$.git.tools[0].name: must not be empty"),
        ({"git": {"tools": [LOG, LOG]}}, "$.git.tools[1].name: the server has another tool of this name"),
        ({"git": {"tools": [{"name": "x", "inputSchema": []}]}}, "$.git.tools[0].inputSchema: must be an object"),
        ({"git": {"tools": [{"name": "x", "description": 1}]}}, "$.git.tools[0].description: must be a string"),
        ({"a/b": {"tools": []}}, "a server's id: the id of a group has no '/'"),
        ({"git": {"tools": [LOG], "nextCursor": "2"}}, "$.git.nextCursor: only one page of the tools"),
        ({"schema": "other/2", "servers": []}, "$.schema: a schema that this version does not read"),
        ({"schema": SCHEMA, "servers": {}}, "$.servers: must be a list, not an object"),
        ({"schema": SCHEMA, "servers": []}, "a catalogue without a server"),
        ({"schema": SCHEMA, "servers": [], "x": 1}, "$.x: unknown field"),
        ({"schema": SCHEMA, "servers": [3]}, "$.servers[0]: must be an object"),
        ({"schema": SCHEMA, "servers": [{"id": "a"}]}, "$.servers[0].tools: missing field"),
        ({"schema": SCHEMA, "servers": [{"id": "a", "tools": [], "x": 1}]}, "$.servers[0].x: unknown field"),
        (
            {"schema": SCHEMA, "servers": [{"id": "a", "tools": []}, {"id": "a", "tools": []}]},
            "$.servers[1].id: another server has this id",
        ),
        (b'{"git": {"tools": []}, "git": {"tools": []}}', "$.git: the key is repeated"),
        (b'{"git"', "ends in the middle of a value"),
    ],
)
def test_a_catalogue_that_cannot_be_used_is_refused_with_its_place(value: Any, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        reading(value)
    assert str(caught.value).startswith("git.json: ")
    assert message in str(caught.value)


def test_names_become_ids() -> None:
    assert group_id("BioMCP: Biomedical Model Context Protocol") == "biomcp-biomedical-model-context-protocol"
    assert group_id("  OP.GG MCP Server ") == "op-gg-mcp-server"
    assert group_id("鸣潮") == ""


def test_a_real_catalogue_file_is_read_from_disk(tmp_path: Path) -> None:
    path = tmp_path / "servers.json"
    path.write_bytes(Catalogue.of([server_of("git", [LOG])]).to_bytes())
    assert read_catalogue(DataFile.read(path, role="catalogue")).servers[0].tools == (LOG,)
