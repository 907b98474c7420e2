"""Asking a router how strong a model each prompt needs, and looking up what became of its choice."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Literal

from attrs import frozen

from yb_eval import Outcome, Sample, Target
from yb_eval.digest import identify
from yb_eval.targets import AnswerError, CallableTarget, TargetEvaluator, expect_choice, expect_number, expect_object
from yb_eval_routing.quality.dataset import OutcomeRow, request_length
from yb_eval_routing.quality.prices import Prices

#: Rises when the judging of answers changes.
_JUDGING = 1

Side = Literal["weak", "strong"]


@frozen(slots=True, kw_only=True)
class Judge:
    """Turns a router's answer into an outcome.

    What ranks a sample is the answer's score, or else its tier's place among `tiers`. What is chosen for it follows
    from `threshold` (a score of at least this is sent to the strong model), or else from the tier (`strong_from` is
    the first of the tiers whose requests are); an answer with a score alone chooses nothing.

    An outcome expects the cheapest model that is entirely right (null where neither is; the weak one where both cost
    the same, or costs are not known) and is correct if the chosen one is entirely right; its score is the chosen
    model's.
    """

    tiers: tuple[str, ...]
    strong_from: int
    threshold: float | None = None
    prices: Prices | None = None
    seed: int = 0

    def __call__(self, sample: Sample, answer: Any) -> Outcome:
        row: OutcomeRow = sample.data
        said = expect_object(answer)
        tier = expect_choice(said, "tier", self.tiers, optional=True)
        score = expect_number(said, "score", optional=True)
        chosen = self._chosen(tier, score)
        costs = {"weak": row.weak.cost(self.prices), "strong": row.strong.cost(self.prices)}
        right = {"weak": row.weak.score >= 1, "strong": row.strong.score >= 1}
        scores = {"weak": row.weak.score, "strong": row.strong.score}
        details: dict[str, Any] = {
            "rank": float(score) if score is not None else self._place(tier),
            "ranked_by": "tier" if score is None else "score",
            "length": request_length(row.request(sample.id)),
            "random": random_rank(self.seed, sample.id),
            **scores,
        }
        if tier is not None:
            details["tier"] = tier
        if costs["weak"] is not None:
            details |= {f"{side}_cost_usd": cost for side, cost in costs.items()}
            if chosen is not None:
                details["cost_usd"] = costs[chosen]
        return Outcome.judged(
            sample,
            expected=_cheapest(right, costs),
            predicted=chosen,
            correct=None if chosen is None else right[chosen],
            score=None if chosen is None else scores[chosen],
            details=details,
        )

    def _chosen(self, tier: str | None, score: float | None) -> Side | None:
        if tier is None and score is None:
            raise AnswerError("the answer has neither a score nor a tier")
        if self.threshold is not None:
            if score is None:
                raise AnswerError("the answer has no score to hold against --threshold")
            return "strong" if score >= self.threshold else "weak"
        if tier is None:
            return None
        return "strong" if self.tiers.index(tier) >= self.strong_from else "weak"

    def _place(self, tier: str | None) -> float:
        assert tier is not None
        return float(self.tiers.index(tier))


def _cheapest(right: Mapping[str, bool], costs: Mapping[str, float | None]) -> Side | None:
    if right["weak"] and right["strong"]:
        weak, strong = costs["weak"], costs["strong"]
        return "strong" if weak is not None and strong is not None and strong < weak else "weak"
    return "weak" if right["weak"] else "strong" if right["strong"] else None


def random_rank(seed: int, sample_id: str) -> float:
    """A number in 0..1 drawn for a sample: it depends on the seed and the id, never on where the row stands."""
    digest = sha256(f"{seed}:{sample_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64


def quality_evaluator(target: Target, judge: Judge) -> TargetEvaluator:
    """The evaluator; its fingerprint covers all that decides the outcomes."""
    identity = {
        "judging": _JUDGING,
        "tiers": list(judge.tiers),
        "strong_from": judge.strong_from,
        "threshold": None if judge.threshold is None else repr(judge.threshold),
        "prices": None if judge.prices is None else judge.prices.file.digest.sha256,
        "seed": judge.seed,
    }
    return TargetEvaluator(target=target, request=_request, judge=judge, identity=identity)


def _request(sample: Sample) -> dict[str, Any]:
    row: OutcomeRow = sample.data
    return row.request(sample.id)


def _length(request: Mapping[str, Any]) -> dict[str, float]:
    return {"score": float(request_length(request))}


def length_target() -> CallableTarget:
    """The router that any other has to beat: the longer the request, the stronger the model."""
    return CallableTarget(_length, fingerprint=identify("routing-length", {"version": 1}), spec="length")


@frozen(slots=True)
class RandomRouter:
    seed: int

    def __call__(self, request: Mapping[str, Any]) -> dict[str, float]:
        return {"score": random_rank(self.seed, f"target:{request['id']}")}


def random_target(seed: int) -> CallableTarget:
    """A router that knows nothing."""
    fingerprint = identify("routing-random", {"version": 1, "seed": seed})
    return CallableTarget(RandomRouter(seed), fingerprint=fingerprint, spec="random")
