"""`search_tools`: the policy that lets the agent find its tools by words, as the providers' own tool search does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yb_eval_agent_routing.agent.loading import Request, Unreadable
from yb_eval_agent_routing.agent.offer import SEARCH_TOOLS, Offer

SEARCH_DEFINITION: Mapping[str, Any] = {
    "name": SEARCH_TOOLS,
    "description": "Finds tools by what they do. The tools it finds can be called from your next step on.",
    "input_schema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What the tools should do, in a few words."}},
        "required": ["query"],
    },
}


def search(offer: Offer, arguments: Any, top_k: int) -> tuple[Request, str]:
    """The load request that a search amounts to, and what it answers. Raises `Unreadable` without a query."""
    query = arguments.get("query") if isinstance(arguments, Mapping) else None
    if not isinstance(query, str) or not query.strip():
        raise Unreadable("'query' is not a text")
    found = [offer.searchable[place] for place in offer.tool_index.rank(query, top_k)]
    if not found:
        return Request(), "No tool was found."
    lines = [f"{hit.definition['name']}: {hit.tool.description[:200]}" for hit in found]
    return Request(tools=tuple(hit.tool for hit in found)), "\n".join(["Found and loaded:", *lines])
