"""What all metrics of this room share: names with a prefix, the outcomes they look at, rates and nulls.

A metric folds one judgement. Its measurements carry that judgement's name in front (`severity.mae`) unless `prefix`
says otherwise (`prefix=""`: nothing in front).

Every fold here keeps counts and exact sums only (see `exact.py`) and reads them in a sorted order, so that any split
into batches and any tree of merges gives the same measurements bit for bit: `run_id` rests on them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import orjson
from attrs import evolve, frozen

from yb_eval.batches import alike
from yb_eval.errors import EvaluationError, PluginError, shorten
from yb_eval.interfaces import Metric
from yb_eval.model import Declared, Judged, Measurement, Outcome, Pairing
from yb_eval.statistics import wilson

if TYPE_CHECKING:
    from fractions import Fraction

Key = TypeVar("Key", bound=Hashable)

#: The label of a scored outcome whose prediction is null: the system answered, and gave no label.
NO_ANSWER = "(no answer)"


@frozen(slots=True, kw_only=True)
class JudgementMetric:
    """Base of the metrics that fold one judgement: the outcome itself (`judgement=None`) or a named one.

    `prefix` stands in front of the measurements' names, followed by a dot; by default it is the judgement's name.
    """

    judgement: str | None = None
    prefix: str | None = None

    def named(self, name: str) -> str:
        """The full name of the measurement `name`."""
        prefix = self.judgement if self.prefix is None else self.prefix
        return f"{prefix}.{name}" if prefix else name

    def declare(
        self,
        name: str,
        help: str,
        *,
        low: float | None = 0.0,
        high: float | None = 1.0,
        better: Literal["higher", "lower"] | None = "higher",
        pairing: Pairing | None = None,
        sliced: bool = False,
    ) -> Declared:
        return Declared(self.named(name), help, low, high, better, pairing, self.judgement, sliced)

    def judged(self, outcomes: Sequence[Outcome]) -> Sequence[Judged]:
        """This metric's judgement of each outcome that has it, whatever its status."""
        name = self.judgement
        if name is None:
            return outcomes
        # The dict first: the method is for outcomes that failed as a whole, and a call a metric and sample adds up.
        return [
            found
            for outcome in outcomes
            if (found := outcome.judgements.get(name) or outcome.judgement(name)) is not None
        ]

    def tally(
        self,
        state: Counter[Key],
        outcomes: Sequence[Outcome],
        keys: Callable[[Sequence[Outcome]], Iterable[Key]],
    ) -> Counter[Key]:
        """Counts in `state` the keys that `keys` gives for the outcomes. It looks at no id: outcomes that are alike are
        handed to it once."""
        for part, times in alike(outcomes):
            if times == 1:
                state.update(keys(part))
            else:
                for key in keys(part):
                    state[key] += times
        return state

    def scored(self, outcomes: Sequence[Outcome]) -> list[Judged]:
        return [judged for judged in self.judged(outcomes) if judged.status == "scored"]

    def pairs(self, outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
        """(expected, predicted) of each scored outcome that has an expected label, both as `label_text`."""
        return [
            (e if type(e) is str else label_text(e), p if type(p := judged.predicted) is str else label_text(p))
            for judged in self.judged(outcomes)
            if judged.status == "scored" and (e := judged.expected) is not None
        ]


def declarations(metrics: Iterable[Metric[Any]]) -> dict[str, Declared]:
    """What the metrics of a plan declare, by name: what gates are bound to.

    A metric and its `Sliced` twin declare the same names: the one entry then allows slices. Raises `PluginError`
    where two metrics measure one name.
    """
    found: dict[str, Declared] = {}
    whole: set[str] = set()
    for declared in (each for metric in metrics for each in metric.declares):
        known = found.get(declared.name)
        if not declared.sliced and declared.name in whole:
            raise PluginError(f"two metrics measure {declared.name!r}", hint="give one of them a prefix")
        if not declared.sliced:
            whole.add(declared.name)
        if known is None:
            found[declared.name] = declared
        elif declared.sliced:
            found[declared.name] = evolve(known, sliced=True)
        else:
            found[declared.name] = evolve(declared, sliced=True)
    return found


def label_text(value: Any) -> str:
    """A label as text: a string as it is, null as `NO_ANSWER`, anything else as its JSON (`true`, `3`).

    Comparing labels as text keeps `True` and `1` apart, which Python's equality does not.
    """
    if type(value) is str:
        return value
    if value is None:
        return NO_ANSWER
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def slice_name(name: str, key: str) -> str:
    return f"{name}[{key}]"


def null(name: str, reason: str, *, details: Mapping[str, Any] | None = None) -> Measurement:
    """What could not be measured, and why."""
    return Measurement(name, None, reason=reason, details=details or {})


def rate(
    name: str, successes: int, n: int, *, empty: str, scale: int = 1, details: Mapping[str, Any] | None = None
) -> Measurement:
    """`successes` of `n`, times `scale`, with its Wilson interval; null with the reason `empty` where n is 0."""
    if n == 0:
        return null(name, empty, details=details)
    low, high = wilson(successes, n)
    return Measurement(name, scale * successes / n, n, (scale * low, scale * high), details=details or {})


def effective_wilson(value: float, variance: float, n: float, *, unseen: float | None = None) -> tuple[float, float]:
    """A 95 % interval within 0..1 of an estimate that is no plain rate, from its estimated variance.

    Wilson's interval at the effective sample size value (1 - value) / variance, at most n: the number of independent
    trials whose rate would vary as much (Korn and Graubard, Survey Methodology 24 (1998); with Wilson's interval,
    Franco et al., J. Surv. Stat. Methodol. 7 (2019)). Unlike value ± 1.96 standard errors it neither leaves 0..1 nor
    collapses where no variance was seen (all right, all wrong): there the size is `unseen`, n by default.
    """
    if variance > 0:
        size = max(1.0, min(n, value * (1 - value) / variance))
    else:
        size = max(1.0, n if unseen is None else unseen)
    return wilson(value * size, size)


def mean_share(
    name: str, n: int, total: Fraction, squares: Fraction, *, empty: str, details: Mapping[str, Any] | None = None
) -> Measurement:
    """The mean of n numbers whose mean lies in 0..1, from their exact sums, with its `effective_wilson` interval."""
    if n == 0:
        return null(name, empty, details=details)
    variance = float((squares - total * total / n) / (n - 1) / n) if n > 1 else 0.0
    value = float(total / n)
    return Measurement(name, value, n, effective_wilson(value, variance, n), details=details or {})


def confidence_of(judged: Judged) -> float | None:
    """The confidence of a judgement. Raises `EvaluationError` for one that is no number in 0..1 (NaN is none)."""
    value = judged.confidence
    if value is None or (isinstance(value, int | float) and 0 <= value <= 1):
        return value
    raise EvaluationError(f"the confidence {shorten(value)} is not a number in 0..1")
