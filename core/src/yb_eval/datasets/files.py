"""A dataset in several files: one carries the samples, the suite reads the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import define, field, frozen

from yb_eval.datasets.source import MEMORY_LIMIT, Source, normalised
from yb_eval.digest import revision_id
from yb_eval.errors import DatasetError
from yb_eval.interfaces import Dataset, Snapshot
from yb_eval.model import FileDigest, Sample

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


@frozen(slots=True)
class DataFile:
    """A file of a dataset that holds no samples (a catalogue, an environment): its bytes, read once.

    What the suite makes of `data` is by construction what `digest` identifies. `role` says what the file is for.
    """

    name: str
    data: bytes = field(repr=False)
    digest: FileDigest

    @classmethod
    def read(cls, path: str | Path | Traversable, *, role: str, limit: int = MEMORY_LIMIT) -> DataFile:
        """Raises `DatasetError` if the file cannot be read, is empty or is larger than `limit` bytes."""
        source = Source.open(path)
        data = source.read(limit)
        if not data:
            raise DatasetError("an empty file", where=source.name)
        return cls(source.name, data, source.digest(role))


def _as_tuple(files: Sequence[DataFile]) -> tuple[DataFile, ...]:
    return tuple(files)


@frozen(slots=True)
class MultiFile:
    """A dataset whose revision covers more than the file of its samples.

    `rows` is the dataset with the samples, `others` the files beside it; no two have the same role.
    """

    rows: Dataset
    others: Sequence[DataFile] = field(converter=_as_tuple)

    @property
    def fields(self) -> frozenset[str] | None:
        """The names a filter may use, as far as the dataset of the samples knows them."""
        return getattr(self.rows, "fields", None)

    def open(self) -> MultiFileSnapshot:
        inner = self.rows.open()
        files = [*inner.files, *(other.digest for other in self.others)]
        roles = [file.role for file in files]
        repeated = next((role for index, role in enumerate(roles) if role in roles[:index]), None)
        if repeated is not None:
            raise DatasetError(f"two files of the dataset {inner.id!r} have the role {repeated!r}")
        return MultiFileSnapshot(inner, self.others, inner.id, revision_id(files), inner.count, files, inner.notes)


@define(slots=True)
class MultiFileSnapshot:
    """See `yb_eval.interfaces.Snapshot`; `files` lists the file of the samples first."""

    _inner: Any = field(repr=False)
    _others: Sequence[DataFile] = field(repr=False)
    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str]

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        inner: Snapshot = self._inner
        return inner.samples(batch_size)

    def normalised_files(self) -> list[FileDigest]:
        others = [normalised(iter((other.data,)), other.digest.role) for other in self._others]
        return [*self._inner.normalised_files(), *others]

    def normalised_revision(self) -> str:
        """The revision that the files would have with LF line ends."""
        return revision_id(self.normalised_files())
