"""Fits the heads of the local model. scikit-learn is used here and nowhere else.

Everything is seeded and solved to a tolerance far below the thousandths that weights are rounded to, so that a second
training gives the same bytes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from decision_local.rows import FOLDS, Row, fold_of
from yb_eval_decision.local.lexicon import STOPWORDS
from yb_eval_decision.local.ngrams import ngrams, tokens, windows
from yb_eval_decision.local.text import stem

#: n-grams that a head keeps, and how many groups of rows (templates, intents, sources) an n-gram must stand in.
_VOCABULARY, _LEAST_GROUPS = 5_000, 2
_PENALTY = 0.3
#: Rounds in which the window of a long positive text that looks most like one is chosen anew.
_ROUNDS = 2
#: What share of the decided answers on one side must be right, on rows that were not fitted; the narrowest band.
_ONE_SIDE, _NARROWEST = 0.88, (0.35, 0.65)
#: What share of all decided answers must be right of a head over wordings.
_DECIDED = 0.93

CURVE = {"step": 125, "values": [round(1 / (1 + math.exp(-i * 0.125)), 6) for i in range(37)]}


@frozen
class Scored:
    """Rows with the probability that a head gives them."""

    rows: Sequence[Row]
    p: Any

    def where(self, keep: Callable[[Row], bool]) -> Scored:
        kept = [i for i, row in enumerate(self.rows) if keep(row)]
        return Scored([self.rows[i] for i in kept], self.p[kept])

    @property
    def y(self) -> Any:
        return np.array([row.label for row in self.rows], dtype=float)


_FUNCTION_WORDS = frozenset(stem(word) for word in STOPWORDS) | frozenset(":><[]")

Text = list[list[str]]  # the n-grams of each window


def fit_wordings(rows: Sequence[Row], part: str) -> dict[str, Any]:
    """A head over n-grams: weights from the fitting rows; scale, bias and band from what models that did not see a row's group
    say of it (`FOLDS` folds)."""
    rows = [row for row in rows if row.split == "fit"]
    texts = [[ngrams(w) for w in windows(tokens(row.parts[part]))] for row in rows]
    folds = [fold_of(row.group) for row in rows]
    shapes = np.zeros((len(rows), 2))
    for fold in range(FOLDS):
        there = [i for i, f in enumerate(folds) if f != fold]
        value, bias = _fit_linear([rows[i] for i in there], [texts[i] for i in there])
        for i, f in enumerate(folds):
            if f == fold:
                shapes[i] = max(_score(value, w) for w in texts[i]) + bias, len(texts[i]).bit_length()
    labels = [row.label for row in rows]
    slope, doubling, offset = platt(shapes, labels)
    if doubling > 0:  # more windows never make a text more of one
        doubling, (slope, offset) = 0.0, platt(shapes[:, :1], labels)
    value, bias = _fit_linear(rows, texts)
    whole = {gram: round(weight * slope * 1000) for gram, weight in value.items()}
    return {
        "ngrams": {gram: weight for gram, weight in whole.items() if abs(weight) >= 15},
        "bias": round((bias * slope + offset) * 1000),
        "per_doubling": round(doubling * 1000),
        "band": band(Scored(rows, _sigmoid(shapes @ np.array([slope, doubling]) + offset)), _DECIDED),
    }


def _fit_linear(rows: Sequence[Row], texts: Sequence[Text]) -> tuple[dict[str, float], float]:
    vocabulary = _vocabulary(texts, rows)
    chosen: list[int | None] = [None] * len(rows)
    value: dict[str, float] = {}
    bias = 0.0
    for _ in range(_ROUNDS):
        samples, labels = [], []
        for row, text, at in zip(rows, texts, chosen, strict=True):
            for window in text if at is None else [text[at]]:
                samples.append(window)
                labels.append(row.label)
        model = _logistic(_PENALTY).fit(_matrix(samples, vocabulary), labels)
        value, bias = dict(zip(vocabulary, model.coef_[0].tolist(), strict=True)), float(model.intercept_[0])
        long = [i for i, (row, text) in enumerate(zip(rows, texts, strict=True)) if row.label and len(text) > 1]
        if not long:
            break
        for i in long:
            chosen[i] = int(np.argmax([_score(value, window) for window in texts[i]]))
    return value, bias


def _score(value: Mapping[str, float], window: Sequence[str]) -> float:
    return sum(value.get(gram, 0.0) for gram in window)


def _sigmoid(logits: Any) -> Any:
    return 1 / (1 + np.exp(-logits))


def _vocabulary(texts: Sequence[Text], rows: Sequence[Row]) -> list[str]:
    groups: dict[str, set[str]] = {}
    yes, total = Counter[str](), Counter[str]()
    for row, text in zip(rows, texts, strict=True):
        for gram in dict.fromkeys(gram for window in text for gram in window):
            groups.setdefault(gram, set()).add(row.group)
            total[gram] += 1
            yes[gram] += row.label
    share = sum(row.label for row in rows) / len(rows)

    def tells(gram: str) -> float:
        """How far the share of positive rows with the n-gram is from the overall one, in standard errors."""
        n = total[gram]
        return abs(yes[gram] - n * share) / math.sqrt(n * share * (1 - share) + 1)

    kept = [
        gram
        for gram in groups
        # A function word alone tells how the rows were written, not what they say.
        if len(groups[gram]) >= _LEAST_GROUPS and total[gram] >= 3 and gram not in _FUNCTION_WORDS
    ]
    return sorted(sorted(kept, key=lambda gram: (-round(tells(gram), 9), gram))[:_VOCABULARY])


def _matrix(samples: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> Any:
    column = {gram: index for index, gram in enumerate(vocabulary)}
    indices, pointers = [], [0]
    for sample in samples:
        indices += sorted(column[gram] for gram in sample if gram in column)
        pointers.append(len(indices))
    return csr_matrix((np.ones(len(indices)), indices, pointers), shape=(len(samples), len(vocabulary)))


def platt(shapes: Any, labels: Sequence[bool]) -> list[float]:
    """Weights and bias of a logistic model on one or two numbers (Platt 1999, with his smoothed targets), to 6 digits."""
    y = np.array(labels, dtype=bool)
    design = np.column_stack([shapes, np.ones(len(y))])
    high, low = (y.sum() + 1) / (y.sum() + 2), 1 / ((~y).sum() + 2)
    target = np.where(y, high, low)
    weights = np.zeros(design.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-design @ weights))
        gradient = design.T @ (p - target) + 1e-3 * weights
        hessian = (design * (p * (1 - p))[:, None]).T @ design + 1e-3 * np.eye(len(weights))
        weights = weights - np.linalg.solve(hessian, gradient)
    return [round(float(weight), 6) for weight in weights]


def fit_measures(
    matrix: Any,
    rows: Sequence[Row],
    names: Sequence[str],
    natural: Callable[[Row], bool],
    *,
    weight: float = 1.0,
    decided_right: float,
    penalty: float = 0.5,
) -> dict[str, Any]:
    """A head over measures (thousandths), fitted and calibrated like `fit_wordings`.

    The `natural` rows, pairs that a person wrote or labelled, weigh `weight` times the others, and only they calibrate: pairs that
    were made by changing a sentence are easier than what people say."""
    fit = np.array([row.split == "fit" for row in rows])
    rows = [row for row in rows if row.split == "fit"]
    x, y = np.asarray(matrix, dtype=float)[fit] / 1000, np.array([row.label for row in rows])
    folds = np.array([fold_of(row.group) for row in rows])
    told = np.array([natural(row) for row in rows])
    importance = balanced(y) * np.where(told, weight, 1.0)
    scores = np.zeros(len(rows))
    for fold in range(FOLDS):
        there = folds != fold
        weights, bias = _fit_dense(x[there], y[there], importance[there], names, penalty)
        scores[~there] = x[~there] @ weights + bias
    slope, offset = platt(scores[told][:, None], y[told].tolist())
    weights, bias = _fit_dense(x, y, importance, names, penalty)
    return {
        "weights": {name: round(float(weight) * slope * 1000) for name, weight in zip(names, weights, strict=True)},
        "bias": round((bias * slope + offset) * 1000),
        "band": band(
            Scored([row for row in rows if natural(row)], _sigmoid(scores * slope + offset)[told]), decided_right
        ),
    }


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: What may only speak for yes, and what only against it, whatever the rows say: a number that is missing never helps a claim.
_FOR = _words("""
anywhere order numbers names clean_best clean_clause whole pairs rarest_there asks_number_met asks_time_met
long_anywhere focus
""")
_AGAINST = _words("""
numbers_missing numbers_off_anchor numbers_out_of_place names_missing field_denied polarity_differs opposites
absolute clean_missing
""")
#: A whole unit of a measure moves the logit by so much at most: some are rare, and rows few.
_STEEPEST = 5.0


def _fit_dense(x: Any, y: Any, importance: Any, names: Sequence[str], penalty: float) -> tuple[Any, float]:
    """Weights and bias of the logistic model under those signs: a convex problem with one solution."""
    scale = x.std(axis=0)
    scale[scale < 1e-9] = 1.0
    design, sign = x / scale, np.where(y, 1.0, -1.0)

    def loss(w: Any) -> tuple[float, Any]:
        margin = sign * (design @ w[:-1] + w[-1])
        pull = -sign * importance / (1 + np.exp(margin))
        value = float((importance * np.logaddexp(0, -margin)).sum() + w[:-1] @ w[:-1] / (2 * penalty))
        return value, np.append(design.T @ pull + w[:-1] / penalty, pull.sum())

    steepest = _STEEPEST * scale
    bounds = [
        (0.0 if name in _FOR else -most, 0.0 if name in _AGAINST else most)
        for name, most in zip(names, steepest.tolist(), strict=True)
    ]
    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9, "maxcor": 40}
    found = minimize(
        loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", bounds=[*bounds, (None, None)], options=options
    )
    return found.x[:-1] / scale, float(found.x[-1])


def balanced(y: Any) -> Any:
    share = y.mean()
    return np.where(y, 0.5 / share, 0.5 / (1 - share))


def band(scored: Scored, decided_right: float) -> list[float]:
    """The cuts [low, high] between which nothing is decided: of those that keep both floors (all decided answers, each side), the
    ones that decide most."""
    p, y = scored.p, scored.y.astype(bool)
    best, most = (0.01, 0.99), -1
    for high in range(round(_NARROWEST[1] * 100), 100):
        yes = p >= high / 100
        for low in range(1, round(_NARROWEST[0] * 100) + 1):
            no = p <= low / 100
            right, decided = int((yes & y).sum() + (no & ~y).sum()), int(yes.sum() + no.sum())
            fair = all(
                not side.any() or (y[side] == answer).mean() >= _ONE_SIDE for side, answer in ((yes, True), (no, False))
            )
            if decided > most and fair and right >= decided_right * decided:
                best, most = (low / 100, high / 100), decided
    return list(best)


def _logistic(penalty: float) -> Any:
    return LogisticRegression(
        C=penalty, solver="liblinear", class_weight="balanced", tol=1e-9, max_iter=2000, random_state=7
    )
