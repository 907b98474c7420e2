"""`yb-eval dataset check FILE` and `dataset hash FILE`."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit, note
from yb_eval.errors import ExitCode, printable


@click.group("dataset")
def command() -> None:
    """Check a dataset file, or print its revision id."""


@command.command("check")
@click.argument("file")
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many problems to list.")
def check(file: str, limit: int) -> int:
    """Read a dataset file from end to end and list what is wrong with it, each with its line.

    Rows are checked as rows; a suite checks its own fields when it runs. Ends with 2 if anything is wrong.
    """
    from yb_eval.datasets import RowDataset
    from yb_eval.plugins import load_extensions

    formats = load_extensions().provide("yb_eval_dataset_formats")
    snapshot, found = RowDataset(file, formats=formats).examine(limit=limit)
    for problem in found:
        note(f"yb-eval: {problem}")
    if snapshot is None:
        return int(ExitCode.REFUSED)
    emit([f"{printable(file)}: {snapshot.count} rows, revision {snapshot.revision_id}\n"])
    for line in snapshot.notes:
        note(f"note: {line}")
    return 0


@command.command("hash")
@click.argument("files", nargs=-1, required=True)
def hash_files(files: tuple[str, ...]) -> None:
    """Print the revision id of dataset files: the sha256 of their exact bytes."""
    from yb_eval.datasets import Source

    emit([f"{Source.open(file).digest('rows').sha256}  {printable(file)}\n" for file in files])
