"""Several datasets as one: their samples one after another, under one revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, overload

from attrs import define, field, frozen

from yb_eval.digest import revision_id
from yb_eval.errors import DatasetError
from yb_eval.interfaces import Dataset, Snapshot
from yb_eval.model import FileDigest, Sample

_AT_ONCE = 1_000


@frozen(slots=True)
class Joined:
    """The samples of `parts`, by name, one part after another. Each gets the tag `TAG:NAME` of its part."""

    parts: Mapping[str, Dataset]
    tag: str = "part"

    @property
    def fields(self) -> frozenset[str] | None:
        """The names a filter may use: those of all parts, if each knows its own."""
        found: set[str] = set()
        for part in self.parts.values():
            fields: frozenset[str] | None = getattr(part, "fields", None)
            if fields is None:
                return None
            found |= fields
        return frozenset(found)

    def open(self) -> JoinedSnapshot:
        """Raises `DatasetError` for an id that two parts have, or a role of files."""
        return join({name: part.open() for name, part in self.parts.items()}, self.tag)


def join(snapshots: Mapping[str, Snapshot], tag: str) -> JoinedSnapshot:
    """The snapshots as one; see `Joined`."""
    _refuse_repeated(snapshots)
    files = [file for snapshot in snapshots.values() for file in snapshot.files]
    return JoinedSnapshot(
        snapshots,
        tag,
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
                        hint="run them apart, or rename it",
                    )


@define(slots=True)
class JoinedSnapshot:
    """See `yb_eval.interfaces.Snapshot`."""

    _parts: Mapping[str, Any] = field(repr=False)
    _tag: str
    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str]

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        for name, part in self._parts.items():
            for batch in part.samples(batch_size):
                yield Tagged(batch, f"{self._tag}:{name}")

    def normalised_files(self) -> list[FileDigest]:
        return [file for part in self._parts.values() for file in part.normalised_files()]

    def normalised_revision(self) -> str:
        """The revision that the files would have with LF line ends."""
        return revision_id(self.normalised_files())


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
