"""`yb-eval triage audit`: which labels of a data set are suspect?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import orjson
from attrs import asdict

from yb_eval import UsageError
from yb_eval.errors import printable
from yb_eval_triage.examples import Example, read_examples
from yb_eval_triage.task import TaskError
from yb_eval_triage.tasks import SHIPPED, open_task

if TYPE_CHECKING:
    from yb_eval_triage.triagers.audit import Audit

#: Characters of a text that are shown.
_TEXT = 72


@click.command()
@click.option("--task", default="ops", show_default=True, help=f"{', '.join(SHIPPED)}, or a task file (TOML).")
@click.option("--split", default="train", show_default=True, help="Which of the task's files.")
@click.option("--rows", type=click.Path(path_type=Path), help="Your own labelled rows instead.")
@click.option(
    "--similarity",
    type=click.FloatRange(0.1, 1.0),
    default=0.8,
    show_default=True,
    help="From where on two texts are near-duplicates.",
)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Suspects listed of each kind.")
@click.option("--json", "as_json", is_flag=True, help="All of them, as one JSON document.")
def audit(task: str, split: str, rows: Path | None, similarity: float, limit: int, as_json: bool) -> None:
    """List labels to look at again, most suspect first.

    Two signs: a model that did not see the row is sure of another label (cross-validation), and near-duplicates that
    carry different labels. A suspect is a row to look at, not an error; the exit code is 0 whatever is found.
    """
    from yb_eval_triage.triagers.audit import audit_labels

    try:
        opened = open_task(task)
        path = opened.path(split) if rows is None else rows
        examples = read_examples(_bytes(path), task=opened, where=str(path))
        found = audit_labels(opened, examples, similarity=similarity)
    except TaskError as error:
        raise UsageError(error.message) from error
    if as_json:
        click.echo(orjson.dumps(asdict(found), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
        return
    for line in _lines(found, {row.id: row for row in examples}, limit):
        click.echo(line)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error


def _lines(found: Audit, rows: Mapping[str, Example], limit: int) -> Iterator[str]:
    suspects = len(found.suspects())
    yield (
        f"{suspects:,} of {found.rows:,} labels are suspect ({suspects / found.rows:.1%}); "
        f"a model that did not see the row agrees with {found.agreement:.1%} of them"
    )
    if found.disagreements:
        yield f"\nA model is sure of another label: {len(found.disagreements):,}"
    for item in found.disagreements[:limit]:
        yield f"  {item.id}  {item.label} ({item.given:.2f}) -> {item.suggested} ({item.confidence:.2f})"
        yield f"    {_shown(rows[item.id].text)}"
    if found.clashes:
        yield f"\nNear-duplicates with different labels: {len(found.clashes):,}"
    for clash in found.clashes[:limit]:
        yield f"  {clash.similarity:.2f}  {clash.first} {clash.first_label} / {clash.second} {clash.second_label}"
        yield f"    {_shown(rows[clash.first].text)}"
        yield f"    {_shown(rows[clash.second].text)}"


def _shown(text: str) -> str:
    return printable(text if len(text) <= _TEXT else f"{text[: _TEXT - 3]}...")
