"""From the text of a gate to the gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from yb_eval.errors import ExpressionError
from yb_eval.gates.expression import ExpressionGate
from yb_eval.interfaces import Gate
from yb_eval.model import Severity


def read_gate(text: str, schemes: Mapping[str, Callable[..., Any]], *, severity: Severity = "block") -> Gate:
    """The gate that `text` describes: `warn: EXPR`, `block: EXPR`, `SCHEME: TEXT` of a plugin, or an expression.

    Raises `ExpressionError` for what cannot be read.
    """
    if not isinstance(text, str):
        raise ExpressionError(f"a gate is a text, not {text!r}")
    head, colon, rest = text.partition(":")
    word = head.strip()
    if colon and word in ("warn", "block"):
        return read_gate(rest, schemes, severity="warn" if word == "warn" else "block")
    if colon and word in schemes:
        gate: Gate = schemes[word](rest.strip(), severity)
        return gate
    return ExpressionGate(text.strip(), severity)
