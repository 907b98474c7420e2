"""Environments as scenario files write them: in place, in a file of their own, or made of a catalogue."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from attrs import define, evolve, field

from yb_eval.datasets import DataFile, RowError, structurer
from yb_eval.datasets.faults import named
from yb_eval.errors import nearest, shorten
from yb_eval_agent_routing.catalogue import read_catalogue
from yb_eval_agent_routing.documents import Place, read_file, read_value
from yb_eval_agent_routing.model import Capability, Environment, Tool
from yb_eval_agent_routing.rows import CapabilityRow, EnvironmentRow, fault_of

#: A field of every file that editors read and nothing else does.
IGNORED = frozenset({"$schema"})

_HINT_LENGTH = 160


def structured(row: type, value: Any, place: Place) -> Any:
    """An instance of an attrs class of `rows`. Raises `DatasetError` with the place of what does not fit."""
    if type(value) is not dict:
        raise place.error(f"must be an object, not {named(value)}")
    try:
        return structurer(row, ignored=IGNORED).structure(value)
    except RowError as fault:
        raise place.refused(fault_of(fault)) from None


def close_to(name: str, known: Any) -> str | None:
    """The hint of `nearest`, unless it would list a whole catalogue."""
    hint = nearest(name, known)
    return hint if hint is not None and len(hint) <= _HINT_LENGTH else None


@define(slots=True)
class EnvironmentReader:
    """Reads environments and the files they refer to, each file once; equal environments become one object."""

    files: dict[Path, DataFile] = field(factory=dict)
    _made: dict[tuple[str, str], Environment] = field(factory=dict)

    def file(self, path: Path, role: str) -> DataFile:
        """The bytes of a file, read the first time it is asked for; its role tells how manieth file it is."""
        key = path.resolve()
        known = self.files.get(key)
        if known is None:
            known = self.files[key] = read_file(path, role=f"{role}-{len(self.files) + 1}")
        return known

    def beside(self, folder: Path, reference: str, place: Place) -> Path:
        """The path of a file that another file refers to, relative to the other's folder."""
        if PurePosixPath(reference).is_absolute() or PureWindowsPath(reference).anchor or "\\" in reference:
            raise place.error("a file is referred to by a path relative to this one, with / between folders")
        return folder / reference

    def read(self, row: EnvironmentRow, place: Place, folder: Path, *, default_id: str) -> Environment:
        """The environment that `row`, which stands at `place` in a file in `folder`, describes."""
        ways = [way for way in ("file", "catalogue") if getattr(row, way) is not None]
        if len(ways) == 2 or ("file" in ways and (row.capabilities or row.tools or row.servers is not None)):
            raise place.at("file").error("an environment from another file is described there and nowhere else")
        if row.file is not None:
            path = self.beside(folder, row.file, place.at("file"))
            source = self.file(path, "environment")
            there = Place(source.name)
            inner: EnvironmentRow = structured(EnvironmentRow, read_value(source), there)
            if inner.file is not None:
                raise there.at("file").error("an environment's file refers to no other", "name that file directly")
            chosen = row.id or inner.id or default_id
            return self.read(evolve(inner, id=chosen), there, path.parent, default_id=default_id)
        if row.catalogue is not None:
            made = self._from_catalogue(row, place, folder, row.id or default_id)
        else:
            made = _in_place(row, place, row.id or default_id)
        return self._made.setdefault((made.id, made.digest), made)

    def _from_catalogue(self, row: EnvironmentRow, place: Place, folder: Path, environment_id: str) -> Environment:
        if row.tools:
            raise place.at("tools").error("the tools are the catalogue's", "make an environment without a catalogue")
        assert row.catalogue is not None
        path = self.beside(folder, row.catalogue, place.at("catalogue"))
        whole = read_catalogue(self.file(path, "catalogue")).environment(environment_id)
        chosen = set(whole.groups if row.servers is None else row.servers)
        for index, server in enumerate(row.servers or ()):
            if server not in whole.groups:
                what = f"the catalogue has no server {shorten(server)}"
                raise place.at("servers", index).error(what, close_to(server, whole.groups))
        changes = _by_id(row.capabilities, place)
        for index, change in enumerate(row.capabilities):
            if change.id not in chosen:
                what = f"no server {shorten(change.id)} is taken from the catalogue"
                raise place.at("capabilities", index, "id").error(what, close_to(change.id, chosen))
        return Environment(
            id=environment_id,
            capabilities=tuple(
                _changed(capability, changes.get(capability.id))
                for capability in whole.capabilities
                if capability.id in chosen
            ),
            tools=tuple(tool for tool in whole.tools if tool.capability in chosen),
        )


def _changed(capability: Capability, change: CapabilityRow | None) -> Capability:
    if change is None:
        return capability
    given = {key: getattr(change, key) for key in ("name", "description", "state", "always_on")}
    return evolve(capability, **{key: value for key, value in given.items() if value is not None})


def _by_id(rows: tuple[CapabilityRow, ...], place: Place) -> dict[str, CapabilityRow]:
    found: dict[str, CapabilityRow] = {}
    for index, row in enumerate(rows):
        if row.id in found:
            raise place.at("capabilities", index, "id").error(f"the group {shorten(row.id)} is repeated")
        found[row.id] = row
    return found


def _in_place(row: EnvironmentRow, place: Place, environment_id: str) -> Environment:
    if row.servers is not None:
        raise place.at("servers").error("servers are taken from a catalogue, and there is none")
    rows = _by_id(row.capabilities, place)
    if not rows:
        raise place.error("an environment without a group", "give capabilities and tools, or a catalogue")
    tools: dict[tuple[str, str], Tool] = {}
    for index, tool in enumerate(row.tools):
        if tool.capability not in rows:
            what = f"no group {shorten(tool.capability)} for the tool {shorten(tool.name)}"
            raise place.at("tools", index, "capability").error(what, close_to(tool.capability, rows))
        key = (tool.capability, tool.name)
        if key in tools:
            what = f"the group {shorten(tool.capability)} has another tool {shorten(tool.name)}"
            raise place.at("tools", index, "name").error(what)
        schema = {} if tool.input_schema is None else {"input_schema": tool.input_schema}
        tools[key] = Tool(
            name=tool.name, capability=tool.capability, description=tool.description, read_only=tool.read_only, **schema
        )
    return Environment(
        id=environment_id,
        capabilities=tuple(
            _changed(Capability(id=group, name=group), rows[group]) for group in sorted(rows)
        ),
        tools=tuple(tools[key] for key in sorted(tools)),
    )  # fmt: skip
