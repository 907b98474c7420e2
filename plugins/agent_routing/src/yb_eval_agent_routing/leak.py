"""How much of a request stands in the menu already: where much does, matching words is enough to find the group."""

from __future__ import annotations

from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.model import Scenario
from yb_eval_agent_routing.retrieval import letters

#: Shorter words (articles, prepositions) say nothing about a subject.
SHORTEST = 3


def overlap(scenario: Scenario, offer: Offer) -> float | None:
    """The share of the request's different words that occur in the menu's text of a group that is right.

    0 is a request that shares no word with what it needs, 1 one that says nothing else. Null where nothing is needed
    or the request has no words.
    """
    right = {*scenario.expected, *(group for groups in scenario.any_of for group in groups)}
    asked = {word for word in letters(scenario.message) if len(word) >= SHORTEST}
    if not right or not asked:
        return None
    shown = frozenset().union(*(offer.menu_words.get(group, frozenset()) for group in sorted(right)))
    return len(asked & shown) / len(asked)
