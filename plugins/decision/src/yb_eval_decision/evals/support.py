"""Claims held against evidence: one question a claim, and what all the answers come to.

Evidence that is longer than a window is divided, and each claim is asked about with each part: its support is the highest of
any part, so that padding hides nothing. (What a claim takes from two distant parts together is not seen.)

A claim without an answer keeps its place: no other claim is blamed for it, and it counts neither as supported nor as not.
Where the claims that were answered decide the verdict whatever the others are, the verdict stands, without a score;
otherwise the whole result is unmeasured. Claims beyond `max_claims` are not asked about, and count as unanswered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Literal

from attrs import frozen

from yb_eval.errors import shorten
from yb_eval_decision.answers import Answer, NoAnswer, NoAnswerState, NoulAnswer
from yb_eval_decision.cuts import parts_of
from yb_eval_decision.eval import Eval
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import Noul, Question, Task
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import fields

#: The worst first.
_WORST: tuple[NoAnswerState, ...] = ("error", "refused", "abstained")
#: Gaps that a reason names.
_NAMED = 5


@lru_cache(maxsize=4096)
def support_question(claim: str, evidence: str) -> Noul:
    """The question whether `evidence` supports `claim`, both dotted paths of the state: one object for all samples and evals,
    so that whoever packs questions sees that it is the same."""
    return Noul(
        f"Does `{evidence}` alone fully support `{claim}`?",
        task=Task("support", {"claim": claim, "evidence": evidence}),
    )


@frozen(slots=True)
class Items:
    """What became of the items of a list that were asked about one by one: `p` of each, or the `NoAnswer` in its place."""

    letter: str
    found: Sequence[float | NoAnswer]

    @classmethod
    def read(cls, letter: str, asked: Sequence[Sequence[Answer]], at: float, *, beyond: int, limit: str) -> Items:
        """From the answers of each item, one for each part of what it was held against: the highest counts, and where that
        does not reach `at`, all parts must be answered. `beyond` more items were not asked about, because of `limit`."""
        found = [_highest(answers, at) for answers in asked]
        return cls(letter, [*found, *[NoAnswer("abstained", f"beyond {limit}, not asked about")] * beyond])

    @property
    def p(self) -> list[float | None]:
        """The probabilities in order, `None` at the gaps."""
        return [None if isinstance(each, NoAnswer) else each for each in self.found]

    @property
    def gaps(self) -> list[int]:
        return [index for index, each in enumerate(self.found) if isinstance(each, NoAnswer)]

    def below(self, at: float) -> list[int]:
        return [index for index, each in enumerate(self.found) if not isinstance(each, NoAnswer) and each < at]

    def unmeasured(self, **more: Any) -> Result:
        """The result that names the gaps, in the worst of their states."""
        gaps = [(index, each) for index, each in enumerate(self.found) if isinstance(each, NoAnswer)]
        worst = next(state for state in _WORST if any(each.state == state for _, each in gaps))
        named = ", ".join(f"{self.letter}{index}" for index, _ in gaps[:_NAMED])
        more_gaps = f" and {len(gaps) - _NAMED} more" if len(gaps) > _NAMED else ""
        why = next(each.reason for _, each in gaps if each.state == worst)
        return Result.unmeasured(worst, f"no answer on {named}{more_gaps} of {len(self.found)}: {why}", **more)


def _highest(answers: Sequence[Answer], at: float) -> float | NoAnswer:
    known = [answer.probability for answer in answers if isinstance(answer, NoulAnswer)]
    missing = [answer for answer in answers if isinstance(answer, NoAnswer)]
    if known and (not missing or max(known) >= at):
        return max(known)
    return min(missing, key=lambda answer: _WORST.index(answer.state))


@frozen(slots=True)
class ItemQuestions:
    """The questions about a list, by id, and for each item that is asked about the ids of its questions."""

    questions: Mapping[str, Question]
    ids: Sequence[Sequence[str]]

    @classmethod
    def of(cls, letter: str, items: Iterable[Sequence[Question]]) -> ItemQuestions:
        """From the questions about each item: ids `c0`, `c1`, ..., or `c0.w0`, `c0.w1`, ... where an item has several."""
        questions: dict[str, Question] = {}
        ids = []
        for index, asked in enumerate(items):
            own = (
                [f"{letter}{index}"] if len(asked) == 1 else [f"{letter}{index}.w{part}" for part in range(len(asked))]
            )
            questions.update(zip(own, asked, strict=True))
            ids.append(own)
        return cls(questions, ids)

    def answered(self, answers: Mapping[str, Answer]) -> list[list[Answer]]:
        """The answers on each item."""
        return [[answers[id] for id in ids] for ids in self.ids]


@lru_cache(maxsize=1024)
def _claim_questions(letter: str, claims: str, own: str, n: int, evidence: tuple[str, ...]) -> ItemQuestions:
    # Kept: they depend on numbers only, and whoever packs them need not look at the same ones twice.
    asked = ([support_question(f"{claims}.{own}{index}", path) for path in evidence] for index in range(n))
    return ItemQuestions.of(letter, asked)


class SupportEval(Eval):
    """The base of the evals that hold claims against evidence. The score is the share of claims whose p reaches
    `claim_threshold`; it passes from `threshold` on. See the module for gaps and limits.

    `per_claim` in the evidence has p for each claim, null at the gaps; `unsupported` and `unmeasured` are indices into it.
    """

    partial = True
    letter: ClassVar[str] = "c"
    about: ClassVar[Literal["claims", "reference_claims"]] = "claims"

    claim_threshold = parameter(0.5, help="The p from which a claim is supported.", minimum=0.0, maximum=1.0)
    max_claims = parameter(200, help="Claims asked about; more are reported as unmeasured.", minimum=1)

    def grounds(self, s: Sample) -> str:
        """The field of the state that is the evidence."""
        return "contexts"

    def applicable(self, s: Sample) -> tuple[bool, str]:
        where = "final answer" if self.about == "claims" else "reference"
        return bool(fields(s, self.about)[self.about]), f"no claims: the {where} asserts nothing"

    def state(self, s: Sample) -> Mapping[str, Any]:
        return fields(s, self.about, self.grounds(s))

    def questions(self, s: Sample) -> Mapping[str, Question]:
        return self._asked(s).questions

    def _asked(self, s: Sample) -> ItemQuestions:
        grounds = self.grounds(s)
        state = fields(s, self.about, grounds)
        n = min(len(state[self.about]), self.max_claims)
        evidence = tuple(parts_of(grounds, state[grounds]))
        return _claim_questions(self.letter, self.about, "c" if self.about == "claims" else "r", n, evidence)

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        texts = list(fields(s, self.about)[self.about].values())
        asked = self._asked(s).answered(answers)
        items = Items.read(self.letter, asked, self.claim_threshold, beyond=len(texts) - len(asked),
                           limit=f"max_claims={self.max_claims}")  # fmt: skip
        return self.judged(items, texts)

    def judged(self, items: Items, texts: Sequence[str]) -> Result:
        """What the claims come to: a score, a verdict without one where gaps cannot change it, or neither."""
        n, gaps, bad = len(texts), items.gaps, items.below(self.claim_threshold)
        evidence: dict[str, Any] = {"per_claim": items.p, "claims": texts, "unsupported": bad, "unmeasured": gaps}
        least, most = (n - len(bad) - len(gaps)) / n, (n - len(bad)) / n
        if gaps and least < self.threshold <= most:
            return items.unmeasured(evidence=evidence)
        detail = self.told(n - len(bad) - len(gaps), len(bad), n)
        known = [(p, index) for index, p in enumerate(items.p) if p is not None]
        if known:
            p, index = min(known)
            detail += f"; worst {self.letter}{index} (p = {p:.2f}) {shorten(texts[index], 60)}"
        if gaps:
            detail += f"; {len(gaps)} unmeasured, which do not change the verdict"
            return Result(passed=least >= self.threshold, detail=detail, evidence=evidence)
        return Result(score=most, passed=most >= self.threshold, detail=detail, evidence=evidence)

    def told(self, supported: int, unsupported: int, n: int) -> str:
        return f"{supported}/{n} claims supported"
