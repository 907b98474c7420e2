"""A routing policy as values: tiers with boundaries, signals, rules, models with prices.

Scores, weights and boundaries are whole *points*, a thousand to 1.0, so that a score is exact, does not depend on the
order of summing, and the set of reachable scores can be computed rather than guessed.
"""

from collections.abc import Mapping, Sequence
from enum import Enum

import attrs

from yb_eval_routing.pipeline.lexicon import Concept

POINTS = 1000
"""Points of a score of 1.0."""
PICO = 10**12
"""Prices are whole pico-dollars a token, so that a cost is exact: a dollar is 10^12 of them."""


@attrs.frozen(slots=True, kw_only=True)
class Tier:
    """A class of requests that one model serves, from ``start`` points up to the next tier's start.

    ``start_tokens`` is where the tier starts for the length-only router; ``output_tokens`` what an answer is taken
    to be long when its price is estimated.
    """

    name: str
    start: int
    start_tokens: int
    model: str
    output_tokens: int


@attrs.frozen(slots=True, kw_only=True)
class Model:
    """A model and its price in pico-dollars a token."""

    name: str
    input_price: int
    output_price: int


@attrs.frozen(slots=True, kw_only=True)
class Signal:
    """Something counted in a message, and how many points the count moves the score.

    The count is that of a built-in ``measure``, or the number of distinct ``concepts`` mentioned. It contributes
    nothing up to ``low``, all of ``weight`` from ``high``, and proportionally between, rounded down to whole points.
    ``lowers`` turns the contribution against the score. With ``within_units`` the count is 0 in longer messages.
    """

    name: str
    weight: int
    lowers: bool
    low: int
    high: int
    measure: str | None
    concepts: tuple[Concept, ...]
    within_units: int | None

    def points(self, count: int) -> int:
        """Return how far a count moves the score, 0..weight (the sign is not applied)."""
        if count <= self.low:
            return 0
        return self.weight * min(count - self.low, self.high - self.low) // (self.high - self.low)

    @property
    def most(self) -> int | None:
        """The largest count there can be, or None where there is no limit."""
        return len(self.concepts) if self.measure is None else None


class Action(Enum):
    """What a rule does with the tier that the score gives."""

    EXACTLY = "tier"
    AT_LEAST = "at_least"
    AT_MOST = "at_most"

    def apply(self, scored: int, named: int) -> int:
        """Return the tier's index from the index the score gives and the one the rule names."""
        if self is Action.AT_LEAST:
            return max(scored, named)
        if self is Action.AT_MOST:
            return min(scored, named)
        return named


@attrs.frozen(slots=True, kw_only=True)
class Condition:
    """A signal's count lies within ``least`` and ``most`` (None: no limit), both included."""

    signal: int
    least: int
    most: int | None

    def holds(self, count: int) -> bool:
        return count >= self.least and (self.most is None or count <= self.most)


@attrs.frozen(slots=True, kw_only=True)
class Rule:
    """A rule applies when the score gives one of the tiers ``scored`` (indexes), all conditions hold, and each named
    metadata key has one of the given values; then it does ``action`` with ``tier``.

    The first rule of a policy that applies is the only one applied.
    """

    name: str
    scored: tuple[int, ...]
    conditions: tuple[Condition, ...]
    metadata: tuple[tuple[str, tuple[str, ...]], ...]
    action: Action
    tier: int

    def applies(self, scored: int, counts: Sequence[int] | Mapping[int, int], metadata: Mapping[str, object]) -> bool:
        """Say whether the rule applies; ``counts`` gives the count of each signal by its index."""
        return (
            scored in self.scored
            and all(condition.holds(counts[condition.signal]) for condition in self.conditions)
            and all(metadata.get(key) in values for key, values in self.metadata)
        )


@attrs.frozen(slots=True, kw_only=True)
class FollowUp:
    """What makes a message a follow-up of the one before: one of these terms, in a message of at most so many units."""

    concepts: tuple[Concept, ...]
    within_units: int


@attrs.frozen(slots=True, kw_only=True)
class Policy:
    """A checked policy; made by :func:`~yb_eval_routing.pipeline.loading.load_policy` only.

    ``tiers`` are in ascending order. ``digest`` is the lowercase hex sha256 of the exact bytes it was read from.
    """

    name: str
    tiers: tuple[Tier, ...]
    models: tuple[Model, ...]
    signals: tuple[Signal, ...]
    rules: tuple[Rule, ...]
    follow_up: FollowUp
    digest: str

    @property
    def tier_names(self) -> tuple[str, ...]:
        return tuple(tier.name for tier in self.tiers)

    def tier_of_score(self, points: int) -> int:
        """Return the index of the tier whose range holds a score of so many points."""
        return max(index for index, tier in enumerate(self.tiers) if index == 0 or points >= tier.start)

    def model(self, name: str) -> Model:
        return next(model for model in self.models if model.name == name)
