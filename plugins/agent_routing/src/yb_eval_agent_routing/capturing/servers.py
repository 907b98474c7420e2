"""Asking MCP servers for their tools, with the official SDK (the extra `mcp`).

A server that fails, hangs or says nonsense is a `CaptureError` with its reason. Nothing that is shown or kept holds
the value of an environment variable or of a header that the server was given.
"""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from attrs import define, field, frozen

from yb_eval import UsageError
from yb_eval.datasets import RowError
from yb_eval.datasets.strict import loads
from yb_eval.digest import finite_json
from yb_eval.errors import NotMeasured, shorten
from yb_eval.targets.secrets import Masker, environment_secrets, secret_name
from yb_eval_agent_routing.catalogue import Catalogue, Server, server_of

if TYPE_CHECKING:
    from mcp import Client

TIMEOUT = 60.0

#: More than any server has; a server whose pages never end must not fill the disk.
MAX_TOOLS = 20_000
MAX_PAGES = 2_000

#: How many servers are asked at once.
_AT_ONCE = 8

_TAIL = 2_000


class CaptureError(NotMeasured):
    """A server whose tools could not be listed."""


@frozen(slots=True, kw_only=True)
class Stdio:
    """A server that is started as a process. `env` is added to the few variables that the SDK passes on."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(factory=dict, repr=False)
    cwd: str | None = None


@frozen(slots=True, kw_only=True)
class Http:
    """A server that is reached over Streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(factory=dict, repr=False)


Source = Stdio | Http


def capture(name: str, source: Source, *, timeout: float = TIMEOUT) -> Server:
    """The server `name` with all of its tools. Raises `CaptureError` after at most `timeout` seconds and what it takes
    to stop the process (four seconds), or `UsageError` where the SDK is not installed."""
    (found,) = capture_all({name: source}, timeout=timeout).values()
    if isinstance(found, CaptureError):
        raise found
    return found


def capture_all(sources: Mapping[str, Source], *, timeout: float = TIMEOUT) -> dict[str, Server | CaptureError]:
    """Each server or why it could not be captured, in the order of `sources`; several are asked at once."""
    try:
        import anyio
        import mcp  # noqa: F401 - to say early that it is missing
    except ImportError as error:
        what = "capturing a server needs the MCP SDK"
        raise UsageError(what, hint="pip install 'yb-eval-agent-routing[mcp]'") from error
    with _silent_sdk():
        return anyio.run(_capture_all, sources, timeout)


async def _capture_all(sources: Mapping[str, Source], timeout: float) -> dict[str, Server | CaptureError]:
    import anyio

    found: dict[str, Server | CaptureError] = {}
    places = anyio.CapacityLimiter(_AT_ONCE)

    async def one(name: str, source: Source) -> None:
        async with places:
            found[name] = await _attempt(name, source, timeout)

    async with anyio.create_task_group() as group:
        for name, source in sources.items():
            group.start_soon(one, name, source)
    return {name: found[name] for name in sources}


async def _attempt(name: str, source: Source, timeout: float) -> Server | CaptureError:
    """One server; whatever goes wrong with it is returned, so that the others are captured all the same."""
    import anyio

    masker = Masker([*environment_secrets(), *_given(source)])
    unreadable = _Unreadable()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        try:
            with anyio.fail_after(timeout):
                return await _listed(name, source, log, unreadable)
        except TimeoutError:
            reason = f"no answer within {timeout:g} seconds"
            if unreadable.seen:
                reason += "; what it said cannot be read as the protocol's messages"
        except Exception as error:
            reason = _reason(error, source)
        said = _last_line(log)
    if said:
        reason = f"{reason}; it wrote: {shorten(said, 300)}"
    return CaptureError(masker.mask(reason), where=f"the server {shorten(name)}")


@define
class _Unreadable:
    """The handler of a session's messages. The SDK hands over what it could not read, and goes on waiting."""

    seen: bool = False

    async def __call__(self, message: object) -> None:
        self.seen = self.seen or isinstance(message, Exception)


def _given(source: Source) -> Iterator[str]:
    """What an error must not show: the values that the server was given, a header's last word by itself too."""
    for value in (source.env if isinstance(source, Stdio) else source.headers).values():
        yield from (value, *value.split()[-1:])


def _secrets(source: Source) -> Masker:
    """What a catalogue must not hold: headers, and the variables whose names say that they are secret. The others may
    be ordinary words."""
    given = _given(source) if isinstance(source, Http) else (v for k, v in source.env.items() if secret_name(k))
    return Masker([*environment_secrets(), *given])


async def _listed(name: str, source: Source, log: IO[str], unreadable: _Unreadable) -> Server:
    from mcp import Client

    if isinstance(source, Stdio):
        from mcp import StdioServerParameters, stdio_client

        parameters = StdioServerParameters(
            command=source.command, args=list(source.args), env=dict(source.env), cwd=source.cwd
        )
        transport: Any = stdio_client(parameters, errlog=log)  # type: ignore[arg-type]
        async with Client(transport, cache=None, message_handler=unreadable) as client:
            return await _server(name, client, _secrets(source))
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    # No time limits of its own: the one that is given holds for all that is asked of the server.
    async with httpx2.AsyncClient(headers=dict(source.headers), timeout=None) as http:
        transport = streamable_http_client(source.url, http_client=http)
        async with Client(transport, cache=None, message_handler=unreadable) as client:
            return await _server(name, client, _secrets(source))


async def _server(name: str, client: Client, masker: Masker) -> Server:
    tools = await _tools(client)
    info = client.server_info
    described = {
        "name": None if info is None else info.title or info.name,
        "version": None if info is None else info.version,
        "description": None if info is None else info.description,
        "instructions": client.instructions,
    }
    # A server may repeat what it was given, an address with a key in it for example.
    server = server_of(name, masker.mask_value(tools), **masker.mask_value(described))
    # What cannot be read back (nested too deep, a number that JSON cannot keep) must not be written.
    loads(Catalogue.of([server]).to_bytes())
    finite_json(server.as_json())
    return server


async def _tools(client: Client) -> list[dict[str, Any]]:
    """The tools of all pages. Raises `RowError` for pages that do not end."""
    tools: list[dict[str, Any]] = []
    cursor: str | None = None
    cursors: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
        if len(tools) > MAX_TOOLS:
            raise RowError(f"more than {MAX_TOOLS:,} tools")
        cursor = page.next_cursor
        if cursor is None:
            return tools
        if cursor in cursors:
            raise RowError("its pages of tools go round in a circle: a cursor came twice")
        cursors.add(cursor)
    raise RowError(f"more than {MAX_PAGES:,} pages of tools")


def _reason(error: BaseException, source: Source) -> str:
    """The first cause in a few words: task groups wrap what happened inside them."""
    from pydantic import ValidationError

    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, RowError):
        return error.what if error.path == "$" else f"{error.path}: {error.what}"
    if isinstance(error, FileNotFoundError) and isinstance(source, Stdio):
        return f"cannot be started: no such program or folder ({shorten(source.command)})"
    if isinstance(error, OSError):
        return f"cannot be reached or started: {error.strerror or type(error).__name__}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"it answers otherwise than the protocol says: {place}: {first['msg'].lower()}"
    text = " ".join(str(getattr(error, "message", error)).split())
    return shorten(text, 300).strip("'\"") if text else type(error).__name__


def _last_line(log: IO[str]) -> str:
    """The last thing in words that the server wrote to its standard error."""
    log.flush()
    log.seek(max(0, log.seek(0, 2) - _TAIL))
    lines = [line.strip(" |\t") for line in log.read().splitlines() if any(map(str.isalnum, line))]
    return lines[-1] if lines else ""


@contextmanager
def _silent_sdk() -> Iterator[None]:
    """The SDK logs tracebacks of what servers say wrong; here that is one line of a report."""
    logger = logging.getLogger("mcp")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def checked_timeout(seconds: float) -> float:
    if not math.isfinite(seconds) or seconds <= 0:
        raise UsageError(f"a timeout is a number of seconds above 0, not {seconds:g}", where="--timeout")
    return seconds


def checked_names(names: Sequence[str]) -> None:
    """Raises `UsageError` for a name that cannot be the id of a group, before anything is started."""
    for name in names:
        try:
            server_of(name, ())
        except RowError as error:
            raise UsageError(error.what, where=shorten(name)) from None
