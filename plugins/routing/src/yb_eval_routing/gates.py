"""The gates of the suite `routing`."""

from __future__ import annotations

from yb_eval import Gate
from yb_eval.gates import ExpressionGate
from yb_eval_routing.metrics import NEAR_CONSTANT


def routing_gates(*, max_mismatch: int, against: bool, min_robustness: float | None) -> list[Gate]:
    """`--max-mismatch` limits the comparison that was asked for: rows that differ from the baseline where there is
    one, else from the golden tier.

    Against a baseline, rows that lost their answer count like rows that changed, and rows that are gone are a
    warning: taking out what broke is no way to pass unseen. A nearly constant router is a warning: it may be meant.
    """
    prefix = "" if min_robustness is None else "tier."
    gates: list[Gate] = []
    if against:
        gates += [
            ExpressionGate(f"{prefix}changed <= {max_mismatch}"),
            ExpressionGate(f"{prefix}lost <= {max_mismatch}"),
            ExpressionGate("removed == 0", "warn"),
        ]
    else:
        gates.append(ExpressionGate(f"mismatches <= {max_mismatch}"))
    gates.append(ExpressionGate(f"max_share <= {NEAR_CONSTANT}", "warn"))
    if min_robustness is not None:
        gates.append(ExpressionGate(f"robustness >= {min_robustness}"))
    return gates
