"""What an agent-routing scenario is made of: tools, the groups they belong to, an environment, a message.

A *group* is one capability, which is one MCP server. These are the values the whole suite works on; `scenarios` reads
them from files and refuses what contradicts itself, so nothing here is checked twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from attrs import field, frozen

from yb_eval.digest import identifiable, identify

State = Literal["off", "ask", "ask-on-write", "allow"]
Mode = Literal["read-only", "read-write"]
Kind = Literal["load", "skip", "no_suitable_group"]

#: Between a group's id and a tool's name in a qualified id. A group's id never contains it, a tool's name may.
SEPARATOR = "/"


@frozen(slots=True, kw_only=True)
class Tool:
    """One MCP tool. `capability` is the id of the group it belongs to; a name is unique in its group only."""

    name: str
    capability: str
    description: str = ""
    read_only: bool = False
    input_schema: Mapping[str, Any] = field(factory=lambda: {"type": "object", "properties": {}}, hash=False)

    @property
    def qualified_id(self) -> str:
        """`group/tool`: unique in an environment."""
        return f"{self.capability}{SEPARATOR}{self.name}"


@frozen(slots=True, kw_only=True)
class Capability:
    """One group of tools, as the menu offers it. `state` off: not there; ask-on-write: write tools in any mode."""

    id: str
    name: str
    description: str = ""
    state: State = "allow"
    always_on: bool = False


@frozen(slots=True, kw_only=True)
class Environment:
    """The groups and tools that a scenario's agent can reach, shared by the scenarios that name it.

    The order of `capabilities` and of each group's `tools` is the order in which a menu shows them: by id and by name
    as the loader makes them, another one where an ablation shuffles them.
    """

    id: str
    capabilities: tuple[Capability, ...]
    tools: tuple[Tool, ...] = field(repr=False)

    @cached_property
    def digest(self) -> str:
        """64 hex characters that identify everything a model can see of the environment, the order included."""
        return identify(
            "agent-routing-environment",
            {
                "capabilities": [[c.id, c.name, c.description, c.state, c.always_on] for c in self.capabilities],
                "tools": [
                    [t.capability, t.name, t.description, t.read_only, identifiable(t.input_schema)] for t in self.tools
                ],
            },
        )

    @cached_property
    def groups(self) -> Mapping[str, Capability]:
        """The capabilities by id."""
        return MappingProxyType({capability.id: capability for capability in self.capabilities})

    @cached_property
    def tools_by_id(self) -> Mapping[str, Tool]:
        """The tools by qualified id."""
        return MappingProxyType({tool.qualified_id: tool for tool in self.tools})

    @cached_property
    def _by_group(self) -> Mapping[str, tuple[Tool, ...]]:
        found: dict[str, list[Tool]] = {capability.id: [] for capability in self.capabilities}
        for tool in self.tools:
            found[tool.capability].append(tool)
        return {group: tuple(tools) for group, tools in found.items()}

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Tool, ...]]:
        found: dict[str, list[Tool]] = {}
        for tool in self.tools:
            found.setdefault(tool.name, []).append(tool)
        return {name: tuple(tools) for name, tools in found.items()}

    def tools_of(self, group: str) -> tuple[Tool, ...]:
        """All tools of a group, whatever the mode; none for a group that does not exist."""
        return self._by_group.get(group, ())

    def named(self, name: str) -> tuple[Tool, ...]:
        """The tools that a qualified id or a bare name can mean: several where groups share the name."""
        qualified = self.tools_by_id.get(name)
        return (qualified,) if qualified is not None else self._by_name.get(name, ())

    def allows(self, tool: Tool, mode: Mode) -> bool:
        """Whether the mode filter lets the tool through: its group is not off, and it only reads, or may write."""
        state = self.groups[tool.capability].state
        return state != "off" and (tool.read_only or mode == "read-write" or state == "ask-on-write")

    def allowed_tools(self, group: str, mode: Mode) -> tuple[Tool, ...]:
        """The tools of a group that the mode filter lets through, in menu order."""
        return tuple(tool for tool in self.tools_of(group) if self.allows(tool, mode))

    def offered(self, mode: Mode) -> tuple[Capability, ...]:
        """The groups that a menu in this mode has something to offer from, in menu order; always-on ones included."""
        return tuple(c for c in self.capabilities if any(self.allows(tool, mode) for tool in self.tools_of(c.id)))


@frozen(slots=True, kw_only=True)
class Scenario:
    """One case: a conversation, the environment it happens in, and what should be loaded for its last message.

    `messages` are `{"role": "user" | "assistant", "content": text}`, the last one by the user. `expected` groups are
    all needed; of each tuple in `any_of` one group is enough; `acceptable` groups may be loaded besides without being
    too many. `expected_tools` are qualified ids, all needed, and of each tuple in `any_of_tools` one is enough; both
    empty: tools are not judged. A group with more than `expand_threshold` tools is offered tool by tool (0: never).
    `kind`: `load` has groups to load; `skip` needs no tool at all; `no_suitable_group` needs one that is not offered.
    """

    id: str
    name: str
    messages: tuple[Mapping[str, str], ...] = field(hash=False)
    environment: Environment = field(repr=False)
    mode: Mode = "read-only"
    expected: tuple[str, ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    acceptable: tuple[str, ...] = ()
    expected_tools: tuple[str, ...] = ()
    any_of_tools: tuple[tuple[str, ...], ...] = ()
    expand_threshold: int = 0
    tags: tuple[str, ...] = ()
    kind: Kind = "load"

    @property
    def message(self) -> str:
        """The last message, which the labels are about."""
        return self.messages[-1]["content"]
