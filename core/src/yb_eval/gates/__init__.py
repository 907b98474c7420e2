"""Gates: policies over measurements, and over a baseline where there is one.

`ExpressionGate` reads `lower(precision) >= 0.98`, `recall - baseline.recall >= -0.01` or `no_worse(accuracy)`;
`ErrorLimit` is the gate that every run has.
"""

from yb_eval.gates.errors import ErrorLimit
from yb_eval.gates.expression import ExpressionGate
from yb_eval.gates.reading import read_gate
from yb_eval.gates.verdicts import decide, exit_code

__all__ = ["ErrorLimit", "ExpressionGate", "decide", "exit_code", "read_gate"]
