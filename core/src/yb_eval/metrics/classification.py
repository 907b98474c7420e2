"""Multiclass classification: the confusion matrix and what is read from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import Any

from attrs import field, frozen

from yb_eval.errors import UsageError
from yb_eval.metrics.base import NO_ANSWER, JudgementMetric, effective_wilson, label_text, null, rate, slice_name
from yb_eval.metrics.detection import f_measure
from yb_eval.model import Declared, Judged, Measurement, Outcome

_State = Counter[tuple[str, str]]

#: Beyond so many labels the most frequent confusions are written, and neither the matrix nor measurements per class.
MAX_LABELS = 200
_FREQUENT = 50
_NOTHING = "no scored outcome has an expected label"


def _distinct(metric: Any, attribute: Any, labels: tuple[str, ...] | None) -> None:
    if labels is not None and (not labels or len(set(labels)) != len(labels)):
        raise UsageError("a label set has at least one label, and each once")


@frozen(slots=True, kw_only=True)
class Classification(JudgementMetric):
    """`confusion`, `macro_f1`, `balanced_accuracy`, and per class `precision[c]`, `recall[c]`, `f1[c]`.

    Everything is over the scored outcomes that have an expected label; labels are compared as text (`label_text`). A
    null prediction is `(no answer)`: a miss for the expected class, a false alarm for none.

    - `confusion` is the number of outcomes off the diagonal; its details are `{"labels", "rows"}`, expected x
      predicted.
    - `macro_f1` is the mean F1 over the classes: `labels` where given, else the union of expected and predicted ones.
      A class that is neither expected nor predicted has F1 0 in it (scikit-learn's `zero_division=0`), though its own
      `f1[c]` is null. A label outside `labels` costs recall where it was predicted, and is no class; details
      `outside` counts such outcomes.
    - `balanced_accuracy` is the mean recall over the classes present among the expected labels.
    - precision, recall and F1 per class have the denominators of `Detection`, and are null where these are empty.

    With `acceptable`, a prediction among `details["acceptable"]` takes the place of the expected label: it was right.

    Intervals: Wilson for precision and recall; for the F-measures and the balanced accuracy `effective_wilson` of the
    delta-method variance (Takahashi et al., "Confidence interval for micro-averaged F1 and macro-averaged F1 scores",
    Applied Intelligence 52 (2022)). The state counts (expected, predicted) pairs.
    """

    labels: tuple[str, ...] | None = field(default=None, validator=_distinct)
    acceptable: bool = False
    per_class: bool = True

    @property
    def declares(self) -> Sequence[Declared]:
        made = [
            self.declare("confusion", "Outcomes whose prediction is another label.", high=None, better="lower"),
            self.declare("macro_f1", "The mean F1 over classes."),
            self.declare("balanced_accuracy", "The mean recall over the expected classes."),
        ]
        if self.per_class:
            made += [
                self.declare("precision", "Of a class: tp / (tp + fp).", sliced=True),
                self.declare("recall", "Of a class: tp / (tp + fn).", sliced=True),
                self.declare("f1", "Of a class: the harmonic mean of precision and recall.", sliced=True),
            ]
        return made

    def start(self) -> _State:
        return Counter()

    def add(self, state: _State, outcomes: Sequence[Outcome]) -> _State:
        if self.acceptable:
            state.update([_accept(judged) for judged in self.scored(outcomes) if judged.expected is not None])
        else:
            state.update(self.pairs(outcomes))
        return state

    def merge(self, left: _State, right: _State) -> _State:
        left.update(right)
        return left

    def finish(self, state: _State) -> Sequence[Measurement]:
        table = _Table.of(state, self.labels)
        return (
            table.confusion(self.named("confusion")),
            table.macro_f1(self.named("macro_f1")),
            table.balanced_accuracy(self.named("balanced_accuracy")),
            *(self._per_class(table) if self.per_class and len(table.classes) <= MAX_LABELS else ()),
        )

    def _per_class(self, table: _Table) -> list[Measurement]:
        made = []
        for label in table.classes:
            tp, expected, predicted = table.hits[label], table.expected[label], table.predicted[label]
            precision, recall, f1 = (slice_name(self.named(name), label) for name in ("precision", "recall", "f1"))
            made += [
                rate(precision, tp, predicted, empty="never predicted"),
                rate(recall, tp, expected, empty="never expected"),
                f_measure(f1, tp, predicted - tp, expected - tp),
            ]
        return made


def _accept(judged: Judged) -> tuple[str, str]:
    predicted = label_text(judged.predicted)
    if predicted in map(label_text, judged.details.get("acceptable") or ()):
        return predicted, predicted
    return label_text(judged.expected), predicted


@frozen(slots=True)
class _Table:
    """The confusion table, sparse: `cells` sorted by (expected, predicted), with its margins and its diagonal."""

    cells: Sequence[tuple[tuple[str, str], int]]
    expected: Counter[str]
    predicted: Counter[str]
    hits: Counter[str]
    classes: Sequence[str]
    n: int

    @classmethod
    def of(cls, state: _State, labels: Sequence[str] | None) -> _Table:
        cells = sorted(state.items())
        expected: Counter[str] = Counter()
        predicted: Counter[str] = Counter()
        hits: Counter[str] = Counter()
        for (gold, said), count in cells:
            expected[gold] += count
            predicted[said] += count
            if gold == said:
                hits[gold] += count
        classes = sorted(expected.keys() | predicted.keys() - {NO_ANSWER}) if labels is None else labels
        return cls(cells, expected, predicted, hits, classes, state.total())

    def confusion(self, name: str) -> Measurement:
        if self.n == 0:
            return null(name, _NOTHING)
        known = set(self.classes)
        others = sorted(
            (self.expected.keys() | self.predicted.keys()) - known, key=lambda label: (label == NO_ANSWER, label)
        )
        labels = [*self.classes, *others]
        details: dict[str, Any]
        if len(labels) <= MAX_LABELS:
            position = {label: index for index, label in enumerate(labels)}
            rows = [[0] * len(labels) for _ in labels]
            for (gold, said), count in self.cells:
                rows[position[gold]][position[said]] = count
            details = {"labels": labels, "rows": rows}
        else:
            missed = sorted((-count, gold, said) for (gold, said), count in self.cells if gold != said)
            details = {
                "omitted": f"a matrix of {len(labels)} labels; it is written up to {MAX_LABELS}",
                "frequent": [[gold, said, -count] for count, gold, said in missed[:_FREQUENT]],
            }
        return Measurement(name, self.n - self.hits.total(), self.n, details=details)

    def macro_f1(self, name: str) -> Measurement:
        if self.n == 0:
            return null(name, _NOTHING)
        sizes = {label: self.expected[label] + self.predicted[label] for label in self.classes}
        f1 = {label: 2 * self.hits[label] / size if size else 0.0 for label, size in sizes.items()}
        k = len(self.classes)
        value = min(1.0, fsum(f1.values()) / k)
        # F1 of a class by a cell: 2 (1 - F1) / size on its diagonal, -F1 / size elsewhere in its row or column. Each
        # F1 is homogeneous of degree 0, so the multinomial variance is the sum of count x derivative^2.
        slope = {label: f1[label] / size if size else 0.0 for label, size in sizes.items()}
        terms = []
        outside = 0
        for (gold, said), count in self.cells:
            if gold == said and gold in sizes:
                derivative = 2 * (1 - f1[gold]) / sizes[gold]
            else:
                derivative = slope.get(gold, 0.0) + slope.get(said, 0.0)
            terms.append(count * derivative * derivative)
            if gold not in sizes or (said not in sizes and said != NO_ANSWER):
                outside += count
        variance = fsum(terms) / (k * k)
        details = {"outside": outside} if outside else {}
        return Measurement(name, value, self.n, self.interval(value, variance), details=details)

    def balanced_accuracy(self, name: str) -> Measurement:
        if self.n == 0:
            return null(name, _NOTHING)
        recalls = [(self.hits[label] / count, count) for label, count in sorted(self.expected.items())]
        k = len(recalls)
        value = min(1.0, fsum(recall for recall, _ in recalls) / k)
        variance = fsum(recall * (1 - recall) / count for recall, count in recalls) / (k * k)
        return Measurement(name, value, self.n, self.interval(value, variance))

    def interval(self, value: float, variance: float) -> tuple[float, float]:
        # A first mistake in the smallest class would show an effective size of classes x its outcomes.
        return effective_wilson(value, variance, self.n, unseen=len(self.expected) * min(self.expected.values()))
