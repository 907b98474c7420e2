"""The weights of the local model: read, checked, and turned into probabilities.

All numbers are whole: a weight is in thousandths of a logit, a feature in thousandths of its unit, so that a sum is the same
in any order and on any machine. The logistic curve is a table in the weights, read with linear interpolation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from operator import mul
from typing import Any

from attrs import frozen

from yb_eval import UsageError
from yb_eval_decision.local.bearing import RELEVANCE
from yb_eval_decision.local.digest import WEIGHTS_SHA256
from yb_eval_decision.local.ngrams import ngrams, tokens, windows
from yb_eval_decision.local.supporting import SUPPORT

FORMAT = "yb-eval-decision/local/1"
_WEIGHTS = "weights.json"

#: The measures that the heads over two texts weigh.
MEASURES = {"support": SUPPORT, "relevance": RELEVANCE}


@frozen(slots=True, eq=False)
class Curve:
    """The logistic function: `values[i]` at a logit of `i * step` thousandths, flat beyond the last. Symmetric."""

    step: int
    values: tuple[float, ...]

    def probability(self, logit: int) -> float:
        """The probability at `logit` (thousandths), 6 decimals, strictly between 0 and 1."""
        size = min(abs(logit), self.step * (len(self.values) - 1))
        index, rest = divmod(size, self.step)
        value = self.values[index]
        if rest:
            value += (self.values[index + 1] - value) * rest / self.step
        return round(value if logit >= 0 else 1.0 - value, 6)


@frozen(slots=True, eq=False)
class Band:
    """Between `low` and `high` (exclusive) the head cannot tell. Chosen on the calibration split."""

    low: float
    high: float

    def undecided(self, probability: float) -> bool:
        return self.low < probability < self.high


@frozen(slots=True, eq=False)
class Wordings:
    """A head over the n-grams of a text: the strongest window counts, less something for how many windows were tried."""

    ngrams: Mapping[str, int]
    bias: int
    per_doubling: int
    band: Band

    def logit(self, text: str) -> int:
        """Thousandths of a logit that `text` is one."""
        return self.logit_of([ngrams(window) for window in windows(tokens(text))])

    def logit_of(self, read: Sequence[Sequence[str]]) -> int:
        """The same for the n-grams of a text's windows (at least one)."""
        known = self.ngrams
        best = max(sum(filter(None, map(known.get, window))) for window in read)
        return best + self.bias + self.per_doubling * len(read).bit_length()

    def reasons(self, text: str, limit: int = 5) -> list[tuple[str, int]]:
        """The n-grams of `text` that weigh most for yes, each with its weight."""
        found = {
            gram: self.ngrams[gram]
            for window in windows(tokens(text))
            for gram in ngrams(window)
            if gram in self.ngrams
        }
        return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]


@frozen(slots=True, eq=False)
class Measures:
    """A head over measures of a pair of texts: a weight per unit of each measure."""

    names: tuple[str, ...]
    weights: tuple[int, ...]
    bias: int
    band: Band

    def logit(self, measures: Sequence[int]) -> int:
        """Thousandths of a logit for the `measures` of a pair, in the order of `names`, in thousandths of their unit."""
        if len(measures) != len(self.weights):
            raise ValueError(f"{len(self.weights)} measures are weighed, not {len(measures)}")
        weighed: int = sum(map(mul, self.weights, measures))
        return self.bias + weighed // 1000


@frozen(slots=True, eq=False)
class Model:
    """All heads by task, how common each stem is, the stems that any of them knows, and the digest of the weights that they
    come from."""

    curve: Curve
    wordings: Mapping[str, Wordings]
    measures: Mapping[str, Measures]
    rarity: Mapping[str, int]
    rarest: int
    vocabulary: frozenset[str]
    digest: str


def read_model(data: bytes, *, sha256: str | None = None, where: str = _WEIGHTS) -> Model:
    """The model in the bytes of a weights file. Raises `UsageError` for other bytes than those of `sha256`, where it is given,
    and for what is no such file."""
    digest = hashlib.sha256(data).hexdigest()
    if sha256 is not None and digest != sha256:
        raise UsageError(
            "the weights of the local backend are not those that were shipped",
            where=where,
            hint=f"sha256 is {digest[:12]}..., {sha256[:12]}... is expected; install yb-eval-decision again",
        )
    try:
        raw = json.loads(data)
        if raw["format"] != FORMAT:
            raise UsageError(f"weights of format {raw['format']!r}, {FORMAT!r} is expected", where=where)
        return _built(raw, digest)
    except (KeyError, TypeError, ValueError, UnicodeDecodeError) as error:
        raise UsageError(
            f"no weights of the local backend ({type(error).__name__}: {error})",
            where=where,
            hint="install yb-eval-decision again",
        ) from error


def _built(raw: Mapping[str, Any], digest: str) -> Model:
    wordings = {
        name: Wordings(head["ngrams"], head["bias"], head["per_doubling"], Band(*head["band"]))
        for name, head in raw["wordings"].items()
    }
    measures = {
        name: Measures(
            names,
            tuple(raw["measures"][name]["weights"][measure] for measure in names),
            raw["measures"][name]["bias"],
            Band(*raw["measures"][name]["band"]),
        )
        for name, names in MEASURES.items()
    }
    curve = Curve(raw["curve"]["step"], tuple(raw["curve"]["values"]))
    vocabulary = frozenset(raw["rarity"]).union(*(head.ngrams for head in wordings.values()))
    return Model(curve, wordings, measures, raw["rarity"], raw["rarest"], vocabulary, digest)


@lru_cache(maxsize=1)
def load_model() -> Model:
    """The model that ships with this package, read once. Raises `UsageError` for a damaged file."""
    try:
        data = files("yb_eval_decision.local").joinpath(_WEIGHTS).read_bytes()
    except OSError as error:
        raise UsageError(
            f"the weights of the local backend cannot be read ({error.strerror})",
            where=_WEIGHTS,
            hint="install yb-eval-decision again",
        ) from error
    return read_model(data, sha256=WEIGHTS_SHA256)
