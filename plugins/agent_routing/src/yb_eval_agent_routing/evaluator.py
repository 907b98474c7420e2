"""Playing scenarios against a provider, and judging what was loaded."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval import Outcome, Sample, Target
from yb_eval.digest import identify
from yb_eval.interfaces import Concurrency
from yb_eval.targets import AnswerError
from yb_eval_agent_routing.agent import Offers, Settings, run
from yb_eval_agent_routing.baselines import baseline_marks
from yb_eval_agent_routing.leak import overlap
from yb_eval_agent_routing.model import Scenario
from yb_eval_agent_routing.scoring import marks

#: Rises when prompts, the loop or the judging change: the same answers would then be judged otherwise.
JUDGING = 2


class _Failed(Exception):
    """The provider gave no answer."""


class AgentEvaluator:
    """Runs the agent on each scenario, asking `target` for every model call.

    An outcome expects the needed groups and predicts the delivered ones (where none is needed, the loaded ones too); it
    is `correct` if all that was needed came, and where nothing was, nothing was loaded; its score is their F1. A
    provider that fails, in whichever call, makes the outcome an error, whatever had been loaded by then.
    """

    batch_size: int
    concurrency: Concurrency

    def __init__(self, target: Target, settings: Settings, offers: Offers, *, identity: Mapping[str, Any]) -> None:
        self.target = target
        self.fingerprint = identify(
            "agent-routing-evaluator", {"judging": JUDGING, "target": target.fingerprint, "settings": dict(identity)}
        )
        self.batch_size = target.batch_size
        # Offers are shared by the scenarios of this process.
        self.concurrency = "threads" if target.concurrency == "processes" else target.concurrency
        self._settings = settings
        self._offers = offers
        self._seen = {"requests": 0.0, "failures": 0.0, "cached": 0.0, "seconds": 0.0}
        self._lock = threading.Lock()

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        return [self._outcome(sample) for sample in samples]

    def observations(self) -> dict[str, float]:
        """How the provider was to work with: `requests`, `failures`, `cached`, and the `seconds` its answers took
        together. For the envelope; no outcome depends on it."""
        with self._lock:
            return dict(self._seen)

    def close(self) -> None:
        self.target.close()

    def _outcome(self, sample: Sample) -> Outcome:
        scenario: Scenario = sample.data
        offer, menu = self._offers.of(scenario)
        transcript: list[dict[str, Any]] = []
        try:
            trace = run(scenario, offer, menu, self._settings, self._asking(sample.repeat), transcript)
        except (_Failed, AnswerError) as error:
            return Outcome.error(
                sample,
                str(error),
                expected=sorted(scenario.expected),
                details={"verdict": "ERROR", "transcript": transcript},
            )
        match, details = marks(scenario, offer, trace)
        details["overlap"] = overlap(scenario, offer)
        details["baselines"] = baseline_marks(scenario, offer)
        details["transcript"] = transcript
        return Outcome.judged(
            sample,
            expected=list(match.expected),
            predicted=list(match.got),
            correct=match.hit,
            score=match.f1,
            details=details,
        )

    def _asking(self, repeat: int) -> Any:
        def ask(request: Mapping[str, Any]) -> Any:
            (answer,) = self.target.ask([request], repeat=repeat)
            with self._lock:
                self._seen["requests"] += 1
                self._seen["failures"] += answer.failure is not None
                self._seen["cached"] += answer.cached
                self._seen["seconds"] += answer.seconds or 0.0
            if answer.failure is not None:
                raise _Failed(answer.failure)
            return answer.value

        return ask
