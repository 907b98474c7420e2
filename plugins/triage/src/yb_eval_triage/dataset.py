"""The rows of a triage task, and several tasks one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from attrs import define, field, frozen

from yb_eval import Dataset, DatasetError, Sample, Snapshot
from yb_eval.datasets import RowDataset
from yb_eval.digest import revision_id
from yb_eval.model import FileDigest
from yb_eval_triage.examples import gold_faults
from yb_eval_triage.task import Task

#: How a sample of a run over several tasks says which one it belongs to.
TASK_TAG = "task:"

_AT_ONCE = 1_000


@frozen(slots=True, kw_only=True)
class Gold:
    """What is right. What is absent is not judged."""

    label: str | None = None
    severity: int | None = None
    escalate: bool | None = None


@frozen(slots=True, kw_only=True)
class Acceptable:
    """Labels that are right too."""

    label: tuple[str, ...] = ()


@frozen(slots=True, kw_only=True)
class TriageRow:
    """An item and what is right about it. `source` and `note` are for people."""

    text: str = field(metadata={"may_be_empty": True})
    gold: Gold
    meta: dict[str, Any] = field(factory=dict)
    acceptable: Acceptable = Acceptable()
    source: str | None = None
    note: str | None = None

    def request(self, sample_id: str, task: str) -> dict[str, Any]:
        """The request to a target."""
        return {"id": sample_id, "task": task, "text": self.text, "meta": self.meta}

    @property
    def label(self) -> str | None:
        """The gold label; where only acceptable ones are given, the first of them."""
        if self.gold.label is None and self.acceptable.label:
            return self.acceptable.label[0]
        return self.gold.label


@frozen(slots=True)
class TaskDataset:
    """Rows that are all labelled within the task: a misspelt label is the dataset's fault, not the triager's."""

    rows: RowDataset
    task: Task

    @property
    def fields(self) -> frozenset[str] | None:
        return self.rows.fields

    def open(self) -> Snapshot:
        snapshot = self.rows.open()
        for batch in snapshot.samples(_AT_ONCE):
            for sample in batch:
                fault = next(_faults(sample.data, self.task), None)
                if fault is not None:
                    raise DatasetError(f"the row {sample.id!r}: {fault}", where=f"{self.rows.path}:{sample.line}")
        return snapshot


def _faults(row: TriageRow, task: Task) -> Iterator[str]:
    gold = row.gold
    if gold.severity is not None or gold.escalate is not None or (gold.label or "") not in task.labels:
        yield from gold_faults({"label": gold.label, "severity": gold.severity, "escalate": gold.escalate}, task)
    for label in row.acceptable.label:
        if label not in task.labels:
            yield f"acceptable label {label!r} is not in the label set of task {task.name}"


def task_dataset(task: Task, rows: Path, formats: Mapping[str, Any] | None, *, role: str = "rows") -> TaskDataset:
    """The rows in a file, for one task."""
    return TaskDataset(
        RowDataset(rows, row=TriageRow, dataset_id=f"{task.name}-{rows.stem}", role=role, formats=formats), task
    )


@frozen(slots=True)
class Joined:
    """The rows of several tasks, one task after another, under one revision. Each sample gets the tag `task:NAME`."""

    parts: Mapping[str, Dataset]

    @property
    def fields(self) -> frozenset[str] | None:
        return getattr(next(iter(self.parts.values())), "fields", None)

    def open(self) -> Snapshot:
        snapshots = {name: part.open() for name, part in self.parts.items()}
        _refuse_repeated(snapshots)
        files = [file for snapshot in snapshots.values() for file in snapshot.files]
        return JoinedSnapshot(
            snapshots,
            "+".join(snapshot.id for snapshot in snapshots.values()),
            revision_id(files),
            sum(snapshot.count for snapshot in snapshots.values()),
            files,
            [note for snapshot in snapshots.values() for note in snapshot.notes],
        )


def _refuse_repeated(snapshots: Mapping[str, Snapshot]) -> None:
    seen: dict[str, str] = {}
    for name, snapshot in snapshots.items():
        for batch in snapshot.samples(_AT_ONCE):
            for sample in batch:
                if seen.setdefault(sample.id, name) != name:
                    raise DatasetError(
                        f"the id {sample.id!r} is in the rows of {seen[sample.id]} and of {name}",
                        hint="run the tasks apart, or rename it",
                    )


@define(slots=True)
class JoinedSnapshot:
    """See `yb_eval.Snapshot`."""

    parts: Mapping[str, Snapshot] = field(repr=False)
    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str]

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        for name, part in self.parts.items():
            for batch in part.samples(batch_size):
                yield Tagged(batch, f"{TASK_TAG}{name}")


@frozen(slots=True)
class Tagged(Sequence[Sample]):
    """A batch whose samples have one more tag; as lazy as the batch."""

    batch: Sequence[Sample]
    tag: str

    def __len__(self) -> int:
        return len(self.batch)

    def __iter__(self) -> Iterator[Sample]:
        return (self._tagged(sample) for sample in self.batch)

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(index, slice):
            return [self._tagged(sample) for sample in self.batch[index]]
        return self._tagged(self.batch[index])

    def _tagged(self, sample: Sample) -> Sample:
        return Sample(sample.id, sample.data, (*sample.tags, self.tag), sample.line, sample.repeat)


def task_of(tags: Sequence[str]) -> str | None:
    """The task that a sample of a joined run belongs to."""
    return next((tag[len(TASK_TAG) :] for tag in reversed(tags) if tag.startswith(TASK_TAG)), None)
