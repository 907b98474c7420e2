"""The gates of the suite `guards`."""

from __future__ import annotations

from yb_eval import Gate
from yb_eval.gates import ExpressionGate
from yb_eval_guards.corpora import Corpus


def guard_gates(min_precision: float | None, min_recall: float | None, bound: str, corpus: Corpus) -> list[Gate]:
    """The floors asked for, or else the corpus's own; with `bound="lower"` it is the lower end of the interval that
    must reach them."""
    asked = {"precision": min_precision, "recall": min_recall}
    floors = {**corpus.floors, **{name: floor for name, floor in asked.items() if floor is not None}}
    reach = (lambda name: f"lower({name})") if bound == "lower" else (lambda name: name)
    return [
        *(ExpressionGate(f"{reach(name)} >= {floor}") for name, floor in floors.items()),
        *(ExpressionGate(f"{name} <= {ceiling}") for name, ceiling in corpus.ceilings.items()),
    ]
