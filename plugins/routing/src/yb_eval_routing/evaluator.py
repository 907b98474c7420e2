"""Asking a router, and judging what it says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

from yb_eval import Answer, Judgement, Outcome, Sample, Target
from yb_eval.digest import identify
from yb_eval.targets import (
    AnswerError,
    CallableTarget,
    TargetEvaluator,
    expect_choice,
    expect_number,
    expect_object,
    expect_text,
)
from yb_eval_routing.dataset import GoldenRow, Paraphrase
from yb_eval_routing.pipeline import Pipeline, length_tier

#: Rises when the judging of a router's answers changes.
_JUDGING = 1


@frozen(slots=True)
class Route:
    """The reference pipeline as a function from request to answer."""

    pipeline: Pipeline

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        decision = self.pipeline.route(request)
        return {
            "tier": decision.tier,
            "score": decision.score,
            "model": decision.model,
            "cost_usd": float(decision.cost_usd),
            "signals": decision.signals,
            "rule": decision.rule,
        }


def reference_target(pipeline: Pipeline) -> CallableTarget:
    """The reference pipeline as a target, identified by its policy and its code."""
    identity = {"policy": pipeline.policy.digest, "code": code_digest()}
    return CallableTarget(Route(pipeline), fingerprint=identify("routing-pipeline", identity), concurrency="processes")


def code_digest() -> str:
    """Identifies the reference pipeline's code: a change to it is a change of what is evaluated."""
    from hashlib import sha256
    from importlib.resources import files

    digest = sha256()
    folder = files("yb_eval_routing") / "pipeline"
    for source in sorted((item for item in folder.iterdir() if item.name.endswith(".py")), key=lambda item: item.name):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()


@frozen(slots=True)
class Judge:
    """Compares a router's answer with the golden tier.

    Costs are the policy's: what the request would cost on the tier that was chosen, and on the golden one, at the
    same fixed prices, whoever the router is.
    """

    pipeline: Pipeline
    tiers: tuple[str, ...] = field(init=False)

    @tiers.default
    def _tiers(self) -> tuple[str, ...]:
        return tuple(tier.name for tier in self.pipeline.policy.tiers)

    def __call__(self, sample: Sample, answer: Any) -> Outcome:
        said = self.judgement(sample, answer)
        return Outcome.judged(sample, expected=said.expected, predicted=said.predicted, details=said.details)

    def judgement(self, sample: Sample, answer: Any) -> Judgement:
        row: GoldenRow = sample.data
        said = expect_object(answer)
        tier = expect_choice(said, "tier", self.tiers)
        _check_optional_parts(said)
        request = row.request(sample.id)
        details = {
            "acceptable": list(row.acceptable) or [row.tier],
            "step": self.tiers.index(tier) - self.tiers.index(row.tier),
            "cost_usd": self._cost(request, tier),
            "golden_cost_usd": self._cost(request, row.tier),
            "length_tier": length_tier(request, self.pipeline.policy),
            **{key: said[key] for key in ("score", "model", "rule", "signals") if said.get(key) is not None},
        }
        return Judgement(correct=tier == row.tier, expected=row.tier, predicted=tier, details=details)

    def _cost(self, request: Mapping[str, Any], tier: str) -> float:
        return float(self.pipeline.cost_usd(request, tier))


def _check_optional_parts(said: Mapping[str, Any]) -> None:
    """Raises `AnswerError` for a part beside the tier that is not of the schema's type."""
    expect_number(said, "score", optional=True)
    expect_number(said, "cost_usd", minimum=0, optional=True)
    for key in ("model", "rule"):
        expect_text(said, key, optional=True)
    if said.get("signals") is not None:
        expect_object(said["signals"])


def _request(sample: Sample) -> dict[str, Any]:
    row: GoldenRow = sample.data
    return row.request(sample.id)


def routing_evaluator(target: Target, pipeline: Pipeline) -> TargetEvaluator:
    """The evaluator of a plain run."""
    return TargetEvaluator(target=target, request=_request, judge=Judge(pipeline), identity=_identity(pipeline))


def _identity(pipeline: Pipeline, **more: Any) -> dict[str, Any]:
    return {"judging": _JUDGING, "policy": pipeline.policy.digest, **more}


@frozen(slots=True)
class RobustnessEvaluator:
    """Asks each golden row in several wordings too, and each pair of paraphrases in both.

    An outcome has the judgement `tier` (as in a plain run; golden rows only) and the judgement `robustness`: correct if
    every rewording kept the tier.
    """

    target: Target
    pipeline: Pipeline
    fingerprint: str = field(init=False)
    judge: Judge = field(init=False)

    @fingerprint.default
    def _fingerprint(self) -> str:
        identity = _identity(self.pipeline, rewordings=sorted(REWORDINGS))
        return identify("evaluator", {"target": self.target.fingerprint, "identity": identity})

    @judge.default
    def _judge(self) -> Judge:
        return Judge(self.pipeline)

    @property
    def batch_size(self) -> int:
        return self.target.batch_size

    @property
    def concurrency(self) -> Any:
        return self.target.concurrency

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        asked = [_wordings(sample) for sample in samples]
        requests = [request for wordings in asked for request in wordings.values()]
        repeat = samples[0].repeat if samples else 0
        answers = iter(self.target.ask(requests, repeat=repeat))
        return [
            self._outcome(sample, {name: next(answers) for name in wordings})
            for sample, wordings in zip(samples, asked, strict=True)
        ]

    def _outcome(self, sample: Sample, answers: Mapping[str, Answer]) -> Outcome:
        failed = next((f"{name}: {a.failure}" for name, a in answers.items() if a.failure is not None), None)
        if failed is not None:
            return Outcome.error(sample, failed)
        try:
            tiers = {
                name: expect_choice(expect_object(answer.value), "tier", self.judge.tiers)
                for name, answer in answers.items()
            }
            judgements = {"robustness": _robustness(tiers)}
            if isinstance(sample.data, GoldenRow):
                judgements = {"tier": self.judge.judgement(sample, answers["as it is"].value), **judgements}
        except AnswerError as error:
            return Outcome.error(sample, str(error))
        return Outcome.of(sample, judgements)


def _robustness(tiers: Mapping[str, str]) -> Judgement:
    first, *others = tiers
    kept = {name: tiers[name] == tiers[first] for name in others}
    return Judgement(
        correct=all(kept.values()),
        expected=tiers[first],
        predicted=tiers[first] if all(kept.values()) else {name: tiers[name] for name in others if not kept[name]},
        details={"kept": kept},
    )


def _shout(text: str) -> str:
    return text.upper()


def _greet(text: str) -> str:
    return ("Здравствуйте! " if any("а" <= c <= "я" for c in text.lower()) else "Hello! ") + text


#: Rewordings that no router should mind.
REWORDINGS = {
    "case": _shout,
    "space": lambda text: f"  {text}\n\n",
    "greeting": _greet,
    "punctuation": lambda text: text.rstrip(" .!?。？！") + "...",
}


def _wordings(sample: Sample) -> dict[str, dict[str, Any]]:
    """The requests to make for a sample, by the name of the wording; the first is the one the others are held
    against."""
    if isinstance(sample.data, Paraphrase):
        both = {"as it is": sample.data.a, "paraphrase": sample.data.b}
        return {name: {"id": sample.id, "prompt": text, "metadata": {}} for name, text in both.items()}
    request = sample.data.request(sample.id)
    made = {"as it is": request}
    for name, change in REWORDINGS.items():
        # Case means something in code: there only the wordings that leave the text as it is apply.
        if name == "case" and "kind:code" in sample.tags:
            continue
        made[name] = _reworded(request, change)
    return made


def _reworded(request: Mapping[str, Any], change: Any) -> dict[str, Any]:
    if "prompt" in request:
        return {**request, "prompt": change(request["prompt"])}
    messages = [dict(message) for message in request["messages"]]
    last = next((m for m in reversed(messages) if m.get("role") == "user" and isinstance(m.get("content"), str)), None)
    if last is not None:
        last["content"] = change(last["content"])
    return {**request, "messages": messages}
