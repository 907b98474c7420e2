"""The baselines' scores, and the table of all scenarios."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import Factory, define, frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric
from yb_eval.metrics.base import mean_share, null, rate, slice_name
from yb_eval_agent_routing.baselines import NAMES

#: Rows of the table that are kept for the report; the outcome log has them all.
ROWS = 300


@define(slots=True)
class _Scores:
    n: int = 0
    counts: Counter[str] = Factory(Counter)
    sums: dict[str, list[Fraction]] = Factory(dict)

    def share(self, key: str, value: Fraction) -> None:
        total = self.sums.setdefault(key, [Fraction(0)] * 3)
        self.sums[key] = [total[0] + 1, total[1] + value, total[2] + value * value]


@frozen(slots=True, kw_only=True)
class BaselineScores(JudgementMetric):
    """`baseline_top1[NAME]`, `baseline_exact[NAME]`, `baseline_recall[NAME]`, `baseline_precision[NAME]` of the
    policies that ask nobody: loading nothing (`none`), every group (`all`), the k best by BM25 (`bm25:k`).

    Over the scored outcomes, with the denominators of `top1`, `exact`, `recall` and `precision`. Shares are kept as the
    fractions they are made of (counts of groups), so that sums are exact.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("baseline_top1", "top1 of a policy that asks nobody.", better=None, sliced=True),
            self.declare("baseline_exact", "exact of a policy that asks nobody.", better=None, sliced=True),
            self.declare("baseline_recall", "recall of a policy that asks nobody.", better=None, sliced=True),
            self.declare("baseline_precision", "precision of a policy that asks nobody.", better=None, sliced=True),
        )

    def start(self) -> _Scores:
        return _Scores()

    def add(self, state: _Scores, outcomes: Sequence[Outcome]) -> _Scores:
        for judged in self.scored(outcomes):
            state.n += 1
            for name, (hit, exact, hits, expected, got) in judged.details["baselines"].items():
                state.counts[f"top1 {name}"] += hit
                state.counts[f"exact {name}"] += exact
                if expected:
                    state.share(f"recall {name}", Fraction(hits, expected))
                    if got:
                        state.share(f"precision {name}", Fraction(hits, got))
        return state

    def merge(self, left: _Scores, right: _Scores) -> _Scores:
        left.n += right.n
        left.counts.update(right.counts)
        for key, sums in right.sums.items():
            mine = left.sums.get(key, [Fraction(0)] * 3)
            left.sums[key] = [a + b for a, b in zip(mine, sums, strict=True)]
        return left

    def finish(self, state: _Scores) -> Sequence[Measurement]:
        made = []
        for score in ("top1", "exact"):
            for name in NAMES:
                full = slice_name(self.named(f"baseline_{score}"), name)
                made.append(rate(full, state.counts[f"{score} {name}"], state.n, empty="nothing was scored"))
        for score in ("recall", "precision"):
            for name in NAMES:
                full = slice_name(self.named(f"baseline_{score}"), name)
                n, total, squares = state.sums.get(f"{score} {name}", [Fraction(0)] * 3)
                made.append(mean_share(full, int(n), total, squares, empty="it loads nothing where a group is needed"))
        return made


@frozen(slots=True, kw_only=True)
class ScenarioTable(JudgementMetric):
    """`listed_scenarios`: how many scenarios stand in the table in its details (`rows`): one for each, whatever its
    status, with its verdict and what was asked for, loaded and delivered.

    The first 300 in the order of their ids: memory does not grow with the dataset.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("listed_scenarios", "Scenarios in the table of the report.", high=None, better=None),)

    def start(self) -> list[tuple[str, int, dict[str, Any]]]:
        return []

    def add(self, state: list[Any], outcomes: Sequence[Outcome]) -> list[Any]:
        return _first([*state, *((outcome.id, outcome.repeat, row(outcome)) for outcome in outcomes)])

    def merge(self, left: list[Any], right: list[Any]) -> list[Any]:
        return _first([*left, *right])

    def finish(self, state: list[Any]) -> Sequence[Measurement]:
        name = self.named("listed_scenarios")
        if not state:
            return (null(name, "there are no scenarios"),)
        return (Measurement(name, len(state), len(state), details={"rows": [entry for _, _, entry in state]}),)


def _first(rows: list[Any]) -> list[Any]:
    return heapq.nsmallest(ROWS, rows, key=lambda item: item[:2])


def row(outcome: Outcome) -> dict[str, Any]:
    """What the table says of an outcome."""
    made = {"id": outcome.id, "expected": list(outcome.expected or ())}
    if outcome.status != "scored":
        return made | {"verdict": "ERROR", "reason": outcome.reason}
    details = outcome.details
    listed = ("verdict", "asked", "loaded", "delivered", "unknown", "unloaded_calls", "load_calls", "nudged")
    return made | {key: details[key] for key in listed}
