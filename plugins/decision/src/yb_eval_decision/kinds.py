"""The three plain kinds of evals: one yes/no question, one choice, one score.

Each may also ask whether the state holds enough to tell (`insufficient=True`): a decision model always answers what it is
asked, so it must be given a way to say that it cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.eval import Eval
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import ENOUGH, Choice, Instructions, Noul, Question, Score, Task
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import fields

#: The option of a choice that means that there is not enough to tell.
INSUFFICIENT = "insufficient_evidence"
_INSUFFICIENT_MEANS = "The state does not hold enough to tell."


class SingleQuestionEval(Eval):
    """An eval with one main question, `q`, and beside it, where asked for, `enough`: can it be answered at all?

    `reads` are the fields of the state that the question reads, `task` what it is for a backend that knows tasks, `asked_as`
    the id of the main question where it is not `q`.
    """

    asked_as: ClassVar[str] = "q"
    reads: ClassVar[tuple[str, ...] | None] = None
    task: ClassVar[Task | None] = None
    partial = True

    insufficient = parameter(True, help="Also ask whether there is enough to tell; if not, the eval abstains.")
    enough_at = parameter(0.5, help="The probability of there being enough below which the eval abstains.",
                          minimum=0.0, maximum=1.0)  # fmt: skip

    def state(self, s: Sample) -> Mapping[str, Any]:
        """The fields of the state that `reads` names, unless a subclass has a state of its own."""
        if self.reads is None:
            raise NotImplementedError(f"{type(self).__name__} has neither reads nor a state of its own")
        return fields(s, *self.reads)

    def question(self) -> Question:
        """The main question: the same for every sample."""
        raise NotImplementedError

    def judge(self, answer: Any, s: Sample) -> Result:
        """What its answer means."""
        raise NotImplementedError

    def questions(self, s: Sample) -> Mapping[str, Question]:
        made: Mapping[str, Question] | None = vars(self).get("_questions")
        if made is None:
            # Made once for an eval, not for every sample: packing recognises a question by being the same object.
            made = vars(self)["_questions"] = self._make_questions()
        return made

    def _make_questions(self) -> Mapping[str, Question]:
        asked = self.question()
        if not self.insufficient or isinstance(asked, Choice):
            return {self.asked_as: asked}
        fields = ", ".join(self.reads or ()) or "the state"
        enough = f"Do {fields} hold enough to answer this question either way: {asked.instructions}"
        return {self.asked_as: asked, ENOUGH: Noul(enough, reads=self.reads)}

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        main = answers[self.asked_as]
        if isinstance(main, NoAnswer):
            return Result.unmeasured(main.state, main.reason)
        enough = answers.get(ENOUGH)
        if isinstance(enough, NoAnswer) and enough.state == "error":
            return Result.unmeasured("error", enough.reason)
        # A backend that abstains on this helper question has still answered the main one.
        if isinstance(enough, NoulAnswer) and enough.probability < self.enough_at:
            return Result.unmeasured("abstained", f"not enough to tell (p = {enough.probability:.2f})")
        return self.judge(main, s)


class NoulEval(SingleQuestionEval):
    """One yes/no question. The score is the probability of the good answer: of yes, or of no where yes is bad
    (`positive_is_good = False`). It passes where the score reaches the threshold; where yes is bad it must be above it, so
    that what is undecided is not safe."""

    instructions: ClassVar[Instructions] = ""
    criteria: ClassVar[Mapping[str, str] | None] = None
    positive_is_good: ClassVar[bool] = True

    def question(self) -> Question:
        return Noul(self.instructions, self.criteria, task=self.task, reads=self.reads)

    def judge(self, answer: NoulAnswer, s: Sample) -> Result:
        p = answer.probability
        score = p if self.positive_is_good else 1.0 - p
        passed = score >= self.threshold if self.positive_is_good else score > self.threshold
        return Result(score=score, passed=passed, probability=p)


class ScoreEval(SingleQuestionEval):
    """One rubric. `levels`, lowest first; the score is the expected level on 0..1."""

    instructions: ClassVar[Instructions] = ""

    levels = parameter((), help="The rubric's levels, lowest first.", check=lambda value: read_levels(value))

    def question(self) -> Question:
        return Score(self.instructions, self.levels, task=self.task, reads=self.reads)

    def judge(self, answer: ScoreAnswer, s: Sample) -> Result:
        score = answer.normalized
        p = answer.probabilities
        # The likeliest first, the lower one of equals.
        top = sorted(range(len(p)), key=p.__getitem__, reverse=True)[:3]
        shares = ", ".join([f"{level}: {p[level]:.2f}" for level in top])
        return Result(
            score=score,
            passed=score >= self.threshold,
            detail=f"{answer.score:.1f}/{len(p) - 1} ({shares})",
            evidence={"level": answer.level, "label": answer.label, "probabilities": list(p)},
        )


class ChoiceEval(SingleQuestionEval):
    """One choice. `good` are the options that pass; the score is their probability together. It passes where the likeliest
    option is a good one and the score reaches `threshold`, by default 0.

    An option that means "not enough to tell" is added (`insufficient`); its probability is in no score's numerator, and
    where it is the likeliest the eval abstains, as it does where a good and a bad option are equally likely. Own `options`
    need their own `good`. A choice of which no option is good says what is the case and gives no verdict; its score is the
    probability of the option chosen.
    """

    instructions: ClassVar[Instructions] = ""
    threshold = 0.0

    options = parameter(
        None, help="Options and their descriptions.", optional=True, check=lambda value: _options(value)
    )
    good = parameter((), help="The options that pass.", check=lambda value: _names(value))

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if "options" in given and "good" not in given:
            kept = tuple(name for name in self.good if name in self.options)
            if self.good and not kept:
                raise UsageError(
                    f"{type(self).__name__} has own options, and none of them is good",
                    hint=f"good=('{next(iter(self.options))}',)",
                )
            self.good = kept
        for name in self.good:
            if name not in self.options:
                raise UsageError(f"good names no option: {name!r}", hint=nearest(name, self.options))
        if not self.good and "threshold" not in given:
            self.threshold = Eval.threshold  # for whoever makes a verdict of the score

    def question(self) -> Question:
        options, abstain = dict(self.options), None
        if self.insufficient:
            abstain = INSUFFICIENT
            options.setdefault(INSUFFICIENT, _INSUFFICIENT_MEANS)
        return Choice(self.instructions, options, abstain=abstain, task=self.task, reads=self.reads)

    def judge(self, answer: ChoiceAnswer, s: Sample) -> Result:
        rival = self._rival(answer)
        if rival is not None:
            return Result.unmeasured("abstained", f"undecided between {answer.choice} and {rival}")
        score = min(1.0, sum(answer.p(name) for name in self.good)) if self.good else answer.probability
        passed = answer.choice in self.good and score >= self.threshold if self.good else None
        return Result(
            score=score,
            passed=passed,
            answer=answer.choice,
            probability=answer.probability,
            detail=f"confidence {answer.confidence:.2f}",
            evidence={"probabilities": dict(answer.probabilities), "confidence": answer.confidence},
        )

    def _rival(self, answer: ChoiceAnswer) -> str | None:
        """An option as likely as the chosen one with which the verdict would be the other; which is first is chance."""
        if not self.good:
            return None
        passes = answer.choice in self.good
        likely = answer.probability
        return next((n for n, p in answer.probabilities.items() if p == likely and (n in self.good) != passes), None)


def read_levels(value: Any) -> tuple[str, ...]:
    return Score("levels", value).criteria


def _options(value: Any) -> dict[str, str | None]:
    return dict(Choice("options", value).criteria)


def _names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"a list of names is expected, not {shorten(value)}")
    return tuple(value)
