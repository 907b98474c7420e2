"""`yb-eval show RUN`: a stored run, as it was reported when it ended."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.errors import UsageError, nearest
from yb_eval.record import Store


@click.command("show")
@click.argument("run", default="latest")
@click.option("--format", "kind", default="text", help="text, json, markdown, junit, html, ...  [default: text]")
@click.option("--manifest", is_flag=True, help="Print the manifest that the run's id rests on.")
@store_option
def command(run: str, kind: str, manifest: bool, store: Store) -> None:
    """Show a stored run: `latest`, or the first characters of its id."""
    from yb_eval.cli.running import view_of
    from yb_eval.composition import stored_report
    from yb_eval.plugins import load_extensions

    found = store.find(run)
    if manifest:
        emit([store.get(found.sha256).decode("utf-8")])
        return
    reporters = load_extensions().provide("yb_eval_reporters")
    if kind not in reporters:
        raise UsageError(f"unknown report format {kind!r}", where="--format", hint=nearest(kind, reporters))
    emit(reporters[kind](view_of(stored_report(store, found), store)))
