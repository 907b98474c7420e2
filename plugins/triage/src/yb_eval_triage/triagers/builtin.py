"""The built-in triager: a linear model trained from the task's own rows, with an honest confidence.

It answers the best label, or the out-of-scope label when the in-scope score is below the operating point; the severity
with the lowest expected cost under the task's cost matrix; and whether a person must come. The fitted model is stored
under a name made of its rows, code and parameters, so a second run does not train.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from yb_eval_triage.examples import read_examples
from yb_eval_triage.task import Answer, Task, TaskError
from yb_eval_triage.triagers.features import compose
from yb_eval_triage.triagers.model import Scores, TriageModel, sigmoid
from yb_eval_triage.triagers.rules import RulesTriager, shipped_rules
from yb_eval_triage.triagers.training import model_key, train_model

_BATCH = 4_096

#: Confidences are given to this many decimals: the last bits of a float differ between processors, an answer must not.
_DECIMALS = 4


@frozen(kw_only=True)
class _Material:
    """The bytes that a model is made of."""

    train: bytes
    validation: bytes
    words: bytes

    @classmethod
    def read(cls, task: Task) -> Self:
        return cls(
            train=_read(task, "train"),
            validation=_read(task, "validation") if "validation" in task.files else b"",
            words=shipped_rules(task) if task.training.word_lists else b"",
        )

    def key(self, task: Task) -> str:
        return model_key(task, train=self.train, validation=self.validation, words=self.words)


def builtin_key(task: Task) -> str:
    """The content address of the task's model, 64 hex characters: what it is made of, known before it is trained.

    Raises:
        TaskError: the task names no training rows, or they cannot be read.
    """
    return _Material.read(task).key(task)


@frozen(kw_only=True, eq=False)
class BuiltinTriager:
    """A fitted model and the task it answers. `answer` is a pure function of its input: threads may share it. `unkept` says why
    the model could not be stored, if so."""

    task: Task
    model: TriageModel
    words: RulesTriager | None = None
    unkept: str | None = None

    @classmethod
    def prepare(cls, task: Task, *, cache: Path | None = None) -> Self:
        """Load the task's model from the folder `cache`, or train it and store it there.

        A stored file that does not verify is trained anew, never trusted. A model that cannot be stored is used all the same.

        Raises:
            TaskError: the task names no training rows, or they cannot be learned from.
        """
        material = _Material.read(task)
        key = material.key(task)
        words = RulesTriager.shipped(task) if task.training.word_lists else None
        path = cache / f"{key}.npz" if cache is not None else None
        if path is not None:
            try:
                model = TriageModel.load(path)
            except TaskError:
                model = None
            if model is not None and model.key == key:
                return cls(task=task, model=model, words=words)
        fitted = train_model(
            task,
            read_examples(material.train, task=task, where=task.files["train"]),
            read_examples(material.validation, task=task, where=task.files["validation"])
            if material.validation
            else [],
            key=key,
            read=partial(read_item, words=words),
        )
        unkept = None if path is None else _store(fitted.model, path)
        return cls(task=task, model=fitted.model, words=words, unkept=unkept)

    def answer(self, texts: Sequence[str], metas: Sequence[Mapping[str, object]] | None = None) -> list[Answer]:
        """One answer a text, in order."""
        composed = self._read(texts, metas)
        answers: list[Answer] = []
        for start in range(0, len(composed), _BATCH):
            answers += self._answer_scores(self.model.score(composed[start : start + _BATCH]))
        return answers

    def in_scope_scores(
        self, texts: Sequence[str], metas: Sequence[Mapping[str, object]] | None = None
    ) -> tuple[list[str], NDArray[np.float64]]:
        """The best in-scope label of each text and the score that the threshold is compared with: the whole
        risk-coverage curve comes from these two (`operating_curve`)."""
        composed = self._read(texts, metas)
        labels: list[str] = []
        parts: list[NDArray[np.float64]] = [np.zeros(0)]
        for start in range(0, len(composed), _BATCH):
            scores = self.model.score(composed[start : start + _BATCH])
            labels += [self.model.labels[index] for index in scores.best()]
            parts.append(self.model.in_scope.probability(scores.shape()))
        return labels, np.concatenate(parts)

    def _read(self, texts: Sequence[str], metas: Sequence[Mapping[str, object]] | None) -> list[str]:
        return [
            read_item(text, meta, words=self.words)
            for text, meta in zip(texts, metas or [{}] * len(texts), strict=True)
        ]

    def _answer_scores(self, scores: Scores) -> list[Answer]:
        model, task = self.model, self.task
        shape = scores.shape()
        inside = model.in_scope.probability(shape)
        refused = inside < model.threshold if task.out_of_scope is not None else np.zeros(len(inside), np.bool_)
        confidence = np.round(np.where(refused, 1 - inside, model.correct.probability(shape)), _DECIMALS)
        labels = [
            task.out_of_scope if outside else model.labels[index]
            for index, outside in zip(scores.best().tolist(), refused.tolist(), strict=True)
        ]
        severity = self._severity(scores, labels)
        escalate = self._escalate(scores, severity)
        return [
            Answer(label=label, severity=grade, escalate=call, confidence=sure)
            for label, grade, call, sure in zip(labels, severity, escalate, confidence.tolist(), strict=True)
        ]

    def _severity(self, scores: Scores, labels: Sequence[str | None]) -> Sequence[int | None]:
        scale = self.task.severity
        if scale is None or not self.model.severity_heads:
            return [None] * len(labels)
        # P(worse than k) need not fall with k when each cut has a model of its own: force it, then take differences.
        worse = np.minimum.accumulate(sigmoid(scores.severity), axis=1)
        bounds = np.column_stack([np.ones(len(labels)), worse, np.zeros(len(labels))])
        expected = (bounds[:, :-1] - bounds[:, 1:]) @ np.array(scale.cost)
        top = len(scale.levels) - 1
        ranges = np.array([scale.ranges.get(label or "", (0, top)) for label in labels])
        levels = np.arange(top + 1)
        expected[(levels < ranges[:, :1]) | (levels > ranges[:, 1:])] = np.inf
        grades: list[int] = np.argmin(expected, axis=1).tolist()
        return grades

    def _escalate(self, scores: Scores, severity: Sequence[int | None]) -> Sequence[bool | None]:
        rule = self.task.escalation
        if rule is None or not self.model.has_escalate:
            return [None] * len(severity)
        call = sigmoid(scores.escalate) >= self.model.escalate_cut
        if self.model.severity_heads:
            grades = np.array(severity)
            call = (call | (grades >= rule.required_from)) & (grades >= rule.allowed_from)
        calls: list[bool] = call.tolist()
        return calls


def read_item(text: str, meta: Mapping[str, object], *, words: RulesTriager | None) -> str:
    """What the model reads of an item: its text and metadata, and one made-up word a word list that it holds."""
    composed = compose(text, meta)
    if words is None:
        return composed
    names = (f"zz{name.replace('_', '')}zz" for name in sorted(words.find(text)))
    return f"{composed} {' '.join(names)}"


def _store(model: TriageModel, path: Path) -> str | None:
    """Keeps the model. Why it could not be, if so: it was trained, and what it answers does not depend on a copy."""
    try:
        model.save(path)
    except OSError as fault:
        return fault.strerror or str(fault)
    return None


def _read(task: Task, role: str) -> bytes:
    path = task.path(role)
    try:
        return path.read_bytes()
    except OSError as fault:
        raise TaskError(f"{path}: cannot be read ({fault.strerror})") from fault
