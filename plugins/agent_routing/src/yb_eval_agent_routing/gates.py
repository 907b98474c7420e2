"""What may not happen."""

from __future__ import annotations

from yb_eval.gates import ExpressionGate
from yb_eval.interfaces import Gate
from yb_eval_agent_routing.graduation import GraduationGate


def agent_gates(*, min_top1: float, against: bool, graduation: GraduationGate | None) -> list[Gate]:
    """`top1` has a floor; against a baseline it may not get worse by the paired test; the graduation rule where it is
    asked for."""
    gates: list[Gate] = [ExpressionGate(f"top1 >= {min_top1:g}")]
    if against:
        gates.append(ExpressionGate("no_worse(top1)"))
    if graduation is not None:
        gates.append(graduation)
    return gates
