"""What letting samples pass from a threshold on comes to, with intervals, and which threshold to take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from yb_eval.statistics import Z95, wilson

#: The rows of a table, and the steps among which a threshold is chosen.
SHOWN: tuple[float, ...] = tuple(step / 100 for step in range(50, 100, 5))
STEPS: tuple[float, ...] = tuple(step / 100 for step in range(1, 100))


@frozen(slots=True)
class Rate:
    """`hits` of `n`, with the 95 % Wilson interval; without any, no value and no interval."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.hits, self.n) if self.n else None

    def to_dict(self) -> dict[str, Any]:
        interval = self.interval
        return {"value": self.value, "n": self.n, "interval": None if interval is None else list(interval)}


@frozen(slots=True)
class ThresholdRow:
    """One threshold (`None`: the eval's own verdicts). `auto_rate` passes; `false_pass` passes and should not, `false_fail` does
    not pass and should, each of all samples; `precision` of those that pass, `recall` of those that should."""

    threshold: float | None
    auto_rate: Rate
    false_pass: Rate
    false_fail: Rate
    precision: Rate
    recall: Rate

    def to_dict(self) -> dict[str, Any]:
        return {
            "threshold": self.threshold, "auto_rate": self.auto_rate.to_dict(), "false_pass": self.false_pass.to_dict(),
            "false_fail": self.false_fail.to_dict(), "precision": self.precision.to_dict(), "recall": self.recall.to_dict(),
        }  # fmt: skip


def row(threshold: float | None, passed: Sequence[bool], should: Sequence[bool]) -> ThresholdRow:
    """The row of verdicts against labels."""
    n = len(passed)
    both = sum(p and s for p, s in zip(passed, should, strict=True))
    auto, good = sum(passed), sum(should)
    return ThresholdRow(
        threshold, Rate(auto, n), Rate(auto - both, n), Rate(good - both, n), Rate(both, auto), Rate(both, good)
    )


def passing(probabilities: Sequence[float], vetoed: Sequence[bool], threshold: float) -> list[bool]:
    """Who passes from `threshold` on. What the eval stops for another reason never does."""
    return [p >= threshold and not veto for p, veto in zip(probabilities, vetoed, strict=True)]


def choose(
    probabilities: Sequence[float], vetoed: Sequence[bool], should: Sequence[bool], max_false_pass: float
) -> float | None:
    """The threshold that lets most samples pass while the upper end of the 95 % interval of false passes stays within the
    limit; `None` where there is none that lets any pass."""
    for threshold in STEPS:  # the lower, the more pass
        found = row(threshold, passing(probabilities, vetoed, threshold), should)
        interval = found.false_pass.interval
        if found.auto_rate.hits and interval is not None and interval[1] <= max_false_pass:
            return threshold
    return None


def rows_needed(max_false_pass: float) -> int | None:
    """How many rows a limit needs at the least, if none of them passes wrongly: the Wilson bound of 0 of n is z² / (n + z²).
    `None` for a limit of 0, which no number of rows can show."""
    if max_false_pass <= 0:
        return None
    n = max(1, math.ceil(Z95 * Z95 * (1 - max_false_pass) / max_false_pass))
    return n if wilson(0, n)[1] <= max_false_pass else n + 1
