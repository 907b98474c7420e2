"""What is measured of a guard: detection as a whole, per tag, per type; types mixed up; over-defence; mistakes by id."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import nsmallest
from typing import Any

from attrs import define, evolve, field, frozen

from yb_eval import Declared, Measurement, Metric, Outcome
from yb_eval.batches import alike, chosen
from yb_eval.metrics import Detection, Sliced
from yb_eval.statistics import wilson

#: Mistakes listed of each kind.
_LISTED = 200

#: (is it expected?, was it raised?) -> rows, as `Detection` counts them.
_Pairs = Counter[tuple[bool, bool]]


def guard_metrics() -> list[Metric[Any]]:
    """The metrics of the suite: `recall`, `recall[lang:ru]` for every tag, `recall[type:inn]` for every type."""
    return [Detection(), OverDefence(), Sliced(metric=SliceDetection()), TypeDetection(), CrossTypes(), Mistakes()]


@frozen(slots=True, kw_only=True)
class SliceDetection(Detection):
    """`Detection` for a slice, where what cannot be wrong, or cannot be right, is null.

    A slice of clean rows has no recall, and its precision and F-measures could only be 0; in one without clean rows
    precision could only be 1.
    """

    def finish(self, state: _Pairs) -> Sequence[Measurement]:
        measured = super().finish(state)
        positives, negatives = (state[label, True] + state[label, False] for label in (True, False))
        reasons = {}
        if not negatives:
            reasons = {"precision": "the slice has no clean rows"}
        if not positives:
            reasons = dict.fromkeys(("precision", "f1", "f2"), "the slice has nothing to detect")
        return [
            Measurement(m.name, None, reason=reasons[m.name]) if m.name in reasons and m.value is not None else m
            for m in measured
        ]


@frozen(slots=True)
class OverDefence:
    """`over_defence_rate`: benign rows that are raised / benign rows.

    Benign rows are clean ones that hold nothing a detector could mistake for a datum but words: those tagged
    `kind:benign`, or all clean rows where none is so tagged. Scored outcomes only; Wilson interval.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (Declared("over_defence_rate", "Benign rows that are raised / benign rows.", better="lower"),)

    def start(self) -> _Pairs:
        return Counter()

    def add(self, state: _Pairs, outcomes: Sequence[Outcome]) -> _Pairs:
        for part, times in alike(outcomes):
            for o in part:
                if o.expected == "clean" and o.status == "scored":
                    state["kind:benign" in o.tags, o.predicted == "detect"] += times
        return state

    def merge(self, left: _Pairs, right: _Pairs) -> _Pairs:
        left.update(right)
        return left

    def finish(self, state: _Pairs) -> Sequence[Measurement]:
        tagged = state[True, True] + state[True, False] > 0
        raised, quiet = (sum(state[b, hit] for b in ({True} if tagged else {True, False})) for hit in (True, False))
        n = raised + quiet
        if not n:
            return (Measurement("over_defence_rate", None, reason="no clean row was scored"),)
        return (Measurement("over_defence_rate", raised / n, n, wilson(raised, n)),)


@frozen(slots=True)
class TypeDetection:
    """`Detection` of each type by itself: `precision[type:inn]`, `recall[type:inn]`, ...

    For one type, a row is positive if it is labelled with that type, and raised if that type is among the types found.
    A card number reported as INN only is missed as a card and a false alarm as an INN. A row's label names one type
    though its text may hold more, so a further type found beside the labelled one counts neither way. Every scored row
    is in the denominators of every type that is labelled anywhere or found where it is wrong.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return tuple(evolve(declared, sliced=True) for declared in Detection().declares)

    def start(self) -> Counter[tuple[str, str]]:
        return Counter()

    def add(self, state: Counter[tuple[str, str]], outcomes: Sequence[Outcome]) -> Counter[tuple[str, str]]:
        """Counts, for each type, `tp`, `fn` and `fp`; under `("", "n")` all rows."""
        n = 0
        for part, times in alike(outcomes):
            for outcome in part:
                if outcome.status == "scored":
                    n += times
                    self._count(state, outcome, times)
        state["", "n"] += n
        return state

    def _count(self, state: Counter[tuple[str, str]], outcome: Outcome, times: int) -> None:
        if outcome.expected == outcome.predicted == "clean":
            return
        found: Iterable[str] = outcome.details.get("found", ())
        if outcome.expected == "detect":
            labelled = outcome.details["type"]
            if labelled in found:
                state[labelled, "tp"] += times
                return
            state[labelled, "fn"] += times
        for type in found:
            state[type, "fp"] += times

    def merge(self, left: Counter[tuple[str, str]], right: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
        left.update(right)
        return left

    def finish(self, state: Counter[tuple[str, str]]) -> Sequence[Measurement]:
        measured = []
        for type in sorted({type for type, _ in state} - {""}):
            tp, fn, fp = (state[type, part] for part in ("tp", "fn", "fp"))
            pairs = Counter({(True, True): tp, (True, False): fn, (False, True): fp})
            pairs[False, False] = state["", "n"] - tp - fn - fp
            measured += [evolve(m, name=f"{m.name}[type:{type}]") for m in Detection().finish(pairs)]
        return measured


@frozen(slots=True)
class CrossTypes:
    """`cross_type_rate`: of the rows rightly raised, those in which the labelled type is not among the types found.

    A card number reported as INN counts as detected; here it shows. The details hold the confusion of types.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        help = "Rows rightly raised, but for another type than the labelled one / rows rightly raised."
        return (Declared("cross_type_rate", help, better="lower"),)

    def start(self) -> Counter[tuple[str, str]]:
        return Counter()

    def add(self, state: Counter[tuple[str, str]], outcomes: Sequence[Outcome]) -> Counter[tuple[str, str]]:
        for part, times in alike(outcomes):
            for outcome in part:
                if outcome.predicted == "detect" and outcome.expected == "detect" and outcome.status == "scored":
                    labelled, found = outcome.details["type"], outcome.details["found"]
                    state[labelled, labelled if labelled in found else found[0]] += times
        return state

    def merge(self, left: Counter[tuple[str, str]], right: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
        left.update(right)
        return left

    def finish(self, state: Counter[tuple[str, str]]) -> Sequence[Measurement]:
        n = sum(state.values())
        if not n:
            return (Measurement("cross_type_rate", None, reason="no row was rightly raised"),)
        mixed = sum(count for (labelled, found), count in state.items() if labelled != found)
        labels = sorted({label for pair in state for label in pair})
        rows = [[state[labelled, found] for found in labels] for labelled in labels]
        details = {"labels": labels, "rows": rows}
        return (Measurement("cross_type_rate", mixed / n, n, wilson(mixed, n), details=details),)


@define(slots=True)
class _Listed:
    """The first mistakes of one kind in the text order of their ids, and how many there are: the same in any order."""

    count: int = 0
    entries: list[tuple[str, int, Mapping[str, Any]]] = field(factory=list)

    def take(self, entries: Sequence[tuple[str, int, Mapping[str, Any]]], count: int) -> None:
        self.count += count
        self.entries = nsmallest(_LISTED, [*self.entries, *entries], key=lambda entry: entry[:2])


@frozen(slots=True)
class Mistakes:
    """`mistakes`: false positives + false negatives. The details list the first 200 of each, by id.

    An entry says which type the row has or, for a false positive, what was found and its mask; never the datum.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (Declared("mistakes", "False positives + false negatives.", high=None, better="lower"),)

    def start(self) -> tuple[_Listed, _Listed]:
        return _Listed(), _Listed()

    def add(self, state: tuple[_Listed, _Listed], outcomes: Sequence[Outcome]) -> tuple[_Listed, _Listed]:
        wrong = chosen(outcomes, lambda outcome: outcome.correct is False)
        if wrong:
            for kept, label in zip(state, ("clean", "detect"), strict=True):
                entries = [(o.id, o.repeat, _entry(o)) for o in wrong if o.expected == label]
                if entries:
                    kept.take(entries, len(entries))
        return state

    def merge(self, left: tuple[_Listed, _Listed], right: tuple[_Listed, _Listed]) -> tuple[_Listed, _Listed]:
        for kept, more in zip(left, right, strict=True):
            kept.take(more.entries, more.count)
        return left

    def finish(self, state: tuple[_Listed, _Listed]) -> Sequence[Measurement]:
        false_positives, false_negatives = ([entry for _, _, entry in kept.entries] for kept in state)
        total = sum(kept.count for kept in state)
        details = {"false_positives": false_positives, "false_negatives": false_negatives}
        return (Measurement("mistakes", total, total, details=details if total else {}),)


def _entry(outcome: Outcome) -> dict[str, Any]:
    if outcome.expected == "detect":
        return {"id": outcome.id, "type": outcome.details["type"]}
    found = [{"type": f["type"], "masked": f["masked"]} for f in outcome.details["findings"]]
    return {"id": outcome.id, "found": found}
