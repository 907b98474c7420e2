"""What an agent can reach in one environment and mode: the groups, their tools, the names a model sees.

Built once per (environment, mode, threshold) and shared by all scenarios over it: the menu, the definitions and the
search indexes are made here or beside it, never per scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from attrs import field, frozen

from yb_eval.digest import identify
from yb_eval_agent_routing.agent.naming import wire_names
from yb_eval_agent_routing.agent.tokens import tool_bytes, tool_tokens
from yb_eval_agent_routing.model import Capability, Environment, Mode, Tool
from yb_eval_agent_routing.retrieval import Index, group_text, letters, tool_text

LOAD_TOOLS = "load_tools"
SEARCH_TOOLS = "search_tools"

#: Names that only the agent's own tools have.
RESERVED = (LOAD_TOOLS, SEARCH_TOOLS)


@frozen(slots=True)
class Offered:
    """One tool as it can be delivered: its definition, and what that costs."""

    tool: Tool
    definition: Mapping[str, Any] = field(hash=False)
    tokens: int
    bytes: int

    @property
    def id(self) -> str:
        return self.tool.qualified_id


@frozen(slots=True, kw_only=True)
class Offer:
    """`groups` are what the mode leaves something of; `deferred` those of them that must be loaded first, `always_on`
    the ids of the others. A deferred group with more than `threshold` tools (0: none) is `expanded`: it is offered
    tool by tool.
    """

    environment: Environment
    mode: Mode
    threshold: int = 0

    @cached_property
    def digest(self) -> str:
        """64 hex characters that identify the offer."""
        return identify(
            "agent-routing-offer",
            {"environment": self.environment.digest, "mode": self.mode, "threshold": self.threshold},
        )

    @cached_property
    def groups(self) -> tuple[Capability, ...]:
        return self.environment.offered(self.mode)

    @cached_property
    def always_on(self) -> frozenset[str]:
        return frozenset(group.id for group in self.groups if group.always_on)

    @cached_property
    def deferred(self) -> tuple[Capability, ...]:
        return tuple(group for group in self.groups if not group.always_on)

    @cached_property
    def deferred_ids(self) -> frozenset[str]:
        return frozenset(group.id for group in self.deferred)

    @cached_property
    def expanded(self) -> frozenset[str]:
        if self.threshold <= 0:
            return frozenset()
        return frozenset(group.id for group in self.deferred if len(self.tools_of(group.id)) > self.threshold)

    def tools_of(self, group: str) -> tuple[Offered, ...]:
        """The tools of a group that the mode filter lets through."""
        return self._by_group.get(group, ())

    @cached_property
    def _by_group(self) -> Mapping[str, tuple[Offered, ...]]:
        return {
            group.id: tuple(self._offered(tool) for tool in self.environment.allowed_tools(group.id, self.mode))
            for group in self.groups
        }

    def _offered(self, tool: Tool) -> Offered:
        definition = {
            "name": self.names[tool.qualified_id],
            "description": tool.description,
            "input_schema": dict(tool.input_schema) or {"type": "object", "properties": {}},
        }
        return Offered(tool, definition, tool_tokens(definition), tool_bytes(definition))

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Qualified id -> the name that models see."""
        return wire_names(self.environment.tools, RESERVED)

    @cached_property
    def tools(self) -> Mapping[str, Offered]:
        """Every tool of the offer by qualified id, in menu order."""
        return {offered.id: offered for group in self.groups for offered in self.tools_of(group.id)}

    @cached_property
    def _by_wire_name(self) -> Mapping[str, Tool]:
        return {self.names[tool.qualified_id]: tool for tool in self.environment.tools}

    def named(self, name: str) -> Tool | None:
        """The tool that a model means by `name`: the name it sees, a qualified id, or a bare name that only one tool
        has. `None` for any other.
        """
        seen = self._by_wire_name.get(name)
        if seen is not None:
            return seen
        meant = self.environment.named(name)
        return meant[0] if len(meant) == 1 else None

    @cached_property
    def all_tokens(self) -> int:
        """The tokens of all tools that the mode allows: what an agent without routing sends with each call."""
        return sum(offered.tokens for offered in self.tools.values())

    @cached_property
    def group_index(self) -> Index:
        """A search index of the deferred groups, in their order."""
        return Index(group_text(self.environment, group) for group in self.deferred)

    @cached_property
    def searchable(self) -> tuple[Offered, ...]:
        """The tools that `search_tools` looks among: those of the deferred groups."""
        return tuple(offered for group in self.deferred for offered in self.tools_of(group.id))

    @cached_property
    def tool_index(self) -> Index:
        return Index(tool_text(offered.tool) for offered in self.searchable)

    @cached_property
    def menu_words(self) -> Mapping[str, frozenset[str]]:
        """The words that the menu shows of each group, always-on ones included."""
        return {
            group.id: frozenset(letters(f"{group.id} {group.name} {group.description or self._tool_names(group.id)}"))
            for group in self.groups
        }

    def _tool_names(self, group: str) -> str:
        return " ".join(offered.tool.name for offered in self.tools_of(group))


def owners(tools: Iterable[Tool]) -> list[str]:
    """The groups of tools, each once, in order."""
    return list(dict.fromkeys(tool.capability for tool in tools))
