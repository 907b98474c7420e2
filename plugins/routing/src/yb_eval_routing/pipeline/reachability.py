"""Proof that every tier and every rule of a policy can be reached.

A tier that no request can reach is found by looking at the policy, not at traffic. The proof is exact under one
assumption: that signals can be raised independently of each other. Rules divide the counts of the signals and the
metadata keys they name into boxes within which the same rule applies; in each box the set of reachable scores is
computed as a bit set, one bit a point, signal after signal. So a boundary that falls between two reachable scores, or
a tier hidden behind an earlier rule, is noticed as well as a boundary above the highest score.
"""

from collections.abc import Iterator
from itertools import product
from math import prod

import attrs

from yb_eval_routing.pipeline.errors import PolicyError
from yb_eval_routing.pipeline.policy import POINTS, Policy, Signal

_MOST_BOXES = 250_000
_ANY_OTHER = ""


@attrs.frozen(slots=True, kw_only=True)
class Reach:
    """What requests can reach: indexes of tiers and of rules."""

    tiers: frozenset[int]
    rules: frozenset[int]


def check_reachable(policy: Policy) -> None:
    """Raise :class:`PolicyError` for the first tier, then the first rule, that no request can reach."""
    reach = reachable(policy)
    for index, tier in enumerate(policy.tiers):
        if index not in reach.tiers:
            highest = sum(_most_points(signal) for signal in policy.signals if not signal.lowers)
            raise PolicyError(
                f"tiers[{index}]: '{tier.name}' cannot be reached: no score from {tier.start / POINTS:.3f} and no rule "
                f"leads to it (the signals add up to at most {min(highest, POINTS) / POINTS:.3f}); lower its start, "
                "raise a weight, or add or reorder a rule"
            )
    for index, rule in enumerate(policy.rules):
        if index not in reach.rules:
            raise PolicyError(
                f"rules[{index}]: '{rule.name}' can never apply: a count it asks for is out of reach, or earlier rules "
                "apply wherever it would; change its conditions, move it up, or remove it"
            )


def reachable(policy: Policy) -> Reach:
    """Return the tiers and rules that some combination of counts and metadata reaches."""
    deciding = sorted({condition.signal for rule in policy.rules for condition in rule.conditions})
    free = [signal for index, signal in enumerate(policy.signals) if index not in deciding]
    lowest = sum(_most_points(signal) for signal in policy.signals if signal.lowers)
    scores = 1 << lowest  # bit i stands for a sum of i - lowest points
    for signal in free:
        scores = _with_signal(scores, signal, _all_points(signal))
    intervals = [_intervals(policy, index) for index in deciding]
    keys = {key: [_ANY_OTHER] for rule in policy.rules for key, _ in rule.metadata}
    for rule in policy.rules:
        for key, values in rule.metadata:
            keys[key].extend(value for value in values if value not in keys[key])
    boxes = prod(map(len, intervals)) * prod(map(len, keys.values()))
    if boxes > _MOST_BOXES:
        raise PolicyError(
            f"rules: they divide the signals into {boxes} cases, more than the {_MOST_BOXES} that are checked for "
            "reachability; use fewer thresholds"
        )
    ranges = _tier_ranges(policy, lowest)
    all_metadata = list(_combinations(keys))
    tiers: set[int] = set()
    rules: set[int] = set()
    for counts, in_box in _boxes(policy, deciding, intervals, scores):
        scored = [index for index, mask in enumerate(ranges) if in_box & mask]
        for metadata, tier in product(all_metadata, scored):
            applied = next((i for i, rule in enumerate(policy.rules) if rule.applies(tier, counts, metadata)), None)
            if applied is None:
                tiers.add(tier)
            else:
                rules.add(applied)
                tiers.add(policy.rules[applied].action.apply(tier, policy.rules[applied].tier))
        if len(tiers) == len(policy.tiers) and len(rules) == len(policy.rules):
            break  # there is nothing left to find
    return Reach(tiers=frozenset(tiers), rules=frozenset(rules))


def _boxes(
    policy: Policy, deciding: list[int], intervals: list[list[tuple[int, int]]], scores: int
) -> Iterator[tuple[dict[int, int], int]]:
    """Yield for each box the lowest count of each deciding signal, and the scores within the box as a bit set."""
    if not deciding:
        yield {}, scores
        return
    signal = policy.signals[deciding[0]]
    for least, most in intervals[0]:
        moved = {signal.points(count) for count in range(least, min(most, max(least, signal.high)) + 1)}
        for counts, in_box in _boxes(policy, deciding[1:], intervals[1:], _with_signal(scores, signal, moved)):
            yield {deciding[0]: least, **counts}, in_box


def _most_points(signal: Signal) -> int:
    return signal.weight if signal.most is None else signal.points(signal.most)


def _top(signal: Signal) -> int:
    """The count from which on the signal contributes the same."""
    return signal.high if signal.most is None else min(signal.most, signal.high)


def _all_points(signal: Signal) -> set[int]:
    return {signal.points(count) for count in range(_top(signal) + 1)}


def _with_signal(scores: int, signal: Signal, points: set[int]) -> int:
    result = 0
    for moved in points:
        result |= scores >> moved if signal.lowers else scores << moved
    return result


def _intervals(policy: Policy, index: int) -> list[tuple[int, int]]:
    """Cut the counts of a signal where a rule's condition begins or ceases to hold; the last one is cut off high."""
    signal = policy.signals[index]
    cuts = {0}
    for rule in policy.rules:
        for condition in rule.conditions:
            if condition.signal == index:
                cuts.add(condition.least)
                if condition.most is not None:
                    cuts.add(condition.most + 1)
    end = signal.most if signal.most is not None else max(*cuts, signal.high)
    starts = sorted(cut for cut in cuts if cut <= end)
    return list(zip(starts, [*(start - 1 for start in starts[1:]), end], strict=True))


def _combinations(keys: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    for values in product(*keys.values()):
        yield dict(zip(keys, values, strict=True))


def _tier_ranges(policy: Policy, lowest: int) -> list[int]:
    """Return a bit mask of the sums of each tier; sums below 0 belong to the first, above 1.0 to the last."""
    starts = [0, *(tier.start + lowest for tier in policy.tiers[1:])]
    most = lowest + sum(signal.weight for signal in policy.signals) + POINTS + 1
    ends = [*starts[1:], most]
    return [(1 << end) - (1 << start) for start, end in zip(starts, ends, strict=True)]
