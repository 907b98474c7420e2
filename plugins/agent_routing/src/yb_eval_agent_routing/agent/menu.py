"""The group menu, as it stands in the system prompt.

Groups and tools stand in the environment's order. Text from a catalogue is escaped, so that a `|` or a line break in a
description cannot break the table or pretend to be a row of it, and capped, so that one server cannot fill the prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from yb_eval_agent_routing.agent.offer import Offer, Offered
from yb_eval_agent_routing.agent.tokens import text_tokens
from yb_eval_agent_routing.model import Capability

#: The tools that are named for a group without a description of its own.
NAMED_TOOLS = 8
#: Characters of a description that are shown.
LONGEST_CELL = 400


@frozen(slots=True)
class Menu:
    """`text` is empty where nothing has to be loaded; `groups` are the ids in it."""

    text: str
    groups: tuple[str, ...]

    @property
    def tokens(self) -> int:
        return text_tokens(self.text)


def render(offer: Offer) -> Menu:
    """The menu of what has to be loaded before it can be used: groups that are always on are not in it."""
    if not offer.deferred:
        return Menu("", ())
    rows = [(cell(group.id), cell(group.name), _covers(offer, group)) for group in offer.deferred]
    parts = [_table(("Group ID", "Name", "Covers"), rows)]
    for group in offer.deferred:
        if group.id in offer.expanded:
            tools = [
                (t.definition["name"], cell(t.tool.description) or "(no description)") for t in offer.tools_of(group.id)
            ]
            parts.append(f"#### Tools of {cell(group.id)}\n\n{_table(('Tool', 'Description'), tools)}")
    return Menu("\n\n".join(parts), tuple(group.id for group in offer.deferred))


def _covers(offer: Offer, group: Capability) -> str:
    tools = offer.tools_of(group.id)
    covers = cell(group.description or named_tools(tools))
    if group.id in offer.expanded:
        return f"{covers} (A large server of {len(tools)} tools: load the single tools you need, listed below.)"
    return covers


def named_tools(tools: Sequence[Offered]) -> str:
    """What stands for a description: the names of the first few tools."""
    names = ", ".join(offered.definition["name"] for offered in tools[:NAMED_TOOLS])
    return f"Tools: {names}" + (f", ... ({len(tools)} tools in all)" if len(tools) > NAMED_TOOLS else "")


def cell(text: str, limit: int = LONGEST_CELL) -> str:
    """A text on one line, at most `limit` characters of it, that cannot end its table cell."""
    text = "".join(character if character.isprintable() else " " for character in text[: 4 * limit])
    text = " ".join(text.split())
    if len(text) > limit:
        text = text[: limit - 1].rstrip() + "…"
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, ["---"] * len(header), *rows))
