"""Does a judge say the same again? What `--repeats` is for with models that answer anew each time.

Core's `Repeats` asks whether a sample is judged rightly each time; this asks whether it is judged the same, with labels or
without.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from statistics import variance

from attrs import Factory, define, frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric
from yb_eval.metrics.base import null, rate
from yb_eval.metrics.consecutive import Consecutive, enlist


@define(slots=True)
class Attempts:
    """What was said of one sample so far, in any order: verdicts and scores of the repeats that were measured."""

    id: str
    verdicts: list[bool]
    scores: list[float]

    def join(self, other: Attempts) -> None:
        self.verdicts += other.verdicts
        self.scores += other.scores


@define(slots=True)
class State(Consecutive[Attempts]):
    """Counts of the finished samples. `flipping` holds the smallest ids."""

    judged: int = 0
    flips: int = 0
    flipping: list[str] = Factory(list)
    scored: int = 0
    variances: Fraction = Fraction(0)

    def finish(self, sample: Attempts) -> None:
        if len(sample.verdicts) >= 2:
            self.judged += 1
            if len(set(sample.verdicts)) > 1:
                self.flips += 1
                enlist(self.flipping, sample.id)
        if len(sample.scores) >= 2:
            self.scored += 1
            self.variances += variance(map(Fraction, sample.scores))


@frozen(slots=True, kw_only=True)
class Steadiness(JudgementMetric):
    """`flip_rate` and `score_variance` of a run with repeats.

    - `flip_rate`: the samples that pass in some repeats and fail in others, of those with at least two verdicts; details
      `{"ids"}`, at most 100.
    - `score_variance`: the mean over the samples with at least two scores of their unbiased variance.

    Needs all the outcomes of a run, those of one sample one after another. Constant memory; exact sums.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("flip_rate", "Samples that pass in some repeats and fail in others.", better="lower"),
            self.declare("score_variance", "Mean variance of the score between repeats.", better="lower"),
        )

    def start(self) -> State:
        return State()

    def add(self, state: State, outcomes: Sequence[Outcome]) -> State:
        for id, group in groupby(outcomes, key=lambda outcome: outcome.id):
            measured = self.scored(list(group))
            sample = Attempts(id, [], [])
            for judged in measured:
                passed = judged.details.get("passed")
                if passed is not None:
                    sample.verdicts.append(passed)
                if judged.score is not None:
                    sample.scores.append(judged.score)
            state.follow(sample)
        return state

    def merge(self, left: State, right: State) -> State:
        left.follow_ends(right)
        left.judged += right.judged
        left.flips += right.flips
        left.scored += right.scored
        left.variances += right.variances
        for id in right.flipping:
            enlist(left.flipping, id)
        return left

    def finish(self, state: State) -> Sequence[Measurement]:
        total = State(None, None, state.judged, state.flips, list(state.flipping), state.scored, state.variances)
        total.finish_ends(state)
        name = self.named("score_variance")
        return (
            rate(
                self.named("flip_rate"),
                total.flips,
                total.judged,
                empty="no sample has two verdicts",
                details={"ids": total.flipping} if total.flips else {},
            ),
            Measurement(name, float(total.variances / total.scored), total.scored)
            if total.scored
            else null(name, "no sample has two scores"),
        )
