"""A part of a dataset: `--filter` and `--limit`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
from attrs import define, field, frozen

from yb_eval.datasets.batch import Batch, BlockBatch
from yb_eval.errors import DatasetError, ExpressionError, shorten
from yb_eval.expressions import Expression, Missing, Vocabulary
from yb_eval.interfaces import Dataset, Snapshot
from yb_eval.model import FileDigest, Sample

#: Samples looked at in one go while the filter is applied.
_AT_ONCE = 1_000


@frozen(slots=True)
class Selected:
    """The samples of `dataset` for which `filter` is true, and of these the first `limit`.

    The filter's names are `id`, `tags` and the row's fields (`meta.source` or `meta["source"]` for one inside another);
    a field that a row does not have is null. A row for which the filter has no answer because a name in it is null
    (`"x" in note`) is not selected; an answer that is impossible for any other reason is an error. The revision stays
    that of the whole.
    """

    dataset: Dataset
    filter: Expression | None = None
    limit: int | None = None

    def open(self) -> SelectedSnapshot:
        """Raises `ExpressionError` for a filter that cannot be applied, `DatasetError` if nothing is selected."""
        if self.limit is not None and self.limit < 1:
            raise DatasetError(f"a limit of {self.limit} selects nothing", hint="--limit takes 1 or more")
        fields: frozenset[str] | None = getattr(self.dataset, "fields", None)
        if self.filter is not None:
            vocabulary = Vocabulary(names=None if fields is None else fields | {"id", "tags"})
            for reference in self.filter.references():
                # `meta.source` is the field `meta`; the language has dotted names, not attributes.
                vocabulary.check(attrs.evolve(reference, base=reference.base.partition(".")[0]), self.filter.text)
        inner = self.dataset.open()
        positions = self._positions(inner)
        if positions is not None and not positions:
            assert self.filter is not None
            raise DatasetError(f"none of the {inner.count} samples of {inner.id!r} matches {shorten(self.filter.text)}")
        count = len(positions) if positions is not None else min(inner.count, self.limit or inner.count)
        return SelectedSnapshot(inner, positions, inner.id, inner.revision_id, count, inner.files, inner.notes)

    def _positions(self, snapshot: Snapshot) -> array[int] | None:
        """Where the selected samples stand; `None` where that is simply the beginning."""
        if self.filter is None:
            return None
        positions = array("Q")
        at = 0
        for batch in snapshot.samples(_AT_ONCE):
            for sample in batch:
                if _matches(self.filter, sample):
                    positions.append(at)
                    if len(positions) == self.limit:
                        return positions
                at += 1
        return positions


@define(slots=True)
class SelectedSnapshot:
    """See `yb_eval.interfaces.Snapshot`: `count` is of the selected samples, all else of the whole dataset."""

    inner: Any = field(repr=False)
    _positions: array[int] | None = field(repr=False)
    id: str
    revision_id: str
    count: int
    files: Sequence[FileDigest]
    notes: Sequence[str]

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        """The batches of the whole, each cut down to what is selected; those without any are left out."""
        found = 0
        start = 0
        for batch in self.inner.samples(batch_size):
            if found == self.count:
                return
            if self._positions is None:
                indices: Sequence[int] = range(min(len(batch), self.count - found))
            else:
                indices = []
                while found + len(indices) < self.count and self._positions[found + len(indices)] < start + len(batch):
                    indices.append(self._positions[found + len(indices)] - start)
            start += len(batch)
            found += len(indices)
            if len(indices) == len(batch):
                yield batch
            elif indices:
                lazy = isinstance(batch, Batch | BlockBatch)
                yield batch.take(indices) if lazy else [batch[index] for index in indices]

    def normalised_revision(self) -> str:
        """The revision that the whole would have with LF line ends."""
        revision: str = self.inner.normalised_revision()
        return revision


class _SampleScope:
    """The names of a filter for one sample; `null_used` says whether one of them had no value."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self.null_used = False

    def lookup(self, name: str) -> Any:
        value = self._value(name)
        self.null_used = self.null_used or value is None
        return value

    def call(self, function: str, arguments: list[Any]) -> Any:
        raise Missing(function, "a filter has no functions")

    def _value(self, name: str) -> Any:
        if name == "id":
            return self._sample.id
        if name == "tags":
            return list(self._sample.tags)
        base, _, keys = name.partition("[")
        value: Any = self._sample.data
        for part in (*base.split("."), *(keys[:-1].split("][") if keys else ())):
            if isinstance(value, Mapping):
                value = value.get(part)
            elif attrs.has(type(value)) and part in attrs.fields_dict(type(value)):
                value = getattr(value, part)
            else:
                return None
        return value


def _matches(expression: Expression, sample: Sample) -> bool:
    scope = _SampleScope(sample)
    try:
        answer = expression.evaluate(scope)
    except Missing as missing:
        if scope.null_used:
            return False
        raise ExpressionError(
            f"the filter has no answer for the sample {shorten(sample.id, 40)}: {missing.reason}"
        ) from None
    if not isinstance(answer, bool):
        raise ExpressionError(
            f"the filter {shorten(expression.text)} is neither true nor false for the sample {shorten(sample.id, 40)}",
            hint="compare: lang == \"ru\"",
        )  # fmt: skip
    return answer
