"""One run of benchmarks/decision.py with this plugin: FILE [CONCURRENCY]."""

import sys

from yb_eval_decision import MockBackend, evaluate_dataset
from yb_eval_decision.agent import Grounded, StayedInScope, ToolChoice, UsedToolResult
from yb_eval_decision.quality import AnswerRelevancy, Completeness
from yb_eval_decision.security import PHI, IndirectInjection


def main(file: str, concurrency: str = "1") -> None:
    evals = [
        ToolChoice(), UsedToolResult(), Grounded(), StayedInScope(),
        AnswerRelevancy(), Completeness(), IndirectInjection(), PHI(),
    ]  # fmt: skip
    backend = MockBackend(default_noul=0.9)
    print(evaluate_dataset(file, evals, backend=backend, concurrency=int(concurrency)).table())


if __name__ == "__main__":  # processes import this file
    main(*sys.argv[1:])
