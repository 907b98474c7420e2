"""Which labels of a data set are suspect.

Two signs, both independent of the triager under test:

- **Disagreement**: a model that did not see the row is sure of another label. "Sure" is the rule of confident learning
  (Northcutt, Jiang, Chuang 2021): the probability of that label is at least the mean probability that rows *given*
  that label get, so that labels which are hard for the model need not clear the bar of easy ones.
- **Near-duplicates** that carry different labels: one of the two must be wrong, or the label set overlaps.

A suspect is a row to look at, not an error: the audit names, a person decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from yb_eval_triage.examples import Example
from yb_eval_triage.task import Task, TaskError
from yb_eval_triage.triagers.features import compose
from yb_eval_triage.triagers.near_duplicates import near_duplicates
from yb_eval_triage.triagers.training import out_of_fold_scores

_TEMPERATURES = np.geomspace(0.5, 20.0, 60)
_DECIMALS = 4


@frozen(kw_only=True)
class Disagreement:
    """Row `id` is labelled `label`, which a model that did not see it gives probability `given`; the model says
    `suggested` with probability `confidence`. All probabilities 0..1, out of fold."""

    id: str
    label: str
    suggested: str
    confidence: float
    given: float


@frozen(kw_only=True)
class LabelClash:
    """Two rows that say almost the same (Jaccard similarity of character n-grams) and are labelled differently."""

    first: str
    second: str
    first_label: str
    second_label: str
    similarity: float


@frozen(kw_only=True)
class Audit:
    """What an audit found, most suspect first. `rows` had a label; `agreement` is the out-of-fold accuracy over them."""

    rows: int
    agreement: float
    disagreements: tuple[Disagreement, ...]
    clashes: tuple[LabelClash, ...]

    def suspects(self) -> tuple[str, ...]:
        """The ids of all rows to look at, each once, disagreements first."""
        found = [item.id for item in self.disagreements]
        for clash in self.clashes:
            found += [clash.first, clash.second]
        return tuple(dict.fromkeys(found))


def audit_labels(task: Task, rows: Sequence[Example], *, similarity: float = 0.8) -> Audit:
    """Look for suspect labels among `rows` (those without a label are passed over).

    Raises:
        TaskError: fewer than two labels, or a label set too small to hold anything out.
    """
    rows = [row for row in rows if row.label is not None]
    labels = tuple(label for label in task.labels if any(row.label == label for row in rows))
    if len(labels) < 2:
        raise TaskError(f"task {task.name}: {len(labels)} label(s) in the rows, an audit needs at least 2")
    texts = [compose(row.text, row.meta) for row in rows]
    probability = _probabilities(task, labels, texts, rows)
    column = {label: index for index, label in enumerate(labels)}
    given = np.array([column[row.label] for row in rows if row.label is not None])
    return Audit(
        rows=len(rows),
        agreement=float((probability.argmax(axis=1) == given).mean()),
        disagreements=_disagreements(labels, rows, probability, given),
        clashes=_clashes(rows, similarity),
    )


def _probabilities(
    task: Task, labels: tuple[str, ...], texts: Sequence[str], rows: Sequence[Example]
) -> NDArray[np.float64]:
    # For an audit "out of scope" is a label like any other, and severities are not looked at.
    plain = evolve(task, out_of_scope=None)
    bare = [evolve(row, severity=None, escalate=None) for row in rows]
    margins = out_of_fold_scores(plain, labels, texts, bare).labels
    given = np.array([labels.index(row.label or "") for row in rows])
    losses = [-np.log(_softmax(margins * t)[np.arange(len(rows)), given] + 1e-12).mean() for t in _TEMPERATURES]
    return _softmax(margins * _TEMPERATURES[int(np.argmin(losses))])


def _disagreements(
    labels: tuple[str, ...], rows: Sequence[Example], probability: NDArray[np.float64], given: NDArray[np.int64]
) -> tuple[Disagreement, ...]:
    index = np.arange(len(rows))
    own = probability[index, given]
    bar = np.array([own[given == label].mean() for label in range(len(labels))])
    sure = np.where(probability >= bar, probability, -1.0)
    best = sure.argmax(axis=1)
    found = [
        Disagreement(
            id=rows[i].id,
            label=labels[given[i]],
            suggested=labels[best[i]],
            confidence=round(float(probability[i, best[i]]), _DECIMALS),
            given=round(float(own[i]), _DECIMALS),
        )
        for i in np.flatnonzero((sure[index, best] > 0) & (best != given) & (probability[index, best] > own)).tolist()
        if labels[best[i]] not in rows[i].acceptable
    ]
    return tuple(sorted(found, key=lambda item: (item.given - item.confidence, item.id)))


def _clashes(rows: Sequence[Example], similarity: float) -> tuple[LabelClash, ...]:
    clashes: list[LabelClash] = []
    for pair in near_duplicates([row.text for row in rows], threshold=similarity):
        first, second = rows[pair.first], rows[pair.second]
        agreed = first.label == second.label or first.label in second.acceptable or second.label in first.acceptable
        if not agreed:
            clashes.append(
                LabelClash(
                    first=first.id,
                    second=second.id,
                    first_label=first.label or "",
                    second_label=second.label or "",
                    similarity=round(pair.similarity, _DECIMALS),
                )
            )
    return tuple(sorted(clashes, key=lambda clash: (-clash.similarity, clash.first, clash.second)))


def _softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))
