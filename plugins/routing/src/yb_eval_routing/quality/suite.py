"""The suite `routing-quality`: what a router's choice between two models is worth, on recorded outcomes of both."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from yb_eval import Context, Plan, Suite, UsageError, hookimpl, option
from yb_eval_datasets import path
from yb_eval_routing.evaluator import reference_target
from yb_eval_routing.pipeline import Pipeline, Policy
from yb_eval_routing.quality.dataset import SHIPPED, quality_dataset, shipped
from yb_eval_routing.quality.evaluator import Judge, length_target, quality_evaluator, random_target
from yb_eval_routing.quality.gates import quality_gates
from yb_eval_routing.quality.metrics import details, quality_metrics
from yb_eval_routing.quality.prices import Prices
from yb_eval_routing.quality.schemas import ANSWER, REQUEST
from yb_eval_routing.suite import read_policy

YB_EVAL_API = 1


@frozen(kw_only=True)
class Options:
    """The options of `yb-eval run routing-quality`."""

    data: Path = option(
        Path("gsm8k"), help="Recorded outcomes: gsm8k, mmlu, routerarena, or a file of your own.", identity=False
    )
    prices: Path | None = option(None, help="A price list (JSON), for rows that have models and token counts.")
    policy: Path | None = option(None, help="A routing policy (TOML) instead of the reference one: the tiers' order.")
    strong_tier: str | None = option(
        None, help="The lowest tier served by the strong model. By default the upper half of the tiers is."
    )
    threshold: float | None = option(None, help="Scores of at least this go to the strong model, whatever the tier.")
    bins: int = option(
        10, help="In how many steps of the share of strong calls curves are read.", minimum=2, maximum=1000
    )
    min_apgr: float = option(0.5, help="APGR must be above this; 0.5 is chance.", minimum=-10, maximum=10)
    max_drop: float = option(0.01, help="With --against: how much APGR may fall.", minimum=0, maximum=10)


def build(options: Options, context: Context) -> Plan:
    """The plan of one run."""
    policy = read_policy(options.policy)
    name = shipped(options.data)
    if context.target == "builtin" and name is not None and not SHIPPED[name]:
        raise UsageError(
            f"the rows of {name} have no prompts, which the reference router reads",
            hint="--target length, a router of yours that knows their ids, or --data with a copy that has prompts",
        )
    tiers = policy.tier_names
    prices = Prices.read(path("routing/prices.json")) if name == "routerarena" else None
    if options.prices is not None:
        prices = Prices.read(options.prices)
    target = context.open_target(
        {
            "builtin": lambda: reference_target(Pipeline(policy)),
            "length": length_target,
            "random": lambda: random_target(context.seed),
        }
    )
    judge = Judge(
        tiers=tiers,
        strong_from=_strong_from(options.strong_tier, policy),
        threshold=options.threshold,
        prices=prices,
        seed=context.seed,
    )
    return Plan(
        dataset=quality_dataset(options.data, prices=prices, formats=context.formats),
        evaluator=quality_evaluator(target, judge),
        metrics=quality_metrics(bins=options.bins),
        gates=quality_gates(min_apgr=options.min_apgr, max_drop=options.max_drop, against=context.against),
        details=details,
    )


def _strong_from(tier: str | None, policy: Policy) -> int:
    names = policy.tier_names
    if tier is None:
        return (len(names) + 1) // 2
    if tier not in names:
        raise UsageError(f"--strong-tier: the policy has no tier {tier!r}", hint=f"its tiers: {', '.join(names)}")
    return names.index(tier)


@hookimpl
def yb_eval_suite() -> Suite[Options]:
    return Suite(
        name="routing-quality",
        summary="Does a router send the right requests to the strong model? On recorded outcomes of two models.",
        options=Options,
        build=build,
        request=REQUEST,
        answer=ANSWER,
        targets={
            "builtin": "the reference pipeline, with one policy",
            "length": "the longer the request, the stronger the model",
            "random": "a score drawn for each id",
        },
        baseline=Path("datasets/eval/routing_quality_baseline.json"),
    )
