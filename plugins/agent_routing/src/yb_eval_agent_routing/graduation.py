"""The graduation rule: stay with in-band routing, or move to a router of its own?

Stay while the upper 95 % bounds of `raw_skip_rate` (the model skips the load step) and `misroute_rate` (it loads the
wrong groups) are under their limits, on enough scenarios and repeats. Otherwise run the router policy on the same
scenarios: it is recommended only if the paired test finds it better (exact McNemar at 5 %, each scenario by the majority
of its repeats) and it is more reliable (pass^k). What it costs in tokens is told beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from yb_eval import Comparison, Declared, Measurement, Measurements, Verdict
from yb_eval.errors import ExpressionError
from yb_eval.model import Severity, VerdictWord

Advice = Literal["stay", "compare", "router", "not-router", "insufficient"]

ALPHA = 0.05

_VERDICTS: Mapping[Advice, VerdictWord] = {
    "stay": "pass",
    "router": "pass",
    "compare": "fail",
    "not-router": "fail",
    "insufficient": "unmeasured",
}
_NEEDS = ("raw_skip_rate", "misroute_rate", "routed_tokens_total", "top1")


@frozen(slots=True, kw_only=True)
class Limits:
    """What the rule asks for. Rates are fractions; `scenarios` counts those that need a group."""

    raw_skip: float = 0.1
    misroute: float = 0.1
    scenarios: int = 60
    repeats: int = 3


@frozen(slots=True)
class Recommendation:
    """What the rule says, and why, in a sentence."""

    advice: Advice
    sentence: str

    @property
    def verdict(self) -> VerdictWord:
        return _VERDICTS[self.advice]


def stay_or_compare(measured: Measurements, limits: Limits) -> Recommendation:
    """What a run of the in-band policy says."""
    rates = {"raw_skip_rate": limits.raw_skip, "misroute_rate": limits.misroute}
    missing = _missing(measured, rates)
    if missing is not None:
        return Recommendation("insufficient", f"The data do not suffice: {missing}.")
    few = _few(measured, limits)
    if few is not None:
        return Recommendation("insufficient", few)
    said = []
    over = False
    for name, limit in rates.items():
        upper = _upper(measured[name])
        over = over or upper >= limit
        sign = ">=" if upper >= limit else "<"
        said.append(f"{name} {measured[name].value:.1%}, at most {upper:.1%} ({sign} {limit:.1%})")
    counted = f"over {measured['raw_skip_rate'].n} scenarios x {repeats(measured)} repeats"
    if not over:
        return Recommendation("stay", f"Stay with in-band routing: {' and '.join(said)}, {counted}.")
    return Recommendation(
        "compare",
        f"In-band routing is not good enough: {' and '.join(said)}, {counted}. Run the router policy on the same "
        "scenarios (--policy router --graduation --against this run's id).",
    )


def compare_router(
    measured: Measurements, baseline: Measurements | None, comparison: Comparison | None, limits: Limits
) -> Recommendation:
    """What a run of the router policy says, compared with the in-band run."""
    if baseline is None or comparison is None:
        return Recommendation(
            "insufficient", "The data do not suffice: there is no in-band run to compare with (--against)."
        )
    if not comparison.comparable or comparison.added or comparison.removed or not comparison.same_revision:
        reason = comparison.reason or "the runs are not over the same scenarios"
        return Recommendation("insufficient", f"The data do not suffice: {reason}.")
    few = _few(measured, limits)
    if few is not None:
        return Recommendation("insufficient", few)
    before = stay_or_compare(_with_repeats(baseline, measured), limits)
    if before.advice == "stay":
        return Recommendation("not-router", f"There is no reason to move. {before.sentence}")
    pair = comparison.judgements[""]
    if pair.lost:
        lost = f"{pair.lost} scenarios were scored in-band and are errors here"
        return Recommendation("insufficient", f"The data do not suffice: {lost}.")
    k = f"pass_hat[{repeats(measured)}]" if repeats(measured) > 1 else "top1"
    now, then = (_value(source, k) for source in (measured, baseline))
    if now is None or then is None:
        return Recommendation("insufficient", f"The data do not suffice: {k} is not measured in both runs.")
    found = (
        f"{pair.fixed} scenarios fixed and {pair.broken} broken of {pair.n} (exact McNemar p = {pair.p_value:.3g}), "
        f"{k} {now:.1%} against {then:.1%}, {_cost(measured, baseline)}"
    )
    if pair.fixed > pair.broken and pair.p_value < ALPHA and now > then:
        return Recommendation("router", f"Move to the router: {found}.")
    return Recommendation("not-router", f"The router is not shown to be better: {found}. Stay, and mend the menu.")


def repeats(measured: Measurements) -> int:
    """How often each scenario was run."""
    found = measured.get("top1")
    listed = found.details.get("repeats") if found is not None else None
    return len(listed) if listed else 1


def _few(measured: Measurements, limits: Limits) -> str | None:
    n, times = measured["raw_skip_rate"].n, repeats(measured)
    if n >= limits.scenarios and times >= limits.repeats:
        return None
    return (
        f"The data do not suffice: {n} scenarios that need a group x {times} repeats; the rule asks for "
        f"{limits.scenarios} x {limits.repeats} (--repeats)."
    )


def _missing(measured: Measurements, names: Mapping[str, float]) -> str | None:
    for name in names:
        found = measured.get(name)
        if found is None or found.value is None or found.interval is None:
            return f"{name} is not measured ({found.reason if found is not None and found.reason else 'missing'})"
    return None


def _with_repeats(baseline: Measurements, measured: Measurements) -> Measurements:
    """A baseline's measurements know no repeats: those of the run it is compared with stand for them where it has the
    same pass^k."""
    k = f"pass_hat[{repeats(measured)}]"
    if k not in baseline or "top1" not in baseline:
        return baseline
    top1 = baseline["top1"]
    whole = Measurement(top1.name, top1.value, top1.n, top1.interval, top1.reason, measured["top1"].details)
    return Measurements([whole, *(m for name, m in baseline.items() if name != "top1")])


def _upper(measurement: Measurement) -> float:
    assert measurement.interval is not None
    return measurement.interval[1]


def _value(measured: Measurements, name: str) -> float | None:
    found = measured.get(name)
    return None if found is None else found.value


def _cost(measured: Measurements, baseline: Measurements) -> str:
    now, then = (_value(source, "routed_tokens_total") for source in (measured, baseline))
    if now is None or not then:
        return "its token cost is not known"
    return f"for {now / then - 1:+.1%} tokens ({now:,.0f} against {then:,.0f})"


@frozen(slots=True)
class GraduationGate:
    """The rule as a gate: a pass is a recommendation (to stay, or to move), `unmeasured` says that the data do not
    suffice."""

    limits: Limits
    router: bool = False
    severity: Severity = "block"
    text: str = field(init=False)

    @text.default
    def _text(self) -> str:
        limits = self.limits
        return (
            f"graduation: upper(raw_skip_rate) < {limits.raw_skip:g}, upper(misroute_rate) < {limits.misroute:g} on "
            f"{limits.scenarios} x {limits.repeats}{', else a better router' if self.router else ''}"
        )

    def bind(self, declared: Mapping[str, Declared]) -> None:
        for name in _NEEDS:
            if name not in declared:
                raise ExpressionError(f"the graduation rule needs {name}, which nothing measures")

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        said = self.recommend(measured, baseline, comparison)
        return Verdict(self.text, said.verdict, said.sentence, self.severity)

    def recommend(
        self, measured: Measurements, baseline: Measurements | None = None, comparison: Comparison | None = None
    ) -> Recommendation:
        """What the rule says of a run."""
        missing = _missing(measured, dict.fromkeys(("raw_skip_rate", "misroute_rate", "top1"), 0.0))
        if missing is not None:
            return Recommendation("insufficient", f"The data do not suffice: {missing}.")
        if self.router:
            return compare_router(measured, baseline, comparison, self.limits)
        return stay_or_compare(measured, self.limits)
