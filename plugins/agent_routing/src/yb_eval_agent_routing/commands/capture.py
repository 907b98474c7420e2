"""`yb-eval agent-routing capture`: the tools of one server, into a catalogue file."""

from __future__ import annotations

import os
from pathlib import Path

import click

from yb_eval import UsageError
from yb_eval.datasets import RowError
from yb_eval.record.files import atomic
from yb_eval_agent_routing.capturing import Http, Source, Stdio
from yb_eval_agent_routing.capturing import capture as capture_server
from yb_eval_agent_routing.capturing.clients import checked_url, expand
from yb_eval_agent_routing.capturing.servers import TIMEOUT, checked_names, checked_timeout
from yb_eval_agent_routing.catalogue import Catalogue, Server, read_catalogue
from yb_eval_agent_routing.documents import read_file


@click.command()
@click.option("--name", required=True, help="The id of the group that the server becomes.")
@click.option("--url", help="Connect over Streamable HTTP instead of starting a command.")
@click.option(
    "--header", "headers", multiple=True, help="'Name: value' for --url; ${VARIABLE} keeps secrets out of it."
)
@click.option("--env", "variables", multiple=True, metavar="NAME", help="A variable of this environment to pass on.")
@click.option("--cwd", type=click.Path(path_type=Path, exists=True, file_okay=False), help="The server's folder.")
@click.option(
    "--output", "-o", default="catalogue.json", show_default=True, type=click.Path(path_type=Path, dir_okay=False),
    help="The catalogue; a server of that name in it is replaced, others stay.",
)  # fmt: skip
@click.option("--timeout", default=TIMEOUT, show_default=True, help="Seconds until the server counts as hanging.")
@click.argument("arguments", nargs=-1, metavar="[-- COMMAND ...]", type=click.UNPROCESSED)
def command(
    name: str,
    url: str | None,
    headers: tuple[str, ...],
    variables: tuple[str, ...],
    cwd: Path | None,
    output: Path,
    timeout: float,
    arguments: tuple[str, ...],
) -> None:
    """Save what a real MCP server answers to tools/list.

    \b
      yb-eval agent-routing capture --name git -- uvx mcp-server-git
      yb-eval agent-routing capture --name docs --url https://example.org/mcp \\
          --header 'Authorization: Bearer ${DOCS_TOKEN}'

    The file is written when all pages have been read, or not at all. It holds no variable, header or address.
    """
    checked_names([name])
    source = _source(url, headers, variables, cwd, arguments)
    before = read_catalogue(read_file(output, role="catalogue")) if output.exists() else Catalogue(())
    server = capture_server(name, source, timeout=checked_timeout(timeout))
    kept = [other for other in before.servers if other.id != name]
    save(Catalogue.of([*kept, server]), output)
    click.echo(f"{output}: {described(server)}")


def _source(
    url: str | None, headers: tuple[str, ...], variables: tuple[str, ...], cwd: Path | None, arguments: tuple[str, ...]
) -> Source:
    if (url is None) == (not arguments):
        raise UsageError("capture takes either --url or a command after --")
    if url is not None:
        if variables or cwd is not None:
            raise UsageError("--env and --cwd are for a command, not for --url")
        try:
            return Http(url=checked_url(expand(url, os.environ)), headers=dict(map(_header, headers)))
        except RowError as fault:
            raise UsageError(fault.what, where="--url") from None
    if headers:
        raise UsageError("--header is for --url, not for a command")
    missing = [variable for variable in variables if variable not in os.environ]
    if missing:
        raise UsageError(f"the environment variable {missing[0]} is not set", where="--env")
    env = {variable: os.environ[variable] for variable in variables}
    return Stdio(command=arguments[0], args=arguments[1:], env=env, cwd=None if cwd is None else str(cwd))


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise UsageError("a header is written 'Name: value'", where="--header")
    try:
        return name.strip(), expand(value.strip(), os.environ)
    except RowError as fault:
        raise UsageError(fault.what, where="--header") from None


def save(catalogue: Catalogue, path: Path) -> None:
    with atomic(path) as file:
        file.write(catalogue.to_bytes())


def described(server: Server) -> str:
    reads = sum((tool.get("annotations") or {}).get("readOnlyHint") is True for tool in server.tools)
    count = len(server.tools)
    return f"{server.id}: {count} tool{'' if count == 1 else 's'}, {reads} of them read-only"
