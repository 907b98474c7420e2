"""Rates over scored outcomes: how often the system is right, how often anything else holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

from attrs import frozen

from yb_eval.errors import EvaluationError, shorten
from yb_eval.metrics.base import JudgementMetric, label_text, null, rate
from yb_eval.model import Declared, Judged, Measurement, Outcome, Pairing

#: A yes/no question about a scored outcome; `None`: the question does not apply to it.
Predicate: TypeAlias = Callable[[Judged], bool | None]


@frozen(slots=True, kw_only=True)
class Accuracy(JudgementMetric):
    """`accuracy`: the share of right outcomes.

    The denominator is the scored outcomes that can be right or wrong (`correct` is not null). Errors and skipped
    outcomes are not in it: they are counted, and gated, by `Counts`. The state is a count per mark.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("accuracy", "Right outcomes / scored outcomes.", pairing="correct"),)

    def start(self) -> Counter[bool | None]:
        return Counter()

    def add(self, state: Counter[bool | None], outcomes: Sequence[Outcome]) -> Counter[bool | None]:
        return self.tally(
            state, outcomes, lambda part: [judged.correct for judged in self.judged(part) if judged.status == "scored"]
        )

    def merge(self, left: Counter[bool | None], right: Counter[bool | None]) -> Counter[bool | None]:
        left.update(right)
        return left

    def finish(self, state: Counter[bool | None]) -> Sequence[Measurement]:
        n = state[True] + state[False]
        return (rate(self.named("accuracy"), state[True], n, empty="no outcome was scored right or wrong"),)


@frozen(slots=True, kw_only=True)
class Rate(JudgementMetric):
    """The share of outcomes for which a yes/no question holds, with its Wilson interval.

    `numerator` is the name of a boolean in the outcome's details, or a module-level function of a judgement (it must
    pickle); where it gives null the outcome does not count. The denominator is the scored outcomes for which
    `denominator`, of the same kind, holds (all of them by default) and `numerator` is not null. `count`, where given,
    names a second measurement: the numerator itself.
    """

    name: str
    numerator: str | Predicate
    denominator: str | Predicate | None = None
    count: str | None = None
    help: str = ""
    empty: str = "the question applies to no scored outcome"
    better: Literal["higher", "lower"] | None = "higher"
    pairing: Pairing | None = None

    @property
    def declares(self) -> Sequence[Declared]:
        help = self.help or f"The share of scored outcomes with {self.name}."
        made = [self.declare(self.name, help, better=self.better, pairing=self.pairing)]
        if self.count is not None:
            made.append(self.declare(self.count, f"The numerator of {self.name}.", high=None, better=self.better))
        return made

    def start(self) -> Counter[bool | None]:
        return Counter()

    def add(self, state: Counter[bool | None], outcomes: Sequence[Outcome]) -> Counter[bool | None]:
        state.update(
            _holds(self.numerator, judged)
            for judged in self.scored(outcomes)
            if self.denominator is None or _holds(self.denominator, judged)
        )
        return state

    def merge(self, left: Counter[bool | None], right: Counter[bool | None]) -> Counter[bool | None]:
        left.update(right)
        return left

    def finish(self, state: Counter[bool | None]) -> Sequence[Measurement]:
        holds, n = state[True], state[True] + state[False]
        made = [rate(self.named(self.name), holds, n, empty=self.empty)]
        if self.count is not None:
            name = self.named(self.count)
            made.append(Measurement(name, holds, n) if n else null(name, self.empty))
        return made


def _holds(question: str | Predicate, judged: Judged) -> bool | None:
    answer = judged.details.get(question) if isinstance(question, str) else question(judged)
    if answer is None or type(answer) is bool:
        return answer
    raise EvaluationError(f"{question!r} gave {shorten(answer)}, which is not true, false or null")


def wrong(judged: Judged) -> bool | None:
    """Whether the outcome is wrong: a `numerator` for mismatch rates."""
    return None if judged.correct is None else not judged.correct


def acceptable(judged: Judged) -> bool | None:
    """Whether the prediction is the expected label or one of `details["acceptable"]`; null without an expected one."""
    if judged.expected is None:
        return None
    said = label_text(judged.predicted)
    return said == label_text(judged.expected) or said in map(label_text, judged.details.get("acceptable") or ())
