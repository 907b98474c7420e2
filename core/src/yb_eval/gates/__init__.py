"""Gates: policies over measurements, and over a baseline where there is one.

`ExpressionGate` reads `lower(precision) >= 0.98`, `recall - baseline.recall >= -0.01` or `no_worse(accuracy)`;
`ErrorLimit` is the gate that every run has.
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.gates.errors import ErrorLimit as ErrorLimit
    from yb_eval.gates.expression import ExpressionGate as ExpressionGate
    from yb_eval.gates.reading import read_gate as read_gate
    from yb_eval.gates.verdicts import decide as decide
    from yb_eval.gates.verdicts import exit_code as exit_code

__getattr__, __all__ = lazily(
    __name__,
    {
        "errors": ["ErrorLimit"],
        "expression": ["ExpressionGate"],
        "reading": ["read_gate"],
        "verdicts": ["decide", "exit_code"],
    },
)
