"""`yb-eval attest RUN`: a run as an in-toto statement, for others to sign."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.record import Store


@click.command("attest")
@click.argument("run", default="latest")
@click.option(
    "--subject", "subjects", multiple=True, metavar="NAME@sha256:HEX",
    help="What was tested; repeatable.  [default: the commit, if it was clean]",
)  # fmt: skip
@click.option(
    "--predicate", "predicate_only", is_flag=True, help="Print the predicate alone: the signer names the subject."
)
@store_option
def command(run: str, subjects: tuple[str, ...], predicate_only: bool, store: Store) -> None:
    """Print a stored run as an in-toto Statement v1 with a test result.

    The run is verified first. The statement is not signed: that is for whoever vouches for it.

    \b
      yb-eval attest latest --subject router@sha256:... > statement.json
      cosign attest-blob --statement statement.json ...
      yb-eval attest latest --predicate > predicate.json
      cosign attest --type https://in-toto.io/attestation/test-result/v0.1 --predicate predicate.json IMAGE
    """
    import orjson

    from yb_eval.record.attestation import predicate, statement

    found = store.find(run)
    store.verify(found)
    made = predicate(store, found) if predicate_only else statement(store, found, subjects)
    emit([orjson.dumps(made, option=orjson.OPT_INDENT_2).decode(), "\n"])
