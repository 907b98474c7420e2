"""Several outcomes of each sample: whether the system succeeds at least once, every time, or by luck."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from math import comb

from attrs import Factory, define, field, frozen

from yb_eval.errors import EvaluationError, UsageError
from yb_eval.metrics.base import JudgementMetric, mean_share, null, rate, slice_name
from yb_eval.metrics.consecutive import Consecutive, enlist
from yb_eval.model import Declared, Measurement, Measurements, Outcome


@define(slots=True)
class Attempts:
    """The outcomes of one sample so far: how many, the highest repeat index, how many scored, how many right."""

    id: str
    seen: int
    last: int
    scored: int
    right: int

    def join(self, other: Attempts) -> None:
        self.seen += other.seen
        self.last = max(self.last, other.last)
        self.scored += other.scored
        self.right += other.right


@define(slots=True)
class RepeatsState(Consecutive[Attempts]):
    """Finished samples as counts: `finished` counts (scored, right) pairs; `flaky` holds the 100 smallest ids."""

    finished: Counter[tuple[int, int]] = Factory(Counter)
    flaky: list[str] = Factory(list)

    def finish(self, sample: Attempts) -> None:
        if sample.seen != sample.last + 1:
            raise EvaluationError(
                f"the outcomes of sample {sample.id!r} do not stand together: "
                f"{sample.seen} of {sample.last + 1} repeats"
            )
        self.finished[sample.scored, sample.right] += 1
        if 0 < sample.right < sample.scored:
            enlist(self.flaky, sample.id)


@frozen(slots=True, kw_only=True)
class Repeats(JudgementMetric):
    """`pass_at[k]`, `pass_hat[k]`, `flaky_rate` and `repeat_variance` of a run with `repeats` outcomes per sample.

    Of a sample with n scored outcomes that are right or wrong, c of them right:

    - `pass_at[k]` estimates the chance that at least one of k attempts is right, 1 - C(n - c, k) / C(n, k), without
      bias (Chen et al., "Evaluating large language models trained on code", 2021);
    - `pass_hat[k]` (pass^k) the chance that all k are, C(c, k) / C(n, k) (Yao et al., "tau-bench", 2024).

    Both are means over the samples with at least k such outcomes (n of the measurement), with the `effective_wilson`
    interval. An error is no attempt: it leaves the sample with fewer. `ks` is 1, 2, 4, ... and `repeats` by default.

    - `flaky_rate`: the samples both right and wrong, of those with at least two such outcomes; details `{"ids"}`, at
      most 100.
    - `repeat_variance`: the mean over the same samples of the unbiased variance of rightness, c (n - c) / (n (n - 1)).

    This metric needs all the outcomes of a run, those of one sample one after another; batches may split a sample,
    but are merged in the dataset's order. It keeps counts and the samples at the batch's ends: constant memory.
    """

    repeats: int = field()
    ks: tuple[int, ...] = field()

    @repeats.validator
    def _check_repeats(self, _: object, repeats: int) -> None:
        if repeats < 1:
            raise UsageError(f"{repeats} repeats", hint="at least 1")

    @ks.default
    def _default_ks(self) -> tuple[int, ...]:
        powers = {1 << exponent for exponent in range(max(self.repeats, 1).bit_length())}
        return tuple(sorted(powers | {self.repeats}))

    @ks.validator
    def _check_ks(self, _: object, ks: tuple[int, ...]) -> None:
        if not all(1 <= k <= self.repeats for k in ks) or len(set(ks)) != len(ks):
            raise UsageError(f"k of pass@k is each of {list(ks)}", hint=f"distinct, from 1 to {self.repeats} repeats")

    @property
    def declares(self) -> Sequence[Declared]:
        return (
            self.declare("pass_at", "pass@k: at least one of k attempts is right.", sliced=True),
            self.declare("pass_hat", "pass^k: all of k attempts are right.", sliced=True),
            self.declare("flaky_rate", "Samples that are right in some repeats and wrong in others.", better="lower"),
            self.declare("repeat_variance", "Mean variance of rightness between repeats.", better="lower"),
        )

    def start(self) -> RepeatsState:
        return RepeatsState()

    def add(self, state: RepeatsState, outcomes: Sequence[Outcome]) -> RepeatsState:
        for sample_id, group in groupby(outcomes, key=lambda outcome: outcome.id):
            together = list(group)
            marks = [judged.correct for judged in self.scored(together) if judged.correct is not None]
            last = max(outcome.repeat for outcome in together)
            state.follow(Attempts(sample_id, len(together), last, len(marks), sum(marks)))
        return state

    def merge(self, left: RepeatsState, right: RepeatsState) -> RepeatsState:
        left.follow_ends(right)
        left.finished.update(right.finished)
        for sample_id in right.flaky:
            enlist(left.flaky, sample_id)
        return left

    def finish(self, state: RepeatsState) -> Sequence[Measurement]:
        total = RepeatsState(finished=Counter(state.finished), flaky=list(state.flaky))
        total.finish_ends(state)
        samples = sorted(total.finished.items())
        several = [(n, c, many) for (n, c), many in samples if n >= 2]
        flaky = sum(many for n, c, many in several if 0 < c < n)
        few = "no sample has two outcomes that are right or wrong"
        details = {"ids": total.flaky} if flaky else {}
        at = [
            self._mean("pass_at", k, samples, lambda n, c, k: 1 - Fraction(comb(n - c, k), comb(n, k))) for k in self.ks
        ]
        hat = [self._mean("pass_hat", k, samples, lambda n, c, k: Fraction(comb(c, k), comb(n, k))) for k in self.ks]
        variance = sum((Fraction(c * (n - c), n * (n - 1)) * many for n, c, many in several), Fraction(0))
        compared = sum(many for _, _, many in several)
        name = self.named("repeat_variance")
        return (
            *at,
            *hat,
            rate(self.named("flaky_rate"), flaky, compared, empty=few, details=details),
            Measurement(name, float(variance / compared), compared) if compared else null(name, few),
        )

    def _mean(
        self,
        name: str,
        k: int,
        samples: Sequence[tuple[tuple[int, int], int]],
        estimate: Callable[[int, int, int], Fraction],
    ) -> Measurement:
        shares = [(estimate(n, c, k), many) for (n, c), many in samples if n >= k]
        total = sum((share * many for share, many in shares), Fraction(0))
        squares = sum((share * share * many for share, many in shares), Fraction(0))
        empty = f"no sample has {k} outcomes that are right or wrong"
        full = slice_name(self.named(name), str(k))
        return mean_share(full, sum(many for _, many in shares), total, squares, empty=empty)


def average(repeats: Sequence[Measurements]) -> Measurements:
    """The measurements of a run with repeats: each is the mean over its repeats.

    `value` is the exact mean, rounded once (an integer where all are and it is one); `n` the mean n, rounded down -
    repeats of a sample are no new samples; the interval the mean of the bounds where each repeat has one. A
    measurement that is null in a repeat, or missing from it, is null with that reason. Details: `{"repeats": [value,
    ...]}`. One repeat comes back as it is.
    """
    if not repeats:
        raise ValueError("no repeats to average")
    if len(repeats) == 1:
        return repeats[0]
    names = dict.fromkeys(name for measurements in repeats for name in measurements)
    return Measurements(_average(name, [measurements.get(name) for measurements in repeats]) for name in names)


def _average(name: str, found: Sequence[Measurement | None]) -> Measurement:
    values: list[float | int | None] = [None if each is None else each.value for each in found]
    details = {"repeats": values}
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        index = values.index(None)
        missing = found[index]
        reason = "not measured" if missing is None else missing.reason or "null"
        return null(name, f"in repeat {index}: {reason}", details=details)
    mean = _mean(numbers)
    value = int(mean) if mean.denominator == 1 and all(isinstance(number, int) for number in numbers) else float(mean)
    present = [each for each in found if each is not None]
    intervals = [each.interval for each in present if each.interval is not None]
    interval = None
    if len(intervals) == len(present):
        interval = (float(_mean([low for low, _ in intervals])), float(_mean([high for _, high in intervals])))
    return Measurement(name, value, sum(each.n for each in present) // len(present), interval, details=details)


def _mean(numbers: Sequence[float]) -> Fraction:
    return sum(map(Fraction, numbers), Fraction(0)) / len(numbers)
