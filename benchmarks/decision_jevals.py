"""One run of benchmarks/decision.py with jevals: FILE."""

import sys

from jevals import MockBackend, evaluate_dataset
from jevals.agent import Grounded, StayedInScope, ToolChoice, UsedToolResult
from jevals.quality import AnswerRelevancy, Completeness
from jevals.security import PHI, IndirectInjection

evals = [
    ToolChoice(), UsedToolResult(), Grounded(), StayedInScope(),
    AnswerRelevancy(), Completeness(), IndirectInjection(), PHI(),
]  # fmt: skip
report = evaluate_dataset(sys.argv[1], evals, backend=MockBackend(default_noul=0.9))
print(report.table())
