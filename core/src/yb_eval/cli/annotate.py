"""`yb-eval annotate RUN`: broken samples as annotations of a GitHub job, at their lines in the dataset files."""

from __future__ import annotations

from pathlib import Path

import click

from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.record import Store


@click.command("annotate")
@click.argument("run", default="latest", metavar="RUN|REPORT.json")
@click.option("--checkout", default=".", metavar="FOLDER", help="The repository's folder.  [default: .]")
@click.option("--limit", type=click.IntRange(1, 50), default=10, show_default=True, help="The most of each type.")
@store_option
def command(run: str, checkout: str, limit: int, store: Store) -> None:
    """Print a run's failed gates and broken samples as workflow commands of GitHub Actions.

    GitHub shows each at its line of the dataset file, if that file is in the repository: it is found by its sha256.
    GitHub shows ten errors and ten warnings of one step.
    """
    from yb_eval.cli.reported import read_run, shown
    from yb_eval.forges import workflow_commands

    view = read_run(run, store)
    emit(shown(run, lambda: list(workflow_commands(view, Path(checkout).resolve(), limit=limit))))
