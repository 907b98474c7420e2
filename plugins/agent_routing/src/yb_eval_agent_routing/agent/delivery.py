"""From what is loaded to the tools of one model call: the mode filter, what is always on, the budget.

The budget is a number of tools (providers refuse more than 128) and of bytes. Where it does not hold everything, whole
groups are left out: the smallest whose removal is enough, else the largest, and so on; ties by id. What is left out is
told: a group that was loaded and not delivered is no use to the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from yb_eval_agent_routing.agent.loading import Loaded
from yb_eval_agent_routing.agent.offer import Offer, Offered

#: What OpenAI and Azure accept in one request.
HARD_LIMIT = 128
#: Name, description and schema of all tools of one call.
BYTE_LIMIT = 384 * 1024


@frozen(slots=True, kw_only=True)
class Budget:
    """`tools` (0: the hard limit) for loaded tools, of which the hard limit leaves what the agent's own do not take;
    `bytes` for all."""

    tools: int = 0
    bytes: int = BYTE_LIMIT

    def places(self, own: int) -> int:
        """How many tools may be delivered beside `own` ones of the agent."""
        left = HARD_LIMIT - own
        return min(left, self.tools) if self.tools else left


@frozen(slots=True, kw_only=True)
class Delivery:
    """The tools of one model call, in menu order. `excluded` are groups that the budget left out."""

    tools: tuple[Offered, ...]
    excluded: tuple[str, ...] = ()
    definitions: Sequence[Mapping[str, Any]] = field(hash=False)
    tokens: int

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(offered.tool.capability for offered in self.tools))

    @property
    def ids(self) -> list[str]:
        return [offered.id for offered in self.tools]


def deliver(offer: Offer, loaded: Loaded, budget: Budget, own: Sequence[Mapping[str, Any]] = ()) -> Delivery:
    """The tools that a call gets when `loaded` is loaded, the agent's `own` tools first."""
    chosen = {
        group.id: [
            offered
            for offered in offer.tools_of(group.id)
            if group.always_on or group.id in loaded.groups or offered.id in loaded.tools
        ]
        for group in offer.groups
    }
    excluded = _exclude(chosen, budget, len(own))
    tools = tuple(offered for group, part in chosen.items() if group not in excluded for offered in part)
    return Delivery(
        tools=tools,
        excluded=tuple(sorted(excluded)),
        definitions=[*own, *(offered.definition for offered in tools)],
        tokens=sum(offered.tokens for offered in tools),
    )


def _exclude(chosen: Mapping[str, list[Offered]], budget: Budget, own: int) -> set[str]:
    excluded: set[str] = set()
    for limit, weight in (
        (budget.places(own), lambda part: len(part)),
        (budget.bytes, lambda part: sum(offered.bytes for offered in part)),
    ):
        sizes = {group: weight(part) for group, part in chosen.items() if part and group not in excluded}
        while (over := sum(sizes.values()) - limit) > 0:
            enough = [(size, group) for group, size in sizes.items() if size >= over]
            _, group = min(enough) if enough else min((-size, group) for group, size in sizes.items())
            del sizes[group]
            excluded.add(group)
    return excluded
