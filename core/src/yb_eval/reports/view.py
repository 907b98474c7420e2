"""What a reporter is given: the report document, and ways to the run's outcomes and to earlier runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

#: A decoded JSON object.
Json: TypeAlias = Mapping[str, Any]


def _no_outcomes(index: int) -> Iterator[Json]:
    return iter(())


def _no_history(index: int) -> Sequence[Json]:
    return ()


@frozen(slots=True, kw_only=True)
class RunView:
    """One finished run as reporters see it.

    `document` is the report (schema `yb-eval/report/1`); a reporter reads it and never changes it. `outcomes(index)`
    yields the outcome log of suite number `index`, decoded line by line, and may be called again; the log can be longer
    than memory. `history(index)` gives earlier runs of that suite, oldest first: `{"run_id", "started", "verdict",
    "measurements"}`. `color` is whether the reader is a terminal that shows colour, `width` its number of columns.
    """

    document: Json
    outcomes: Callable[[int], Iterator[Json]] = _no_outcomes
    history: Callable[[int], Sequence[Json]] = _no_history
    color: bool = False
    width: int = 80


#: A report in pieces; joined, they are the whole file.
Reporter: TypeAlias = Callable[[RunView], Iterable[str]]
