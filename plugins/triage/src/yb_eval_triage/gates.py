"""The gates of the suite `triage`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen

from yb_eval import Gate
from yb_eval.gates import ExpressionGate
from yb_eval_triage.task import Task
from yb_eval_triage.tasks import SHIPPED, Shipped

Bound = Literal["interval", "estimate"]


@frozen(slots=True, kw_only=True)
class Limits:
    """What the user asks for, by measurement; `None` where nothing is asked. `bound`: what must reach it."""

    floors: Mapping[str, float]
    ceilings: Mapping[str, float]
    bound: Bound
    max_severe_rise: float


def task_gates(task: Task, prefix: str, split: str | None, limits: Limits, *, against: bool) -> list[Gate]:
    """The gates of one task. `split` is the shipped one that is measured, `None` for other rows.

    A limit that is asked for takes the place of the default one on the same measurement; the defaults hold for the
    shipped rows alone. Whatever the rows are, a triager must beat the best constant answer. A measurement that the
    task does not have (the severity of a task without one) has no gate.
    """
    shipped = SHIPPED.get(task.name, Shipped()) if split is not None else Shipped()
    low, high = ("lower({})", "upper({})") if limits.bound == "interval" else ("{}", "{}")
    bounds = [
        *((low, ">=", name, at) for name, at in {**shipped.floors.get(split or "", {}), **limits.floors}.items()),
        *((high, "<=", name, at) for name, at in {**shipped.ceilings.get(split or "", {}), **limits.ceilings}.items()),
        *(
            ("{}", ">=", name, at)
            for name, at in shipped.aims.get(split or "", {}).items()
            if name not in limits.floors
        ),
    ]
    gates = [f"{reach.format(prefix + name)} {sign} {at}" for reach, sign, name, at in bounds if _has(task, name)]
    gates.append(f"{prefix}accuracy > {prefix}best_constant_accuracy")
    if task.severity is not None:
        gates.append(f"{prefix}severity.expected_cost < {prefix}severity.constant_cost")
    if against:
        gates += _against(task, prefix, limits.max_severe_rise)
    return [ExpressionGate(text) for text in gates]


def _has(task: Task, measurement: str) -> bool:
    if measurement.startswith("severity."):
        return task.severity is not None
    if measurement.startswith("escalate."):
        return task.escalation is not None
    return True


def _against(task: Task, prefix: str, max_rise: float) -> list[str]:
    """Against a baseline: labels no worse by the paired test; severe under-triage may not rise, whatever else improves.

    The rise is held by its own number, not by a test: with few severe cases a test would need many of them to see one.
    Severities left out must not rise either, or silence would pass for care.
    """
    gates = [f"no_worse({prefix}accuracy)"]
    if task.severity is not None:
        severe, silent = f"{prefix}severity.severe_under_triage_rate", f"{prefix}severity.unanswered"
        gates += [f"{severe} - baseline.{severe} <= {max_rise}", f"{silent} - baseline.{silent} <= 0"]
    return gates
