"""The suite `decision`: evals of agents, answers and guards, answered by a decision model.

What it measures is the judge as much as the judged: against labels, whether each eval is right; without labels, what a set of
traces looks like through it. What the backend cannot tell is unmeasured and passes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import frozen

from yb_eval import Comparison, Context, Gate, Measurements, Plan, Suite, UsageError, hookimpl, option
from yb_eval.errors import printable
from yb_eval.gates import ExpressionGate
from yb_eval.interfaces import Snapshot, Target
from yb_eval_decision.backends.base import Price
from yb_eval_decision.backing import notes_of, run_backend
from yb_eval_decision.dataset import DEFAULT_SETS, SETS, RowLabels, decision_dataset, sample_of
from yb_eval_decision.eval import Eval
from yb_eval_decision.gates import Bound, EverythingMeasured, sentences, threshold_gates, unmeasured
from yb_eval_decision.metrics import eval_metrics
from yb_eval_decision.schemas import ANSWER, REQUEST
from yb_eval_decision.standards import STANDARDS
from yb_eval_decision.steadiness import Steadiness
from yb_eval_decision.verdicts import options_of

if TYPE_CHECKING:
    from yb_eval_decision.evaluator import DecisionEvaluator

YB_EVAL_API = 1

_TARGETS = {"builtin": "what --backend names: the offline model `local` by default"}


@frozen(kw_only=True)
class Options:
    """The options of `yb-eval run decision`."""

    evals: tuple[str, ...] = option(
        (), help="An eval to ask, by name, name:parameter=value, or as a YAML file. Repeat for several.  [default: all]",
        identity=False,
    )  # fmt: skip
    backend: str | None = option(
        None, help="What answers: local, typesafe, kev://HOST:PORT, openai:MODEL, 'local -> kev://...', ...",
        identity=False,
    )  # fmt: skip
    data: tuple[str, ...] = option(
        DEFAULT_SETS, help=f"Rows: a file, or one of {', '.join(SETS)}. Repeat for several.", identity=False
    )
    every_eval: bool = option(False, help="Ask every eval of every row, not only those that a row has labels for.")
    isolate: bool = option(False, help="Ask each eval in a request of its own: slower, and what a gate alone sees.")
    min_accuracy: float | None = option(
        None, help="The accuracy that each eval must reach against labels.", minimum=0, maximum=1
    )
    min_pass_rate: float | None = option(
        None, help="The share of samples that must pass each eval.", minimum=0, maximum=1
    )
    bound: Bound = option("lower", help="What must reach them: the lower end of the 95 % interval, or the estimate.")
    calibration: Path | None = option(None, help="A calibration made by `yb-eval decision calibrate`.")
    max_cost: float | None = option(
        None,
        help="US dollars after which nothing more is asked; what is left is unmeasured.",
        minimum=0,
        identity=False,
    )
    input_price: float | None = option(
        None,
        help="US dollars for a million input tokens, where the backend's price is not known.",
        minimum=0,
        identity=False,
    )
    output_price: float = option(0.0, help="The same for output tokens.", minimum=0, identity=False)


def build(options: Options, context: Context) -> Plan:
    """The plan of one run."""
    from yb_eval_decision.calibration import Calibration
    from yb_eval_decision.evaluator import DecisionEvaluator
    from yb_eval_decision.registry import GROUPS

    evals = asked_evals(options.evals)
    own = options.data == DEFAULT_SETS and not options.evals
    known = frozenset(GROUPS["all"]) | frozenset(evals)
    dataset = decision_dataset(
        options.data, RowLabels({name: options_of(one) for name, one in evals.items()}, known), context.formats
    )
    saved = None if options.calibration is None else Calibration.load(options.calibration)
    backend, target = run_backend(options.backend, context, most=options.max_cost, price=_price(options), saved=saved)
    applies = saved is not None and saved.check(backend, list(evals.values()))
    evaluator = DecisionEvaluator(
        evals,
        backend,
        every_eval=options.every_eval,
        isolate=options.isolate,
        calibration=saved if applies else None,
    )
    named = bool(options.evals)
    gates: list[Gate] = threshold_gates(
        evals, named=named, min_accuracy=options.min_accuracy, min_pass_rate=options.min_pass_rate, bound=options.bound
    )
    # The standards are those of the default run: other data, evals or another backend have none but the user's.
    if own and backend.spec == "local" and not gates:
        gates = [ExpressionGate(standard.gate(name)) for name, standard in STANDARDS.items()]
    else:
        gates = [EverythingMeasured(tuple(evals), named=named), *gates]
    return Plan(
        dataset=dataset,
        evaluator=evaluator,
        metrics=[metric for name, one in evals.items() for metric in eval_metrics(name, one)],
        across=[Steadiness(judgement=name) for name in evals] if context.repeats > 1 else [],
        gates=gates,
        details=Details(tuple(evals), named, evaluator, target),
        estimate=Foresight(evaluator, _price(options)),
    )


def _price(options: Options) -> Price | None:
    return None if options.input_price is None else Price(input=options.input_price, output=options.output_price)


def asked_evals(names: tuple[str, ...]) -> dict[str, Eval]:
    """The evals of the run by the name of their judgement: all that can be made without arguments, or those named.

    Raises `UsageError` for a name that is unknown, and for two evals of one name.
    """
    from yb_eval_decision.registry import resolve_evals

    evals: dict[str, Eval] = {}
    for one in resolve_evals(list(names or ("all",))):
        if one.name in evals:
            raise UsageError(f"two evals are named {one.name!r}", where="evals", hint="name one of them: name=...")
        evals[one.name] = one
    return evals


@frozen(slots=True)
class Details:
    """The suite's own part of the report: how each eval did, which were not measured and why, who decided what."""

    evals: tuple[str, ...]
    named: bool
    evaluator: DecisionEvaluator
    target: Target

    def __call__(self, measured: Measurements, comparison: Comparison | None) -> Mapping[str, Any]:
        lacking = unmeasured(self.evals, measured)
        summary = sentences(lacking, named=self.named)
        summary += _took(self.evaluator.observations())
        summary += map(printable, notes_of(self.evaluator.backend))
        said: dict[str, Any] = {
            "unmeasured": {
                name: {"why": why, "reason": reason} for why, names in lacking.items() for name, reason in names.items()
            },
            "backend": self.evaluator.backend.spec,
        }
        return {**said, "summary": summary} if summary else said


def _took(seen: Mapping[str, Any]) -> list[str]:
    """Who decided how much, where it was not one alone, and what it cost, where it did."""
    said = []
    if len(seen.get("decided_by", ())) > 1:
        shares = ", ".join(f"{printable(name)} {count:,}" for name, count in seen["decided_by"].items())
        said.append(f"decided by: {shares}")
    if seen.get("cost_usd"):
        least = "" if seen["cost_complete"] else "at least "
        said.append(f"cost {least}${seen['cost_usd']:.4f}, {seen['input_tokens']:,} input tokens")
    return said


@frozen(slots=True)
class Foresight:
    """What a dry run tells: requests, questions, tokens and cost of asking every sample."""

    evaluator: DecisionEvaluator
    price: Price | None = None

    def __call__(self, snapshot: Snapshot) -> Mapping[str, Any]:
        from yb_eval_decision.budget import Estimate, estimate

        evaluator, total = self.evaluator, Estimate()
        for batch in snapshot.samples(evaluator.batch_size):
            for sample in batch:
                evals = evaluator.set_of(evaluator.asked(sample.data))
                total += estimate(
                    [sample_of(sample.data)], evals, evaluator.backend, isolate=evaluator.isolate, price=self.price
                )
        return total.to_dict()


@hookimpl
def yb_eval_suite() -> Suite[Options]:
    return Suite(
        name="decision",
        summary="Evals of agents and answers by a decision model: right, calibrated, and never measured by guesswork?",
        options=Options,
        build=build,
        request=REQUEST,
        answer=ANSWER,
        targets=_TARGETS,
        baseline=Path("datasets/eval/decision_baseline.json"),
        commands={
            "list": "yb_eval_decision.commands.listing:list_evals",
            "describe": "yb_eval_decision.commands.listing:describe_eval",
            "check": "yb_eval_decision.commands.checking:check",
            "validate": "yb_eval_decision.commands.validating:validate",
            "schema": "yb_eval_decision.commands.validating:schema",
            "calibrate": "yb_eval_decision.commands.calibrating:calibrate",
            "bench": "yb_eval_decision.commands.benching:bench",
        },
    )
