"""The gate that every run has: with more errors than allowed, nothing was measured."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from yb_eval.errors import UsageError
from yb_eval.model import Comparison, Declared, Measurements, Severity, Verdict


@frozen(slots=True)
class ErrorLimit:
    """`unmeasured` when more than `limit` outcomes are errors, or when no outcome was scored at all."""

    limit: int = 0
    severity: Severity = "block"
    text: str = field(init=False)

    @text.default
    def _text(self) -> str:
        return f"errors <= {self.limit}"

    def __attrs_post_init__(self) -> None:
        if self.limit < 0:
            raise UsageError(f"{self.limit} errors cannot be a limit", where="max-errors")

    def bind(self, declared: Mapping[str, Declared]) -> None:
        pass

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        errors, scored, samples = (measured[name].value or 0 for name in ("errors", "scored", "samples"))
        said = f"{errors} of {samples} outcomes are errors"
        if errors > self.limit:
            return Verdict(self.text, "unmeasured", said, self.severity)
        if not scored:
            return Verdict(self.text, "unmeasured", f"nothing was scored: {said}, the rest was skipped", self.severity)
        return Verdict(self.text, "pass", said, self.severity)
