"""From the trace of a scenario to its marks: what was needed against what was delivered.

Words: E the expected groups, L the groups of which at least one tool was delivered, A the groups asked for. A group
that is always on is delivered unasked: it counts where it is needed and is never too much. So is a group that the
scenario calls acceptable. Where E is empty nothing should be loaded, so there L has what was loaded in vain too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal

from attrs import frozen

from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.agent.trace import Trace
from yb_eval_agent_routing.model import Scenario

Verdict = Literal["EXACT", "HIT", "SKIP", "MISS"]


@frozen(slots=True)
class Match:
    """Two sets of names compared: `expected`, with alternatives settled, and `got`, without what cannot be held against
    it."""

    expected: tuple[str, ...]
    got: tuple[str, ...]

    @classmethod
    def of(
        cls,
        got: Iterable[str],
        *,
        expected: Sequence[str],
        any_of: Sequence[Sequence[str]] = (),
        free: Collection[str] = (),
    ) -> Match:
        """Of each list in `any_of` the first name that came is the needed one (the first of all where none did);
        `free` names count where they are needed, and not against."""
        came = set(got)
        chosen = [next((name for name in names if name in came), names[0]) for names in any_of]
        needed = tuple(sorted({*expected, *chosen}))
        return cls(needed, tuple(sorted(came - (set(free) - set(needed)))))

    @property
    def hits(self) -> int:
        return len(set(self.expected) & set(self.got))

    @property
    def missed(self) -> list[str]:
        return [name for name in self.expected if name not in self.got]

    @property
    def extra(self) -> list[str]:
        return [name for name in self.got if name not in self.expected]

    @property
    def hit(self) -> bool:
        """All that was expected came; where nothing was, nothing did."""
        return not self.missed if self.expected else not self.got

    @property
    def exact(self) -> bool:
        return self.expected == self.got

    @property
    def recall(self) -> float | None:
        return self.hits / len(self.expected) if self.expected else None

    @property
    def precision(self) -> float | None:
        return self.hits / len(self.got) if self.got and self.expected else None

    @property
    def f1(self) -> float:
        """1 where both are empty."""
        size = len(self.expected) + len(self.got)
        return 2 * self.hits / size if size else 1.0


def match_groups(scenario: Scenario, offer: Offer, groups: Iterable[str]) -> Match:
    """Delivered groups against the scenario's."""
    return Match.of(
        groups,
        expected=scenario.expected,
        any_of=scenario.any_of,
        free={*scenario.acceptable, *offer.always_on},
    )


def verdict(match: Match, skipped: bool) -> Verdict:
    if match.exact:
        return "EXACT"
    if match.hit:
        return "HIT"
    return "SKIP" if skipped else "MISS"


def marks(scenario: Scenario, offer: Offer, trace: Trace) -> tuple[Match, dict[str, Any]]:
    """The comparison of the delivered groups, and everything the metrics fold, as JSON."""
    delivered = list(dict.fromkeys(offer.tools[tool].tool.capability for tool in trace.delivered))
    loaded = trace.loaded.all_groups(offer)
    needs = bool(scenario.expected or scenario.any_of)
    # Where nothing is needed, what was loaded is a false load even if the budget or the mode then held it back.
    match = match_groups(scenario, offer, delivered if needs else [*delivered, *sorted(loaded)])
    skipped = bool(offer.groups) and trace.load_calls == 0 and not trace.active
    raw_skipped = skipped or (trace.nudged and trace.loads_before_nudge == 0)
    details: dict[str, Any] = {
        "kind": scenario.kind,
        "verdict": verdict(match, needs and skipped),
        "asked": list(trace.asked),
        "loaded": sorted(loaded),
        "delivered": sorted(delivered),
        "hit": match.hit,
        "exact": match.exact,
        "f1": match.f1,
        "recall": match.recall,
        "precision": match.precision,
        **_decision(match, trace, needs, skipped, raw_skipped),
        **_first_choice(scenario, offer, trace),
        **_behaviour(match, trace),
        **_tokens(match, offer, trace),
        **_tools(scenario, offer, trace),
    }
    return match, details


def _decision(match: Match, trace: Trace, needs: bool, skipped: bool, raw_skipped: bool) -> dict[str, Any]:
    """To load or not to load."""
    extra = len(match.extra)
    return {
        "skipped": skipped if needs else None,
        "raw_skipped": raw_skipped if needs else None,
        "nudged": trace.nudged,
        "rescued": bool(trace.loaded) if trace.nudged and needs and trace.loads_before_nudge == 0 else None,
        "misrouted": not match.hit and not skipped if needs else None,
        "false_load": bool(match.got) if not needs else None,
        "over_load": extra,
        "over_loaded": extra > 0,
    }


def _first_choice(scenario: Scenario, offer: Offer, trace: Trace) -> dict[str, Any]:
    """The first load request that could be met, whatever came after it; nothing where there was none."""
    first = match_groups(scenario, offer, trace.first_choice or ())
    always = set(first.expected) & offer.always_on
    known = Match(tuple(name for name in first.expected if name not in always), first.got)
    return {
        "first_choice": list(trace.first_choice or ()),
        "first_exact": known.exact if known.expected else None,
        "first_hit": known.hit if known.expected else None,
    }


def _behaviour(match: Match, trace: Trace) -> dict[str, Any]:
    reachable = {*trace.asked} & {*match.expected}
    return {
        "unknown": [*trace.unknown, *trace.unknown_calls],
        "hallucinated": bool(trace.unknown or trace.unknown_calls),
        "undelivered": sorted(reachable - set(match.got)),
        "undelivered_any": bool(reachable - set(match.got)) if match.expected else None,
        "excluded": list(trace.excluded),
        "called": list(trace.called),
        "unloaded_calls": list(trace.unloaded_calls),
        "unloaded_call": bool(trace.unloaded_calls),
        "written_calls": list(trace.written_calls),
        "written_call": bool(trace.written_calls),
        "malformed_calls": trace.malformed_calls,
        "malformed_call": trace.malformed_calls > 0,
        "load_calls": trace.load_calls,
        "reloads": trace.reloads,
        "reloaded": trace.reloads > 0,
        "redundant_reloads": trace.redundant_reloads,
        "redundant_reloaded": trace.redundant_reloads > 0,
        "model_calls": trace.model_calls,
        "routing_calls": trace.routing_calls,
        "hit_limit": trace.hit_limit,
        "routing_active": trace.routing_active,
    }


def _tokens(match: Match, offer: Offer, trace: Trace) -> dict[str, Any]:
    """What routing sent, and what sending every tool with each call would have.

    An agent that has all tools needs none of the calls that only route: they are not counted for it.
    """
    routed = trace.menu_tokens + trace.own_tokens + trace.schema_tokens
    everything = offer.all_tokens * max(1, trace.model_calls - trace.routing_calls)
    extra = sum(tool.tokens for group in match.extra for tool in offer.tools_of(group))
    used = trace.used or (None, None)
    return {
        "menu_tokens": trace.menu_tokens,
        "own_tokens": trace.own_tokens,
        "schema_tokens": trace.schema_tokens,
        "routed_tokens": routed,
        "all_tokens": everything,
        "costs_more": routed > everything if everything else None,
        "extra_share": min(1.0, extra / offer.all_tokens) if offer.all_tokens else 0.0,
        "input_tokens": used[0],
        "output_tokens": used[1],
    }


def _tools(scenario: Scenario, offer: Offer, trace: Trace) -> Mapping[str, Any]:
    """Single tools, where the scenario says which are needed: of the tools delivered, leaving out those of groups that
    may be there anyway."""
    listed = {"asked_tools": list(trace.asked_tools), "delivered_tools": list(trace.delivered)}
    if not (scenario.expected_tools or scenario.any_of_tools):
        return listed
    anyway = {*scenario.acceptable, *offer.always_on}
    match = Match.of(
        trace.delivered,
        expected=scenario.expected_tools,
        any_of=scenario.any_of_tools,
        free=[tool for tool in trace.delivered if offer.tools[tool].tool.capability in anyway],
    )
    return {
        **listed,
        "tool_recall": match.recall,
        "tool_precision": match.precision,
        "tool_f1": match.f1,
        "tool_hit": match.hit,
        "tool_exact": match.exact,
        "missed_tools": match.missed,
    }
