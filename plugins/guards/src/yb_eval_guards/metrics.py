"""What is measured of a guard: detection as a whole, per type, language and tag; types mixed up; over-defence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import nsmallest
from typing import Any

from attrs import define, field, frozen

from yb_eval import Declared, Measurement, Metric, Outcome
from yb_eval.metrics import Detection, Sliced
from yb_eval.statistics import wilson

#: Ids listed of each kind of mistake.
_LISTED = 200


def guard_metrics() -> list[Metric[Any]]:
    """The metrics of the suite. Outcomes carry the row's type among their tags: `recall[type:inn]`, `recall[lang:ru]`."""
    return [Detection(), OverDefence(), Sliced(metric=Detection()), CrossTypes(), Mistakes()]


@frozen(slots=True)
class OverDefence:
    """`over_defence_rate`: benign rows that are raised / benign rows.

    Benign rows are clean ones that hold nothing a detector could mistake for a datum but words: those tagged
    `kind:benign`, or all clean rows where none is so tagged. Scored outcomes only; Wilson interval.
    """

    @property
    def declares(self) -> Sequence[Declared]:
        return (Declared("over_defence_rate", "Benign rows that are raised / benign rows.", better="lower"),)

    def start(self) -> Counter[tuple[bool, bool]]:
        return Counter()

    def add(self, state: Counter[tuple[bool, bool]], outcomes: Sequence[Outcome]) -> Counter[tuple[bool, bool]]:
        state.update(
            ("kind:benign" in o.tags, o.predicted == "detect")
            for o in outcomes
            if o.expected == "clean" and o.status == "scored"
        )
        return state

    def merge(self, left: Counter[tuple[bool, bool]], right: Counter[tuple[bool, bool]]) -> Counter[tuple[bool, bool]]:
        left.update(right)
        return left

    def finish(self, state: Counter[tuple[bool, bool]]) -> Sequence[Measurement]:
        tagged = state[True, True] + state[True, False] > 0
        raised, quiet = (sum(state[b, hit] for b in ({True} if tagged else {True, False})) for hit in (True, False))
        n = raised + quiet
        if not n:
            return (Measurement("over_defence_rate", None, reason="no clean row was scored"),)
        return (Measurement("over_defence_rate", raised / n, n, wilson(raised, n)),)


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
        for outcome in outcomes:
            if outcome.status == "scored" and outcome.expected == "detect" and outcome.predicted == "detect":
                labelled, found = outcome.details["type"], outcome.details["found"]
                state[labelled, labelled if labelled in found else found[0]] += 1
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
class _Ids:
    """The smallest ids of a set, up to a limit, and how many there are: the same whatever the order."""

    count: int = 0
    ids: list[str] = field(factory=list)

    def take(self, ids: list[str], count: int) -> None:
        self.count += count
        self.ids = nsmallest(_LISTED, self.ids + ids)


@frozen(slots=True)
class Mistakes:
    """`mistakes`: false positives + false negatives; the details list the first 200 ids of each, in text order."""

    @property
    def declares(self) -> Sequence[Declared]:
        return (Declared("mistakes", "False positives + false negatives.", high=None, better="lower"),)

    def start(self) -> tuple[_Ids, _Ids]:
        return _Ids(), _Ids()

    def add(self, state: tuple[_Ids, _Ids], outcomes: Sequence[Outcome]) -> tuple[_Ids, _Ids]:
        wrong = [o for o in outcomes if o.correct is False]
        for kept, label in zip(state, ("clean", "detect"), strict=True):
            ids = [o.id for o in wrong if o.expected == label]
            if ids:
                kept.take(ids, len(ids))
        return state

    def merge(self, left: tuple[_Ids, _Ids], right: tuple[_Ids, _Ids]) -> tuple[_Ids, _Ids]:
        for kept, more in zip(left, right, strict=True):
            kept.take(more.ids, more.count)
        return left

    def finish(self, state: tuple[_Ids, _Ids]) -> Sequence[Measurement]:
        false_positives, false_negatives = state
        total = false_positives.count + false_negatives.count
        details = {"false_positives": false_positives.ids, "false_negatives": false_negatives.ids}
        return (Measurement("mistakes", total, total, details=details if total else {}),)
