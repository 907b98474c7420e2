"""Rows of a corpus, and revision documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from attrs import field, frozen

from yb_eval.datasets import Document, RowDataset

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
    dataset_id: str = field()


def row_of(data: GuardRow | RevisionSample) -> GuardRow:
    return data.payload if isinstance(data, RevisionSample) else data


def corpus_dataset(path: Path, formats: Mapping[str, Any] | None) -> RowDataset:
    """JSONL rows of `text`, `type`, `expect`, optionally `id` and `tags`."""
    return RowDataset(path, row=GuardRow, formats=formats)


def revision_dataset(path: Path) -> RowDataset:
    """A revision document, read whole: at most 8 MiB and 10,000 samples, both inclusive."""
    document = Document(rows="samples", header=RevisionHeader, size_limit=MAX_BYTES, sample_limit=MAX_SAMPLES)
    return RowDataset(path, row=RevisionSample, format=document, role="revision")
