"""`yb-eval history SUITE`: the stored runs of a suite, newest first."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.errors import UsageError
from yb_eval.record import Store


@click.command("history")
@click.argument("suite")
@click.option("-n", "--number", default=20, show_default=True, help="How many runs to list.")
@click.option("--measure", "names", multiple=True, metavar="NAME", help="A measurement to show; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@store_option
def command(suite: str, number: int, names: tuple[str, ...], as_json: bool, store: Store) -> None:
    """List the stored runs of a suite, newest first."""
    from yb_eval.composition import history

    runs = list(history(store, suite))[::-1][:number]
    if not runs:
        raise UsageError(f"no run of {suite!r} is stored", where=str(store.root), hint=f"yb-eval run {suite}")
    if as_json:
        import orjson

        emit([orjson.dumps(runs, option=orjson.OPT_INDENT_2).decode(), "\n"])
        return
    for run in runs:
        shown = "  ".join(f"{name}={_value(run['measurements'].get(name))}" for name in names)
        revision = run["datasets"][0]["revision_id"][:12]
        head = f"{run['run_id'][:12]}  {run['started'][:19]}  {run['verdict']:<10}"
        emit([f"{head}  data {revision}  {run['target']}  {shown}".rstrip() + "\n"])


def _value(measurement: dict[str, float | None] | None) -> str:
    if measurement is None or measurement["value"] is None:
        return "-"
    return f"{measurement['value']:.4g}"
