"""What may not happen."""

from __future__ import annotations

from yb_eval.gates import ExpressionGate
from yb_eval.interfaces import Gate


def agent_gates(*, min_top1: float, against: bool) -> list[Gate]:
    """`top1` has a floor; against a baseline no scenario set may get worse by a paired test."""
    gates: list[Gate] = [ExpressionGate(f"top1 >= {min_top1:g}")]
    if against:
        gates.append(ExpressionGate("no_worse(top1)"))
    return gates
