"""The executor that runs one batch after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import frozen


@frozen(slots=True)
class SerialExecutor:
    """One item after another, in the calling thread."""

    jobs: int = 1

    def map(self, work: Callable[[Any], Any], items: Iterator[Any]) -> Iterator[Any]:
        return map(work, items)
