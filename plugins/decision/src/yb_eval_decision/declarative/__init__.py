"""Evals written as data: `load_eval("tool_call_risk.yaml")`, `DeclarativeEval({...})`."""

from yb_eval_decision.declarative.evals import DeclarativeEval, load_eval, load_evals
from yb_eval_decision.declarative.schema import eval_schema

__all__ = ["DeclarativeEval", "eval_schema", "load_eval", "load_evals"]
