"""The tasks that ship, the rows each is measured on, and the gates that say something about them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from yb_eval import UsageError
from yb_eval.errors import nearest
from yb_eval_datasets import path
from yb_eval_triage.task import Task, TaskError

#: Where the shipped tasks lie, in the data distribution.
_FOLDER = "triage"


@frozen(slots=True, kw_only=True)
class Shipped:
    """A task that ships.

    `split` is what is measured by default. `floors` and `ceilings` bound measurements by default, by split: they hold
    what the built-in triager reaches today, at the end of the 95 % interval that is further from the goal.
    `aims` bound estimates: where the goal itself is known and the interval is a question of the rows.
    """

    split: str = "test"
    floors: Mapping[str, Mapping[str, float]] = {}
    ceilings: Mapping[str, Mapping[str, float]] = {}
    aims: Mapping[str, Mapping[str, float]] = {}


SHIPPED: Mapping[str, Shipped] = {
    "ops": Shipped(
        floors={"test": {"macro_f1": 0.52, "escalate.recall": 0.66}},
        ceilings={
            "test": {
                "severity.under_triage_rate": 0.24,
                "severity.severe_under_triage_rate": 0.09,
                "severity.expected_cost": 0.16,
            }
        },
    ),
    "clinc150": Shipped(
        split="sample",
        # 182 out-of-scope rows are too few to hold the recall on: that is what the test split is for.
        floors={"sample": {"in_scope_accuracy": 0.89, "macro_f1": 0.84}, "test": {"macro_f1": 0.87}},
        aims={"test": {"in_scope_accuracy": 0.92, "oos_recall": 0.65}},
    ),
    "banking77": Shipped(floors={"test": {"accuracy": 0.89, "macro_f1": 0.89}}),
    "healthcare": Shipped(floors={"test": {"accuracy": 0.65}}),
}


def open_task(name: str) -> Task:
    """The shipped task called `name`, or the task file of that name. Raises `UsageError`."""
    if name in SHIPPED:
        file = path(f"{_FOLDER}/{name}/task.toml")
    else:
        file = Path(name)
        if not file.is_file():
            raise UsageError(f"there is no task {name!r}", hint=f"a task file, or {nearest(name, SHIPPED)}")
    try:
        return Task.load(file)
    except TaskError as error:
        raise UsageError(error.message) from error


def rows_of(task: Task, split: str | None) -> tuple[str, Path]:
    """The split that is measured and its file: the one asked for, or else the task's own. Raises `UsageError`."""
    shipped = SHIPPED.get(task.name)
    chosen = split or (shipped.split if shipped is not None and shipped.split in task.files else "test")
    try:
        return chosen, task.path(chosen)
    except TaskError as error:
        raise UsageError(error.message, hint="--split or --rows") from error
