"""The offers of a run, each built once: what is costly (menus, definitions, indexes) is per environment, never per
scenario."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from yb_eval_agent_routing.agent.menu import Menu, render
from yb_eval_agent_routing.agent.offer import Offer
from yb_eval_agent_routing.model import Scenario


class Offers:
    """Offers and their menus, by environment, mode and threshold; safe to share among threads.

    A built-in provider finds the offer that a request is about by the digest in the request.
    """

    def __init__(self, threshold: int | None = None) -> None:
        """`threshold` overrides the scenarios' own."""
        self._threshold = threshold
        self._lock = threading.Lock()
        self._made: dict[tuple[str, str, int], tuple[Offer, Menu]] = {}
        self._by_digest: dict[str, Offer] = {}

    def of(self, scenario: Scenario) -> tuple[Offer, Menu]:
        """The offer that a scenario's agent has, and its menu."""
        threshold = scenario.expand_threshold if self._threshold is None else self._threshold
        key = (scenario.environment.digest, scenario.mode, threshold)
        found = self._made.get(key)
        if found is None:
            with self._lock:
                found = self._made.get(key)
                if found is None:
                    offer = Offer(environment=scenario.environment, mode=scenario.mode, threshold=threshold)
                    found = self._made[key] = (offer, render(offer))
                    self._by_digest[offer.digest] = offer
        return found

    def find(self, request: Mapping[str, Any]) -> Offer:
        """The offer that a request is about."""
        return self._by_digest[request["environment"]]
