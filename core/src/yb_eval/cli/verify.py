"""`yb-eval verify RUN`: recompute every digest, offline."""

from __future__ import annotations

from pathlib import Path

import click

from yb_eval.cli.output import emit, note
from yb_eval.cli.store_option import store_option
from yb_eval.errors import UsageError
from yb_eval.record import Store


@click.command("verify")
@click.argument("run", required=False)
@click.option("--all", "whole", is_flag=True, help="Verify every object and every run of the store.")
@click.option(
    "--attestation", metavar="FILE", help="Check an in-toto statement (see `yb-eval attest`) against the store."
)
@store_option
def command(run: str | None, whole: bool, attestation: str | None, store: Store) -> None:
    """Recompute every digest of a stored run: its manifest, its outcome log, its plan_id and its run_id.

    With --attestation, of the run that the statement is of; and whatever the statement says must follow from that run.
    Its signature, if it has one, is for the tool that made it to check.

    Ends with 3 at the first that does not hold.
    """
    if attestation is None:
        if whole and run is not None:
            raise UsageError("--all names every run", hint="leave out RUN, or --all")
        checked = store.verify_all() if whole else store.verify(store.find(run or "latest"))
        if not checked:  # nothing that was verified is nothing that holds
            raise UsageError("nothing has been run yet", where=str(store.root), hint="yb-eval run SUITE")
        emit([f"ok  {line}\n" for line in checked])
        return
    if whole or run is not None:
        raise UsageError("--attestation names the run itself", hint="leave out RUN and --all")
    from yb_eval.record.attestation import read_statement, verify_statement

    read = read_statement(Path(attestation))
    emit([f"ok  {line}\n" for line in verify_statement(store, read.statement)])
    if read.signed:
        note("note: the statement is signed; who signed it is for cosign or `gh attestation verify` to say")
