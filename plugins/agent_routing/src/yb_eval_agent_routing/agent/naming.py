"""The names that a model sees tools by.

Providers take letters, digits, `_` and `-`, up to 64 of them; MCP servers do not keep to that, and several of them have
a tool called `search`. A tool whose name is usable and nobody else's keeps it; any other is called `group__tool`, and
a number is put behind what is still not unique.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable

from yb_eval_agent_routing.model import Tool

LONGEST = 64

_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


def wire_names(tools: Iterable[Tool], reserved: Collection[str]) -> dict[str, str]:
    """Qualified id -> the name a model sees, different for each tool and none of `reserved`."""
    listed = sorted(tools, key=lambda tool: tool.qualified_id)
    shared = Counter(tool.name for tool in listed)
    plain = {t.qualified_id: t.name for t in listed if shared[t.name] == 1 and _usable(t.name, reserved)}
    taken = {*reserved, *plain.values()}
    for tool in listed:
        if tool.qualified_id not in plain:
            name = _free(f"{tool.capability}__{tool.name}" if shared[tool.name] > 1 else tool.name, taken)
            taken.add(name)
            plain[tool.qualified_id] = name
    return plain


def _usable(name: str, reserved: Collection[str]) -> bool:
    return 0 < len(name) <= LONGEST and not _UNFIT.search(name) and name not in reserved


def _free(name: str, taken: Collection[str]) -> str:
    base = _UNFIT.sub("_", name)[:LONGEST]
    if base not in taken:
        return base
    number = 2
    while (candidate := f"{base[: LONGEST - len(str(number)) - 1]}_{number}") in taken:
        number += 1
    return candidate
