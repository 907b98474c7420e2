"""The configuration file of an MCP client: which servers it starts or connects to.

The shape that Claude Desktop made common, `{"mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"]}}}`, and
VS Code's, which says `servers`. `${NAME}`, `${env:NAME}` and `${NAME:-else}` stand for environment variables.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from yb_eval.datasets import DataFile, RowError, structurer
from yb_eval.datasets.faults import named
from yb_eval.datasets.strict import BOM, loads
from yb_eval_agent_routing.capturing.servers import CaptureError, Http, Source, Stdio
from yb_eval_agent_routing.documents import Place

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")

#: What clients keep beside, and what does not change which tools a server has.
_IGNORED = frozenset({
    "alwaysAllow", "autoApprove", "description", "dev", "envFile", "gallery", "note", "oauth", "timeout", "trust",
    "version",
})  # fmt: skip

_HTTP_TYPES = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})


@frozen(slots=True)
class Configured:
    """The servers of a configuration by name: how to reach each, why it cannot be, or `None` for a disabled one."""

    servers: Mapping[str, Source | CaptureError | None]


@frozen(slots=True, kw_only=True)
class _Entry:
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(factory=dict)
    cwd: str | None = None
    type: str | None = None
    transport: str | None = None
    url: str | None = None
    headers: dict[str, str] = field(factory=dict)
    disabled: bool = False
    enabled: bool = True


def read_configuration(path: Path, environment: Mapping[str, str] | None = None) -> Configured:
    """Raises `DatasetError` for a file that is no client configuration. What is wrong with one server concerns that
    server only."""
    file = DataFile.read(path, role="configuration")
    place = Place(file.name)
    try:
        value = loads(file.data.removeprefix(BOM))
    except RowError as fault:
        # The hint may quote nothing here: a configuration holds secrets.
        raise place.refused(RowError(fault.what, path=fault.path, line=fault.line)) from None
    listed = _listed(value, place)
    known = os.environ if environment is None else environment
    return Configured({name: _source(name, entry, known) for name, entry in listed.items()})


def _listed(value: Any, place: Place) -> dict[str, Any]:
    found = next((key for key in ("mcpServers", "servers") if type(value) is dict and key in value), None)
    if found is None:
        raise place.error("no mcpServers: not the configuration of an MCP client")
    listed: dict[str, Any] = value[found]
    if type(listed) is not dict:
        raise place.at(found).error(f"must be an object, not {named(listed)}")
    if not listed:
        raise place.at(found).error("no server")
    return listed


def _source(name: str, value: Any, environment: Mapping[str, str]) -> Source | CaptureError | None:
    try:
        if type(value) is not dict:
            raise RowError(f"must be an object, not {named(value)}")
        entry: _Entry = structurer(_Entry, ignored=_IGNORED).structure(value)
        if entry.disabled or not entry.enabled:
            return None
        return _reachable(entry, environment)
    except RowError as fault:
        path = "" if fault.path == "$" else f"{fault.path}: "
        return CaptureError(f"{path}{fault.what}", where=f"the server {name!r}", hint=fault.hint)


def _reachable(entry: _Entry, environment: Mapping[str, str]) -> Source:
    def filled(text: str) -> str:
        return expand(text, environment)

    kind = entry.type or entry.transport
    if (entry.command is None) == (entry.url is None):
        raise RowError("a server has either a command or a url")
    if entry.command is not None:
        if kind not in (None, "stdio"):
            raise RowError("a server with a command is of the type stdio", path="$.type")
        return Stdio(
            command=filled(entry.command),
            args=tuple(map(filled, entry.args)),
            env={key: filled(text) for key, text in entry.env.items()},
            cwd=None if entry.cwd is None else filled(entry.cwd),
        )
    if kind is not None and kind not in _HTTP_TYPES:
        raise RowError("only stdio and Streamable HTTP are spoken here", path="$.type", hint="the type http")
    assert entry.url is not None
    return Http(url=checked_url(filled(entry.url)), headers={key: filled(text) for key, text in entry.headers.items()})


def checked_url(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise RowError("a url starts with http:// or https://", path="$.url")
    return url


def expand(text: str, environment: Mapping[str, str]) -> str:
    """`text` with environment variables in their places. Raises `RowError` for one that is not set."""

    def value(match: re.Match[str]) -> str:
        found = environment.get(match[1], match[2])
        if found is None:
            raise RowError(f"the environment variable {match[1]} is not set")
        return found

    return _VARIABLE.sub(value, text)
