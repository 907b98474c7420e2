"""The gates of the suite `routing-quality`."""

from __future__ import annotations

from yb_eval import Gate
from yb_eval.gates import ExpressionGate


def quality_gates(*, min_apgr: float, max_drop: float, against: bool) -> list[Gate]:
    """A router must rank better than chance, and not worse than it did.

    The floor is exclusive: a router that always says the same has an APGR of exactly 0.5. It binds the estimate: the
    reference router's lead on chance is within the noise of 1,319 samples, and `--gate 'lower(apgr) > 0.5'` asks for
    more. Losing to the prompt's length is a warning: the reference router does, and a gate that hides it would be a
    worse answer than one that says so in every run.
    """
    gates: list[Gate] = [
        ExpressionGate(f"apgr > {min_apgr}"),
        ExpressionGate("apgr >= length_apgr", "warn"),
    ]
    if against:
        gates.append(ExpressionGate(f"apgr - baseline.apgr >= -{max_drop}"))
    return gates
