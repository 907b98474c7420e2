"""What is measured of a router, and what stands beside it: the best constant policy and a router by length alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from yb_eval import Comparison, Declared, Measurement, Measurements, Metric, Outcome
from yb_eval.metrics import (
    Amount,
    BestConstant,
    Classification,
    Distribution,
    JudgementMetric,
    Moments,
    Rate,
    Sliced,
    wrong,
)
from yb_eval.model import Judged
from yb_eval_routing.pipeline import Policy

#: The largest share one tier may have before a router counts as nearly constant.
NEAR_CONSTANT = 0.9


def routing_metrics(policy: Policy, *, robustness: bool) -> list[Metric[Any]]:
    """The metrics of the suite; with `robustness` they fold the judgement `tier`, under the same names."""
    one: dict[str, Any] = {"judgement": "tier", "prefix": ""} if robustness else {}
    tiers = tuple(tier.name for tier in policy.tiers)
    agreement = Rate(
        name="agreement", numerator=right, help="Rows on their golden tier, of all scored.", pairing="correct", **one
    )
    metrics: list[Metric[Any]] = [
        Rate(
            name="mismatch_rate",
            numerator=wrong,
            count="mismatches",
            help="Rows that are not on their golden tier, of all scored.",
            better="lower",
            **one,
        ),
        agreement,
        Rate(
            name="acceptable_rate",
            numerator=judged_right,
            help="Rows on a tier that is right by judgement (without one: on the golden tier), of all scored.",
            **one,
        ),
        Rate(name="up_tier_rate", numerator=up, help="Rows above their golden tier: money.", better="lower", **one),
        Rate(name="down_tier_rate", numerator=down, help="Rows below it: a risk to quality.", better="lower", **one),
        CostChange(**one),
        Amount(name="cost_usd", detail="cost_usd", **one),
        Distribution(labels=tiers, **one),
        Classification(labels=tiers, **one),
        Rate(
            name="length_only_agreement",
            numerator=length_right,
            help="The agreement of a router that looks at the prompt's length alone: the one to beat.",
            better=None,
            **one,
        ),
        BestConstant(**one),
        Sliced(metric=agreement),
    ]
    if robustness:
        metrics += [
            Rate(
                name="robustness",
                numerator=right,
                judgement="robustness",
                prefix="",
                help="Rows and pairs whose tier every rewording keeps.",
                pairing="correct",
            ),
            Rewordings(),
        ]
    return metrics


def right(judged: Judged) -> bool | None:
    return judged.correct


def judged_right(judged: Judged) -> bool:
    return judged.predicted in judged.details["acceptable"]


def up(judged: Judged) -> bool:
    return bool(judged.details["step"] > 0)


def down(judged: Judged) -> bool:
    return bool(judged.details["step"] < 0)


def length_right(judged: Judged) -> bool:
    return bool(judged.details["length_tier"] == judged.expected)


@frozen(slots=True, kw_only=True)
class CostChange(JudgementMetric):
    """Cost on the chosen tiers / cost on the golden tiers - 1, over scored outcomes, at the policy's fixed prices.

    0.25 is a quarter more. Null where the golden tiers cost nothing.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        help = "Cost against the golden tiers' at fixed prices."
        return (self.declare("cost_change", help, low=-1.0, high=None, better="lower"),)

    def start(self) -> tuple[Moments, Moments]:
        return Moments(), Moments()

    def add(self, state: tuple[Moments, Moments], outcomes: Sequence[Outcome]) -> tuple[Moments, Moments]:
        scored = self.scored(outcomes)
        for moments, key in zip(state, ("cost_usd", "golden_cost_usd"), strict=True):
            moments.add(judged.details[key] for judged in scored)
        return state

    def merge(self, left: tuple[Moments, Moments], right: tuple[Moments, Moments]) -> tuple[Moments, Moments]:
        for a, b in zip(left, right, strict=True):
            a.merge(b)
        return left

    def finish(self, state: tuple[Moments, Moments]) -> Sequence[Measurement]:
        chosen, golden = state
        name = self.named("cost_change")
        if not golden.total:
            return (Measurement(name, None, reason="the golden tiers cost nothing"),)
        return (Measurement(name, float(chosen.sum / golden.sum - 1), chosen.n),)


@frozen(slots=True)
class Rewordings:
    """For each rewording, the share of outcomes that keep their tier under it: `kept[case]`."""

    @property
    def declares(self) -> Sequence[Declared]:
        return (Declared("kept", "Of the outcomes reworded in this way, those that keep their tier.", sliced=True),)

    def start(self) -> dict[str, list[int]]:
        return {}

    def add(self, state: dict[str, list[int]], outcomes: Sequence[Outcome]) -> dict[str, list[int]]:
        for outcome in outcomes:
            judged = outcome.judgements.get("robustness")
            if judged is None or judged.status != "scored":
                continue
            for name, kept in judged.details["kept"].items():
                count = state.setdefault(name, [0, 0])
                count[0] += kept
                count[1] += 1
        return state

    def merge(self, left: dict[str, list[int]], right: dict[str, list[int]]) -> dict[str, list[int]]:
        for name, (kept, n) in right.items():
            count = left.setdefault(name, [0, 0])
            count[0] += kept
            count[1] += n
        return left

    def finish(self, state: dict[str, list[int]]) -> Sequence[Measurement]:
        from yb_eval.statistics import wilson

        return [
            Measurement(f"kept[{name}]", kept / n, n, wilson(kept, n)) for name, (kept, n) in sorted(state.items()) if n
        ]


def details(measured: Measurements, comparison: Comparison | None) -> Mapping[str, Any]:
    """The suite's own part of the report: is the router nearly constant, and does it beat the trivial ones?"""
    said: dict[str, Any] = {}
    share, own = measured["max_share"].value, measured["agreement"].value
    if share is not None:
        said["near_constant"] = share > NEAR_CONSTANT
    if own is not None:
        said["beats"] = {
            other: own > value
            for other in ("length_only_agreement", "best_constant_accuracy")
            if (value := measured[other].value) is not None
        }
    if comparison is not None:
        said["changed_rows"] = [flip.id for flip in comparison.flips]
    return said
