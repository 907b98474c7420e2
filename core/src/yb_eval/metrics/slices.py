"""The same metric for each part of a dataset: per language, per kind, per type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import define, evolve, frozen

from yb_eval.batches import OutcomeBatch
from yb_eval.errors import EvaluationError, shorten
from yb_eval.interfaces import Metric
from yb_eval.metrics.base import slice_name
from yb_eval.model import Declared, Measurement, Outcome

#: Slices that are measured, the largest first; data that gives every row a tag of its own must not flood a report.
MAX_SLICES = 500


@define(slots=True)
class Slice:
    """The outcomes of one slice, counted, and the inner metric's state over them."""

    n: int
    state: Any


@frozen(slots=True, kw_only=True)
class Sliced:
    """Measures `metric` for each slice of the outcomes: `recall` becomes `recall[lang:ru]`.

    `by="tags"`: an outcome belongs to each of its tags that starts with `keys` (`lang:`). `by="NAME"`: to the string,
    or each string of the list, in its details under that name. `by=function`: to each key that a module-level
    function of the outcome gives. An outcome without a key belongs to no slice.

    Keeps one state of the inner metric per slice. The 500 largest slices are measured (by outcomes, the first in text
    order among equals), in text order. Denominators are the inner metric's.
    """

    metric: Metric[Any]
    by: str | Callable[[Outcome], Iterable[str]] = "tags"
    keys: str = ""

    @property
    def declares(self) -> Sequence[Declared]:
        return tuple(evolve(declared, sliced=True) for declared in self.metric.declares)

    def start(self) -> dict[str, Slice]:
        return {}

    def add(self, state: dict[str, Slice], outcomes: Sequence[Outcome]) -> dict[str, Slice]:
        for key, part in self._parts(outcomes).items():
            found = state.get(key)
            if found is None:
                found = state[key] = Slice(0, self.metric.start())
            found.n += len(part)
            found.state = self.metric.add(found.state, part)
        return state

    def _parts(self, outcomes: Sequence[Outcome]) -> Mapping[str, Sequence[Outcome]]:
        parts: dict[str, list[Outcome]] = {}
        if isinstance(outcomes, OutcomeBatch) and isinstance(self.by, str):  # a function may look at the id
            kinds: dict[str, set[int]] = {}
            for kind, (keys, _) in enumerate(self._keyed(outcomes.kinds)):
                for key in keys:
                    kinds.setdefault(key, set()).add(kind)
            batches = {key: outcomes.part(of) for key, of in kinds.items()}
            return {key: batch for key, batch in batches.items() if batch}
        for keys, outcome in self._keyed(outcomes):
            for key in keys:
                parts.setdefault(key, []).append(outcome)
        return parts

    def _keyed(self, outcomes: Sequence[Outcome]) -> Iterator[tuple[tuple[str, ...], Outcome]]:
        """Each outcome, in order, with the keys of the slices it belongs to."""
        if self.by != "tags":
            yield from ((self._wanted(self._keys_of(outcome)), outcome) for outcome in outcomes)
            return
        # There are few sets of tags and many outcomes.
        known: dict[tuple[str, ...], tuple[str, ...]] = {}
        for outcome in outcomes:
            keys = known.get(outcome.tags)
            if keys is None:
                keys = known[outcome.tags] = self._wanted(outcome.tags)
            yield keys, outcome

    def _wanted(self, keys: Iterable[str]) -> tuple[str, ...]:
        return tuple(key for key in dict.fromkeys(keys) if key.startswith(self.keys))

    def _keys_of(self, outcome: Outcome) -> Iterable[str]:
        value = outcome.details.get(self.by) if isinstance(self.by, str) else self.by(outcome)
        if value is None:
            return ()
        if isinstance(value, str):
            return (value,)
        keys = tuple(value) if isinstance(value, Iterable) else (value,)
        if all(isinstance(key, str) for key in keys):
            return keys
        raise EvaluationError(
            f"sample {outcome.id!r} cannot be sliced by {shorten(value)}", hint="a string or a list of strings"
        )

    def merge(self, left: dict[str, Slice], right: dict[str, Slice]) -> dict[str, Slice]:
        for key, part in right.items():
            mine = left.get(key)
            if mine is None:
                left[key] = part
            else:
                mine.n += part.n
                mine.state = self.metric.merge(mine.state, part.state)
        return left

    def finish(self, state: dict[str, Slice]) -> Sequence[Measurement]:
        largest = sorted(state, key=lambda key: (-state[key].n, key))[:MAX_SLICES]
        return [
            evolve(measurement, name=slice_name(measurement.name, key))
            for key in sorted(largest)
            for measurement in self.metric.finish(state[key].state)
        ]
