"""Batches worked on as a whole: samples a column at a time, outcomes by what they have in common.

A list of samples and a list of outcomes always do. These two are for evaluators whose work on a sample is so small that
an object for each would cost more: a batch that is a `SampleBatch` gives columns, and an `OutcomeBatch` says that many
outcomes differ in nothing but their id. Both are sequences, so whoever knows nothing of them sees samples and outcomes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress, count
from typing import Any, overload

from yb_eval.model import Outcome, Sample


class SampleBatch(Sequence[Sample]):
    """A batch of samples that can be read a column at a time, before any sample has been made."""

    __slots__ = ()

    @property
    @abstractmethod
    def ids(self) -> Sequence[str]:
        """The id of each sample."""

    @property
    @abstractmethod
    def tags(self) -> Sequence[tuple[str, ...]]:
        """The tags of each sample."""

    @property
    @abstractmethod
    def repeat(self) -> int:
        """Which repeat this is, from 0; the same for all samples of a batch."""

    @abstractmethod
    def column(self, name: str) -> Sequence[Any]:
        """The field `name` of the data of each sample, as the sample would hold it. Raises `KeyError` for a field that
        the data do not have."""

    @abstractmethod
    def again(self, repeat: int) -> SampleBatch:
        """The same samples for another repeat."""


class OutcomeBatch(Sequence[Outcome]):
    """Outcomes of which many are alike.

    Outcome `i` is `kinds[which[i]]` with `ids[i]` as its id; the id of a kind itself says nothing. A kind may be that
    of one outcome alone, or of none. Outcomes are made when they are looked at, and once.
    """

    __slots__ = ("_counted", "_counts", "_made", "ids", "kinds", "which")

    def __init__(self, ids: Sequence[str], kinds: Sequence[Outcome], which: Sequence[int]) -> None:
        if len(ids) != len(which):
            raise ValueError(f"{len(ids)} ids for {len(which)} outcomes")
        self.ids = ids
        self.kinds = kinds
        self.which = which
        self._made: list[Outcome] | None = None
        self._counts: Counter[int] | None = None
        self._counted: list[tuple[Outcome, int]] | None = None

    def __len__(self) -> int:
        return len(self.which)

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self._outcomes())

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> OutcomeBatch: ...
    def __getitem__(self, index: int | slice) -> Outcome | OutcomeBatch:
        if isinstance(index, slice):
            return OutcomeBatch(self.ids[index], self.kinds, self.which[index])
        return self._outcomes()[index]

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, list | tuple | OutcomeBatch) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<OutcomeBatch of {len(self)} outcomes, {len(self.kinds)} kinds>"

    @property
    def counts(self) -> Mapping[int, int]:
        """How many outcomes are of a kind, by its index; 0 for one that none is of."""
        if self._counts is None:
            self._counts = Counter(self.which)
        return self._counts

    def counted(self) -> Sequence[tuple[Outcome, int]]:
        """Each kind and how many outcomes are of it, those of none left out: all that a count needs to see."""
        if self._counted is None:
            counts = self.counts
            self._counted = [(kind, counts[index]) for index, kind in enumerate(self.kinds) if index in counts]
        return self._counted

    def part(self, kinds: Collection[int]) -> OutcomeBatch:
        """The outcomes of these kinds (indices), in order."""
        places = list(compress(count(), map(kinds.__contains__, self.which)))
        return OutcomeBatch([self.ids[i] for i in places], self.kinds, [self.which[i] for i in places])

    def chosen(self, wanted: Callable[[Outcome], bool]) -> list[Outcome]:
        """The outcomes whose kind is `wanted`, in order; the others are not made."""
        counts = self.counts
        kinds = {index for index, kind in enumerate(self.kinds) if index in counts and wanted(kind)}
        return list(self.part(kinds)) if kinds else []

    def _outcomes(self) -> list[Outcome]:
        if self._made is None:
            kinds = self.kinds
            self._made = [_named(kinds[kind], name) for name, kind in zip(self.ids, self.which, strict=True)]
        return self._made


def _named(kind: Outcome, name: str) -> Outcome:
    # By position, in the order of the fields: `evolve` would take three times as long.
    return Outcome(
        name, kind.status, kind.correct, kind.expected, kind.predicted, kind.score, kind.confidence, kind.reason,
        kind.tags, kind.details, kind.judgements, kind.repeat,
    )  # fmt: skip


def alike(outcomes: Sequence[Outcome]) -> Iterable[tuple[Sequence[Outcome], int]]:
    """The outcomes as parts that count so many times each, for a fold that looks at no id: a kind of an `OutcomeBatch`
    as often as it occurs, those that occur once together, anything else as it is, once."""
    if not isinstance(outcomes, OutcomeBatch):
        return ((outcomes, 1),)
    counted = outcomes.counted()
    single = [kind for kind, times in counted if times == 1]
    return [(single, 1), *(((kind,), times) for kind, times in counted if times > 1)]


def chosen(outcomes: Sequence[Outcome], wanted: Callable[[Outcome], bool]) -> Sequence[Outcome]:
    """The outcomes that are `wanted`, which is not asked about ids."""
    if isinstance(outcomes, OutcomeBatch):
        return outcomes.chosen(wanted)
    return [outcome for outcome in outcomes if wanted(outcome)]
