"""`yb-eval history SUITE`: the stored runs of a suite, newest first."""

from __future__ import annotations

from pathlib import Path

import click

from yb_eval.cli.output import emit, note
from yb_eval.cli.store_option import store_option
from yb_eval.configuration import find_configuration
from yb_eval.discovery import find
from yb_eval.errors import ExitCode, StoreError, UsageError, nearest
from yb_eval.record import Store


@click.command("history")
@click.argument("suite")
@click.option(
    "-n", "--number", type=click.IntRange(min=1), default=20, show_default=True, help="How many runs to list."
)
@click.option("--measure", "names", multiple=True, metavar="NAME", help="A measurement to show; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(suite: str, number: int, names: tuple[str, ...], as_json: bool, store: Store) -> int:
    """List the stored runs of a suite, newest first.

    Ends with 3 if any stored run cannot be read: whose it was cannot be told. The others are listed.
    """
    from yb_eval.composition import history

    unreadable: list[StoreError] = []
    runs = list(history(store, suite, unreadable=unreadable.append))[::-1][:number]
    for error in unreadable:
        note(f"yb-eval: {error}")
    code = int(ExitCode.NOT_MEASURED if unreadable else ExitCode.PASS)
    if not runs and not unreadable:
        raise UsageError(f"no run of {suite!r} is stored", where=str(store.root), hint=_instead(suite))
    measured = {name for run in runs for name in run["measurements"]}
    for name in names if runs else ():
        if name not in measured:
            raise UsageError(f"no run has the measurement {name!r}", where="--measure", hint=nearest(name, measured))
    if as_json:
        import orjson

        emit([orjson.dumps(runs, option=orjson.OPT_INDENT_2).decode(), "\n"])
        return code
    for run in runs:
        shown = "  ".join(f"{name}={_value(run['measurements'].get(name))}" for name in names)
        revision = run["datasets"][0]["revision_id"][:12]
        head = f"{run['run_id'][:12]}  {run['started'][:19]}  {run['verdict']:<10}"
        emit([f"{head}  data {revision}  {run['target']}  {shown}".rstrip() + "\n"])
    return code


def _instead(suite: str) -> str | None:
    """What somebody may have meant who asks for the history of what has none."""
    installed = find()
    if suite in installed:
        return f"yb-eval run {suite}"
    used = find_configuration(Path()).suites.get(suite, {}).get("suite")
    if used in installed:
        return f"its runs are listed with those of its suite: yb-eval history {used}"
    return nearest(suite, installed)


def _value(measurement: dict[str, float | None] | None) -> str:
    if measurement is None or measurement["value"] is None:
        return "-"
    return f"{measurement['value']:.4g}"
