"""Folds over the outcomes of one sample together, which stand one after another but may be split between two batches."""

from __future__ import annotations

from bisect import insort
from typing import Generic, Protocol, Self, TypeVar

from attrs import define

#: Ids of samples that are listed: the size of a state must not grow with the dataset.
LISTED = 100


class Attempts(Protocol):
    """What is known of one sample so far."""

    @property
    def id(self) -> str: ...
    def join(self, other: Self) -> None:
        """Adds what another batch knows of the same sample."""


One = TypeVar("One", bound=Attempts)


@define(slots=True)
class Consecutive(Generic[One]):
    """The state of such a fold: the two samples at the ends, of which more may come from a neighbouring batch. Subclasses
    count the others in `finish`. `tail` is `None` while `head` is the only sample."""

    head: One | None = None
    tail: One | None = None

    def finish(self, sample: One) -> None:
        """Counts a sample that is complete."""
        raise NotImplementedError

    def follow(self, sample: One) -> None:
        """Puts `sample` behind the last one, or together with it."""
        last = self.tail or self.head
        if last is None:
            self.head = sample
        elif last.id == sample.id:
            last.join(sample)
        else:
            if self.tail is not None:
                self.finish(self.tail)
            self.tail = sample

    def follow_ends(self, right: Self) -> None:
        """Puts the two ends of the state of the next batch behind this one's."""
        if right.head is None:
            return
        self.follow(right.head)
        if right.tail is not None:
            # The sample that just came in is complete: others follow it on the right. At the very left it stays the
            # head.
            if self.tail is not None:
                self.finish(self.tail)
            self.tail = right.tail

    def finish_ends(self, state: Self) -> None:
        """Counts the ends of `state`, after which nothing comes."""
        for sample in (state.head, state.tail):
            if sample is not None:
                self.finish(sample)


def enlist(ids: list[str], sample_id: str) -> None:
    """Adds an id to a list of the `LISTED` smallest."""
    insort(ids, sample_id)
    del ids[LISTED:]
