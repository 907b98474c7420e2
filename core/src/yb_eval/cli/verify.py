"""`yb-eval verify RUN`: recompute every digest, offline."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.record import Store


@click.command("verify")
@click.argument("run", default="latest")
@click.option("--all", "whole", is_flag=True, help="Verify every object and every run of the store.")
@store_option
def command(run: str, whole: bool, store: Store) -> None:
    """Recompute every digest of a stored run: its manifest, its outcome log, its plan_id and its run_id.

    Ends with 3 at the first that does not hold.
    """
    checked = store.verify_all() if whole else store.verify(store.find(run))
    emit([f"ok  {line}\n" for line in checked])
