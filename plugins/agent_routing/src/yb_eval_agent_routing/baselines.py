"""What loading nothing, loading everything and plain retrieval would have scored on a scenario: the policies that a
model has to beat. They ask nobody."""

from __future__ import annotations

from typing import Any

from yb_eval_agent_routing.agent import Offer
from yb_eval_agent_routing.model import Scenario
from yb_eval_agent_routing.scoring import match_groups

#: How many groups the retrieval baselines load.
DEPTHS = (1, 2, 3, 5, 10)

NAMES = ("none", "all", *(f"bm25:{k}" for k in DEPTHS))


def baseline_marks(scenario: Scenario, offer: Offer) -> dict[str, Any]:
    """Name -> [hit, exact, needed groups that came, needed groups, groups that came].

    The budget does not bind them: they are the policies as the literature has them.
    """
    always = [group.id for group in offer.groups if group.always_on]
    ranked = [offer.deferred[place].id for place in offer.group_index.rank(scenario.message, max(DEPTHS))]
    loads = {
        "none": [],
        "all": [group.id for group in offer.deferred],
        **{f"bm25:{k}": ranked[:k] for k in DEPTHS},
    }
    made = {}
    for name, groups in loads.items():
        match = match_groups(scenario, offer, [*always, *groups])
        made[name] = [match.hit, match.exact, match.hits, len(match.expected), len(match.got)]
    return made
