"""What an executor is, and which one a run gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from yb_eval.errors import UsageError, nearest
from yb_eval.interfaces import Concurrency

Item = TypeVar("Item")
Result = TypeVar("Result")

#: What is done to each batch. For `processes` it is pickled once per worker, so it may be heavy; items should be light.
Work = Callable[[Item], Result]


class Executor(Protocol):
    """Applies work to items, several at once, and yields the results in the order of the items."""

    @property
    def jobs(self) -> int: ...

    def map(self, work: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
        """Yields `work(item)` for each item, in order. The first exception ends the iteration; closing the iterator
        early stops what has not begun and waits for what has."""


def choose(
    name: str | None, jobs: int, concurrency: Concurrency, offered: Mapping[str, Callable[[int], Executor]]
) -> Executor:
    """The executor called `name`; without a name, the one that suits the evaluator: serial for one job.

    Raises `UsageError` for an unknown name.
    """
    if name is None:
        name = "serial" if jobs == 1 else concurrency
    if name not in offered:
        raise UsageError(f"unknown executor {name!r}", hint=nearest(name, offered))
    return offered[name](jobs)
