"""Texts that say almost the same: MinHash over character n-grams, in time linear in the number of texts.

Broder 1997, "On the resemblance and containment of documents". 64 hashes in 16 bands of 4: a pair of similarity s
becomes a candidate with probability 1 - (1 - s^4)^16, that is 0.9998 at 0.8. Candidates are then compared exactly, so
nothing below the threshold is ever reported.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from yb_eval_triage.triagers.features import compose, mix, split_grams

_BANDS, _WIDTH = 16, 4
_CHUNK = 4_096


@frozen(kw_only=True)
class Pair:
    """Positions of two texts, `first < second`, and the Jaccard similarity of their n-gram sets, 0..1."""

    first: int
    second: int
    similarity: float


def near_duplicates(texts: Sequence[str], *, threshold: float = 0.8) -> list[Pair]:
    """Pairs of texts whose similarity is at least `threshold`, by position.

    Of many texts that are all alike, each is paired with the first one and with the one before it, not with every
    other: a cluster stays connected and its size stays linear. Texts without a letter or digit are left out.
    """
    sets: list[NDArray[np.int32]] = []
    signatures: list[NDArray[np.uint64]] = []
    for start in range(0, len(texts), _CHUNK):
        chunk = _gram_sets([compose(text) for text in texts[start : start + _CHUNK]])
        sets += chunk
        signatures.append(_signatures(chunk))
    if not sets:
        return []
    signature = np.concatenate(signatures)
    filled = np.flatnonzero([len(grams) > 0 for grams in sets])
    candidates: set[tuple[int, int]] = set()
    for band in range(_BANDS):
        keys = signature[filled, band * _WIDTH : (band + 1) * _WIDTH]
        _, group = np.unique(keys, axis=0, return_inverse=True)
        candidates.update(_links(filled, group.reshape(-1)))
    pairs = (
        Pair(first=first, second=second, similarity=_jaccard(sets[first], sets[second]))
        for first, second in sorted(candidates)
    )
    return [pair for pair in pairs if pair.similarity >= threshold]


def _gram_sets(texts: Sequence[str]) -> list[NDArray[np.int32]]:
    grams = split_grams(texts)[1]
    pairs = np.unique((grams.document.astype(np.int64) << 32) | grams.bucket)
    bounds = np.searchsorted(pairs >> 32, np.arange(len(texts) + 1))
    buckets = (pairs & 0xFFFFFFFF).astype(np.int32)
    return [buckets[bounds[i] : bounds[i + 1]] for i in range(len(texts))]


def _signatures(sets: Sequence[NDArray[np.int32]]) -> NDArray[np.uint64]:
    size = _BANDS * _WIDTH
    signature = np.full((len(sets), size), np.iinfo(np.uint64).max, np.uint64)
    rows = [row for row, grams in enumerate(sets) if len(grams)]
    if not rows:
        return signature
    lengths = np.array([len(sets[row]) for row in rows])
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    every = np.concatenate([sets[row] for row in rows]).astype(np.uint64)
    for index in range(size):
        salt = mix(np.array([index + 1], np.uint64))[0]
        signature[rows, index] = np.minimum.reduceat(mix(every ^ salt), starts)
    return signature


def _links(rows: NDArray[np.int64], group: NDArray[np.int64]) -> list[tuple[int, int]]:
    order = np.argsort(group, kind="stable")
    links: list[tuple[int, int]] = []
    head = previous = -1
    for place in order.tolist():
        if previous >= 0 and group[place] == group[previous]:
            links.append((int(rows[head]), int(rows[place])))
            if previous != head:
                links.append((int(rows[previous]), int(rows[place])))
        else:
            head = place
        previous = place
    return links


def _jaccard(left: NDArray[np.int32], right: NDArray[np.int32]) -> float:
    common = len(np.intersect1d(left, right, assume_unique=True))
    return common / (len(left) + len(right) - common)
