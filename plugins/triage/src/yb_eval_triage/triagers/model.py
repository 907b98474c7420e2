"""A fitted triage model: plain arrays, scored with numpy and scipy alone, stored without pickle.

One sparse product gives all linear heads of a row: the margin of every label, the margin of "out of scope" as a class
of its own, the logits of `severity > k`, the logit of `escalate`. Two small logistic models read how the margins lie
and turn that into an in-scope score and a calibrated probability of being right.
"""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import orjson
from attrs import frozen
from numpy.typing import NDArray

from yb_eval_triage.task import TaskError
from yb_eval_triage.triagers.features import BUCKET_BITS, Features, Vocabulary

_FORMAT = "yb-eval-triage/model/1"

#: Margins of a linear SVM span about -1..1; the soft maximum needs them on the scale of logits.
_SHARPNESS = 6.0


class Scores(NamedTuple):
    """What the heads say of n rows: `labels` (n, L) margins, `outside` (n,) margin of the out-of-scope class (0 where
    the training data had none), `severity` (n, K-1) logits of "worse than k", `escalate` (n,) logit; float64."""

    labels: NDArray[np.float64]
    outside: NDArray[np.float64]
    severity: NDArray[np.float64]
    escalate: NDArray[np.float64]
    known: NDArray[np.float64]

    def best(self) -> NDArray[np.int64]:
        """(n,) the column of the best in-scope label; the first one of a tie."""
        return np.asarray(np.argmax(self.labels, axis=1), dtype=np.int64)

    def shape(self) -> NDArray[np.float64]:
        """(n, 7) how sure the margins look: best, gap to the second, gap to the soft maximum with and without the
        out-of-scope class (the energy of Liu et al. 2020), out-of-scope margin, known share of words, of characters.
        """
        margins = self.labels * _SHARPNESS
        top = np.partition(margins, -2, axis=1)[:, -2:]
        best, second = top[:, 1], top[:, 0]
        energy = best + np.log(np.exp(margins - best[:, None]).sum(axis=1))
        outside = self.outside * _SHARPNESS
        total = np.logaddexp(energy, outside)
        return np.column_stack([best, best - second, best - total, energy, outside, self.known])


@frozen(kw_only=True, eq=False)
class Logistic:
    """P(yes) = 1 / (1 + exp(-(((x - mean) / scale) @ weights + bias)))."""

    mean: NDArray[np.float64]
    scale: NDArray[np.float64]
    weights: NDArray[np.float64]
    bias: float

    def probability(self, inputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) probabilities of (n, f) inputs."""
        return sigmoid(((inputs - self.mean) / self.scale) @ self.weights + self.bias)

    def packed(self) -> NDArray[np.float64]:
        """One array: mean, scale, weights, bias."""
        return np.concatenate([self.mean, self.scale, self.weights, [self.bias]])

    @classmethod
    def unpacked(cls, array: NDArray[np.float64]) -> Self:
        size = (len(array) - 1) // 3
        return cls(
            mean=array[:size], scale=array[size : 2 * size], weights=array[2 * size : 3 * size], bias=float(array[-1])
        )


@frozen(kw_only=True, eq=False)
class TriageModel:
    """`weights` is (n-grams, heads) float32; heads are the labels, then one out-of-scope column when `has_outside`,
    then `severity_heads` columns, then one escalate column when `has_escalate`. `point` holds the threshold on the
    in-scope probability and the cut of escalation; `facts` what the training measured, as JSON."""

    key: str
    labels: tuple[str, ...]
    vocabulary: Vocabulary
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    has_outside: bool
    severity_heads: int
    has_escalate: bool
    in_scope: Logistic
    correct: Logistic
    point: tuple[float, float]
    facts: dict[str, Any]

    @property
    def threshold(self) -> float:
        """Below this in-scope probability the answer is "out of scope"."""
        return self.point[0]

    @property
    def escalate_cut(self) -> float:
        """From this probability on a person is called."""
        return self.point[1]

    def score(self, texts: Sequence[str]) -> Scores:
        """What the heads say of `texts` (at least one)."""
        return self.score_features(self.vocabulary.transform(texts))

    def score_features(self, features: Features) -> Scores:
        """The same for features that were made already."""
        heads = np.asarray(features.matrix @ self.weights + self.bias, dtype=np.float64)
        rows, at = len(heads), len(self.labels)
        outside = heads[:, at] if self.has_outside else np.zeros(rows)
        at += self.has_outside
        severity = heads[:, at : at + self.severity_heads]
        escalate = heads[:, at + self.severity_heads] if self.has_escalate else np.zeros(rows)
        return Scores(heads[:, : len(self.labels)], outside, severity, escalate, features.known)

    def to_bytes(self) -> bytes:
        """The model as an .npz file of plain arrays; the same model gives the same bytes."""
        header = {
            "format": _FORMAT,
            "key": self.key,
            "labels": list(self.labels),
            "words": self.vocabulary.words,
            "has_outside": self.has_outside,
            "severity_heads": self.severity_heads,
            "has_escalate": self.has_escalate,
            "facts": self.facts,
        }
        out = io.BytesIO()
        np.savez(
            out,
            header=np.frombuffer(orjson.dumps(header, option=orjson.OPT_SORT_KEYS), dtype=np.uint8),
            buckets=self.vocabulary.buckets,
            idf=self.vocabulary.idf,
            unseen=np.array([*self.vocabulary.unseen, self.vocabulary.unseen_weight]),
            weights=self.weights,
            bias=self.bias,
            in_scope=self.in_scope.packed(),
            correct=self.correct.packed(),
            point=np.array(self.point),
        )
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, *, where: str = "model") -> Self:
        """Read what `to_bytes` wrote. Objects are never unpickled, and every shape is checked.

        Raises:
            TaskError: the bytes are no such model.
        """
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            header = orjson.loads(arrays["header"].tobytes())
            if header["format"] != _FORMAT:
                raise TaskError(f"{where}: format {header['format']!r}, this version reads {_FORMAT!r}")
            labels = tuple(map(str, header["labels"]))
            heads = len(labels) + header["has_outside"] + header["severity_heads"] + header["has_escalate"]
            _check_arrays(arrays, words=header["words"], heads=heads, where=where)
            first, second, weight = arrays["unseen"].tolist()
            return cls(
                key=header["key"],
                labels=labels,
                vocabulary=Vocabulary(
                    buckets=arrays["buckets"],
                    words=header["words"],
                    idf=arrays["idf"],
                    unseen=(first, second),
                    unseen_weight=weight,
                ),
                weights=arrays["weights"],
                bias=arrays["bias"],
                has_outside=header["has_outside"],
                severity_heads=header["severity_heads"],
                has_escalate=header["has_escalate"],
                in_scope=Logistic.unpacked(arrays["in_scope"]),
                correct=Logistic.unpacked(arrays["correct"]),
                point=(float(arrays["point"][0]), float(arrays["point"][1])),
                facts=header["facts"],
            )
        except (KeyError, TypeError, ValueError, EOFError, OSError, zipfile.BadZipFile) as fault:
            raise TaskError(f"{where}: not a triage model ({type(fault).__name__}: {fault})") from fault

    def save(self, path: Path) -> None:
        """Write the file whole or not at all: temporary name in the same folder, fsync, rename."""
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".model-")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(self.to_bytes())
                out.flush()
                os.fsync(out.fileno())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model file.

        Raises:
            TaskError: it cannot be read or is no model.
        """
        try:
            data = path.read_bytes()
        except OSError as fault:
            raise TaskError(f"{path}: cannot be read ({fault.strerror})") from fault
        return cls.from_bytes(data, where=str(path))


def sigmoid(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / (1 + exp(-x)), without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * logits))


def _check_arrays(arrays: dict[str, NDArray[Any]], *, words: int, heads: int, where: str) -> None:
    size = len(arrays["buckets"])
    expected = {
        "buckets": ((size,), np.int32),
        "idf": ((size,), np.float32),
        "unseen": ((3,), np.float64),
        "weights": ((size, heads), np.float32),
        "bias": ((heads,), np.float32),
        "in_scope": ((22,), np.float64),
        "correct": ((22,), np.float64),
        "point": ((2,), np.float64),
    }
    for name, (shape, kind) in expected.items():
        array = arrays[name]
        if array.shape != shape or array.dtype != kind:
            raise TaskError(f"{where}: {name} is {array.dtype}{array.shape}, expected {np.dtype(kind)}{shape}")
        if np.isnan(array).any():
            raise TaskError(f"{where}: {name} holds NaN")
    buckets = arrays["buckets"]
    if not 0 <= words <= size or (size and not 0 <= buckets.min() <= buckets.max() < 1 << BUCKET_BITS):
        raise TaskError(f"{where}: buckets out of range")
