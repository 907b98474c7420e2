"""yb-eval decides whether a change to an AI system may ship.

This module is the public API for plugin authors; everything here is imported when it is first used. General
implementations live in `yb_eval.datasets`, `yb_eval.targets`, `yb_eval.metrics` and `yb_eval.gates`, the conformance
kit in `yb_eval.testing`. A module whose name starts with an underscore is nobody else's."""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.api import run_suite as run_suite
    from yb_eval.errors import DatasetError as DatasetError
    from yb_eval.errors import EvaluationError as EvaluationError
    from yb_eval.errors import ExpressionError as ExpressionError
    from yb_eval.errors import PluginError as PluginError
    from yb_eval.errors import StoreError as StoreError
    from yb_eval.errors import UsageError as UsageError
    from yb_eval.errors import YbEvalError as YbEvalError
    from yb_eval.hooks import hookimpl as hookimpl
    from yb_eval.interfaces import API_VERSION as API_VERSION
    from yb_eval.interfaces import Answer as Answer
    from yb_eval.interfaces import Context as Context
    from yb_eval.interfaces import Dataset as Dataset
    from yb_eval.interfaces import Evaluator as Evaluator
    from yb_eval.interfaces import Gate as Gate
    from yb_eval.interfaces import Metric as Metric
    from yb_eval.interfaces import Plan as Plan
    from yb_eval.interfaces import Snapshot as Snapshot
    from yb_eval.interfaces import Suite as Suite
    from yb_eval.interfaces import Target as Target
    from yb_eval.model import Comparison as Comparison
    from yb_eval.model import Declared as Declared
    from yb_eval.model import Judgement as Judgement
    from yb_eval.model import Measurement as Measurement
    from yb_eval.model import Measurements as Measurements
    from yb_eval.model import Outcome as Outcome
    from yb_eval.model import Sample as Sample
    from yb_eval.model import Verdict as Verdict
    from yb_eval.options import option as option

__getattr__, __all__ = lazily(
    __name__,
    {
        "api": ["run_suite"],
        "errors": [
            "DatasetError",
            "EvaluationError",
            "ExpressionError",
            "PluginError",
            "StoreError",
            "UsageError",
            "YbEvalError",
        ],
        "hooks": ["hookimpl"],
        "interfaces": [
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
        ],
        "model": ["Comparison", "Declared", "Judgement", "Measurement", "Measurements", "Outcome", "Sample", "Verdict"],
        "options": ["option"],
    },
)
