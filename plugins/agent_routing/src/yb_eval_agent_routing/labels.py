"""The labels of a scenario checked against its environment: an expectation that nothing can meet measures nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import field, frozen

from yb_eval.errors import shorten
from yb_eval_agent_routing.documents import Place
from yb_eval_agent_routing.environments import close_to
from yb_eval_agent_routing.model import SEPARATOR, Environment, Kind, Mode
from yb_eval_agent_routing.rows import ScenarioRow


@frozen(slots=True)
class LabelCheck:
    """Turns the labels of a row into those of a scenario. Every method raises `DatasetError` with the place."""

    row: ScenarioRow
    place: Place
    environment: Environment
    mode: Mode
    kind: Kind = field(init=False)

    @kind.default
    def _kind(self) -> Kind:
        loads = bool(self.row.expected or self.row.any_of)
        kind: Kind = self.row.kind or ("load" if loads else "skip")
        if kind == "load" and not loads:
            what = "a scenario of the kind 'load' expects at least one group"
            raise self.place.at("kind").error(what, "give expected or any_of, or another kind")
        if kind != "load" and loads:
            what = f"a scenario of the kind {kind!r} expects no group"
            raise self.place.at("kind").error(what, "leave out expected and any_of, or the kind")
        return kind

    def labels(self) -> dict[str, Any]:
        """The fields of the scenario: `expected`, `any_of`, `acceptable`, `expected_tools`, `any_of_tools`, `kind`."""
        expected = self._groups("expected")
        any_of = tuple(self._alternatives(index, expected) for index in range(len(self.row.any_of)))
        acceptable = self._groups("acceptable")
        needed = {*expected, *(group for alternative in any_of for group in alternative)}
        for index, group in enumerate(acceptable):
            if group in needed:
                what = f"the group {shorten(group)} is expected already"
                raise self.place.at("acceptable", index).error(what)
        return {
            "expected": expected,
            "any_of": any_of,
            "acceptable": acceptable,
            "expected_tools": self._tools(self.row.expected_tools, self.place.at("expected_tools"), needed),
            "any_of_tools": tuple(
                self._tools(names, self.place.at("any_of_tools", index), needed, least=2)
                for index, names in enumerate(self.row.any_of_tools)
            ),
            "kind": self.kind,
        }

    def _groups(self, key: str) -> tuple[str, ...]:
        names: tuple[str, ...] = getattr(self.row, key)
        return self._distinct(names, [self._group(name, self.place.at(key, i)) for i, name in enumerate(names)], key)

    def _alternatives(self, index: int, expected: Sequence[str]) -> tuple[str, ...]:
        place = self.place.at("any_of", index)
        names = self.row.any_of[index]
        if len(names) < 2:
            raise place.error("any_of has lists of two groups or more", "a group that is needed belongs to expected")
        for position, name in enumerate(names):
            self._group(name, place.at(position))
            if name in expected:
                what = f"the group {shorten(name)} is expected anyway, so this says nothing"
                raise place.at(position).error(what)
        return self._distinct(names, names, "any_of", index)

    def _distinct(self, written: Sequence[str], meant: Sequence[str], *keys: str | int) -> tuple[str, ...]:
        for position, name in enumerate(meant):
            if name in meant[:position]:
                raise self.place.at(*keys, position).error(f"{shorten(written[position])} is repeated")
        return tuple(meant)

    def _group(self, name: str, place: Place) -> str:
        capability = self.environment.groups.get(name)
        if capability is None:
            what = f"the environment {shorten(self.environment.id)} has no group {shorten(name)}"
            raise place.error(what, close_to(name, self.environment.groups))
        if capability.state == "off":
            raise place.error(f"the group {shorten(name)} is off", "nothing can load it: mend its state or the label")
        if not self.environment.allowed_tools(name, self.mode):
            if not self.environment.tools_of(name):
                raise place.error(f"the group {shorten(name)} has no tools: nothing of it can be delivered")
            what = f"the group {shorten(name)} is not offered in the mode {self.mode}: all of its tools write"
            raise place.error(what, "set the mode to read-write, or the group's state to ask-on-write")
        return name

    def _tools(self, names: Sequence[str], place: Place, needed: set[str], least: int = 0) -> tuple[str, ...]:
        if len(names) < least:
            raise place.error("any_of_tools has lists of two tools or more")
        meant = [self._tool(name, place.at(index), needed) for index, name in enumerate(names)]
        for position, name in enumerate(meant):
            if name in meant[:position]:
                raise place.at(position).error(f"the tool {shorten(name)} is repeated")
        return tuple(meant)

    def _tool(self, name: str, place: Place, needed: set[str]) -> str:
        """The qualified id of an expected tool. A bare name is enough where the expected groups leave no doubt."""
        found = self.environment.named(name)
        if not found:
            known = [*self.environment.tools_by_id, *(tool.name for tool in self.environment.tools)]
            raise place.error(f"no group has a tool {shorten(name)}", close_to(name, known))
        of_needed = [tool for tool in found if tool.capability in needed]
        if not of_needed:
            what = f"the tool {shorten(name)} belongs to {shorten(found[0].capability)}, which is not expected"
            raise place.error(what)
        if len(of_needed) > 1:
            ids = " or ".join(tool.qualified_id for tool in of_needed[:3])
            what = f"several expected groups have a tool {shorten(name)}"
            raise place.error(what, f"say which: group{SEPARATOR}tool, so {ids}")
        (tool,) = of_needed
        if not self.environment.allows(tool, self.mode):
            raise place.error(f"the tool {shorten(name)} writes, so it is not offered in the mode {self.mode}")
        return tool.qualified_id
