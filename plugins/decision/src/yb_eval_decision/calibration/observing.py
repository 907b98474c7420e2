"""Asking the evals of labelled rows, and keeping what a fit needs: the score, the verdict and the label."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from attrs import define, field, frozen

from yb_eval.interfaces import Snapshot
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.assessing import assess
from yb_eval_decision.backends.base import Backend
from yb_eval_decision.dataset import labels_of, sample_of
from yb_eval_decision.eval import Eval
from yb_eval_decision.results import Result, Usage

Part = Literal["fit", "report"]
#: The keys of tags that say which rows belong together: none of them is in both parts.
GROUPED_BY = ("dialogue", "scenario")


@frozen(slots=True)
class Observation:
    """One eval on one row: its raw `score`, its own verdict, whether the label wants it to pass (`should`), and whether the eval
    stops the sample for another reason than the score (`vetoed`)."""

    part: Part
    score: float
    passed: bool | None
    should: bool
    vetoed: bool = False


@define(slots=True)
class Observed:
    """All that was seen. `left_out` counts by eval why a labelled row gave no observation: `by code` (nothing was asked), `no
    score`, or the state that is unmeasured."""

    observations: dict[str, list[Observation]] = field(factory=dict)
    left_out: dict[str, Counter[str]] = field(factory=dict)
    rows: int = 0
    unlabelled: int = 0
    models: set[str] = field(factory=set)
    usage: Usage = Usage()


def hash_of(name: str) -> int:
    """A number of 64 bits for a row or group, the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"yb-eval-decision/calibration-split/{name}".encode()).digest()[:8], "big")


def cut_of(sizes: Mapping[str, int], split: float) -> int:
    """The hash below which groups are for fitting: of all cuts the one whose share of rows is nearest to `split`.

    Groups go by their hashes, not by their order: when others come or go, one changes its part only if it is near the cut.
    """
    wanted, taken = split * sum(sizes.values()), 0
    best, cut = abs(wanted), 0
    for at, size in sorted((hash_of(name), size) for name, size in sizes.items()):
        taken += size
        if abs(wanted - taken) < best:
            best, cut = abs(wanted - taken), at + 1
    return cut


def group_of(id: str, tags: Sequence[str], keys: Sequence[str] = GROUPED_BY) -> str:
    """The name that the split goes by: the first of the tags `keys` that the row has, else its id."""
    for key in keys:
        found = next((tag for tag in tags if tag.startswith(f"{key}:")), None)
        if found is not None:
            return found
    return f"id:{id}"


def should_pass(one: Eval, label: Any) -> bool:
    """Whether a label (that was checked) wants the eval to pass."""
    if isinstance(label, bool):
        return label
    if isinstance(label, str):
        return label in getattr(one, "good", ())
    return bool(label >= one.threshold)


def observe(
    snapshot: Snapshot,
    evals: Mapping[str, Eval],
    backend: Backend,
    *,
    split: float = 0.5,
    group_by: Sequence[str] = GROUPED_BY,
) -> Observed:
    """Asks each row the evals that it has labels for. Rows without any are counted and not asked."""
    seen = Observed({name: [] for name in evals}, {name: Counter() for name in evals})
    sets: dict[tuple[str, ...], EvalSet] = {}
    cut = cut_of(_sizes(snapshot, evals, group_by), split)
    for names, samples in _grouped(snapshot, evals, backend.batch, seen):
        known = sets.get(names)
        if known is None:
            known = sets[names] = EvalSet([evals[name] for name in names])
        reports = assess([sample_of(sample.data) for sample in samples], known, backend)
        for sample, report in zip(samples, reports, strict=True):
            labels = labels_of(sample.data)
            part: Part = "fit" if hash_of(group_of(sample.id, sample.tags, group_by)) < cut else "report"
            seen.models.update(report.models)
            seen.usage += report.usage
            for name, result in zip(names, report.results, strict=True):
                why = unusable(result)
                if why is not None:
                    seen.left_out[name][why] += 1
                    continue
                assert result.score is not None
                should = should_pass(evals[name], labels[name])
                seen.observations[name].append(Observation(part, result.score, result.passed, should, vetoed(result)))
    return seen


def unusable(result: Result) -> str | None:
    """Why a result has no score of the backend's to calibrate; `None` where it has one."""
    if not result.measured:
        return result.status
    if not result.answers:
        return "by code"
    return "no score" if result.score is None else None


def vetoed(result: Result) -> bool:
    """Whether something else than the score stops the sample: its action says so, and no threshold may let it pass."""
    return result.action in ("escalate", "block")


def _sizes(snapshot: Snapshot, evals: Mapping[str, Eval], group_by: Sequence[str]) -> Counter[str]:
    """How many rows with a label each group has."""
    return Counter(
        group_of(sample.id, sample.tags, group_by)
        for samples in snapshot.samples(256)
        for sample in samples
        if _asked(sample.data, evals)
    )


def _asked(row: Mapping[str, Any], evals: Mapping[str, Eval]) -> tuple[str, ...]:
    """The evals that a row has a label for."""
    labels = labels_of(row)
    return tuple(name for name in evals if labels.get(name) is not None)


def _grouped(
    snapshot: Snapshot, evals: Mapping[str, Eval], batch: int, seen: Observed
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """(names of the evals asked, samples), at most `batch` samples together."""
    waiting: dict[tuple[str, ...], list[Any]] = {}
    for samples in snapshot.samples(256):
        for sample in samples:
            seen.rows += 1
            names = _asked(sample.data, evals)
            if not names:
                seen.unlabelled += 1
                continue
            together = waiting.setdefault(names, [])
            together.append(sample)
            if len(together) >= batch:
                yield names, waiting.pop(names)
    yield from waiting.items()
