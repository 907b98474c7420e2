"""Rows of a corpus, and revision documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import evolve, frozen

from yb_eval.datasets import Cells, Codec, Document, Format, Reader, RowDataset, RowError, Source
from yb_eval.executors import ProcessExecutor

#: What a revision document may have at most, both inclusive.
MAX_BYTES = 8 * 1024 * 1024
MAX_SAMPLES = 10_000


@frozen(slots=True, kw_only=True)
class GuardRow:
    """A text and whether a guard should raise on it. `type` says what is in it (`clean` for nothing)."""

    text: str
    type: str
    expect: Literal["detect", "clean"]


@frozen(slots=True, kw_only=True)
class RevisionSample:
    """A sample of a revision document: the same fields, under `payload`. Nothing else is let in."""

    id: str
    payload: GuardRow


@frozen(slots=True, kw_only=True)
class RevisionHeader:
    """What a revision document says beside its samples. The version is the integer 1: neither `true` nor `1.0`."""

    schema_version: Literal[1]
    dataset_id: str


@frozen(slots=True)
class _NoTags:
    """A codec whose rows have no tags: everywhere else a row may bring some, undeclared; in a revision it may not."""

    inner: Codec
    cells: Cells = "json"

    def check(self, raw: bytes) -> dict[str, Any]:
        row = self.inner.check(raw)
        if "tags" in row:
            raise RowError("unknown field", path="$.tags", hint="a sample has an id and a payload")
        return row

    def decode(self, raw: bytes) -> dict[str, Any]:
        return self.inner.decode(raw)


_DOCUMENT = Document(rows="samples", header=RevisionHeader, size_limit=MAX_BYTES, sample_limit=MAX_SAMPLES)


def revision(source: Source) -> Reader:
    """The format of revision documents. Raises `DatasetError`, naming the JSON path, for whatever is not right."""
    reader = _DOCUMENT(source)
    strict: Reader = evolve(reader, codec=_NoTags(reader.codec))  # type: ignore[arg-type]  # any `Codec` will do
    return strict


def row_of(data: GuardRow | RevisionSample) -> GuardRow:
    """The labelled text of a sample, whichever kind of file it came from."""
    return data.payload if isinstance(data, RevisionSample) else data


def corpus_dataset(path: Path, formats: Mapping[str, Format] | None, *, jobs: int = 1) -> RowDataset:
    """JSONL rows of `text`, `type`, `expect`, optionally `id` and `tags`; a large file is checked by `jobs` processes."""
    return RowDataset(path, row=GuardRow, formats=formats, executor=ProcessExecutor(jobs))


def revision_dataset(path: Path) -> RowDataset:
    """A revision document, read whole: at most 8 MiB and 10,000 samples, both inclusive."""
    return RowDataset(path, row=RevisionSample, format=revision, role="revision")
