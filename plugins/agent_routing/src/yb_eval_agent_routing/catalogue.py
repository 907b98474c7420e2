"""Catalogues: what MCP servers answered to `tools/list`, kept in a file, and the environments made of them.

A catalogue file is `{"schema": "yb-eval/agent-routing/catalogue/1", "servers": [{"id", "tools", ...}]}`, each tool as
the Model Context Protocol describes it (`name`, `title`, `description`, `inputSchema`, `annotations`). Two other shapes
are read too: a bare `tools/list` result (`{"tools": [...]}`, with or without the JSON-RPC response around it), which is
one server named after its file, and an object of such results by server. See `schema/catalogue.schema.json`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval.datasets import DataFile, RowError, structurer
from yb_eval.datasets.faults import named, step
from yb_eval_agent_routing.documents import Place, read_value
from yb_eval_agent_routing.model import Capability, Environment, Tool
from yb_eval_agent_routing.rows import check_group_id, check_name

SCHEMA = "yb-eval/agent-routing/catalogue/1"

#: What is kept of a tool: what a model or the mode filter can see. Icons, output schemas and `_meta` are not.
TOOL_FIELDS = ("name", "title", "description", "inputSchema", "annotations")

_UNFIT_FOR_ID = re.compile(r"[^a-z0-9]+")


@frozen(slots=True, kw_only=True)
class Server:
    """One server of a catalogue: its id is the group's. `tools` are as the server gave them, by name."""

    id: str
    name: str | None = None
    version: str | None = None
    description: str | None = None
    instructions: str | None = None
    tools: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def as_json(self) -> dict[str, Any]:
        """What is written: fields without a value are left out."""
        said = {key: getattr(self, key) for key in ("id", "name", "version", "description", "instructions")}
        return {**{key: value for key, value in said.items() if value}, "tools": list(self.tools)}


@frozen(slots=True)
class Catalogue:
    """Servers by id, in the order of their ids."""

    servers: tuple[Server, ...]

    @classmethod
    def of(cls, servers: Iterable[Server]) -> Catalogue:
        return cls(tuple(sorted(servers, key=lambda server: server.id)))

    def to_bytes(self) -> bytes:
        """The file: the same bytes for the same servers, a line for each tool."""
        parts = [f'{{"schema":"{SCHEMA}","servers":[\n'.encode()]
        for index, server in enumerate(self.servers):
            head = orjson.dumps({**server.as_json(), "tools": []}).removesuffix(b"]}")
            tools = b",\n".join(orjson.dumps(tool) for tool in server.tools)
            parts += [b",\n" if index else b"", head, b"\n", tools, b"\n]}"]
        return b"".join([*parts, b"\n]}\n"])

    def environment(self, environment_id: str) -> Environment:
        """The environment that has every server as a group in state allow, and every tool."""
        capabilities = tuple(
            Capability(id=server.id, name=server.name or server.id, description=server.description or "")
            for server in self.servers
        )
        tools = tuple(_tool(server, tool) for server in self.servers for tool in server.tools)
        return Environment(id=environment_id, capabilities=capabilities, tools=tools)


def _tool(server: Server, tool: Mapping[str, Any]) -> Tool:
    return Tool(
        name=tool["name"],
        capability=server.id,
        description=tool.get("description") or tool.get("title") or "",
        # A hint that is absent means: may write (the default of the protocol's ToolAnnotations).
        read_only=(tool.get("annotations") or {}).get("readOnlyHint") is True,
        input_schema=tool["inputSchema"],
    )


def group_id(name: str) -> str:
    """A name as an id: lower case, ASCII letters and digits, hyphens between them; empty if nothing is left."""
    return _UNFIT_FOR_ID.sub("-", name.lower()).strip("-")


def read_catalogue(file: DataFile) -> Catalogue:
    """Raises `DatasetError`, naming the JSON path, for a catalogue that cannot be used."""
    place = Place(file.name)
    try:
        servers = list(_servers(read_value(file), PurePath(file.name)))
        _refuse_repeats(servers)
    except RowError as fault:
        raise place.refused(fault) from None
    if not servers:
        raise place.error("a catalogue without a server")
    return Catalogue.of(server for _, server in servers)


def _servers(value: Any, path: PurePath) -> Iterator[tuple[str, Server]]:
    """The servers of any of the three shapes, each with its JSON path."""
    if type(value) is not dict:
        raise RowError(f"a catalogue is an object, not {named(value)}")
    if "servers" in value and "schema" in value:
        yield from _own_shape(value)
    elif type(value.get("tools")) is list:
        yield "$", _captured(path.name.split(".")[0], value, "$")
    elif type(value.get("result")) is dict and "jsonrpc" in value:
        yield "$.result", _captured(path.name.split(".")[0], value["result"], "$.result")
    else:
        for name, result in value.items():
            yield step("$", name), _captured(name, result, step("$", name))


def _own_shape(value: dict[str, Any]) -> Iterator[tuple[str, Server]]:
    if value["schema"] != SCHEMA:
        raise RowError("a schema that this version does not read", path="$.schema", hint=f"it reads {SCHEMA}")
    unknown = sorted(set(value) - {"schema", "servers", "note", "$schema"})
    if unknown:
        raise RowError("unknown field", path=step("$", unknown[0]))
    if type(value["servers"]) is not list:
        raise RowError(f"must be a list, not {named(value['servers'])}", path="$.servers")
    for index, item in enumerate(value["servers"]):
        path = step("$.servers", index)
        if type(item) is not dict:
            raise RowError(f"must be an object, not {named(item)}", path=path)
        try:
            row: _ServerRow = structurer(_ServerRow).structure(item)
        except RowError as fault:
            raise RowError(fault.what, path=path + fault.path.removeprefix("$"), hint=fault.hint) from None
        yield path, server_of(
            row.id, row.tools, path=path,
            name=row.name, version=row.version, description=row.description, instructions=row.instructions,
        )  # fmt: skip


@frozen(slots=True, kw_only=True)
class _ServerRow:
    id: str
    name: str | None = None
    version: str | None = None
    description: str | None = None
    instructions: str | None = None
    tools: list[Any]


def _captured(server_id: str, result: Any, path: str) -> Server:
    """A server from a `tools/list` result, perhaps with what `initialize` said (`server`, `instructions`) beside it."""
    if type(result) is not dict or type(result.get("tools")) is not list:
        raise RowError("must be an object with a list of tools", path=path, hint="a result of tools/list")
    if result.get("nextCursor"):
        what = "only one page of the tools: there is a nextCursor"
        raise RowError(
            what, path=step(path, "nextCursor"), hint="save all pages, or use `yb-eval agent-routing capture`"
        )
    said = result.get("server")
    info: dict[str, Any] = said if type(said) is dict else {}
    return server_of(
        server_id,
        result["tools"],
        path=path,
        name=_text(info.get("name")),
        version=_text(info.get("version")),
        instructions=_text(result.get("instructions")),
    )


def _text(value: Any) -> str | None:
    return value if type(value) is str and value else None


def server_of(server_id: str, tools: Iterable[Any], *, path: str = "$", **described: str | None) -> Server:
    """A server with its tools checked, reduced to `TOOL_FIELDS` and sorted by name.

    `described` are the other fields of `Server`. Raises `RowError` with a path that starts with `path`.
    """
    try:
        check_group_id(server_id)
    except ValueError as error:
        raise RowError(f"a server's id: {error}", path=path) from None
    kept: dict[str, Mapping[str, Any]] = {}
    for index, tool in enumerate(tools):
        place = step(step(path, "tools"), index)
        checked = _checked_tool(tool, place)
        if checked["name"] in kept:
            raise RowError("the server has another tool of this name", path=step(place, "name"))
        kept[checked["name"]] = checked
    return Server(id=server_id, tools=tuple(kept[name] for name in sorted(kept)), **described)


def _checked_tool(tool: Any, path: str) -> dict[str, Any]:
    if type(tool) is not dict:
        raise RowError(f"must be an object, not {named(tool)}", path=path)
    try:
        check_name(tool.get("name"))
    except ValueError as error:
        raise RowError(str(error), path=step(path, "name")) from None
    for key, kind, words in (
        ("title", str, "a string"), ("description", str, "a string"),
        ("inputSchema", dict, "an object"), ("annotations", dict, "an object"),
    ):  # fmt: skip
        if tool.get(key) is not None and type(tool[key]) is not kind:
            raise RowError(f"must be {words}, not {named(tool[key])}", path=step(path, key))
    given = (
        tool if tool.get("inputSchema") is not None else {**tool, "inputSchema": {"type": "object", "properties": {}}}
    )
    return {key: given[key] for key in TOOL_FIELDS if given.get(key) is not None}


def _refuse_repeats(servers: list[tuple[str, Server]]) -> None:
    seen: set[str] = set()
    for path, server in servers:
        if server.id in seen:
            raise RowError("another server has this id", path=step(path, "id"))
        seen.add(server.id)
