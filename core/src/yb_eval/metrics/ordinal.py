"""Ordered levels (severities, tiers): how far off, in which direction, and how often where it matters.

Words are triage's: a prediction below the expected level is under-triage, above it over-triage. `under` and `over` give
them other names (`down_tier`, `up_tier`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from attrs import evolve, field, frozen

from yb_eval.errors import EvaluationError, UsageError, shorten
from yb_eval.metrics.base import JudgementMetric, mean_share, null, rate
from yb_eval.model import Declared, Measurement, Outcome

#: (expected level, predicted level or `UNANSWERED`) -> how many.
LevelPairs = Counter[tuple[int, int]]
UNANSWERED = -1
_NOTHING = "no scored outcome has both an expected and a predicted level"


@frozen(slots=True, kw_only=True)
class OrdinalMetric(JudgementMetric):
    """Base of the metrics over ordered levels: 0..K-1 for `levels=K`, or names from the lowest to the highest.

    The state counts pairs of levels. A value that is no level raises `EvaluationError`.
    """

    levels: int | tuple[str, ...] = field()

    @levels.validator
    def _check_levels(self, _: Any, levels: int | tuple[str, ...]) -> None:
        if (levels if isinstance(levels, int) else len(levels)) < 2:
            raise UsageError(f"an ordered scale has at least two levels, not {shorten(levels)}")
        if not isinstance(levels, int) and len(set(levels)) != len(levels):
            raise UsageError(f"a level is named twice in {shorten(levels)}")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(map(str, range(self.levels))) if isinstance(self.levels, int) else self.levels

    def level(self, value: Any) -> int:
        """The position of `value` on the scale."""
        if isinstance(self.levels, int):
            if type(value) is int and 0 <= value < self.levels:
                return value
        elif type(value) is str and value in self.levels:
            return self.levels.index(value)
        raise EvaluationError(f"{shorten(value)} is not one of the levels {shorten(', '.join(self.names))}")

    def start(self) -> LevelPairs:
        return Counter()

    def add(self, state: LevelPairs, outcomes: Sequence[Outcome]) -> LevelPairs:
        level = self.level
        state.update(
            [
                (level(judged.expected), UNANSWERED if judged.predicted is None else level(judged.predicted))
                for judged in self.scored(outcomes)
                if judged.expected is not None
            ]
        )
        return state

    def merge(self, left: LevelPairs, right: LevelPairs) -> LevelPairs:
        left.update(right)
        return left


@frozen(slots=True, kw_only=True)
class Ordinal(OrdinalMetric):
    """Error, agreement and direction over ordered levels, higher = worse.

    All are over the scored outcomes with an expected and a predicted level; one that has an expected level and a null
    prediction is in none of them and is counted by `unanswered` (gate it: a system must not improve by staying
    silent).

    - `mae`: mean |predicted - expected|, with K - 1 times the `effective_wilson` interval of mae / (K - 1).
    - `qwk`: quadratic weighted kappa (Cohen, Psychological Bulletin 70 (1968)), 1 - sum w O / sum w E with
      w = (i - j)^2 / (K - 1)^2; null where both sides are constant and equal (0 / 0). No interval. Details: the matrix
      `{"labels", "rows"}`, expected x predicted.
    - `under_triage_rate`, `over_triage_rate`: predicted < expected, predicted > expected, of all rows.
    - `severe_under_triage_rate`: expected - predicted >= `severe`, of all rows.
    - with `critical`, a level: `critical_under_triage_rate`, predicted < expected of the rows with expected >=
      critical; `missed_critical_rate`, predicted < critical of the same rows (the clinical under-triage);
      `false_critical_rate`, expected < critical of the rows with predicted >= critical (the clinical over-triage).
    """

    critical: int | str | None = field(default=None)
    severe: int = 2
    under: str = "under_triage"
    over: str = "over_triage"

    @critical.validator
    def _check_critical(self, _: Any, critical: int | str | None) -> None:
        if critical is not None and self.level(critical) == 0:
            raise UsageError("the critical level cannot be the lowest one: everything would be critical")

    @property
    def declares(self) -> Sequence[Declared]:
        highest = len(self.names) - 1
        under, over = self.under, self.over
        made = [
            self.declare("mae", "Mean absolute error in levels.", high=float(highest), better="lower"),
            self.declare("qwk", "Quadratic weighted kappa.", low=-1.0),
            self.declare(f"{under}_rate", "Predicted below expected, of all rows.", better="lower"),
            self.declare(f"{over}_rate", "Predicted above expected, of all rows.", better="lower"),
            self.declare(
                f"severe_{under}_rate", f"At least {self.severe} levels too low, of all rows.", better="lower"
            ),
            self.declare("unanswered", "Rows with an expected level and no predicted one.", high=None, better="lower"),
        ]
        if self.critical is not None:
            made += [
                self.declare(f"critical_{under}_rate", "Predicted below expected, of critical rows.", better="lower"),
                self.declare("missed_critical_rate", "Predicted below critical, of critical rows.", better="lower"),
                self.declare("false_critical_rate", "Not critical, of rows predicted critical.", better="lower"),
            ]
        return made

    def finish(self, state: LevelPairs) -> Sequence[Measurement]:
        answered = {pair: count for pair, count in sorted(state.items()) if pair[1] != UNANSWERED}
        n = sum(answered.values())

        def count(holds: Callable[[int, int], bool]) -> int:
            return sum(many for pair, many in answered.items() if holds(*pair))

        def share(name: str, holds: Callable[[int, int], bool]) -> Measurement:
            return rate(self.named(name), count(holds), n, empty=_NOTHING)

        unanswered = self.named("unanswered")
        rows = state.total()
        made = [
            self._mae(answered, n),
            self._qwk(answered, n),
            share(f"{self.under}_rate", lambda gold, said: said < gold),
            share(f"{self.over}_rate", lambda gold, said: said > gold),
            share(f"severe_{self.under}_rate", lambda gold, said: gold - said >= self.severe),
            Measurement(unanswered, rows - n, rows)
            if rows
            else null(unanswered, "no scored outcome has an expected level"),
        ]
        if self.critical is not None:
            line = self.level(self.critical)
            critical = count(lambda gold, said: gold >= line)
            raised = count(lambda gold, said: said >= line)
            low = count(lambda gold, said: gold >= line and said < gold)
            missed = count(lambda gold, said: said < line <= gold)
            false = count(lambda gold, said: gold < line <= said)
            none = "no row is critical"
            made += [
                rate(self.named(f"critical_{self.under}_rate"), low, critical, empty=none),
                rate(self.named("missed_critical_rate"), missed, critical, empty=none),
                rate(self.named("false_critical_rate"), false, raised, empty="no row was predicted critical"),
            ]
        return made

    def _mae(self, answered: dict[tuple[int, int], int], n: int) -> Measurement:
        if n == 0:
            return null(self.named("mae"), _NOTHING)
        total = sum(abs(gold - said) * many for (gold, said), many in answered.items())
        squares = sum((gold - said) ** 2 * many for (gold, said), many in answered.items())
        highest = len(self.names) - 1
        share = mean_share(
            self.named("mae"), n, Fraction(total, highest), Fraction(squares, highest**2), empty=_NOTHING
        )
        interval = share.interval and (highest * share.interval[0], highest * share.interval[1])
        return evolve(share, value=total / n, interval=interval)

    def _qwk(self, answered: dict[tuple[int, int], int], n: int) -> Measurement:
        name, k = self.named("qwk"), len(self.names)
        if n == 0:
            return null(name, _NOTHING)
        rows = [[answered.get((gold, said), 0) for said in range(k)] for gold in range(k)]
        details = {"labels": list(self.names), "rows": rows}
        expected, predicted = [sum(row) for row in rows], [sum(column) for column in zip(*rows, strict=True)]
        # Integers throughout; the weight's (K - 1)^2 cancels out.
        observed = n * sum((gold - said) ** 2 * many for (gold, said), many in answered.items())
        chance = sum((i - j) ** 2 * expected[i] * predicted[j] for i in range(k) for j in range(k))
        if chance == 0:
            return null(name, "expected and predicted are one and the same level throughout: 0 / 0", details=details)
        return Measurement(name, 1 - observed / chance, n, details=details)
