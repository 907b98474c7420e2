"""The gates of the suite: that what was asked for was measured, and that it is good enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from attrs import field, frozen

from yb_eval import Comparison, Declared, Gate, Measurements, Verdict
from yb_eval.errors import ExpressionError, printable
from yb_eval.gates import ExpressionGate
from yb_eval.model import Severity

Bound = Literal["estimate", "lower"]


@frozen(slots=True)
class EverythingMeasured:
    """Each of `evals` was measured on at least one sample; else nothing is known of it, which is no pass.

    `named` says that they were asked for by name: then one that no row asks, or that applies to no row, is missed too. Of all
    the evals that there are, only those that apply to a row are, and one at least must have been measured.
    """

    evals: tuple[str, ...]
    named: bool = True
    severity: Severity = "block"
    text: str = field(init=False)

    @text.default
    def _text(self) -> str:
        return f"measured: {', '.join(self.evals)}" if self.named else "measured: every eval that applies"

    def bind(self, declared: Mapping[str, Declared]) -> None:
        _must_be_declared(self.text, [f"{name}.measured" for name in self.evals], declared)

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        lacking = unmeasured(self.evals, measured)
        known = sum(1 for name in self.evals if _count(measured, f"{name}.measured"))
        if not self.named and known:
            lacking = {why: names for why, names in lacking.items() if why not in _INAPPLICABLE}
        if lacking or not known:
            said = "; ".join(sentences(lacking, named=self.named)) or "no eval was asked"
            return Verdict(self.text, "unmeasured", said, self.severity)
        return Verdict(self.text, "pass", f"{known} measured", self.severity)


#: What becomes of an eval that is measured on no row, the worst first: the measurement that counts it, and words for it.
_FATES = {
    "errors": "nothing but errors",
    "refused": "the backend refuses",
    "abstained": "the backend abstains",
    "skipped": "no row has what is needed",
}
_NEVER = "no row asks"
_INAPPLICABLE = frozenset({_NEVER, _FATES["skipped"]})


def unmeasured(evals: Iterable[str], measured: Measurements) -> dict[str, dict[str, str]]:
    """Those of `evals` that were measured on no sample, by why, each with a reason where there is one. One of which several
    things became stands under the worst of them."""
    found: dict[str, dict[str, str]] = {why: {} for why in (*_FATES.values(), _NEVER)}
    for name in evals:
        if _count(measured, f"{name}.measured"):
            continue
        fate = next((fate for fate in _FATES if _count(measured, f"{name}.{fate}")), None)
        if fate is None:
            found[_NEVER][name] = ""
        else:
            found[_FATES[fate]][name] = str(measured[f"{name}.{fate}"].details.get("example", ""))
    return {why: names for why, names in found.items() if names}


def sentences(lacking: Mapping[str, Mapping[str, str]], *, named: bool = True) -> list[str]:
    """What `unmeasured` found, in words. Where nobody named the evals, those that no row is for are only counted; a reason is
    told where there is one eval to tell it of."""
    said = []
    for why, names in lacking.items():
        if not named and why in _INAPPLICABLE:
            continue
        reason = next(iter(names.values())) if len(names) == 1 else ""
        said.append(f"{why}: {', '.join(names)}{f' ({printable(reason)[:120]})' if reason else ''}")
    others = (
        {} if named else {name: why for why in lacking if why in _INAPPLICABLE for name, why in lacking[why].items()}
    )
    if others and not said:
        name = next((name for name, why in others.items() if why), None)
        example = f", as {name} ({printable(others[name])[:120]})" if name else ""
        return [f"no row is for {len(others)} of the evals{example}"]
    return [*said, f"no row is for the {len(others)} other evals"] if others else said


def _count(measured: Measurements, name: str) -> float:
    found = measured.get(name)
    return 0 if found is None or found.value is None else found.value


@frozen(slots=True)
class EveryEval:
    """`measure` reaches `at` for each of `evals` that has it, and one at least has: the threshold of evals that nobody named."""

    measure: str
    at: float
    bound: Bound
    evals: tuple[str, ...]
    severity: Severity = "block"
    text: str = field(init=False)

    @text.default
    def _text(self) -> str:
        shown = f"lower({self.measure})" if self.bound == "lower" else self.measure
        return f"{shown} >= {self.at:g} of every eval that has it"

    def bind(self, declared: Mapping[str, Declared]) -> None:
        _must_be_declared(self.text, [f"{name}.{self.measure}" for name in self.evals], declared)

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        reached = {name: value for name in self.evals if (value := self._reached(measured, name)) is not None}
        below = [f"{name} {value:.3f}" for name, value in reached.items() if value < self.at]
        if not reached:
            return Verdict(self.text, "unmeasured", f"no eval has {self.measure}", self.severity)
        if below:
            return Verdict(self.text, "fail", ", ".join(below), self.severity)
        return Verdict(self.text, "pass", f"{len(reached)} reach it", self.severity)

    def _reached(self, measured: Measurements, eval: str) -> float | None:
        found = measured.get(f"{eval}.{self.measure}")
        if found is None or found.value is None or self.bound == "estimate":
            return None if found is None else found.value
        return None if found.interval is None else found.interval[0]


def _must_be_declared(gate: str, names: Iterable[str], declared: Mapping[str, Declared]) -> None:
    for name in names:
        if name not in declared:
            raise ExpressionError(f"the gate {gate!r} looks at {name!r}, which nothing measures")


def threshold_gates(
    evals: Iterable[str], *, named: bool, min_accuracy: float | None, min_pass_rate: float | None, bound: Bound
) -> list[Gate]:
    """The gates of the thresholds that were given: one for each eval that was named, or one for all that are measured."""
    evals, thresholds = tuple(evals), {"accuracy": min_accuracy, "pass_rate": min_pass_rate}
    given = [(measure, at) for measure, at in thresholds.items() if at is not None]
    if not named:
        return [EveryEval(measure, at, bound, evals) for measure, at in given]
    return [_floor(f"{name}.{measure}", at, bound) for name in evals for measure, at in given]


def _floor(name: str, at: float, bound: Bound) -> ExpressionGate:
    return ExpressionGate(f"lower({name}) >= {at:g}" if bound == "lower" else f"{name} >= {at:g}")
