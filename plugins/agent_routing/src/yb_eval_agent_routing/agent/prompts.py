"""The system prompts of the policies, and the nudge. All in our own words; the menu is a part of them."""

from __future__ import annotations

from yb_eval_agent_routing.agent.menu import Menu
from yb_eval_agent_routing.agent.offer import LOAD_TOOLS, SEARCH_TOOLS

BASE = (
    "You are an assistant who helps with the services that are connected here. Use tools where the request needs "
    "them; answer directly where it does not. If no connected service fits the request, say so."
)

_IN_BAND = f"""## Tool Groups

The tools of the groups below are not loaded yet: you see neither their parameters nor can you call them. When a \
request needs tools, choose the groups that cover it and call `{LOAD_TOOLS}` first, before any other tool; do not skip \
this step. You may load more later, calls add up. Load only what the request needs. Greetings and questions of general \
knowledge need no tools: answer them without loading anything.

{{menu}}

Load a whole group with `{LOAD_TOOLS}` and `{{{{"groups": ["GROUP_ID"]}}}}`; of a large server load the single tools you \
need with `{{{{"tools": ["TOOL_NAME"]}}}}`."""

_SEARCH = f"""## Finding Tools

Most tools are not loaded yet. When a request needs tools, describe what you need with `{SEARCH_TOOLS}`: the tools it \
finds can be called from your next step on. You may search again with other words; what was found stays loaded. \
Greetings and questions of general knowledge need no tools: answer them without searching."""

_ROUTE = """You choose which groups of tools another assistant needs for the last message of a conversation. You do \
not answer the message and call no tools.

{menu}

Answer with one JSON object and nothing else: {{"groups": ["GROUP_ID"], "tools": []}}. In `groups` name the groups that \
are needed, in `tools` single tools of large servers. Name no more than the message needs; where it needs no tools, or \
where no group fits, leave both lists empty."""

NUDGE = (
    f"No tools are loaded. If the request needs any, call `{LOAD_TOOLS}` now with the groups it needs; if it needs "
    "none, answer directly."
)

SUMMARY = "The limit of steps is reached. Say in a sentence what was found out; no more tools can be called."


def in_band(menu: Menu) -> str:
    """The main prompt with the menu in it (S7a)."""
    return f"{BASE}\n\n{_IN_BAND.format(menu=menu.text)}" if menu.text else BASE


def search(active: bool) -> str:
    """The main prompt of an agent that finds its tools by search."""
    return f"{BASE}\n\n{_SEARCH}" if active else BASE


def route(menu: Menu) -> str:
    """The prompt of the router, which sees the menu and no tools (S7b)."""
    return _ROUTE.format(menu=menu.text)
