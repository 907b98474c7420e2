"""`load_tools`: the agent's own tool, by which it loads groups or single tools before it can use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from yb_eval_agent_routing.agent.offer import LOAD_TOOLS, Offer, owners
from yb_eval_agent_routing.model import Tool

#: The examples name nothing that could be a right answer.
LOAD_DEFINITION: Mapping[str, Any] = {
    "name": LOAD_TOOLS,
    "description": (
        "Makes the tools of groups available from your next step on. Give the IDs of whole groups from the Tool "
        'Groups table, as {"groups": ["GROUP_ID"]}; of a large server give the names of single tools, as '
        '{"tools": ["TOOL_NAME"]}. Calls add up: what was loaded stays loaded.'
    ),
    "input_schema": {
        "type": "object",
        "properties": {
            "groups": {"type": "array", "items": {"type": "string"}, "description": "IDs of groups to load."},
            "tools": {"type": "array", "items": {"type": "string"}, "description": "Names of single tools to load."},
        },
    },
}


@frozen(slots=True, kw_only=True)
class Request:
    """A call of `load_tools` that could be read: the names it gives, and what they mean in the offer."""

    groups: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    unknown_groups: tuple[str, ...] = ()
    unknown_tools: tuple[str, ...] = ()

    @property
    def asked(self) -> tuple[str, ...]:
        """The known groups asked for, whole or by a tool."""
        return tuple(dict.fromkeys([*self.groups, *owners(self.tools)]))


class Unreadable(Exception):
    """The arguments of a call mean nothing; the text goes back to the model."""


def read(offer: Offer, arguments: Any) -> Request:
    """The request in a call's arguments. Names are matched to the letter; those of no offered group are unknown.

    A tool counts as known if its group is offered, even where the mode filter holds the tool itself back. Raises
    `Unreadable` for arguments that are not an object with lists of strings, or that name nothing.
    """
    if not isinstance(arguments, Mapping):
        raise Unreadable("the arguments are not a JSON object")
    groups, tools = (_names(arguments, key) for key in ("groups", "tools"))
    if not groups and not tools:
        raise Unreadable("name at least one group or one tool")
    offered = {group.id for group in offer.groups}
    meant = {name: offer.named(name) for name in tools}
    known = {name: tool for name, tool in meant.items() if tool is not None and tool.capability in offered}
    return Request(
        groups=tuple(name for name in groups if name in offered),
        tools=tuple(dict.fromkeys(known.values())),
        unknown_groups=tuple(name for name in groups if name not in offered),
        unknown_tools=tuple(name for name in tools if name not in known),
    )


def _names(arguments: Mapping[str, Any], key: str) -> list[str]:
    value = arguments.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Unreadable(f"{key!r} is not a list of names")
    return list(dict.fromkeys(value))


@frozen(slots=True)
class Loaded:
    """What has been loaded so far: ids of groups, qualified ids of single tools. Loading is a union; nothing is
    unloaded."""

    groups: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.groups or self.tools)

    def with_request(self, request: Request) -> Loaded:
        return Loaded(self.groups.union(request.groups), self.tools | {tool.qualified_id for tool in request.tools})

    def all_groups(self, offer: Offer) -> set[str]:
        """The loaded groups, those of single tools included."""
        return {*self.groups, *(offer.environment.tools_by_id[tool].capability for tool in self.tools)}


def reply(offer: Offer, request: Request, loaded: Loaded) -> str:
    """What a call answers: what is loaded now, and which names meant nothing, with those that would."""
    parts = []
    if request.unknown_groups:
        listed = ", ".join(sorted(offer.deferred_ids)) or "(none)"
        parts.append(f"Unknown groups: {', '.join(request.unknown_groups)}. The groups are: {listed}.")
    if request.unknown_tools:
        parts.append(f"Unknown tools: {', '.join(request.unknown_tools)}.")
    groups = ", ".join(sorted(loaded.groups)) or "(none)"
    parts.append(f"Loaded groups: {groups}.")
    if loaded.tools:
        parts.append(f"Loaded tools: {', '.join(sorted(offer.names[tool] for tool in loaded.tools))}.")
    return " ".join(parts)
