"""yb-eval decides whether a change to an AI system may ship.

This module is the public API for plugin authors; everything here is imported when it is first used. General
implementations live in `yb_eval.datasets`, `yb_eval.targets`, `yb_eval.metrics` and `yb_eval.gates`, the conformance
kit in `yb_eval.testing`. A module whose name starts with an underscore is nobody else's."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yb_eval.api import run_suite
    from yb_eval.errors import (
        DatasetError,
        EvaluationError,
        ExpressionError,
        PluginError,
        StoreError,
        UsageError,
        YbEvalError,
    )
    from yb_eval.hooks import hookimpl
    from yb_eval.interfaces import (
        API_VERSION,
        Answer,
        Context,
        Dataset,
        Evaluator,
        Gate,
        Metric,
        Plan,
        Snapshot,
        Suite,
        Target,
    )
    from yb_eval.model import (
        Comparison,
        Declared,
        Judgement,
        Measurement,
        Measurements,
        Outcome,
        Sample,
        Verdict,
    )
    from yb_eval.options import option

_HOMES = {
    "api": ("run_suite",),
    "errors": (
        "DatasetError",
        "EvaluationError",
        "ExpressionError",
        "PluginError",
        "StoreError",
        "UsageError",
        "YbEvalError",
    ),
    "hooks": ("hookimpl",),
    "interfaces": (
        "API_VERSION",
        "Answer",
        "Context",
        "Dataset",
        "Evaluator",
        "Gate",
        "Metric",
        "Plan",
        "Snapshot",
        "Suite",
        "Target",
    ),
    "model": ("Comparison", "Declared", "Judgement", "Measurement", "Measurements", "Outcome", "Sample", "Verdict"),
    "options": ("option",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "API_VERSION",
    "Answer",
    "Comparison",
    "Context",
    "Dataset",
    "DatasetError",
    "Declared",
    "EvaluationError",
    "Evaluator",
    "ExpressionError",
    "Gate",
    "Judgement",
    "Measurement",
    "Measurements",
    "Metric",
    "Outcome",
    "Plan",
    "PluginError",
    "Sample",
    "Snapshot",
    "StoreError",
    "Suite",
    "Target",
    "UsageError",
    "Verdict",
    "YbEvalError",
    "hookimpl",
    "option",
    "run_suite",
]


def __getattr__(name: str) -> Any:
    # `yb-eval --help` and `list` must not pay for what they do not use (PEP 562).
    if name not in _HOME:
        raise AttributeError(f"module 'yb_eval' has no attribute {name!r}")
    return getattr(import_module(f"yb_eval.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
