"""Libraries that only some targets need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from yb_eval import UsageError


def need(module: str, extra: str) -> Any:
    """The module, or a `UsageError` that says how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise UsageError(
            f"the target {extra} needs {module}, which is not installed", hint=f"pip install 'yb-eval-triage[{extra}]'"
        ) from error
