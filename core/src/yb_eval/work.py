"""What is done to one batch, in whichever thread or process: evaluate it, check it, write its log, fold it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import define, frozen

from yb_eval.batches import OutcomeBatch, SampleBatch, alike
from yb_eval.errors import EvaluationError, YbEvalError, shorten
from yb_eval.interfaces import Evaluator, Metric
from yb_eval.model import Outcome, Sample
from yb_eval.plugins import describe
from yb_eval.record.outcomes import encode_all


@define(slots=True)
class States:
    """Metric states: `each[r][m]` of metric m over repeat r alone, `across[m]` of the metrics that see all repeats."""

    each: list[list[Any]]
    across: list[Any]


@frozen(slots=True)
class Shard:
    """What became of a batch: its part of the outcome log, its metric states, how many outcomes it has, how many of
    them are wrong."""

    log: bytes
    states: States
    count: int
    wrong: int


@frozen(slots=True)
class Fold:
    """The metrics of a run: `each` are folded for every repeat by itself, `across` over all outcomes."""

    each: tuple[Metric[Any], ...]
    across: tuple[Metric[Any], ...]
    repeats: int = 1

    def start(self) -> States:
        return States(
            [[metric.start() for metric in self.each] for _ in range(self.repeats)],
            [metric.start() for metric in self.across],
        )

    def add(self, states: States, outcomes: Sequence[Outcome]) -> States:
        """Folds outcomes that stand as the log has them: the repeats of a sample one after another.

        Raises `EvaluationError` for a metric that fails.
        """
        try:
            for repeat, row in enumerate(states.each):
                part = outcomes if self.repeats == 1 else outcomes[repeat :: self.repeats]
                states.each[repeat] = [metric.add(state, part) for metric, state in zip(self.each, row, strict=True)]
            states.across = [m.add(state, outcomes) for m, state in zip(self.across, states.across, strict=True)]
        except Exception as error:
            raise EvaluationError(f"a metric failed: {describe(error)}") from error
        return states

    def merge(self, left: States, right: States) -> States:
        for repeat, row in enumerate(right.each):
            pairs = zip(self.each, left.each[repeat], row, strict=True)
            left.each[repeat] = [metric.merge(a, b) for metric, a, b in pairs]
        pairs = zip(self.across, left.across, right.across, strict=True)
        left.across = [metric.merge(a, b) for metric, a, b in pairs]
        return left


@frozen(slots=True)
class BatchWork:
    """Evaluates a batch `repeats` times and folds what comes back. Picklable when its parts are."""

    evaluator: Evaluator
    fold: Fold

    def __call__(self, batch: Sequence[Sample]) -> Shard:
        samples: Sequence[Sample] = batch if isinstance(batch, SampleBatch) else list(batch)
        runs = [self._evaluate(samples, repeat) for repeat in range(self.fold.repeats)]
        outcomes = runs[0] if len(runs) == 1 else [outcome for group in zip(*runs, strict=True) for outcome in group]
        log = encode_all(outcomes)
        states = self.fold.add(self.fold.start(), outcomes)
        wrong = sum(times * sum(o.correct is False for o in part) for part, times in alike(outcomes))
        return Shard(log, states, len(outcomes), wrong)

    def _evaluate(self, samples: Sequence[Sample], repeat: int) -> Sequence[Outcome]:
        asked = samples if repeat == 0 else _again(samples, repeat)
        try:
            outcomes = self.evaluator.evaluate(asked)
        except YbEvalError:
            raise
        except Exception as error:
            raise EvaluationError(f"the evaluator failed: {describe(error)}") from error
        if len(outcomes) != len(asked):
            raise EvaluationError(f"the evaluator gave {len(outcomes)} outcomes for {len(asked)} samples")
        if not _belong(outcomes, asked, repeat):
            for sample, outcome in zip(asked, outcomes, strict=True):
                if outcome.id != sample.id or outcome.repeat != repeat:
                    raise EvaluationError(
                        f"the evaluator gave the outcome of {shorten(outcome.id)} (repeat {outcome.repeat}) where that "
                        f"of {shorten(sample.id)} (repeat {repeat}) belongs"
                    )
        return outcomes


def _again(samples: Sequence[Sample], repeat: int) -> Sequence[Sample]:
    return samples.again(repeat) if isinstance(samples, SampleBatch) else [s.again(repeat) for s in samples]


def _belong(outcomes: Sequence[Outcome], asked: Sequence[Sample], repeat: int) -> bool:
    """Whether two batches, read as wholes, show that each outcome is that of its sample."""
    return (
        isinstance(outcomes, OutcomeBatch)
        and isinstance(asked, SampleBatch)
        and (outcomes.ids is (ids := asked.ids) or list(outcomes.ids) == list(ids))
        and all(kind.repeat == repeat for kind in outcomes.kinds)
    )
