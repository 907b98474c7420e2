"""How much was measured: the numbers that keep every other one honest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from attrs import frozen

from yb_eval.metrics.base import JudgementMetric, null, rate
from yb_eval.model import Declared, Measurement, Outcome


@frozen(slots=True, kw_only=True)
class Counts(JudgementMetric):
    """`samples`, `scored`, `errors`, `skipped`, and `coverage` = scored / samples.

    `samples` counts every outcome that has this judgement (an outcome that failed as a whole has them all), and is the
    denominator of the other four. Without a sample they are null: `errors == 0` over nothing is not a pass.
    The state is a count per status.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("samples", "Outcomes, of any status.", high=None, better=None),
            self.declare("scored", "Outcomes that were judged.", high=None),
            self.declare(
                "errors", "Outcomes lost to a failure of the system or the harness.", high=None, better="lower"
            ),
            self.declare("skipped", "Outcomes left out for a stated reason.", high=None, better="lower"),
            self.declare("coverage", "Scored outcomes / all outcomes."),
        )

    def start(self) -> Counter[str]:
        return Counter()

    def add(self, state: Counter[str], outcomes: Sequence[Outcome]) -> Counter[str]:
        return self.tally(state, outcomes, lambda part: [judged.status for judged in self.judged(part)])

    def merge(self, left: Counter[str], right: Counter[str]) -> Counter[str]:
        left.update(right)
        return left

    def finish(self, state: Counter[str]) -> Sequence[Measurement]:
        samples = state.total()
        made = [Measurement(self.named("samples"), samples, samples)]
        for name, status in (("scored", "scored"), ("errors", "error"), ("skipped", "skipped")):
            full = self.named(name)
            made.append(Measurement(full, state[status], samples) if samples else null(full, "no samples"))
        made.append(rate(self.named("coverage"), state["scored"], samples, empty="no samples"))
        return made
