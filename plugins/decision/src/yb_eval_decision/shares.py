"""Dividing what a request took among those who asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from yb_eval_decision.results import Usage

_MANTISSA, _LEAST = 53, -1074


def divided(usage: Usage, parts: Sequence[int]) -> list[Usage]:
    """`usage` in one share for each of `parts`, in proportion. The shares add up to it exactly, floats included."""
    return [usage] if len(parts) == 1 else list(_divided(usage, tuple(parts)))


@lru_cache(1024)  # backends that do not wait take the same for many samples
def _divided(usage: Usage, weights: tuple[int, ...]) -> tuple[Usage, ...]:
    n = len(weights)
    requests, questions = whole(usage.requests, weights), whole(usage.questions, weights)
    tokens_in, tokens_out = whole(usage.input_tokens, weights), whole(usage.output_tokens, weights)
    retries, cached = whole(usage.retries, weights), whole(usage.cached, weights)
    costs = [None] * n if usage.cost_usd is None else exact(usage.cost_usd, weights)
    latencies = exact(usage.latency_ms, weights)
    return tuple(
        Usage(requests[i], questions[i], tokens_in[i], tokens_out[i], costs[i], usage.cost_complete,
              retries[i], cached[i], latencies[i], usage.backend)
        for i in range(n)
    )  # fmt: skip


@lru_cache(1024)  # most requests of a run are one request of as many questions
def whole(total: int, weights: tuple[int, ...]) -> list[int]:
    """A whole number in whole shares: each the difference of two rounded running sums, so that they sum to it."""
    if not total:
        return [0] * len(weights)
    everything = sum(weights)
    shares, reached, before = [], 0, 0
    for weight in weights:
        reached += weight
        so_far = total * reached // everything
        shares.append(so_far - before)
        before = so_far
    return shares


def exact(total: float, weights: tuple[int, ...]) -> list[float]:
    """A float in shares whose sum, in any order, is exactly it: shares of its mantissa, which is a whole number."""
    if not total:
        return [0.0] * len(weights)
    # The last bit of its mantissa, or the least that a float can have.
    last = max(math.frexp(total)[1] - _MANTISSA, _LEAST)
    units = whole(int(math.ldexp(total, -last)), weights)
    return [math.ldexp(unit, last) for unit in units]
