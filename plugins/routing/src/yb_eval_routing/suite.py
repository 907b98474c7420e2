"""The suite `routing`: does a change to the classifier, the rules, the prices or the router move a request to another
tier?"""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from yb_eval import Context, Plan, Suite, UsageError, hookimpl, option
from yb_eval_datasets import path
from yb_eval_routing.dataset import golden_dataset
from yb_eval_routing.evaluator import RobustnessEvaluator, reference_target, routing_evaluator
from yb_eval_routing.gates import routing_gates
from yb_eval_routing.metrics import details, routing_metrics
from yb_eval_routing.pipeline import Pipeline, Policy, PolicyError, load_policy, reference_policy
from yb_eval_routing.schemas import ANSWER, REQUEST

YB_EVAL_API = 1

GOLDEN = path("eval/golden_routing.jsonl")


@frozen(kw_only=True)
class Options:
    """The options of `yb-eval run routing`."""

    golden: Path = option(GOLDEN, help="The golden rows, each with the tier it should map to.", identity=False)
    policy: Path | None = option(None, help="A routing policy (TOML) instead of the reference one: tiers and prices.")
    max_mismatch: int = option(
        0, help="How many rows may differ: from the baseline with --against, else from the golden tier.", minimum=0
    )
    robustness: bool = option(False, help="Also check that harmless rewordings keep the tier.")
    min_robustness: float = option(
        0.9, help="With --robustness: the share of rewordings that must keep it.", minimum=0, maximum=1
    )


def build(options: Options, context: Context) -> Plan:
    """The plan of one run."""
    policy = read_policy(options.policy)
    pipeline = Pipeline(policy)
    target = context.open_target({"builtin": lambda: reference_target(pipeline)})
    made = RobustnessEvaluator if options.robustness else routing_evaluator
    return Plan(
        dataset=golden_dataset(options.golden, policy, robustness=options.robustness, formats=context.formats),
        evaluator=made(target, pipeline),
        metrics=routing_metrics(policy, robustness=options.robustness),
        gates=routing_gates(
            max_mismatch=options.max_mismatch,
            against=context.against,
            min_robustness=options.min_robustness if options.robustness else None,
        ),
        details=details,
    )


def read_policy(file: Path | None) -> Policy:
    """The policy in a file, or the reference one. Raises `UsageError` for one that cannot be used."""
    try:
        return reference_policy() if file is None else load_policy(file)
    except PolicyError as error:
        raise UsageError(error.message, where=None if file is None else str(file)) from error


@hookimpl
def yb_eval_suite() -> Suite[Options]:
    return Suite(
        name="routing",
        summary="Which tier does each request land on, and did a change move any?",
        options=Options,
        build=build,
        request=REQUEST,
        answer=ANSWER,
        baseline=Path("datasets/eval/routing_baseline.json"),
    )
