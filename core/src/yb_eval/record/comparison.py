"""Two runs of a suite, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import define, evolve, field

from yb_eval.model import Comparison, Declared, Flip, Measurement, Paired
from yb_eval.record.outcomes import Record
from yb_eval.statistics import mcnemar_exact, paired_bootstrap, paired_rate_interval

#: A comparison keeps this many flips of each kind; their counts are always whole.
MAX_FLIPS = 1_000


_COUNTS = (
    Declared("changed", "samples with another prediction than in the baseline", high=None, better="lower"),
    Declared("broken", "samples that were right in the baseline and are wrong now", high=None, better="lower"),
    Declared("fixed", "samples that were wrong in the baseline and are right now", high=None),
    Declared("lost", "samples that were scored in the baseline and are not now", high=None, better="lower"),
)
_SETS = (
    Declared("added", "samples that the baseline does not have", high=None, better=None),
    Declared("removed", "samples that only the baseline has", high=None, better=None),
    Declared("same_revision", "1 if the baseline is of the very same dataset bytes, else 0", better=None),
)


def compared(judgements: Sequence[str]) -> list[Declared]:
    """What a comparison with a baseline adds to the measurements of a suite with these named judgements."""
    of_judgements = [evolve(entry, name=f"{name}.{entry.name}") for name in judgements for entry in _COUNTS]
    return [*_COUNTS, *of_judgements, *_SETS]


def measure(comparison: Comparison | None, judgements: Sequence[str]) -> Iterator[Measurement]:
    """The measurements that `compared` declares; null without a baseline, or where nothing is comparable."""
    reason = "there is no baseline (--against)" if comparison is None else comparison.reason
    if comparison is None or not comparison.comparable:
        yield from (Measurement(entry.name, None, reason=reason) for entry in compared(judgements))
        return
    for name in ("", *judgements):
        pair = comparison.judgements.get(name)
        for entry in _COUNTS:
            label = f"{name}.{entry.name}" if name else entry.name
            if pair is None:
                yield Measurement(label, None, reason=f"neither run has the judgement {name!r}")
            elif pair.n == 0 and entry.name != "lost":
                # No pair, no change: but that says nothing, and must not read as "nothing changed".
                yield Measurement(label, None, reason="no sample is scored in both runs")
            else:
                # Of the samples scored in both runs; those that are not any more are counted among all that are shared.
                n = comparison.shared if entry.name == "lost" else pair.n
                yield Measurement(label, getattr(pair, entry.name), n)
    yield Measurement("added", len(comparison.added), comparison.shared + len(comparison.added))
    yield Measurement("removed", len(comparison.removed), comparison.shared + len(comparison.removed))
    yield Measurement("same_revision", int(comparison.same_revision), 1)


@define(slots=True)
class _Tally:
    """The running paired view of one judgement."""

    n: int = 0
    broken: int = 0
    fixed: int = 0
    changed: int = 0
    lost: int = 0
    marked: int = 0
    differences: list[float] = field(factory=list)

    def paired(self, seed: int) -> Paired:
        moved = len(self.differences)
        return Paired(
            n=self.n,
            broken=self.broken,
            fixed=self.fixed,
            changed=self.changed,
            lost=self.lost,
            p_value=mcnemar_exact(self.broken, self.fixed),
            interval=paired_rate_interval(self.broken, self.fixed, self.marked),
            score_change=sum(sorted(self.differences)) / moved if moved else None,
            score_interval=paired_bootstrap(self.differences, seed=seed),
        )


def compare(
    before: Mapping[str, Record],
    after: Iterable[tuple[str, Record]],
    *,
    baseline_run_id: str | None,
    same_revision: bool,
    seed: int = 0,
) -> Comparison:
    """Compares a baseline's samples with a run's, matched by id.

    `before` is held in memory, `after` is streamed. Not comparable where no sample is shared.
    """
    tallies: dict[str, _Tally] = {}
    flips: list[Flip] = []
    added: list[str] = []
    seen: set[str] = set()
    for sample_id, now in after:
        then = before.get(sample_id)
        if then is None:
            added.append(sample_id)
            continue
        seen.add(sample_id)
        if bool(then.judgements) == bool(now.judgements):
            _count(tallies.setdefault("", _Tally()), flips, sample_id, None, then, now)
        for name, earlier, later in _named(then, now):
            _count(tallies.setdefault(name, _Tally()), flips, sample_id, name, earlier, later)
    removed = sorted(before.keys() - seen)
    return Comparison(
        comparable=bool(seen),
        reason=None if seen else "the two runs share no sample",
        baseline_run_id=baseline_run_id,
        same_revision=same_revision,
        shared=len(seen),
        added=tuple(added),
        removed=tuple(removed),
        judgements={name: tallies[name].paired(seed) for name in sorted(tallies)},
        flips=tuple(sorted(flips, key=lambda flip: (_ORDER[flip.kind], flip.judgement or ""))),
    )


def _named(then: Record, now: Record) -> Iterator[tuple[str, Record, Record]]:
    """The named judgements of two records side by side.

    Where only one of them has names, the first name of that one stands for the other's outcome itself: a suite that
    judges more when asked to can still be held against a run in which it did not."""
    if bool(then.judgements) != bool(now.judgements):
        name = next(iter(now.judgements or then.judgements))
        yield name, then.judgements.get(name, then), now.judgements.get(name, now)
        return
    absent = Record("skipped", None, None)
    for name in sorted(now.judgements.keys() | then.judgements.keys()):
        yield name, then.judgements.get(name, absent), now.judgements.get(name, absent)


_ORDER = {"broken": 0, "fixed": 1, "changed": 2}


def _count(tally: _Tally, flips: list[Flip], sample_id: str, name: str | None, then: Record, now: Record) -> None:
    if then.status != "scored" or now.status != "scored":
        tally.lost += then.status == "scored"
        return
    tally.n += 1
    if then.score is not None and now.score is not None:
        tally.differences.append(now.score - then.score)
    if then.correct is not None and now.correct is not None:
        tally.marked += 1
    if then.correct is True and now.correct is False:
        tally.broken += 1
        _keep(flips, Flip(sample_id, "broken", then.predicted, now.predicted, name), tally.broken)
    elif then.correct is False and now.correct is True:
        tally.fixed += 1
        _keep(flips, Flip(sample_id, "fixed", then.predicted, now.predicted, name), tally.fixed)
    if then.predicted != now.predicted:
        tally.changed += 1
        if then.correct == now.correct:
            _keep(flips, Flip(sample_id, "changed", then.predicted, now.predicted, name), tally.changed)


def _keep(flips: list[Flip], flip: Flip, count: int) -> None:
    if count <= MAX_FLIPS:
        flips.append(flip)
