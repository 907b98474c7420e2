"""An evaluator that asks a target: what nearly every suite needs of the Evaluator interface."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from yb_eval.digest import identifiable, identify
from yb_eval.errors import EvaluationError
from yb_eval.interfaces import Answer, Target
from yb_eval.model import Outcome, Sample
from yb_eval.targets.answers import AnswerError


class TargetEvaluator:
    """Turns samples into requests, has them answered, and the answers judged.

    `request` makes a sample's request, `judge` the outcome of a sample and its answer. A failure of the target, and
    an `AnswerError` that `judge` raises, becomes an `error` outcome, with what `expected` (if given) says of the
    sample; any other exception is a fault of the suite and ends the run. `identity` is everything besides the target
    that decides the outcomes (a policy, a tolerance) as JSON values: it enters the fingerprint.

    Pickles, for the `processes` executor, if `target`, `request` and `judge` do.
    """

    def __init__(
        self,
        *,
        target: Target,
        request: Callable[[Sample], Mapping[str, Any]],
        judge: Callable[[Sample, Any], Outcome],
        identity: Mapping[str, Any] | None = None,
        expected: Callable[[Sample], Any] | None = None,
    ) -> None:
        self.target = target
        self.fingerprint = identify(
            "evaluator", {"target": target.fingerprint, "identity": identifiable(dict(identity or {}))}
        )
        self.batch_size = target.batch_size
        self.concurrency = target.concurrency
        self._request = request
        self._judge = judge
        self._expected = expected
        self._seen = _Observations()

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        # A batch may decode its rows each time it is looked into: look once.
        samples = list(samples)
        answers = self._ask(samples)
        self._seen.add(answers)
        return [self._outcome(sample, answer) for sample, answer in zip(samples, answers, strict=True)]

    def observations(self) -> dict[str, float]:
        """How the target was to work with, in this process: `requests`, `failures`, `cached`, and the `seconds` its
        answers took together. For the envelope; no outcome depends on it.
        """
        return self._seen.totals()

    def close(self) -> None:
        self.target.close()

    def _ask(self, samples: list[Sample]) -> Sequence[Answer]:
        repeats = {sample.repeat for sample in samples}
        if len(repeats) == 1:
            return self._ask_once(samples, repeats.pop())
        answers: list[Answer] = [Answer()] * len(samples)
        for repeat in sorted(repeats):
            places = [place for place, sample in enumerate(samples) if sample.repeat == repeat]
            for place, answer in zip(places, self._ask_once([samples[p] for p in places], repeat), strict=True):
                answers[place] = answer
        return answers

    def _ask_once(self, samples: list[Sample], repeat: int) -> Sequence[Answer]:
        answers = self.target.ask([self._request(sample) for sample in samples], repeat=repeat)
        if len(answers) != len(samples):
            raise EvaluationError(
                f"the target gave {len(answers)} answers to {len(samples)} requests", where=self.target.spec
            )
        return answers

    def _outcome(self, sample: Sample, answer: Answer) -> Outcome:
        if answer.failure is None:
            try:
                return self._judge(sample, answer.value)
            except AnswerError as error:
                reason = error.reason
        else:
            reason = answer.failure
        return Outcome.error(sample, reason, expected=None if self._expected is None else self._expected(sample))


class _Observations:
    """Sums that several threads add to. In another process they begin at nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests = self._failures = self._cached = 0
        self._seconds = 0.0

    def add(self, answers: Sequence[Answer]) -> None:
        failures = cached = 0
        seconds = 0.0
        for answer in answers:
            failures += answer.failure is not None
            cached += answer.cached
            seconds += answer.seconds or 0.0
        with self._lock:
            self._requests += len(answers)
            self._failures += failures
            self._cached += cached
            self._seconds += seconds

    def totals(self) -> dict[str, float]:
        with self._lock:
            return {
                "requests": self._requests,
                "failures": self._failures,
                "cached": self._cached,
                "seconds": self._seconds,
            }

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Observations, ())
