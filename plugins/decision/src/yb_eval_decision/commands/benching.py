"""`yb-eval decision bench`: what asking costs, and how long it takes, with the backend at hand."""

from __future__ import annotations

from itertools import cycle, islice
from time import perf_counter
from typing import Any

import click
import orjson

from yb_eval.datasets import RowDataset
from yb_eval.errors import ExitCode, printable
from yb_eval_decision.commands.common import open_for, timeout_option
from yb_eval_decision.dataset import place_of, sample_of

#: The evals of retrieval-augmented answers, as RAG libraries have them.
DEFAULT_EVALS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")


@click.command("bench")
@click.option("--n", default=20, show_default=True, type=click.IntRange(1, 1_000_000), help="Samples to ask.")
@click.option("--backend", "spec", help="What answers.  [default: local]")
@click.option("--evals", "-e", "names", multiple=True, metavar="EVAL", help="Other evals than the four of RAG.")
@click.option("--data", default="rag", show_default=True, help="A set that ships, or a file of rows.")
@timeout_option
@click.option("--json", "as_json", is_flag=True, help="The numbers as JSON.")
@click.pass_context
def bench(
    ctx: click.Context, n: int, spec: str | None, names: tuple[str, ...], data: str, timeout: float, as_json: bool
) -> None:
    """Ask N samples one after another and say what it took: requests, tokens, cost, latency.

    Observations of this machine and this hour; for verdicts run the suite. The exit code is 3 if nothing was measured.
    """
    from yb_eval_decision.asking import EvalSet
    from yb_eval_decision.assessing import assess
    from yb_eval_decision.registry import resolve_evals
    from yb_eval_decision.results import Usage

    evals = EvalSet(resolve_evals(list(names or DEFAULT_EVALS)))
    rows = [sample_of(sample.data) for batch in RowDataset(place_of(data)).open().samples(1_000) for sample in batch]
    took: list[float] = []
    usage, measured = Usage(), 0
    with open_for(spec, timeout) as backend:
        for row in islice(cycle(rows), n):
            started = perf_counter()
            (report,) = assess([row], evals, backend)
            took.append((perf_counter() - started) * 1000)
            usage += report.usage
            measured += sum(result.measured for result in report.results)
        numbers = _numbers(backend.spec, n, len(evals.evals), measured, usage, sorted(took))
    if as_json:
        click.echo(orjson.dumps(numbers, option=orjson.OPT_INDENT_2).decode())
    else:
        for name, value in numbers.items():
            click.echo(f"{name.replace('_', ' '):<24} {_shown(value)}")
    ctx.exit(int(ExitCode.PASS if measured else ExitCode.NOT_MEASURED))


def _numbers(spec: str, n: int, evals: int, measured: int, usage: Any, took: list[float]) -> dict[str, Any]:
    return {
        "backend": spec,
        "samples": n,
        "evals": evals,
        "results_measured": measured,
        "results_unmeasured": n * evals - measured,
        "requests": usage.requests,
        "questions": usage.questions,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd_per_1000": None if usage.cost_usd is None else usage.cost_usd * 1000 / n,
        "p50_ms": round(took[len(took) // 2], 3),
        "p95_ms": round(took[min(len(took) - 1, len(took) * 95 // 100)], 3),
        "wall_s": round(sum(took) / 1000, 3),
    }


def _shown(value: Any) -> str:
    if value is None:
        return "unknown"
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else printable(value)
