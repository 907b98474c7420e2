"""Evals that ask the same of every part of what they look at: the worst part decides.

One bad part fails the eval, whatever became of the others. Without one, a part that was not answered leaves the eval
unmeasured: what nobody looked at is not safe.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from attrs import frozen

from yb_eval_decision.answers import Answer, NoAnswer, NoAnswerState, NoulAnswer, ScoreAnswer
from yb_eval_decision.kinds import SingleQuestionEval
from yb_eval_decision.questions import ENOUGH, Noul, Question, Score, Task
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import fields
from yb_eval_decision.surfaces import Look, Part

#: The worst first.
_WORST: tuple[NoAnswerState, ...] = ("error", "refused", "abstained")


@frozen(slots=True, cache_hash=True)
class Asking:
    """What is asked of each part: `instructions` with `{text}` where its path goes, and `reads`, the other fields that
    the question reads. `levels` make it a score. `task` is the name of the task and of its part."""

    instructions: str
    criteria: tuple[str, str] | None = None
    reads: tuple[str, ...] = ()
    task: tuple[str, str] | None = None
    levels: tuple[str, ...] | None = None

    def of(self, part: Part) -> Question:
        """The question about `part`: made of our own words and paths alone, never of a sample's text."""
        text = self.instructions.replace("{text}", f"`{part.path}`")
        reads = (part.path, *(name for name in self.reads if name != part.path))
        if self.levels is not None:
            return Score(text, self.levels, reads=reads)
        task = None if self.task is None else Task(self.task[0], {self.task[1]: part.path})
        criteria = None if self.criteria is None else dict(zip(("true", "false"), self.criteria, strict=True))
        return Noul(text, criteria, task=task, reads=reads)


@lru_cache(maxsize=4096)
def _questions(asking: Asking, enough: bool, parts: tuple[Part, ...]) -> Mapping[str, Question]:
    """Kept: they depend on ids and paths alone, and packing recognises what it has seen. With `enough`, each part is also
    asked about whether it can be told."""
    made: dict[str, Question] = {}
    for part in parts:
        made[part.id] = asked = asking.of(part)
        if enough:
            can_be_told = f"Is there enough in `{part.path}` to answer this either way: {asked.instructions}"
            made[f"{part.id}.{ENOUGH}"] = Noul(can_be_told, reads=(part.path, *asking.reads))
    return made


class PartedEval(SingleQuestionEval):
    """The base: subclasses say what they look at (`look`), and what they ask of each part (`asking`).

    The ids of the questions are those of the parts: `output`, `r0`, `output.part_1`. The score is that of the worst part,
    always in the safe direction. With `positive_is_good` it passes from `threshold` on; otherwise it must be above, so that
    what is undecided is not safe.
    """

    asking: ClassVar[Asking]
    positive_is_good: ClassVar[bool] = False

    def look(self, s: Sample) -> Look:
        """The parts that are asked about, and where they stand."""
        raise NotImplementedError

    def wording(self, s: Sample) -> Asking:
        """What is asked of each part of `s`."""
        return self.asking

    def safety(self, answer: Any) -> float:
        """The score that an answer is, in the safe direction."""
        assert isinstance(answer, NoulAnswer)
        return answer.probability if self.positive_is_good else 1.0 - answer.probability

    def passes(self, score: float) -> bool:
        at: float = self.threshold
        return score >= at if self.positive_is_good else score > at

    def state(self, s: Sample) -> Mapping[str, Any]:
        return {**self.look(s).state, **fields(s, *self.wording(s).reads)}

    def questions(self, s: Sample) -> Mapping[str, Question]:
        return _questions(self.wording(s), self.insufficient, self.look(s).parts)

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        known: list[tuple[float, str]] = []
        gaps: list[tuple[NoAnswer, str]] = []
        for part in self.look(s).parts:
            answer = self._answer(answers, part.id)
            if isinstance(answer, NoAnswer):
                gaps.append((answer, part.id))
            else:
                known.append((self.safety(answer), part.id))
        worst, where = min(known, default=(1.0, ""))
        by_part = {id: score for score, id in known}
        evidence: dict[str, Any] = {"parts": by_part} if len(by_part) + len(gaps) > 1 else {}
        if gaps and (not known or self.passes(worst)):
            gap, id = min(gaps, key=lambda each: _WORST.index(each[0].state))
            of = (
                f"{len(gaps)} of {len(gaps) + len(known)} parts have no answer: {id}: "
                if len(gaps) + len(known) > 1
                else ""
            )
            return Result.unmeasured(gap.state, of + gap.reason, evidence=evidence)
        detail = f"worst of {len(known)} parts: {where}" if len(known) > 1 else ""
        if gaps:
            detail += f"; {len(gaps)} unmeasured, which do not change the verdict"
        return self.judged(worst, answers[where], detail.removeprefix("; "), evidence)

    def judged(self, score: float, answer: Answer, detail: str, evidence: Mapping[str, Any]) -> Result:
        """The result of the worst part."""
        p = answer.probability if isinstance(answer, NoulAnswer) else None
        return Result(score=score, passed=self.passes(score), probability=p, detail=detail, evidence=evidence)

    def _answer(self, answers: Mapping[str, Answer], id: str) -> Answer:
        """The answer about a part, or why there is none."""
        enough = answers.get(f"{id}.{ENOUGH}")
        # A backend that abstains on this helper question has still answered the main one.
        if isinstance(enough, NoAnswer) and enough.state == "error":
            return enough
        if isinstance(enough, NoulAnswer) and enough.probability < self.enough_at:
            return NoAnswer("abstained", f"not enough to tell (p = {enough.probability:.2f})")
        return answers[id]


class PartedScoreEval(PartedEval):
    """The same with a rubric whose first level is the safe one: the score is 1 - the expected level on 0..1."""

    def safety(self, answer: Any) -> float:
        assert isinstance(answer, ScoreAnswer)
        return 1.0 - answer.normalized

    def judged(self, score: float, answer: Answer, detail: str, evidence: Mapping[str, Any]) -> Result:
        assert isinstance(answer, ScoreAnswer)
        said = f"{answer.score:.1f}/{answer.n_levels - 1}"
        return Result(
            score=score,
            passed=self.passes(score),
            detail=f"{said}; {detail}" if detail else said,
            evidence={
                **evidence,
                "level": answer.level,
                "label": answer.label,
                "probabilities": list(answer.probabilities),
            },
        )
