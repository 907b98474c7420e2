"""What is measured of a router's choices on recorded outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval import Comparison, Declared, Measurement, Measurements, Metric, Outcome
from yb_eval.metrics import Amount, JudgementMetric, MeanScore, Moments, Rate, Sliced
from yb_eval.model import Judged
from yb_eval_routing.quality.curves import arena_score
from yb_eval_routing.quality.rankings import Rankings
from yb_eval_routing.quality.ratios import Ratio, against_the_best, against_the_cheapest, recovered_gap

#: The share of calls to one model from which on a router counts as nearly constant.
NEAR_CONSTANT = 0.95


def quality_metrics(*, bins: int) -> list[Metric[Any]]:
    """The ranking first, then the choices: the operating point that tiers or a threshold give.

    Everything about choices is over the scored outcomes in which a model was chosen, and null where none was.
    """
    accuracy = MeanScore(name="accuracy", low=0.0, high=1.0)
    return [
        Rankings(bins=bins),
        accuracy,
        Rate(
            name="strong_share",
            numerator=chose_strong,
            help="Requests sent to the strong model; a random router's PGR at this share is the share itself.",
            empty="no answer chooses a model: give --threshold, or answer with a tier",
            better=None,
        ),
        Ratio(
            name="pgr",
            help="Gap between the models recovered by the choices made.",
            parts=recovered_gap,
            empty="no model was chosen, or the strong one is no better than the weak one on these samples",
            low=None,
            high=None,
        ),
        Rate(
            name="optimal_selection",
            numerator=chose_the_cheapest_right,
            help="Requests sent to the cheapest right model, of all that some model gets right.",
            empty="no model was chosen, or none is right anywhere",
        ),
        Ratio(
            name="optimal_accuracy",
            help="Accuracy / that of the better model for each sample, over all samples.",
            parts=against_the_best,
            empty="no model was chosen, or none scores anywhere",
        ),
        Ratio(
            name="optimal_cost",
            help="Cost of the cheapest right model / cost paid, where the router got it right.",
            parts=against_the_cheapest,
            empty="the data has no costs, or no model was chosen that is right",
        ),
        Amount(name="cost_usd", detail="cost_usd"),
        ArenaScore(),
        Sliced(metric=accuracy),
    ]


def chose_strong(judged: Judged) -> bool | None:
    return None if judged.predicted is None else bool(judged.predicted == "strong")


def chose_the_cheapest_right(judged: Judged) -> bool | None:
    """Null where no model is right. A row the router got wrong while another model is right counts as a miss:
    RouterArena leaves such rows out, so there a router that errs wherever choosing matters can read 1.0000
    (RouterArena issue 95)."""
    if judged.predicted is None or judged.expected is None:
        return None
    return bool(judged.predicted == judged.expected)


@frozen(slots=True, kw_only=True)
class ArenaScore(JudgementMetric):
    """`arena_score`: RouterArena's score of accuracy and of cost per 1,000 queries (`curves.arena_score`), 0..1.

    Over the scored outcomes that have a cost and a chosen model. No interval: the score is not linear in two means
    that move together, and a bootstrap cannot be merged.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("arena_score", "RouterArena's score of accuracy and cost."),)

    def start(self) -> tuple[Moments, Moments]:
        return Moments(), Moments()

    def add(self, state: tuple[Moments, Moments], outcomes: Sequence[Outcome]) -> tuple[Moments, Moments]:
        paid = [judged for judged in self.scored(outcomes) if judged.details.get("cost_usd") is not None]
        state[0].add(judged.score or 0.0 for judged in paid)
        state[1].add(judged.details["cost_usd"] for judged in paid)
        return state

    def merge(self, left: tuple[Moments, Moments], right: tuple[Moments, Moments]) -> tuple[Moments, Moments]:
        for mine, other in zip(left, right, strict=True):
            mine.merge(other)
        return left

    def finish(self, state: tuple[Moments, Moments]) -> Sequence[Measurement]:
        scores, costs = state
        name = self.named("arena_score")
        if costs.n == 0:
            return (Measurement(name, None, reason="the data has no costs, or no model was chosen"),)
        if costs.sum == 0:
            return (Measurement(name, None, costs.n, reason="nothing was paid: the score needs a cost above 0"),)
        return (Measurement(name, arena_score(float(scores.mean), float(1000 * costs.mean)), costs.n),)


def details(measured: Measurements, comparison: Comparison | None) -> Mapping[str, Any]:
    """The suite's own part of the report: is the router nearly constant, and what does it beat?"""
    said: dict[str, Any] = {}
    share, apgr, accuracy = (measured[name].value for name in ("strong_share", "apgr", "accuracy"))
    if share is not None:
        said["near_constant"] = max(share, 1 - share) >= NEAR_CONSTANT
    beats: dict[str, bool] = {}
    if apgr is not None:
        length = measured["length_apgr"].value
        beats["random"] = apgr > 0.5
        beats["length"] = length is not None and apgr > length
    constant = measured["best_constant_accuracy"].value
    if accuracy is not None and constant is not None:
        beats["best_constant"] = accuracy > constant
    if beats:
        said["beats"] = beats
    if comparison is not None:
        said["changed_rows"] = [flip.id for flip in comparison.flips]
    return said
