"""`bm25:k`: the baseline that loads the k groups whose words are closest to the request's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.digest import identify
from yb_eval.targets import CallableTarget
from yb_eval_agent_routing.agent import LOAD_TOOLS, SEARCH_TOOLS, Offers
from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.retrieval import K1, B

#: Of a large group, offered tool by tool: how many of its tools are loaded.
TOOLS_OF_LARGE = 5


@frozen(slots=True)
class Retriever:
    """Answers as a model would that knows nothing but words: it loads (or, as a router, names) the `k` best groups for
    the last message, of a large one the best tools; it searches with the message itself; then it is done."""

    k: int
    offers: Offers = field(repr=False, eq=False)

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        last = request["messages"][-1]
        if request["purpose"] == "route":
            return {"text": orjson.dumps(self._choice(request, last["content"])).decode()}
        names = (
            {tool["name"] for tool in request["tools"]} & {LOAD_TOOLS, SEARCH_TOOLS} if last["role"] == "user" else ()
        )
        if LOAD_TOOLS in names:
            choice = self._choice(request, last["content"])
            if any(choice.values()):
                return {"tool_calls": [{"name": LOAD_TOOLS, "arguments": choice}]}
        elif SEARCH_TOOLS in names and last["content"].strip():
            return {"tool_calls": [{"name": SEARCH_TOOLS, "arguments": {"query": last["content"]}}]}
        return {"text": "Done."}

    def _choice(self, request: Mapping[str, Any], message: str) -> dict[str, list[str]]:
        offer = self.offers.find(request)
        found = [offer.deferred[place].id for place in offer.group_index.rank(message, self.k)]
        large = [group for group in found if group in offer.expanded]
        tools = [name for group in large for name in best_tools(offer, group, message)]
        return {"groups": [group for group in found if group not in large], "tools": tools}


def best_tools(offer: Offer, group: str, message: str) -> list[str]:
    """The names of the tools of a group that fit a message best; its first ones where none shares a word with it."""
    ranked = offer.tool_index.rank(message, len(offer.searchable))
    own = [offer.searchable[place] for place in ranked if offer.searchable[place].tool.capability == group]
    return [offered.definition["name"] for offered in (own or offer.tools_of(group))[:TOOLS_OF_LARGE]]


def bm25_target(argument: str, offers: Offers) -> CallableTarget:
    """The provider `bm25:K`. Raises `UsageError` for a K that is no number of groups."""
    if not argument.isascii() or not argument.isdecimal() or not 1 <= int(argument[:9]) <= 1_000:
        raise UsageError(f"bm25:{argument} loads no number of groups", hint="bm25:1, bm25:3, ...")
    k = int(argument)
    identity = {"k": k, "k1": str(K1), "b": str(B), "version": 1}
    return CallableTarget(
        Retriever(k, offers), fingerprint=identify("agent-routing-bm25", identity), spec=f"bm25:{k}", batch_size=16
    )
