"""`yb-eval agent-routing import`: the tools of every server in an MCP client's configuration."""

from __future__ import annotations

from pathlib import Path

import click

from yb_eval_agent_routing.capturing import CaptureError, Source, capture_all, read_configuration
from yb_eval_agent_routing.capturing.servers import TIMEOUT, checked_names, checked_timeout
from yb_eval_agent_routing.catalogue import Catalogue, Server
from yb_eval_agent_routing.commands.capture import described, save


@click.command()
@click.argument("configuration", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--output", "-o", default="catalogue.json", show_default=True, type=click.Path(path_type=Path, dir_okay=False),
    help="The catalogue to write.",
)  # fmt: skip
@click.option("--only", multiple=True, metavar="NAME", help="Capture this server only; repeatable.")
@click.option("--partial", is_flag=True, help="Write the servers that answered even if others did not.")
@click.option("--timeout", default=TIMEOUT, show_default=True, help="Seconds until a server counts as hanging.")
def command(configuration: Path, output: Path, only: tuple[str, ...], partial: bool, timeout: float) -> None:
    """Save what the servers of an MCP client answer to tools/list.

    CONFIGURATION is the client's JSON file with `mcpServers`. Every server is started or connected to, and what became
    of each is said. If one fails, nothing is written unless --partial is given, and the exit code is 3: a catalogue
    without a server would look like an agent that cannot find it. Variables and headers are never written.
    """
    servers = dict(read_configuration(configuration).servers)
    unknown = [name for name in only if name not in servers]
    if unknown:
        raise click.UsageError(f"no server {unknown[0]!r} in {configuration}")
    if only:
        servers = {name: source for name, source in servers.items() if name in only}
    checked_names(list(servers))
    results = _results(servers, checked_timeout(timeout))
    captured = [result for result in results.values() if isinstance(result, Server)]
    failed = [name for name, result in results.items() if isinstance(result, CaptureError)]
    for name, result in results.items():
        _say(name, result)
    if captured and (partial or not failed):
        save(Catalogue.of(captured), output)
        click.echo(f"{output}: {len(captured)} of {len(captured) + len(failed)} servers")
    if failed:
        hint = None if partial or not captured else "mend them, or write the others with --partial"
        raise CaptureError(f"{len(failed)} of {len(results)} servers were not captured: {', '.join(failed)}", hint=hint)
    if not captured:
        raise CaptureError("every server is disabled", where=str(configuration))


def _results(
    servers: dict[str, Source | CaptureError | None], timeout: float
) -> dict[str, Server | CaptureError | None]:
    """What became of each server; `None` for a disabled one."""
    reachable = {n: s for n, s in servers.items() if s is not None and not isinstance(s, CaptureError)}
    found = capture_all(reachable, timeout=timeout) if reachable else {}
    kept = {n: s for n, s in servers.items() if s is None or isinstance(s, CaptureError)}
    return {name: found[name] if name in found else kept[name] for name in servers}


def _say(name: str, result: Server | CaptureError | None) -> None:
    if isinstance(result, Server):
        click.echo(described(result), err=True)
    else:
        click.echo(f"{name}: disabled, so left out" if result is None else f"failed: {result}", err=True)
