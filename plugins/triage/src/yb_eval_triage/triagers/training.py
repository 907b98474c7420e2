"""Training of the built-in triager. scikit-learn is imported when a model is fitted, not when one is used.

1. Label head: one-against-rest linear SVM (squared hinge, liblinear) on the features; out-of-scope training rows are a
   class of their own, whose rows also push every other label's margin down.
2. Severity: one logistic model per cut "worse than k" (Frank and Hall 2001), so that the order of levels is used.
   Escalation: one logistic model.
3. Calibration rows: the validation split, and for small tasks also the training split, scored by models that did not
   see the row (5 folds). On them: the in-scope score, the confidence (Platt 1999), the operating point, the
   escalation cut. The threshold is chosen on scores that are out-of-fold once more (10 folds).

Nothing depends on the clock, on the order of a set or on the number of threads: liblinear runs in one thread from a
fixed seed, and the small logistic models are solved by Newton steps.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import orjson
from attrs import evolve, frozen
from numpy.typing import NDArray

from yb_eval_triage.examples import Example
from yb_eval_triage.task import Task, TaskError
from yb_eval_triage.triagers.code import MODEL, source_digest
from yb_eval_triage.triagers.features import Vocabulary, compose
from yb_eval_triage.triagers.model import Logistic, Scores, TriageModel, sigmoid
from yb_eval_triage.triagers.operating import OperatingCurve, choose_cut, choose_point, operating_curve

Reading = Callable[[str, Mapping[str, object]], str]

#: Below this many training rows the out-of-fold training rows join the validation rows for calibration.
SMALL_TASK = 5_000

_FOLDS = 5
_SCORER_FOLDS = 10
#: Logits of a head that training saw only one answer for.
_CERTAIN = 12.0
_SVM_ITERATIONS = 2_000
#: Logits need a weaker penalty than margins to leave the middle of the scale.
_LOGIT_PENALTY = 20.0


@frozen(kw_only=True, eq=False)
class Fitted:
    """A model and the curve its operating point was chosen from."""

    model: TriageModel
    curve: OperatingCurve


def model_key(task: Task, *, train: bytes, validation: bytes, words: bytes = b"") -> str:
    """The name of a model: sha256 over what decides it: rows, word lists, code, libraries, task, parameters."""
    value = {
        "train": hashlib.sha256(train).hexdigest(),
        "validation": hashlib.sha256(validation).hexdigest(),
        "words": hashlib.sha256(words).hexdigest(),
        "code": source_digest(MODEL),
        "libraries": {name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "task": task.identity(),
    }
    body = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(b"yb-eval/1/triage-model\x00" + body).hexdigest()


def train_model(
    task: Task,
    train: Sequence[Example],
    validation: Sequence[Example],
    *,
    key: str = "unnamed",
    read: Reading = compose,
) -> Fitted:
    """Fit a model on `train`, calibrate it and choose its operating point on `validation`.

    `read` turns the text and metadata of a row into what the model reads; predictions must use the same.

    Raises:
        TaskError: there is nothing to learn from (fewer than two in-scope labels in the training rows).
    """
    train = [row for row in train if row.label is not None]
    validation = [row for row in validation if row.label is not None or row.acceptable]
    labels = tuple(
        label for label in task.labels if label != task.out_of_scope and any(r.label == label for r in train)
    )
    if len(labels) < 2:
        raise TaskError(f"task {task.name}: training rows hold {len(labels)} in-scope label(s), at least 2 are needed")
    texts = [read(row.text, row.meta) for row in train]
    vocabulary = Vocabulary.fit(
        texts, min_documents=task.training.min_documents, unseen_weight=task.training.unseen_weight
    )
    draft = _fit_heads(task, labels, vocabulary, vocabulary.transform(texts).matrix, train, key)
    rows: list[Example] = []
    parts: list[Scores] = []
    if validation:
        rows += validation
        parts.append(draft.score([read(row.text, row.meta) for row in validation]))
    if len(train) < SMALL_TASK:
        rows += train
        parts.append(out_of_fold_scores(task, labels, texts, train))
    if not rows:
        raise TaskError(f"task {task.name}: no validation rows to calibrate on")
    scores = Scores(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return _calibrate(task, draft, rows, scores)


def _fit_heads(
    task: Task, labels: tuple[str, ...], vocabulary: Vocabulary, matrix: Any, rows: Sequence[Example], key: str
) -> TriageModel:
    names = list(labels)
    if task.out_of_scope is not None and any(row.label == task.out_of_scope for row in rows):
        names.append(task.out_of_scope)
    weights, bias = _fit_labels(task, names, matrix, rows)
    columns, biases = [weights], [bias]
    cuts = len(task.severity.levels) - 1 if task.severity and any(r.severity is not None for r in rows) else 0
    graded = [i for i, row in enumerate(rows) if row.severity is not None]
    for cut in range(cuts):
        worse = np.array([(rows[i].severity or 0) > cut for i in graded])
        column, offset = _fit_logit(task, matrix[graded], worse)
        columns.append(column)
        biases.append(offset)
    called = [i for i, row in enumerate(rows) if row.escalate is not None]
    if called:
        column, offset = _fit_logit(task, matrix[called], np.array([bool(rows[i].escalate) for i in called]))
        columns.append(column)
        biases.append(offset)
    return TriageModel(
        key=key,
        labels=labels,
        vocabulary=vocabulary,
        weights=np.ascontiguousarray(np.concatenate(columns, axis=1), dtype=np.float32),
        bias=np.concatenate(biases).astype(np.float32),
        has_outside=len(names) > len(labels),
        severity_heads=cuts,
        has_escalate=bool(called),
        in_scope=_flat(),
        correct=_flat(),
        point=(-np.inf, 0.5),
        facts={},
    )


def _fit_labels(
    task: Task, names: Sequence[str], matrix: Any, rows: Sequence[Example]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if not matrix.shape[1]:
        least = task.training.min_documents
        raise TaskError(f"task {task.name}: no word or n-gram stands in {least} of {len(rows)} rows to learn from")
    svm = _sklearn("svm").LinearSVC(
        C=task.training.penalty, dual=True, random_state=task.training.seed, max_iter=_SVM_ITERATIONS
    )
    column = {name: index for index, name in enumerate(names)}
    target = np.array([column[row.label] for row in rows if row.label is not None])
    weight = np.array([task.training.out_of_scope_weight if row.label == task.out_of_scope else 1.0 for row in rows])
    # A fold can lack a label: its margin is that of a label nothing speaks for.
    full, offset = np.zeros((matrix.shape[1], len(names))), np.full(len(names), -1.0)
    present = sorted(set(target.tolist()))
    if len(present) == 1:  # nothing to tell apart
        offset[present] = 1.0
        return full, offset
    svm.fit(matrix, target, sample_weight=weight)
    weights, bias = svm.coef_.T, svm.intercept_
    if len(present) == 2:  # scikit-learn keeps one column for two classes: the other one mirrors it
        weights, bias = np.concatenate([-weights, weights], axis=1), np.concatenate([-bias, bias])
    full[:, present], offset[present] = weights, bias
    return full, offset


def _fit_logit(task: Task, matrix: Any, yes: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if yes.all() or not yes.any():
        return np.zeros((matrix.shape[1], 1)), np.array([_CERTAIN if yes.all() else -_CERTAIN])
    model = _sklearn("linear_model").LogisticRegression(
        C=_LOGIT_PENALTY * task.training.penalty,
        solver="liblinear",
        dual=matrix.shape[0] < matrix.shape[1],  # the cheaper of two forms with one solution
        random_state=task.training.seed,
        max_iter=_SVM_ITERATIONS,
    )
    model.fit(matrix, yes)
    return model.coef_.T, model.intercept_


def out_of_fold_scores(task: Task, labels: tuple[str, ...], texts: Sequence[str], rows: Sequence[Example]) -> Scores:
    """Scores of each row by a model that saw four fifths of the others, in the order of `rows`.

    `texts` is what the model reads of the rows; each label's rows are spread evenly over the five folds.
    """
    fold = stratified_folds([row.label or "" for row in rows], _FOLDS)
    parts: list[tuple[list[int], Scores]] = []
    for number in range(_FOLDS):
        inside, outside = np.flatnonzero(fold != number).tolist(), np.flatnonzero(fold == number).tolist()
        if not outside:
            continue
        seen = [texts[i] for i in inside]
        vocabulary = Vocabulary.fit(
            seen, min_documents=task.training.min_documents, unseen_weight=task.training.unseen_weight
        )
        model = _fit_heads(
            task, labels, vocabulary, vocabulary.transform(seen).matrix, [rows[i] for i in inside], "fold"
        )
        parts.append((outside, model.score([texts[i] for i in outside])))
    order = np.argsort(np.concatenate([places for places, _ in parts]))
    return Scores(*(np.concatenate(columns)[order] for columns in zip(*(s for _, s in parts), strict=True)))


def _calibrate(task: Task, draft: TriageModel, rows: Sequence[Example], scores: Scores) -> Fitted:
    best = scores.best()
    said = [draft.labels[index] for index in best]
    inside = np.array([row.label != task.out_of_scope or task.out_of_scope is None for row in rows])
    right = np.array([name == row.label or name in row.acceptable for name, row in zip(said, rows, strict=True)])
    weight = _row_weights(inside, task.training.out_of_scope_share)
    shape = scores.shape()
    unbiased = np.zeros(len(rows))
    fold = stratified_folds([str(flag) for flag in inside], _SCORER_FOLDS)
    for number in range(_SCORER_FOLDS):
        there, here = fold != number, fold == number
        if here.any():
            unbiased[here] = _fit_scorer(shape[there], inside[there], weight[there]).probability(shape[here])
    curve = operating_curve(unbiased, right, inside)
    point = choose_point(
        curve,
        in_scope_rows=int(inside.sum()),
        out_of_scope_rows=int((~inside).sum()),
        floor=task.training.in_scope_accuracy,
        share=task.training.out_of_scope_share,
    )
    called = np.array([row.escalate is not None for row in rows])
    gold = np.array([bool(row.escalate) for row in rows])
    beta = task.escalation.beta if task.escalation else 1.0
    cut = choose_cut(sigmoid(scores.escalate[called]), gold[called], beta=beta)
    model = evolve(
        draft,
        in_scope=_fit_scorer(shape, inside, weight),
        correct=_fit_scorer(shape, right & inside, weight),
        point=(point.threshold, cut),
        facts={
            "calibration_rows": len(rows),
            "out_of_scope_rows": int((~inside).sum()),
            "rule": point.rule,
            "in_scope_accuracy": point.in_scope_accuracy,
            "out_of_scope_recall": point.out_of_scope_recall,
        },
    )
    return Fitted(model=model, curve=curve)


def stratified_folds(groups: Sequence[str], folds: int) -> NDArray[np.int64]:
    """The fold of each row: the rows of a group are dealt out in turn, so that every fold has its share of each."""
    seen: dict[str, int] = {}
    fold = np.zeros(len(groups), np.int64)
    for index, group in enumerate(groups):
        # Groups start at different folds: otherwise fold 0 would get the first row of every small group.
        start = seen.setdefault(group, len(seen))
        fold[index] = start % folds
        seen[group] = start + 1
    return fold


def _row_weights(inside: NDArray[np.bool_], share: float | None) -> NDArray[np.float64]:
    weight = np.ones(len(inside))
    if share is not None and inside.any() and not inside.all():
        weight[~inside] = share / max(1 - share, 1e-9) * inside.sum() / (~inside).sum()
    return weight


def _fit_scorer(shape: NDArray[np.float64], yes: NDArray[np.bool_], weight: NDArray[np.float64]) -> Logistic:
    if yes.all() or not yes.any():
        return _flat(_CERTAIN if yes.all() else -_CERTAIN)
    mean, scale = shape.mean(axis=0), shape.std(axis=0)
    scale[scale < 1e-9] = 1.0
    model = _sklearn("linear_model").LogisticRegression(C=1.0, solver="newton-cholesky", tol=1e-10, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tol is below what the last Newton step can reach; the solution is there
        model.fit((shape - mean) / scale, yes, sample_weight=weight)
    return Logistic(mean=mean, scale=scale, weights=model.coef_[0], bias=float(model.intercept_[0]))


def _flat(bias: float = 0.0) -> Logistic:
    return Logistic(mean=np.zeros(7), scale=np.ones(7), weights=np.zeros(7), bias=bias)


def _sklearn(module: str) -> Any:
    from importlib import import_module

    return import_module(f"sklearn.{module}")
