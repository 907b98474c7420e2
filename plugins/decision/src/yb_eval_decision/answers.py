"""What a decision model answers: a probability per question, or the reason why there is none.

Answers are values that have been checked (`validation.read_answers`): probabilities lie in 0..1 and sum to 1, options and
levels are those of the question. What could not be had is a `NoAnswer` with its state; nothing is ever filled in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from attrs import frozen

#: Why a question has no answer: the backend holds that it cannot tell, it refused, or something failed.
NoAnswerState = Literal["abstained", "refused", "error"]


@frozen(slots=True)
class NoulAnswer:
    """`probability` that the answer is yes."""

    probability: float

    @property
    def type(self) -> Literal["noul"]:
        return "noul"

    @property
    def value(self) -> bool:
        return self.probability >= 0.5

    def __float__(self) -> float:
        return self.probability

    def to_dict(self) -> dict[str, Any]:
        return {"type": "noul", "probability": self.probability}


@frozen(slots=True)
class ChoiceAnswer:
    """`probabilities` of all options; `choice` is the likeliest. `confidence` is the backend's own, where it gave one."""

    choice: str
    probabilities: Mapping[str, float]
    stated_confidence: float | None = None

    @property
    def type(self) -> Literal["choice"]:
        return "choice"

    @property
    def probability(self) -> float:
        """The probability of the option that was chosen."""
        return self.probabilities[self.choice]

    @property
    def confidence(self) -> float:
        """The backend's own confidence, else (p_max - 1/K) / (1 - 1/K) over K options (1 for a single one)."""
        if self.stated_confidence is not None:
            return self.stated_confidence
        options = len(self.probabilities)
        return 1.0 if options == 1 else (self.probability - 1 / options) / (1 - 1 / options)

    def p(self, option: str) -> float:
        """The probability of `option`; raises `KeyError` for one that the question does not have."""
        return self.probabilities[option]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "choice", "choice": self.choice, "probabilities": dict(self.probabilities)}


@frozen(slots=True)
class ScoreAnswer:
    """`probabilities` of the levels, lowest first; `score` is the expected level, 0-based."""

    score: float
    probabilities: tuple[float, ...]
    levels: tuple[str, ...]
    stated_confidence: float | None = None

    @property
    def type(self) -> Literal["score"]:
        return "score"

    @property
    def n_levels(self) -> int:
        return len(self.probabilities)

    @property
    def normalized(self) -> float:
        """The expected level on 0..1."""
        return self.score / (self.n_levels - 1)

    @property
    def level(self) -> int:
        """The likeliest level, the lower one of equals."""
        return self.probabilities.index(max(self.probabilities))

    @property
    def label(self) -> str:
        return self.levels[self.level]

    def to_dict(self) -> dict[str, Any]:
        return {"type": "score", "score": self.score, "probabilities": list(self.probabilities)}


@frozen(slots=True)
class NoAnswer:
    """A question without an answer: its `state`, and the `reason` in words."""

    state: NoAnswerState
    reason: str

    @property
    def type(self) -> Literal["none"]:
        return "none"

    def to_dict(self) -> dict[str, Any]:
        return {"type": "none", "state": self.state, "reason": self.reason}


Answered = NoulAnswer | ChoiceAnswer | ScoreAnswer
Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer | NoAnswer
