"""Sets of names (the tools an agent loads): what was asked for against what came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import frozen

from yb_eval.errors import EvaluationError, shorten
from yb_eval.metrics.base import JudgementMetric, mean_share, rate
from yb_eval.model import Declared, Measurement, Outcome

#: (names in both, expected names, predicted names) -> how many outcomes.
_State = Counter[tuple[int, int, int]]


@frozen(slots=True, kw_only=True)
class Sets(JudgementMetric):
    """`exact_match`, `set_recall`, `set_precision` and `set_f1` between expected and predicted lists of strings.

    Each is a mean over samples (a sample with many names weighs no more than one with few), over the scored outcomes
    whose expected value is not null; a null prediction is the empty set, order and repetition do not matter, and
    anything but a list of strings raises `EvaluationError`. With E expected, P predicted, H = |E and P|:

    - `exact_match`: E = P (two empty sets match). Wilson interval.
    - `set_recall`: H / |E|, over outcomes with a non-empty E: nothing was asked for elsewhere.
    - `set_precision`: H / |P|, over outcomes with a non-empty P: nothing came elsewhere.
    - `set_f1`: 2 H / (|E| + |P|), 1 where both are empty (and 0 where one is).

    Means have the `effective_wilson` interval. The state counts (H, |E|, |P|).
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("exact_match", "Expected and predicted sets are equal.", pairing="correct"),
            self.declare("set_recall", "Mean share of the expected names that came."),
            self.declare("set_precision", "Mean share of the names that came that were expected."),
            self.declare("set_f1", "Mean F1 of expected and predicted names."),
        )

    def start(self) -> _State:
        return Counter()

    def add(self, state: _State, outcomes: Sequence[Outcome]) -> _State:
        for judged in self.scored(outcomes):
            if judged.expected is not None:
                expected, predicted = _names(judged.expected), _names(judged.predicted or ())
                state[len(expected & predicted), len(expected), len(predicted)] += 1
        return state

    def merge(self, left: _State, right: _State) -> _State:
        left.update(right)
        return left

    def finish(self, state: _State) -> Sequence[Measurement]:
        cells = sorted(state.items())
        n = state.total()
        exact = sum(many for (hits, expected, predicted), many in cells if hits == expected == predicted)
        nothing = "no scored outcome has an expected set"

        def mean(name: str, share: Callable[[int, int, int], Fraction | None], empty: str) -> Measurement:
            shares = [(value, many) for cell, many in cells if (value := share(*cell)) is not None]
            total = sum((value * many for value, many in shares), Fraction(0))
            squares = sum((value * value * many for value, many in shares), Fraction(0))
            return mean_share(self.named(name), sum(many for _, many in shares), total, squares, empty=empty)

        return (
            rate(self.named("exact_match"), exact, n, empty=nothing),
            mean(
                "set_recall",
                lambda h, e, p: Fraction(h, e) if e else None,
                "every expected set is empty" if n else nothing,
            ),
            mean(
                "set_precision",
                lambda h, e, p: Fraction(h, p) if p else None,
                "every predicted set is empty" if n else nothing,
            ),
            mean("set_f1", lambda h, e, p: Fraction(2 * h, e + p) if e or p else Fraction(1), nothing),
        )


def _names(value: Any) -> set[str]:
    if isinstance(value, list | tuple) and all(type(name) is str for name in value):
        return set(value)
    raise EvaluationError(f"{shorten(value)} is not a list of names")
