"""What happened in the turn that is judged: what was asked for, what was loaded and what was delivered are three
things, and each is kept."""

from __future__ import annotations

from attrs import Factory, define

from yb_eval_agent_routing.agent.delivery import Delivery
from yb_eval_agent_routing.agent.loading import Loaded

#: An ordered set.
Names = dict[str, None]


@define(slots=True, kw_only=True)
class Trace:
    """The record of one turn of an agent.

    Groups and tools: `asked` and `asked_tools` in load requests (unknown names apart, in `unknown`), `first_choice`
    the groups of the first request that could be met (`None`: there was none), `loaded` the state at the end,
    `delivered` the qualified ids of the tools that some model call got, `excluded` the groups that the budget left
    out, `called` the tools that were called while offered.

    Calls: `load_calls` load or search calls that could be read; of these `reloads` after the first and
    `redundant_reloads` that added nothing; `malformed_calls` calls whose arguments could not be read;
    `unloaded_calls` tools called that were not offered in that call, `unknown_calls` calls of tools that do not
    exist, `written_calls` tools called in words.

    `nudged`: the model was reminded to load; `loads_before_nudge` is what it had done by then. `active`: something
    was loaded or always on from the start, so that there was nothing to be reminded of. `routing_active`: there was
    something to route at all (`None` for the policies that do not route).

    Tokens are sums over the model calls: the menu, the agent's own tools, the schemas of delivered tools, and what the
    provider says it used (`None`: it says nothing).
    """

    routing_active: bool | None
    active: bool = False
    asked: Names = Factory(dict)
    asked_tools: Names = Factory(dict)
    unknown: Names = Factory(dict)
    first_choice: tuple[str, ...] | None = None
    loaded: Loaded = Factory(Loaded)
    delivered: Names = Factory(dict)
    excluded: Names = Factory(dict)
    called: Names = Factory(dict)
    load_calls: int = 0
    reloads: int = 0
    redundant_reloads: int = 0
    malformed_calls: int = 0
    unloaded_calls: Names = Factory(dict)
    unknown_calls: Names = Factory(dict)
    written_calls: Names = Factory(dict)
    nudged: bool = False
    loads_before_nudge: int = 0
    model_calls: int = 0
    routing_calls: int = 0
    hit_limit: bool = False
    menu_tokens: int = 0
    own_tokens: int = 0
    schema_tokens: int = 0
    used: tuple[int, int] | None = None

    def sent(self, delivery: Delivery | None, *, menu_tokens: int = 0, own_tokens: int = 0) -> None:
        """A model call was made with these tools in it."""
        self.model_calls += 1
        self.menu_tokens += menu_tokens
        self.own_tokens += own_tokens
        if delivery is not None:
            self.schema_tokens += delivery.tokens
            self.delivered |= dict.fromkeys(delivery.ids)
            self.excluded |= dict.fromkeys(delivery.excluded)

    def used_by(self, usage: tuple[int, int] | None) -> None:
        """The provider says what a call used."""
        if usage is not None:
            before = self.used or (0, 0)
            self.used = (before[0] + usage[0], before[1] + usage[1])
