"""What is measured of tool routing. E are the needed groups, L the delivered ones; see `scoring`.

Rates are over scored outcomes: an error is no miss, no skip and no pass. It is in `error_rate` and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from attrs import frozen

from yb_eval import Declared, Measurement, Metric, Outcome
from yb_eval.metrics import Amount, JudgementMetric, Rate, Sliced
from yb_eval.metrics.base import rate
from yb_eval.model import Judged
from yb_eval_agent_routing.confusion import GroupConfusion
from yb_eval_agent_routing.decision import DecisionAccuracy
from yb_eval_agent_routing.scoreboard import BaselineScores, ScenarioTable
from yb_eval_agent_routing.shares import MeanShare, Saving, WeightedHit

_NEEDED = "no scored scenario needs a group"
_NOT_NEEDED = "no scored scenario should load nothing"
_NO_TOOLS = "no scored scenario says which tools it needs"


def correct(judged: Judged) -> bool | None:
    return judged.correct


def abstained(judged: Judged) -> bool:
    return not judged.details["false_load"]


def specific(judged: Judged) -> bool | None:
    return None if judged.details["false_load"] is None else not judged.details["false_load"]


def unsuitable(judged: Judged) -> bool:
    return bool(judged.details["kind"] == "no_suitable_group")


def inactive(judged: Judged) -> bool | None:
    active = judged.details["routing_active"]
    return None if active is None else not active


def agent_metrics(*, token_weight: float) -> list[Metric[Any]]:
    """The metrics of the suite."""
    top1 = Rate(
        name="top1",
        numerator=correct,
        help="All needed groups were delivered (none, where none is needed), of all scored.",
        pairing="correct",
        empty="nothing was scored",
    )
    exact = _rate("exact", "exact", "Exactly the needed groups were delivered, of all scored.")
    skip = _rate(
        "skip_rate", "skipped", "Nothing was loaded, of those that need a group.", better="lower", empty=_NEEDED
    )
    raw_skip = _rate(
        "raw_skip_rate",
        "raw_skipped",
        "Nothing was loaded before any nudge, of those that need a group.",
        better="lower",
        empty=_NEEDED,
    )
    misroute = _rate(
        "misroute_rate",
        "misrouted",
        "Loaded something, but not all that is needed, of those that need a group.",
        better="lower",
        empty=_NEEDED,
    )
    specificity = Rate(
        name="specificity", numerator=specific, help="Nothing was loaded, of those that need none.", empty=_NOT_NEEDED
    )
    recall = MeanShare(
        name="recall", detail="recall", help="Mean |E and L| / |E|, where E is not empty.", empty=_NEEDED
    )
    return [
        top1,
        exact,
        skip,
        recall,
        MeanShare(
            name="precision",
            detail="precision",
            help="Mean |E and L| / |L|, where neither is empty.",
            empty="no scored scenario that needs a group had one delivered",
        ),
        MeanShare(
            name="f1",
            detail="f1",
            help="Mean 2 |E and L| / (|E| + |L|), 1 where both are empty.",
            empty="nothing was scored",
            pairing="score",
        ),
        _rate("first_hit_rate", "first_hit", "The first load request has all of E, of those with E.", empty=_NEEDED),
        _rate("first_exact_rate", "first_exact", "The first load request is E, of those with E.", empty=_NEEDED),
        raw_skip,
        misroute,
        _rate(
            "nudge_rescue_rate",
            "rescued",
            "Loaded after the nudge, of those that were nudged and need a group.",
            empty="no scenario that needs a group was nudged",
        ),
        specificity,
        _rate(
            "false_load_rate",
            "false_load",
            "Something was loaded, of those that need none.",
            better="lower",
            empty=_NOT_NEEDED,
        ),
        Rate(
            name="abstain_rate",
            numerator=abstained,
            denominator=unsuitable,
            help="Nothing was loaded, of those for which no group is suitable.",
            empty="no scored scenario is without a suitable group",
        ),
        DecisionAccuracy(),
        _rate("over_load_rate", "over_loaded", "Groups were delivered that are not needed.", better="lower"),
        Amount(detail="over_load", name="over_load"),
        _rate("hallucination_rate", "hallucinated", "A group or tool was named that does not exist.", better="lower"),
        _rate(
            "undelivered_rate",
            "undelivered_any",
            "A needed group was asked for and not delivered, of those with E.",
            better="lower",
            empty=_NEEDED,
        ),
        _rate("unloaded_call_rate", "unloaded_call", "A tool was called that was not loaded.", better="lower"),
        _rate("malformed_call_rate", "malformed_call", "The arguments of a call could not be read.", better="lower"),
        _rate("written_call_rate", "written_call", "A tool call was written as text instead of made.", better="lower"),
        Amount(detail="load_calls", name="load_calls"),
        _rate("reload_rate", "reloaded", "Loaded more than once.", better="lower"),
        _rate("redundant_reload_rate", "redundant_reloaded", "Loaded again what was loaded already.", better="lower"),
        _rate("loop_limit_rate", "hit_limit", "Ended at the limit of model calls.", better="lower"),
        Amount(detail="model_calls", name="model_calls"),
        Amount(detail="routing_calls", name="routing_calls"),
        Rate(
            name="routing_inactive_rate",
            numerator=inactive,
            better="lower",
            help="There was nothing to route: the menu is empty, or everything is always on.",
            empty="the policy does not route",
        ),
        Amount(detail="menu_tokens", name="menu_tokens"),
        Amount(detail="own_tokens", name="loader_tokens"),
        Amount(detail="schema_tokens", name="schema_tokens"),
        Amount(detail="routed_tokens", name="routed_tokens"),
        Amount(detail="all_tokens", name="all_tools_tokens", better=None),
        Saving(),
        _rate(
            "costs_more_rate",
            "costs_more",
            "Routing sent more tokens than all tools would have.",
            better="lower",
            empty="no scored scenario offers tools",
        ),
        Amount(detail="input_tokens", name="input_tokens"),
        Amount(detail="output_tokens", name="output_tokens"),
        WeightedHit(weight=token_weight),
        MeanShare(
            name="tool_recall",
            detail="tool_recall",
            help="Mean share of the needed tools that were delivered.",
            empty=_NO_TOOLS,
        ),
        MeanShare(
            name="tool_precision",
            detail="tool_precision",
            help="Mean share of delivered tools that are needed.",
            empty=_NO_TOOLS,
        ),
        MeanShare(name="tool_f1", detail="tool_f1", help="Mean F1 of needed and delivered tools.", empty=_NO_TOOLS),
        _rate("tool_hit_rate", "tool_hit", "All needed tools were delivered.", empty=_NO_TOOLS),
        _rate("tool_exact_rate", "tool_exact", "Exactly the needed tools were delivered.", empty=_NO_TOOLS),
        MeanShare(
            name="word_overlap",
            detail="overlap",
            better=None,
            help="Mean share of the request's words that stand in the menu's text of a right group.",
            empty=_NEEDED,
        ),
        ErrorRate(),
        GroupConfusion(),
        BaselineScores(),
        ScenarioTable(),
        *(Sliced(metric=metric) for metric in (top1, exact, skip, raw_skip, misroute, specificity)),
    ]


def _rate(name: str, detail: str, help: str, **more: Any) -> Rate:
    return Rate(name=name, numerator=detail, help=help, **{"empty": "nothing was scored", **more})


@frozen(slots=True, kw_only=True)
class ErrorRate(JudgementMetric):
    """`error_rate`: outcomes lost to a failure of the provider or the harness, of all outcomes, whatever their
    status."""

    @property
    def declares(self) -> Sequence[Declared]:
        return (self.declare("error_rate", "Outcomes lost to a failure, of all outcomes.", better="lower"),)

    def start(self) -> Counter[bool]:
        return Counter()

    def add(self, state: Counter[bool], outcomes: Sequence[Outcome]) -> Counter[bool]:
        state.update(outcome.status == "error" for outcome in outcomes)
        return state

    def merge(self, left: Counter[bool], right: Counter[bool]) -> Counter[bool]:
        left.update(right)
        return left

    def finish(self, state: Counter[bool]) -> Sequence[Measurement]:
        return (rate("error_rate", state[True], state.total(), empty="there are no scenarios"),)
