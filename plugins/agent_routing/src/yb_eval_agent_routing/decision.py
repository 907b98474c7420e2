"""To load or not to load: one figure for both ways to be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric
from yb_eval.metrics.base import effective_wilson, null

#: (which rate, whether it holds) -> how many.
_State = Counter[tuple[str, bool]]


@frozen(slots=True, kw_only=True)
class DecisionAccuracy(JudgementMetric):
    """`decision_accuracy`: the mean of (1 - skip_rate) and specificity.

    A policy that always loads and one that never does both have 0.5. Null where there are no scenarios of one of the
    two kinds. The interval is Wilson's at the effective size of the mean of two independent rates; n counts both
    kinds.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("decision_accuracy", "Mean of (1 - skip_rate) and specificity: 0.5 is chance."),)

    def start(self) -> _State:
        return Counter()

    def add(self, state: _State, outcomes: Sequence[Outcome]) -> _State:
        for judged in self.scored(outcomes):
            for name, right in (("skipped", False), ("false_load", False)):
                value = judged.details.get(name)
                if value is not None:
                    state[name, value == right] += 1
        return state

    def merge(self, left: _State, right: _State) -> _State:
        left.update(right)
        return left

    def finish(self, state: _State) -> Sequence[Measurement]:
        name = self.named("decision_accuracy")
        sizes = {kind: state[kind, True] + state[kind, False] for kind in ("skipped", "false_load")}
        if not sizes["skipped"]:
            return (null(name, "no scenario needs a group"),)
        if not sizes["false_load"]:
            return (null(name, "no scenario should load nothing"),)
        rates = {kind: state[kind, True] / size for kind, size in sizes.items()}
        value = sum(rates.values()) / 2
        variance = sum(rates[kind] * (1 - rates[kind]) / size for kind, size in sizes.items()) / 4
        n = sum(sizes.values())
        # Where neither rate has varied, the smaller kind bounds what is known.
        interval = effective_wilson(value, variance, n, unseen=2 * min(sizes.values()))
        return (Measurement(name, value, n, interval),)
