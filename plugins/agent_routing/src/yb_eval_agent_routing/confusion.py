"""Which groups are loaded in the place of which: the worst pairs, and each group's precision and recall."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from attrs import Factory, define, frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric
from yb_eval.metrics.base import null

#: Pairs and groups that are listed.
LISTED = 50


@define(slots=True)
class _State:
    n: int = 0
    missed: int = 0
    pairs: dict[tuple[str, str], Fraction] = Factory(dict)
    expected: Counter[str] = Factory(Counter)
    delivered: Counter[str] = Factory(Counter)
    hits: Counter[str] = Factory(Counter)

    def weigh(self, pair: tuple[str, str], weight: Fraction) -> None:
        self.pairs[pair] = self.pairs.get(pair, Fraction(0)) + weight


@frozen(slots=True, kw_only=True)
class GroupConfusion(JudgementMetric):
    """`missed_groups`: how many needed groups were not delivered, over the scored outcomes.

    Details: `pairs`, `[needed, delivered instead, weight]`, the heaviest first: a group that was missed while m others
    came needlessly counts 1/m for each of these, and as `(nothing)` where none came; `groups`, `{"group", "support",
    "recall", "precision"}` with the lowest recall first. Both list the first 50. The state grows with the number of
    groups, not of scenarios.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("missed_groups", "Needed groups that were not delivered.", high=None, better="lower"),)

    def start(self) -> _State:
        return _State()

    def add(self, state: _State, outcomes: Sequence[Outcome]) -> _State:
        for judged in self.scored(outcomes):
            expected, got = list(judged.expected), list(judged.predicted)
            missed = [group for group in expected if group not in got]
            extra = [group for group in got if group not in expected]
            state.n += 1
            state.missed += len(missed)
            state.expected.update(expected)
            state.delivered.update(got)
            state.hits.update(set(expected) & set(got))
            for group in missed:
                for other in extra or ["(nothing)"]:
                    state.weigh((group, other), Fraction(1, len(extra) or 1))
        return state

    def merge(self, left: _State, right: _State) -> _State:
        left.n += right.n
        left.missed += right.missed
        for pair, weight in right.pairs.items():
            left.weigh(pair, weight)
        for mine, other in (
            (left.expected, right.expected), (left.delivered, right.delivered), (left.hits, right.hits),
        ):  # fmt: skip
            mine.update(other)
        return left

    def finish(self, state: _State) -> Sequence[Measurement]:
        name = self.named("missed_groups")
        if not state.n:
            return (null(name, "nothing was scored"),)
        heaviest = sorted(state.pairs.items(), key=lambda item: (-item[1], item[0]))[:LISTED]
        groups = sorted((_group(state, group) for group in state.expected.keys() | state.delivered.keys()), key=_worst)
        details = {
            "pairs": [[needed, came, float(weight)] for (needed, came), weight in heaviest],
            "groups": groups[:LISTED],
            "groups_in_all": len(groups),
        }
        return (Measurement(name, state.missed, state.n, details=details),)


def _group(state: _State, group: str) -> dict[str, Any]:
    support, came, hits = state.expected[group], state.delivered[group], state.hits[group]
    return {
        "group": group,
        "support": support,
        "recall": hits / support if support else None,
        "precision": hits / came if came else None,
    }


def _worst(entry: dict[str, Any]) -> tuple[Any, ...]:
    recall, precision = (2.0 if entry[key] is None else entry[key] for key in ("recall", "precision"))
    return recall, precision, -entry["support"], entry["group"]
