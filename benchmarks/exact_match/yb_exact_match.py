"""The trivial suite of the benchmarks: the answer is the input, and it must equal the label."""

from pathlib import Path

from attrs import frozen

from yb_eval import Context, Outcome, Plan, Suite, hookimpl, option
from yb_eval.datasets import RowDataset
from yb_eval.digest import identify
from yb_eval.gates import ExpressionGate
from yb_eval.metrics import Accuracy

YB_EVAL_API = 1


@frozen(kw_only=True)
class Row:
    input: str
    expected: str


@frozen(kw_only=True)
class Options:
    rows: Path = option(Path("rows.jsonl"), help="The rows.", identity=False)


@frozen
class ExactMatch:
    fingerprint: str = identify("exact-match", {"version": 1})
    batch_size: int = 1_000
    concurrency: str = "processes"

    def evaluate(self, samples):
        return [Outcome.judged(s, expected=s.data.expected, predicted=s.data.input) for s in samples]


def build(options: Options, context: Context) -> Plan:
    dataset = RowDataset(options.rows, row=Row, formats=context.formats)
    return Plan(
        dataset=dataset, evaluator=ExactMatch(), metrics=[Accuracy()], gates=[ExpressionGate("accuracy >= 0.9")]
    )


@hookimpl
def yb_eval_suite() -> Suite:
    return Suite(name="exact-match", summary="Exact match.", options=Options, build=build)
