"""Measurements that many judgements share: `grounded.accuracy`, `jailbreak.accuracy`, ... are a table, not a list."""

from __future__ import annotations

from collections import Counter

from attrs import frozen

from yb_eval.reports.findings import split_slice
from yb_eval.reports.view import Json

#: From how many judgements on that share this many measurements they are shown as a table.
_MEMBERS, _SHARED = 4, 3


@frozen(slots=True)
class Family:
    """`rows` are judgements with the full names of their measurements, by the order of `measures` (`None`: it has none).

    `names` are all measurements that the table stands for, those that it leaves out too: of the `silent` judgements, which have
    not a single rate, and those that say nothing of any judgement.
    """

    measures: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str | None, ...]], ...]
    names: frozenset[str]
    silent: tuple[str, ...]


def family_of(suite: Json) -> Family | None:
    """The judgements of a suite that share measurements, where there are many."""
    members: dict[str, dict[str, str]] = {}
    for name in suite["measurements"]:
        judgement, dot, measure = name.rpartition(".")
        if dot and split_slice(name)[1] is None:
            members.setdefault(judgement, {})[measure] = name
    counted = Counter(measure for measures in members.values() for measure in measures)
    shared = tuple(measure for measure, count in counted.items() if count >= _MEMBERS)
    kin = {name: own for name, own in members.items() if len(own.keys() & set(shared)) >= _SHARED}
    if len(kin) < _MEMBERS:
        return None
    silent = tuple(judgement for judgement, own in kin.items() if not any(_is_known(suite, own[m]) for m in own))
    heard = {judgement: own for judgement, own in kin.items() if judgement not in silent}
    measures = tuple(m for m in shared if any(_tells(suite, own[m]) for own in heard.values() if m in own))
    rows = tuple((judgement, tuple(own.get(measure) for measure in measures)) for judgement, own in heard.items())
    names = frozenset(own[measure] for own in kin.values() for measure in own if measure in shared)
    return Family(measures, rows, names, silent)


def _is_known(suite: Json, name: str) -> bool:
    """Whether this is a rate that has a value; counts say little of a judgement that has nothing else."""
    declared = (suite.get("declared") or {}).get(name) or {}
    return suite["measurements"][name]["value"] is not None and declared.get("high") == 1


def _tells(suite: Json, name: str) -> bool:
    """Whether it has a value, and is no count of nothing."""
    value = suite["measurements"][name]["value"]
    counted = ((suite.get("declared") or {}).get(name) or {}).get("high") is None
    return value is not None and not (counted and value == 0)
