"""Gates written as expressions over measurements.

Names are measurements (`precision`, `severity.mae`, `recall["lang:ru"]`); `baseline.precision` is the same measurement
of the baseline run. `lower(x)` and `upper(x)` are the ends of its 95 % interval, `n(x)` its denominator, `abs(x)` the
absolute value. `no_worse(x)` holds unless the paired test finds the candidate worse at 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from yb_eval.errors import ExpressionError, shorten
from yb_eval.expressions import Expression, Missing, Reference, Vocabulary
from yb_eval.model import Comparison, Declared, Measurement, Measurements, Paired, Severity, Verdict
from yb_eval.statistics import minimum_detectable_change

BASELINE = "baseline."
ALPHA = 0.05
_FUNCTIONS = {"lower": 1, "upper": 1, "n": 1, "abs": 1, "no_worse": 1}


@define(slots=True)
class ExpressionGate:
    """A boolean expression over measurements; it must hold."""

    text: str
    severity: Severity = "block"
    _expression: Expression = field(init=False, repr=False, eq=False)
    _declared: Mapping[str, Declared] = field(init=False, factory=dict, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        self._expression = Expression.parse(self.text, Vocabulary(functions=_FUNCTIONS))
        if not self._expression.references():
            raise ExpressionError(f"the gate {shorten(self.text)} names no measurement, so it cannot fail")
        if not (self._expression.is_condition or self._expression.function == "no_worse"):
            raise ExpressionError(
                f"the gate {shorten(self.text)} is not a condition", hint="compare it with a threshold"
            )
        if self._expression.strings:
            raise ExpressionError(
                f"the gate {shorten(self.text)} compares with the text {shorten(self._expression.strings[0])}",
                hint="a threshold is a number",
            )

    def bind(self, declared: Mapping[str, Declared]) -> None:
        names = frozenset(declared) | {BASELINE + name for name in declared}
        keyed = frozenset(name for name in names if declared[name.removeprefix(BASELINE)].sliced)
        Expression.parse(self.text, Vocabulary(names, _FUNCTIONS, keyed))
        for reference, symbol, threshold in self._expression.comparisons():
            known = declared[reference.base.removeprefix(BASELINE)] if reference else None
            if known is None:
                continue
            low = -math.inf if known.low is None else known.low
            high = math.inf if known.high is None else known.high
            if not low <= threshold <= high:
                raise ExpressionError(
                    f"{known.name} {symbol} {threshold:g} can never be decided by a measurement: {known.name} lies in "
                    f"{low:g}..{high:g}"
                )
        for name in self._expression.arguments_of("no_worse"):
            if name.base.startswith(BASELINE) or declared[name.base].pairing is None or name.key is not None:
                raise ExpressionError(f"no_worse({name.name}): {name.name} cannot be compared sample by sample")
        self._declared = declared

    @property
    def tested(self) -> tuple[str, ...]:
        """The judgements (`""`: the outcome itself) whose p-value this gate looks at, once it is bound."""
        declared = [self._declared[name.base] for name in self._expression.arguments_of("no_worse")]
        return tuple(entry.judgement or "" for entry in declared if entry.pairing == "correct")

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        scope = _Scope(self._declared, measured, baseline, comparison)
        try:
            holds = self._expression.evaluate(scope)
        except Missing as missing:
            return Verdict(self.text, "unmeasured", str(missing), self.severity)
        return Verdict(self.text, "pass" if holds else "fail", scope.explain(self._expression), self.severity)


@define(slots=True)
class _Scope:
    declared: Mapping[str, Declared]
    measured: Measurements
    baseline: Measurements | None
    comparison: Comparison | None
    notes: list[str] = field(factory=list)

    def measurement(self, name: str) -> Measurement:
        source: Measurements | None = self.measured
        if name.startswith(BASELINE):
            source = self.baseline
            if source is None:
                raise Missing(name, "there is no baseline (--against)")
            others = self.comparison
            if others is not None and (others.added or others.removed):
                added, removed = len(others.added), len(others.removed)
                raise Missing(
                    name,
                    f"the baseline is of other samples ({added} added, {removed} removed since); changed, broken and "
                    "no_worse() look at the shared ones",
                )
        assert source is not None
        found = source.get(name.removeprefix(BASELINE))
        if found is None:
            raise Missing(name, "not measured in this run")
        return found

    def lookup(self, name: str) -> Any:
        found = self.measurement(name)
        if found.value is None:
            raise Missing(name, found.reason or "null")
        return found.value

    def call(self, function: str, arguments: list[Any]) -> Any:
        (argument,) = arguments
        if function == "abs":
            value = self.lookup(argument.name) if isinstance(argument, Reference) else argument
            return abs(value)
        if not isinstance(argument, Reference):
            raise Missing(f"{function}()", "takes the name of a measurement")
        if function == "no_worse":
            return self._no_worse(argument.name)
        found = self.measurement(argument.name)
        if function == "n":
            return found.n
        if found.value is None or found.interval is None:
            raise Missing(f"{function}({argument.name})", found.reason or "it has no interval")
        return found.interval[0 if function == "lower" else 1]

    def _no_worse(self, name: str) -> bool:
        if self.comparison is None:
            raise Missing(f"no_worse({name})", "there is no baseline (--against)")
        if not self.comparison.comparable:
            raise Missing(f"no_worse({name})", self.comparison.reason or "not comparable")
        declared = self.declared[name]
        pair = self.comparison.judgements.get(declared.judgement or "")
        if pair is None or pair.n == 0:
            raise Missing(f"no_worse({name})", "no sample is scored in both runs")
        return self._no_worse_score(pair, declared) if declared.pairing == "score" else self._no_worse_rate(pair)

    def _no_worse_rate(self, pair: Paired) -> bool:
        least = minimum_detectable_change(pair.n, (pair.broken + pair.fixed) / pair.n)
        holm = "" if pair.adjusted_p is None else f", Holm {pair.adjusted_p:.3g}"
        self.notes.append(
            f"{pair.broken} broken, {pair.fixed} fixed of {pair.n} (McNemar p={pair.p_value:.3g}{holm}; "
            f"a change under {least:.3g} would go unseen)"
        )
        p_value = pair.p_value if pair.adjusted_p is None else pair.adjusted_p
        return not (pair.broken > pair.fixed and p_value < ALPHA)

    def _no_worse_score(self, pair: Paired, declared: Declared) -> bool:
        if pair.score_interval is None:
            raise Missing(f"no_worse({declared.name})", "fewer than two samples have scores in both runs")
        low, high = pair.score_interval
        self.notes.append(f"paired change {pair.score_change:+.4g}, 95 % {low:+.4g}..{high:+.4g}")
        return low <= 0 if declared.better == "lower" else high >= 0

    def explain(self, expression: Expression) -> str:
        parts = []
        for reference in dict.fromkeys(expression.references()):
            found = self.measurement(reference.name)
            if found.value is None:
                continue
            bounds = "" if found.interval is None else f" [{found.interval[0]:.4g}, {found.interval[1]:.4g}]"
            count = f" n={found.n}" if found.n else ""
            parts.append(f"{reference.name} = {found.value:.6g}{bounds}{count}")
        return "; ".join(parts + self.notes)
