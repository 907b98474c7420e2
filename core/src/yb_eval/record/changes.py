"""What the measurements of two runs say of each other, with intervals where they are compared sample by sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from attrs import frozen

from yb_eval.model import Comparison, Paired
from yb_eval.statistics import minimum_detectable_change


@frozen(slots=True)
class Pairing:
    """How a measurement is compared by pairs: by right and wrong or by score, of one judgement (`None`: the outcome)."""

    pairing: Literal["correct", "score"]
    judgement: str | None = None


@frozen(slots=True)
class Change:
    """One measurement in two runs.

    `change` is after less before, and `interval` its paired 95 % interval, `None` where the measurement has no pairs.
    Where one run has samples that the other lacks, the two numbers do not subtract: `change` is then that of the pairs,
    over the shared samples, and `None` without pairs.
    """

    name: str
    before: float | None
    after: float | None
    change: float | None
    interval: tuple[float, float] | None


def pairings(declared: Mapping[str, Mapping[str, Any]]) -> dict[str, Pairing]:
    """The pairings among a mapping of entries with `pairing` and `judgement`: a report's `declared`, say.

    An entry without them is compared by no pairs. Raises `ValueError` for a pairing that this version does not know.
    """
    found = {}
    for name, entry in declared.items():
        pairing, judgement = entry.get("pairing"), entry.get("judgement")
        if pairing is None:
            continue
        if pairing not in ("correct", "score") or not isinstance(judgement, str | None):
            raise ValueError(f"{name} is paired by {pairing!r} of the judgement {judgement!r}")
        found[name] = Pairing(pairing, judgement)
    return found


def changes(
    before: Mapping[str, float | None],
    after: Mapping[str, float | None],
    paired_by: Mapping[str, Pairing],
    comparison: Comparison,
) -> Iterator[Change]:
    """The change of each measurement that both runs have, by their values, in the order of `after`."""
    same_samples = not comparison.added and not comparison.removed
    for name, now in after.items():
        if name not in before:
            continue
        then = before[name]
        if then is None or now is None:
            yield Change(name, then, now, None, None)
            continue
        of_pairs, interval = _by_pairs(paired_by.get(name), comparison)
        yield Change(name, then, now, now - then if same_samples else of_pairs, interval)


def _by_pairs(by: Pairing | None, comparison: Comparison) -> tuple[float | None, tuple[float, float] | None]:
    """The change over the shared samples with its interval."""
    pair = None if by is None else comparison.judgements.get(by.judgement or "")
    if by is None or pair is None:
        return None, None
    if by.pairing == "score":
        return pair.score_change, pair.score_interval
    return (None, None) if pair.interval is None else ((pair.fixed - pair.broken) / pair.n, pair.interval)


def smallest_seen(pair: Paired | None) -> float | None:
    """The smallest change of the rate of right samples that these pairs would show; `None` where none has a right."""
    if pair is None or pair.interval is None:
        return None
    return minimum_detectable_change(pair.n, (pair.broken + pair.fixed) / pair.n)
