"""The rows of a triage task, and several tasks one after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from attrs import Factory, define, evolve, field, frozen

from yb_eval import DatasetError, Sample, Snapshot
from yb_eval.datasets import Cells, Codec, Format, RawRow, Reader, RowDataset, RowError, Source, format_of
from yb_eval.digest import revision_id
from yb_eval.model import FileDigest
from yb_eval_triage.examples import row_fault
from yb_eval_triage.task import Task

#: How a sample of a run over several tasks says which one it belongs to.
TASK_TAG = "task:"

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
class TaskCodec:
    """A format's codec that also checks a row against the task: a misspelt label is the dataset's fault, not the
    triager's."""

    inner: Codec
    task: Task
    unasked: Unasked | None = None

    @property
    def cells(self) -> Cells:
        return self.inner.cells

    def check(self, raw: bytes) -> dict[str, Any]:
        row = self.inner.check(raw)
        fault = row_fault(row, self.task)
        if fault is not None:
            raise RowError(fault)
        if self.unasked is not None:
            self.unasked.strike(row.get("id"))
        return row

    def decode(self, raw: bytes) -> dict[str, Any]:
        return self.inner.decode(raw)


@frozen(slots=True)
class TaskReader:
    """A format's reader whose codec knows the task."""

    inner: Reader
    codec: TaskCodec

    @property
    def dataset_id(self) -> str | None:
        return self.inner.dataset_id

    @property
    def header(self) -> Any:
        return self.inner.header

    @property
    def numbered(self) -> bool:
        return self.inner.numbered

    @property
    def notes(self) -> Sequence[str]:
        return self.inner.notes

    def rows(self) -> Iterator[RawRow]:
        return self.inner.rows()

    def where(self, number: int, *, line: int = 1, path: str = "$") -> str:
        return self.inner.where(number, line=line, path=path)

    def offset(self, number: int) -> int | None:
        return self.inner.offset(number)


@frozen(slots=True)
class TaskFormat:
    """A format whose rows are checked against a task while they are read for the first time."""

    inner: Format
    task: Task
    unasked: Unasked | None = None

    def __call__(self, source: Source) -> TaskReader:
        reader = self.inner(source)
        return TaskReader(reader, TaskCodec(reader.codec, self.task, self.unasked))


@frozen(slots=True)
class TaskDataset:
    """Labelled rows of one task."""

    rows: RowDataset

    @property
    def fields(self) -> frozenset[str]:
        return _FILTERABLE

    def open(self, unasked: Unasked | None = None) -> Snapshot:
        """With `unasked`, the rows that give themselves an id strike it off."""
        if unasked is None:
            return self.rows.open()
        assert isinstance(self.rows.format, TaskFormat)
        return evolve(self.rows, format=evolve(self.rows.format, unasked=unasked)).open()


def task_dataset(task: Task, rows: Path, formats: Mapping[str, Any] | None, *, role: str = "rows") -> TaskDataset:
    """The rows in a file, for one task."""
    format = TaskFormat(format_of(str(rows), formats), task)
    return TaskDataset(RowDataset(rows, dataset_id=f"{task.name}-{rows.stem}", role=role, format=format))


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
        snapshots = {name: part.open(unasked) for name, part in self.parts.items()}
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
