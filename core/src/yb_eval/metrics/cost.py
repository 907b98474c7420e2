"""Cost: amounts that outcomes carry, and the price of mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, Literal

from attrs import field, frozen

from yb_eval.errors import EvaluationError, UsageError, shorten
from yb_eval.metrics.base import JudgementMetric, mean_share, null
from yb_eval.metrics.exact import Moments
from yb_eval.metrics.ordinal import UNANSWERED, LevelPairs, OrdinalMetric
from yb_eval.model import Declared, Measurement, Outcome


@frozen(slots=True, kw_only=True)
class Amount(JudgementMetric):
    """The sum `NAME_total` and the mean `NAME_mean` of a number in the outcomes' details (`cost_usd`, `calls`).

    The denominator is the outcomes that carry the number, whatever their status: a call that failed was paid for as
    well. Sums are exact and rounded once. The mean has the normal interval (not below `low`), the sum that interval
    times n. `low` bounds each amount; one below it raises `EvaluationError`, as does one that is no finite number.
    """

    detail: str
    name: str | None = None
    low: float | None = 0.0
    better: Literal["higher", "lower"] | None = "lower"

    @property
    def declares(self) -> Sequence[Declared]:
        total, mean = self._names
        return (
            Declared(total, f"The sum of {self.detail}.", self.low, None, self.better, None, self.judgement),
            Declared(mean, f"The mean {self.detail} of an outcome.", self.low, None, self.better, None, self.judgement),
        )

    @property
    def _names(self) -> tuple[str, str]:
        name = self.named(self.name or self.detail)
        return f"{name}_total", f"{name}_mean"

    def start(self) -> Moments:
        return Moments()

    def add(self, state: Moments, outcomes: Sequence[Outcome]) -> Moments:
        found = [judged.details.get(self.detail) for judged in self.judged(outcomes)]
        amounts = [amount for amount in found if amount is not None]
        for amount in amounts:
            if (
                isinstance(amount, bool)
                or not isinstance(amount, int | float)
                or (self.low is not None and amount < self.low)
            ):
                raise EvaluationError(f"details.{self.detail}: {shorten(amount)} is not an amount")
        state.add(amounts)
        return state

    def merge(self, left: Moments, right: Moments) -> Moments:
        left.merge(right)
        return left

    def finish(self, state: Moments) -> Sequence[Measurement]:
        total, mean = self._names
        n = state.n
        if n == 0:
            reason = f"no outcome has details.{self.detail}"
            return (null(total, reason), null(mean, reason))
        interval = state.interval()
        if interval is not None and self.low is not None:
            interval = (max(self.low, interval[0]), interval[1])
        whole = None if interval is None else (interval[0] * n, interval[1] * n)
        try:
            summed = Measurement(total, float(state.sum), n, whole if whole and all(map(isfinite, whole)) else None)
        except OverflowError:
            summed = null(total, "the sum is beyond the range of a float")
        return (summed, Measurement(mean, float(state.mean), n, interval))


def linear_costs(levels: int, *, under: float = 1.0, over: float = 1.0) -> tuple[tuple[float, ...], ...]:
    """The asymmetric linear cost matrix of ordered levels: `under` per level too low, `over` per level too high."""
    scale = range(levels)
    return tuple(tuple((under if said < gold else over) * abs(gold - said) for said in scale) for gold in scale)


@frozen(slots=True, kw_only=True)
class ExpectedCost(OrdinalMetric):
    """`expected_cost` of the predictions under a cost matrix, beside `constant_cost`, the best constant policy's.

    `matrix[expected][predicted]` >= 0 in any unit. Both are the mean cost divided by that of the worst policy (each
    row given its dearest prediction), so they lie in 0..1; null where no row can cost anything. `no_answer` is the
    cost of a null prediction; without it such rows are left out. n counts the rows taken in.

    `expected_cost` has the `effective_wilson` interval, the worst policy's cost taken as given; its details hold the
    mean in the matrix's unit (`mean`) and the worst policy's (`worst`). `constant_cost` names its level in the
    details (`label`; the lowest of equals).
    """

    matrix: tuple[tuple[float, ...], ...] = field()
    no_answer: float | None = field(default=None)

    @matrix.validator
    def _check_matrix(self, _: Any, matrix: Sequence[Sequence[float]]) -> None:
        k = len(self.names)
        if len(matrix) != k or any(len(row) != k for row in matrix):
            raise UsageError(
                f"the cost matrix is not {k} x {k}", hint="one row per expected level, one column per prediction"
            )
        for i, row in enumerate(matrix):
            for j, cost in enumerate(row):
                _check_cost(cost, f"matrix[{i}][{j}]")

    @no_answer.validator
    def _check_no_answer(self, _: Any, cost: float | None) -> None:
        if cost is not None:
            _check_cost(cost, "no_answer")

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("expected_cost", "Cost of the predictions / cost of the worst policy.", better="lower"),
            self.declare("constant_cost", "The same of the best constant policy.", better=None),
        )

    def finish(self, state: LevelPairs) -> Sequence[Measurement]:
        names = (self.named("expected_cost"), self.named("constant_cost"))
        price = [[Fraction(cost) for cost in row] for row in self.matrix]
        silence = None if self.no_answer is None else Fraction(self.no_answer)
        taken = [(pair, many) for pair, many in sorted(state.items()) if pair[1] != UNANSWERED or silence is not None]
        n = sum(many for _, many in taken)
        if n == 0:
            return tuple(null(name, "no scored outcome has both an expected and a predicted level") for name in names)
        costs = [(silence if said == UNANSWERED else price[gold][said], many) for (gold, said), many in taken]
        total = sum((cost * many for cost, many in costs if cost is not None), Fraction(0))
        squares = sum((cost * cost * many for cost, many in costs if cost is not None), Fraction(0))
        dearest = [max(*row, silence or Fraction(0)) for row in price]
        worst = sum((dearest[gold] * many for (gold, _), many in taken), Fraction(0))
        if worst == 0:
            return tuple(null(name, "no prediction for these rows could cost anything") for name in names)
        details = {"mean": float(total / n), "worst": float(worst / n)}
        constant, label = min(
            (sum((price[gold][level] * many for (gold, _), many in taken), Fraction(0)), level)
            for level in range(len(price))
        )
        return (
            mean_share(names[0], n, total * n / worst, squares * n * n / (worst * worst), empty="", details=details),
            Measurement(names[1], float(constant / worst), n, details={"label": self.names[label]}),
        )


def _check_cost(cost: Any, where: str) -> None:
    if isinstance(cost, bool) or not isinstance(cost, int | float) or not (isfinite(cost) and cost >= 0):
        raise UsageError(f"{shorten(cost)} is not a cost", where=where, hint="a finite number, at least 0")
