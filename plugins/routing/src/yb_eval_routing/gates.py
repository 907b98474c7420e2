"""The gates of the suite `routing`."""

from __future__ import annotations

from yb_eval import Gate
from yb_eval.gates import ExpressionGate
from yb_eval_routing.metrics import NEAR_CONSTANT


def routing_gates(*, max_mismatch: int, against: bool, min_robustness: float | None) -> list[Gate]:
    """`--max-mismatch` limits the comparison that was asked for: rows that differ from the baseline where there is
    one, else from the golden tier. A nearly constant router is a warning: it may be meant."""
    if against:
        limited = "changed" if min_robustness is None else "tier.changed"
    else:
        limited = "mismatches"
    gates: list[Gate] = [
        ExpressionGate(f"{limited} <= {max_mismatch}"),
        ExpressionGate(f"max_share <= {NEAR_CONSTANT}", "warn"),
    ]
    if min_robustness is not None:
        gates.append(ExpressionGate(f"robustness >= {min_robustness}"))
    return gates
