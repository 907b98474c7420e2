"""Asking the evals of each row, and judging their results against its labels.

An outcome has a judgement for each eval that was asked. A labelled row is asked the evals that it has labels for, a plain
trace all of them (`every_eval` asks all of every row).
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from yb_eval import Outcome, Sample
from yb_eval.digest import identifiable, identify
from yb_eval.interfaces import Concurrency
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.assessing import Batch, answered
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.dataset import labels_of, sample_of
from yb_eval_decision.eval import Eval
from yb_eval_decision.results import EvalReport, Usage
from yb_eval_decision.verdicts import judgement_of

if TYPE_CHECKING:
    from yb_eval_decision.calibration import Calibration

#: Rises when the judging of results changes.
_JUDGING = 1


class DecisionEvaluator:
    """The evaluator of a run: `evals` by the name of their judgement, answered by `backend`.

    `isolate` asks each eval in a request of its own state. A `calibration`, made for this backend and these evals, is applied
    to their results. What asking took is observed and enters no outcome.
    """

    def __init__(
        self,
        evals: Mapping[str, Eval],
        backend: Backend,
        *,
        every_eval: bool = False,
        isolate: bool = False,
        calibration: Calibration | None = None,
    ) -> None:
        self.evals = dict(evals)
        self.backend = backend
        self.every_eval = every_eval
        self.isolate = isolate
        self.calibration = calibration
        self.fingerprint = identify(
            "evaluator",
            {
                "judging": _JUDGING,
                "backend": backend.fingerprint,
                "evals": identifiable({name: one.identity() for name, one in self.evals.items()}),
                "every_eval": every_eval,
                "isolate": isolate,
                "calibration": None if calibration is None else identifiable(calibration.identity()),
            },
        )
        self.batch_size = backend.batch
        # A cache counts its hits, and is written, in one process.
        cached = hasattr(backend, "hits")
        self.concurrency: Concurrency = "threads" if backend.waits or cached else "processes"
        self._seen = Seen()
        self._sets: dict[tuple[str, ...], EvalSet] = {}

    def asked(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the evals that this row is asked, in the order of the run."""
        labels = labels_of(row)
        if self.every_eval or not labels:
            return tuple(self.evals)
        return tuple(name for name in self.evals if name in labels)

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        samples = list(samples)
        groups: dict[tuple[tuple[str, ...], int], list[int]] = {}
        for place, sample in enumerate(samples):
            groups.setdefault((self.asked(sample.data), sample.repeat), []).append(place)
        batches = [
            Batch(
                [sample_of(samples[place].data) for place in places],
                self.set_of(names),
                self.backend,
                isolate=self.isolate,
                repeat=repeat,
            )
            for (names, repeat), places in groups.items()
        ]
        # All groups are asked at once: what waits for a network waits together.
        responses = iter(answered(self.backend, [request for batch in batches for request in batch.requests]))
        outcomes: dict[int, Outcome] = {}
        for ((names, _), places), batch in zip(groups.items(), batches, strict=True):
            reports = batch.reports(list(islice(responses, len(batch.requests))))
            for place, report in zip(places, reports, strict=True):
                outcomes[place] = self._outcome(samples[place], names, report)
        return [outcomes[place] for place in range(len(samples))]

    def set_of(self, names: tuple[str, ...]) -> EvalSet:
        """The evals of these names, to be asked together: made once."""
        known = self._sets.get(names)
        if known is None:
            known = self._sets[names] = EvalSet([self.evals[name] for name in names])
        return known

    def _outcome(self, sample: Sample, names: Sequence[str], report: EvalReport) -> Outcome:
        if not names:
            return Outcome.skipped(sample, "none of the evals asked has a label here")
        self._seen.add(report)
        if self.calibration is not None:
            report = self.calibration.apply_report(report, names)
        labels = labels_of(sample.data)
        judgements = {
            name: judgement_of(result, self.evals[name], labels.get(name))
            for name, result in zip(names, report.results, strict=True)
        }
        return Outcome.of(sample, judgements)

    def observations(self) -> dict[str, Any]:
        """What asking took, for the envelope; nothing where it was done in other processes."""
        return self._seen.totals()

    def close(self) -> None:
        self.backend.close()


class Seen:
    """Sums that several threads add to: usage, who decided how much, and which models answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reports = 0
        self._usage = Usage()
        self._decided: dict[str, int] = {}
        self._models: set[str] = set()

    def add(self, report: EvalReport) -> None:
        with self._lock:
            self._reports += 1
            self._usage += report.usage
            self._models.update(report.models)
            for name, count in report.decided_by.items():
                self._decided[name] = self._decided.get(name, 0) + count

    def totals(self) -> dict[str, Any]:
        with self._lock:
            usage = self._usage
            if not self._reports:
                return {}
            return {
                "requests": usage.requests, "questions": usage.questions, "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens, "cost_usd": usage.cost_usd, "cost_complete": usage.cost_complete,
                "retries": usage.retries, "cached": usage.cached, "latency_ms": round(usage.latency_ms, 1),
                "decided_by": dict(sorted(self._decided.items())), "models": sorted(self._models),
            }  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        return (Seen, ())
