"""What a router's ranking of the samples is worth, beside the rankings by length, by chance and by the truth.

The fold keeps a few numbers of every sample, since a curve needs them all: 57 bytes each.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from fractions import Fraction
from math import fsum, nan
from typing import Any

from attrs import define, field, frozen

from yb_eval import Declared, Measurement, Outcome
from yb_eval.metrics import JudgementMetric, Moments
from yb_eval_routing.quality.curves import (
    Curve,
    Estimate,
    call_share,
    curve,
    is_clear,
    mean_quality,
    recovered,
    trapezium,
)

#: The per cent of PGR that CPT is measured at (as RouteLLM prints), and of strong calls that PGR is.
LEVELS = (20, 50, 80)

_NOTHING = "no outcome is scored"
_NO_GAP = "the strong model is no better than the weak one on these samples: there is no gap to recover"
_MIXED = "some answers have a score and others only a tier: they cannot be ranked together"


def _doubles() -> array[float]:
    return array("d")


def _bytes() -> array[int]:
    return array("b")


@define(slots=True)
class Table:
    """A column for each thing known of a sample. Costs are NaN where the data has none; `chosen` is 1 for the strong
    model, 0 for the weak one, -1 for no choice."""

    rank: array[float] = field(factory=_doubles)
    length: array[float] = field(factory=_doubles)
    random: array[float] = field(factory=_doubles)
    weak: array[float] = field(factory=_doubles)
    strong: array[float] = field(factory=_doubles)
    weak_cost_usd: array[float] = field(factory=_doubles)
    strong_cost_usd: array[float] = field(factory=_doubles)
    chosen: array[int] = field(factory=_bytes)
    ranked_by: set[str] = field(factory=set)


_COLUMNS = ("rank", "length", "random", "weak", "strong", "weak_cost_usd", "strong_cost_usd")
_CHOICES = {"strong": 1, "weak": 0, None: -1}


@frozen(slots=True, kw_only=True)
class Rankings(JudgementMetric):
    """Rankings of the scored outcomes: the router's own, and those to hold it against. All are in the details.

    `PGR` at a share of strong calls is (router - weak) / (strong - weak), in mean score. It is read at `bins` + 1 equal
    steps of the share, between the thresholds by the mean over ways to break ties (RouteLLM, Ong et al., arXiv
    2406.18665, whose `evaluate` looks at ten bins by default; see `curves.py`).

    - `apgr`: PGR averaged over all shares, by the trapezium rule. Always the same answer gives 0.5 exactly, a random
      ranking 0.5 on average; more than 1 is possible, since the best choice beats the strong model. Details: the curve
      as `points`, and what was `ranked_by`.
    - `apgr_over_length`: `apgr - length_apgr`, with the interval of the paired difference.
    - `pgr_at_20`, `_50`, `_80`: PGR with that per cent of strong calls.
    - `cpt_20`, `_50`, `_80`: the smallest share of strong calls that reaches that per cent of PGR.
    - `aiq`: RouterBench's area under the non-decreasing convex hull of (cost, mean score), divided by the range of cost
      from the cheaper to the dearer single model (arXiv 2403.12031). Without costs the share of strong calls is the
      cost: where every call of a model costs the same, prices change nothing. The hull is chosen on the very samples it
      is measured on and so reads high, most of all on few: hold it against `random_aiq`, not against `zero_aiq` alone.
    - `length_apgr`, `length_cpt_50`, `length_aiq`: of the prompt's length in characters. `length_pgr`: of that ranking, at
      the router's own share of strong calls. `random_apgr`, `random_aiq`: of ranks drawn for each id from the seed
      (details: the `expected` value). `oracle_apgr`, `oracle_aiq`: of the gain itself. `zero_aiq`: RouterBench's Zero
      router, the hull of the two single models.
    - `weak_accuracy`, `strong_accuracy`: mean scores; `best_constant_accuracy`: the better of the two (details: which);
      `oracle_accuracy`: of the better model for each sample; `oracle_strong_share`: the samples that need the strong
      one, as only there it scores higher.

    Denominators: all scored outcomes. PGR and what rests on it are null where the strong model is no better. Intervals
    of PGR are the delta method's (`curves.recovered`), absent where the gap between the models is not clear of 0. Shares
    and means have the normal interval of a mean. `cpt` and `aiq` have none: where a curve crosses a level, and the
    hull's maximum over noisy points, have no closed form, and a bootstrap cannot be merged.
    """

    bins: int = 10

    @property
    def declares(self) -> Sequence[Declared]:
        share = "The smallest share of strong calls that recovers {} % of the gap"
        area = "Area under the cost-quality hull / the range of cost"
        open_ended: dict[str, Any] = {"low": None, "high": None}
        return (
            self.declare("apgr", "Gap between the models recovered, mean over all shares of calls.", **open_ended),
            self.declare("apgr_over_length", "apgr - length_apgr, on the same samples.", **open_ended),
            *(
                self.declare(f"pgr_at_{level}", f"Gap recovered with {level} % strong calls.", **open_ended)
                for level in LEVELS
            ),
            *(self.declare(f"cpt_{level}", f"{share.format(level)}.", better="lower") for level in LEVELS),
            self.declare("aiq", f"{area}."),
            self.declare(
                "length_apgr", "apgr of the prompt's length alone: the one to beat.", better=None, **open_ended
            ),
            self.declare("length_cpt_50", f"{share.format(50)}, by length alone.", better=None),
            self.declare("length_aiq", f"{area}, by length alone.", better=None),
            self.declare(
                "length_pgr", "PGR of length at the router's share of strong calls.", better=None, **open_ended
            ),
            self.declare("random_apgr", "apgr of a random ranking; 0.5 on average.", better=None, **open_ended),
            self.declare("random_aiq", f"{area}, of a random ranking.", better=None),
            self.declare("oracle_apgr", "apgr of the perfect ranking.", better=None, **open_ended),
            self.declare("oracle_aiq", f"{area}, of the perfect ranking.", better=None),
            self.declare("zero_aiq", f"{area}, of the two models alone.", better=None),
            self.declare("weak_accuracy", "Mean score of the weak model.", better=None),
            self.declare("strong_accuracy", "Mean score of the strong model.", better=None),
            self.declare("best_constant_accuracy", "Mean score of the better single model.", better=None),
            self.declare("oracle_accuracy", "Mean score of the better model for each sample.", better=None),
            self.declare("oracle_strong_share", "Samples that only the strong model does better.", better=None),
        )

    def start(self) -> Table:
        return Table()

    def add(self, state: Table, outcomes: Sequence[Outcome]) -> Table:
        for judged in self.scored(outcomes):
            said = judged.details
            for name in _COLUMNS:
                getattr(state, name).append(said.get(name, nan))
            state.chosen.append(_CHOICES[judged.predicted])
            state.ranked_by.add(said["ranked_by"])
        return state

    def merge(self, left: Table, right: Table) -> Table:
        for name in (*_COLUMNS, "chosen"):
            getattr(left, name).extend(getattr(right, name))
        left.ranked_by |= right.ranked_by
        return left

    def finish(self, state: Table) -> Sequence[Measurement]:
        n = len(state.rank)
        names = [entry.name for entry in self.declares]
        if n == 0:
            return [Measurement(name, None, reason=_NOTHING) for name in names]
        gains = array("d", [strong - weak for weak, strong in zip(state.weak, state.strong, strict=True)])
        ranks = {"": state.rank, "length": state.length, "random": state.random, "oracle": gains}
        curves = {who: curve(by, gains) for who, by in ranks.items()}
        reasons = {"": _MIXED} if len(state.ranked_by) > 1 else {}
        made = [
            *self._recovered(state, curves, gains, reasons),
            *self._areas(state, ranks, curves, reasons),
            *self._single(state, gains),
        ]
        return sorted(made, key=lambda measurement: names.index(measurement.name))

    def _recovered(
        self, state: Table, curves: dict[str, Curve], gains: Sequence[float], reasons: dict[str, str]
    ) -> list[Measurement]:
        """All that rests on PGR."""
        n, bins = len(gains), self.bins
        if curves[""].gap <= 0:
            names = [entry.name for entry in self.declares if "pgr" in entry.name or "cpt" in entry.name]
            return [Measurement(name, None, n, reason=_NO_GAP) for name in names]
        clear = is_clear(gains)

        def measure(name: str, found: Estimate, reason: str | None = None, **details: Any) -> Measurement:
            if reason is not None:
                return Measurement(self.named(name), None, n, reason=reason)
            return Measurement(self.named(name), found.value, n, found.interval if clear else None, details=details)

        mine, mixed = curves[""], reasons.get("")
        apgr = {who: recovered(found, gains, trapezium(bins), bins=bins) for who, found in curves.items()}
        steps = [Fraction(step, bins) for step in range(bins + 1)]
        points = [[float(step), float(mine.gain(step) / mine.gap)] for step in steps]
        made = [
            measure("apgr", apgr[""], mixed, points=points, ranked_by=min(state.ranked_by)),
            measure("apgr_over_length", apgr[""].minus(apgr["length"]), mixed),
            measure("length_apgr", apgr["length"]),
            measure("random_apgr", apgr["random"], expected=0.5),
            measure("oracle_apgr", apgr["oracle"]),
        ]
        for level in LEVELS:
            share = Fraction(level, 100)
            there = recovered(mine, gains, [(share, Fraction(1))], bins=bins)
            made.append(measure(f"pgr_at_{level}", there, mixed))
            cpt = Estimate(call_share(mine, share, bins), ())
            made.append(measure(f"cpt_{level}", cpt, mixed))
        half = Estimate(call_share(curves["length"], Fraction(1, 2), bins), ())
        made.append(measure("length_cpt_50", half))
        strong, chosen = state.chosen.count(1), n - state.chosen.count(-1)
        if chosen == n:
            there = recovered(curves["length"], gains, [(Fraction(strong, n), Fraction(1))], bins=bins)
            made.append(measure("length_pgr", there))
        else:
            reason = "not every answer chooses a model: give --threshold, or answer with a tier"
            made.append(Measurement(self.named("length_pgr"), None, n, reason=reason))
        return made

    def _areas(
        self, state: Table, ranks: dict[str, array[float]], curves: dict[str, Curve], reasons: dict[str, str]
    ) -> list[Measurement]:
        """AIQ of each ranking and of the two single models."""
        n, steps = len(state.rank), [Fraction(step, self.bins) for step in range(self.bins + 1)]
        priced = all(cost == cost for cost in state.weak_cost_usd)
        # Without costs a strong call costs 1 and a weak one 0.
        weak_costs = state.weak_cost_usd if priced else array("d", bytes(8 * n))
        strong_costs = state.strong_cost_usd if priced else array("d", [1.0]) * n
        more = array("d", [strong - weak for weak, strong in zip(weak_costs, strong_costs, strict=True)])
        cheapest, quality = fsum(weak_costs) / n, fsum(state.weak) / n
        details = {"cost": "usd" if priced else "share of strong calls"}
        made = []
        ends: list[tuple[float, float]] = []
        for who, by in ranks.items():
            spent = curve(by, more)
            points = [(cheapest + float(spent.gain(x)), quality + float(curves[who].gain(x))) for x in steps]
            ends = [points[0], points[-1]]
            made.append((f"{who}_aiq" if who else "aiq", points, reasons.get(who)))
        made.append(("zero_aiq", ends, None))
        low, high = min(ends)[0], max(ends)[0]
        return [
            Measurement(self.named(name), None, n, reason=reason or "both models cost the same")
            if reason is not None or low == high
            else Measurement(self.named(name), _share(mean_quality(points, low, high)), n, details=details)
            for name, points, reason in made
        ]

    def _single(self, state: Table, gains: Sequence[float]) -> list[Measurement]:
        """The two models, and the best that can be made of them."""
        best = array("d", map(max, state.weak, state.strong))
        constant = max(("weak", "strong"), key=lambda side: fsum(getattr(state, side)))
        return [
            _mean(self.named("weak_accuracy"), state.weak),
            _mean(self.named("strong_accuracy"), state.strong),
            _mean(self.named("best_constant_accuracy"), getattr(state, constant), label=constant),
            _mean(self.named("oracle_accuracy"), best),
            _mean(self.named("oracle_strong_share"), array("d", [float(gain > 0) for gain in gains])),
        ]


def _mean(name: str, values: Sequence[float], **details: Any) -> Measurement:
    """The mean of numbers in 0..1 with its normal 95 % interval, within 0..1."""
    moments = Moments()
    moments.add(values)
    bounds = moments.interval()
    interval = None if bounds is None else (_share(bounds[0]), _share(bounds[1]))
    return Measurement(name, float(moments.mean), moments.n, interval, details=details)


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0)
