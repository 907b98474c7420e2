"""The rows of a triage task, and several tasks one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import Factory, define, evolve, frozen

from yb_eval import DatasetError, Sample, Snapshot
from yb_eval.datasets import Format, RowDataset, RowError, checked, format_of, join
from yb_eval_triage.examples import row_fault
from yb_eval_triage.task import Task

#: How a sample of a run over several tasks says which one it belongs to.
TASK_TAG = "task"

#: The names a filter may use. The data of a sample is the row itself, an object with these fields.
_FILTERABLE = frozenset(("id", "tags", "text", "meta", "gold", "acceptable", "source", "note"))

_AT_ONCE = 1_000


@define(slots=True)
class Unasked:
    """Recorded answers that no row has asked for yet: id -> line. Rows are struck off as they are checked, which saves
    reading them once more. Pickles empty: a worker only decodes."""

    lines: dict[str, int] = Factory(dict)

    def strike(self, sample_id: Any) -> None:
        if type(sample_id) is str:
            self.lines.pop(sample_id, None)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Unasked, ())


@frozen(slots=True)
class TaskRow:
    """Whether a row fits the task: a misspelt label is the dataset's fault, not the triager's."""

    task: Task
    unasked: Unasked | None = None

    def __call__(self, row: Mapping[str, Any]) -> None:
        fault = row_fault(row, self.task)
        if fault is not None:
            raise RowError(fault)
        if self.unasked is not None:
            self.unasked.strike(row.get("id"))


@frozen(slots=True)
class TaskDataset:
    """Labelled rows of one task in a file of the format `format`."""

    task: Task
    rows: RowDataset
    format: Format

    @property
    def fields(self) -> frozenset[str]:
        return _FILTERABLE

    def open(self, unasked: Unasked | None = None) -> Snapshot:
        """With `unasked`, the rows that give themselves an id strike it off."""
        return evolve(self.rows, format=checked(self.format, TaskRow(self.task, unasked))).open()


def task_dataset(task: Task, rows: Path, formats: Mapping[str, Any] | None, *, role: str = "rows") -> TaskDataset:
    """The rows in a file, for one task."""
    dataset = RowDataset(rows, dataset_id=f"{task.name}-{rows.stem}", role=role)
    return TaskDataset(task, dataset, format_of(str(rows), formats))


@frozen(slots=True)
class Answered:
    """A dataset for which answers were recorded: an answer to a row that it does not have is refused."""

    dataset: TaskDataset | Joined
    lines: Mapping[str, int]
    where: str

    @property
    def fields(self) -> frozenset[str]:
        return self.dataset.fields

    def open(self) -> Snapshot:
        unasked = Unasked(dict(self.lines))
        snapshot = self.dataset.open(unasked)
        if unasked.lines:  # or else rows that are known by their content have asked for them
            for batch in snapshot.samples(_AT_ONCE):
                for sample in batch:
                    unasked.strike(sample.id)
        if left := unasked.lines:
            first, line = next(iter(left.items()))
            raise DatasetError(
                f"{len(left)} answer(s) to rows that are not measured, the first with the id {first!r}",
                where=f"{self.where}:{line}",
                hint="answer the rows of --task, --split or --rows",
            )
        return snapshot


@frozen(slots=True)
class Joined:
    """The rows of several tasks, one task after another, under one revision. Each sample gets the tag `task:NAME`."""

    parts: Mapping[str, TaskDataset]

    @property
    def fields(self) -> frozenset[str]:
        return _FILTERABLE

    def open(self, unasked: Unasked | None = None) -> Snapshot:
        return join({name: part.open(unasked) for name, part in self.parts.items()}, TASK_TAG)


def task_of(tags: Sequence[str]) -> str | None:
    """The task that a sample of a joined run belongs to."""
    opening = f"{TASK_TAG}:"
    return next((tag[len(opening) :] for tag in reversed(tags) if tag.startswith(opening)), None)


def request_of(sample: Sample, task: Task) -> dict[str, Any]:
    """The request to a target."""
    row = sample.data
    return {"id": sample.id, "task": task.name, "text": row["text"], "meta": row.get("meta", {})}


def acceptable_of(row: Mapping[str, Any]) -> Sequence[str]:
    """The labels that are right beside the gold one."""
    acceptable: Sequence[str] = row["acceptable"].get("label", ()) if "acceptable" in row else ()
    return acceptable


def label_of(row: Mapping[str, Any]) -> str | None:
    """The gold label; where only acceptable ones are given, the first of them."""
    label: str | None = row["gold"].get("label")
    if label is None and (acceptable := acceptable_of(row)):
        return acceptable[0]
    return label
