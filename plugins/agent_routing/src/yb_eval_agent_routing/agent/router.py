"""The router's answer: which groups another model's turn should have."""

from __future__ import annotations

import orjson

from yb_eval_agent_routing.agent.loading import Request, Unreadable, read
from yb_eval_agent_routing.agent.offer import Offer


def choose_groups(offer: Offer, text: str) -> Request | None:
    """The groups and tools that a router's answer names; `None` for an answer that is not the JSON asked for.

    What stands around the object (a code fence, a sentence) is overlooked; empty lists choose nothing.
    """
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        choice = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return None
    if not isinstance(choice, dict) or not choice.keys() & {"groups", "tools"}:
        return None
    if not choice.get("groups") and not choice.get("tools"):
        return Request()
    try:
        return read(offer, choice)
    except Unreadable:
        return None
