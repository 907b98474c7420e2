"""One eval and one sample: what it asks, if anything, and what the answers make of it.

Whatever goes wrong in an eval is an error of that eval on that sample, in one line, and of nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import is_
from typing import Any, get_args

from attrs import frozen

from yb_eval import UsageError
from yb_eval.errors import printable, shorten
from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.backends.base import Limits
from yb_eval_decision.eval import Eval
from yb_eval_decision.packing import Asked, Packer, unique_names
from yb_eval_decision.questions import Choice, Noul, Score, read_question
from yb_eval_decision.results import Action, Result, Status, Usage
from yb_eval_decision.sample import Sample

_QUESTIONS = (Noul, Choice, Score)
_STATUSES = get_args(Status)
_ACTIONS = (None, *get_args(Action))
#: What counts where several questions of an eval have no answer, the worst first.
_WORST: tuple[Status, ...] = ("error", "refused", "abstained")
#: Characters of an error's message.
_MESSAGE = 300
#: Mappings of questions that are kept: those that an eval makes anew for each sample never come again.
_KEPT = 128
_FREE = Usage()
_TEXTS = {str}


@frozen(slots=True)
class NoSample:
    """What stands where a sample should be: a row that could not be read, and why."""

    reason: str


class EvalSet:
    """The evals of one run and the names of their results: those of the evals, made unique.

    Make it once and give it to `assess` for every batch: what is worked out for all samples is kept in it.
    """

    def __init__(self, evals: Sequence[Eval]) -> None:
        for one in evals:
            if not isinstance(one, Eval):
                hint = f"write {one.__name__}()" if isinstance(one, type) and issubclass(one, Eval) else None
                raise UsageError(f"not an eval: {shorten(one)}", hint=hint)
        self.evals = tuple(evals)
        self.names = tuple(unique_names(one.name for one in evals))
        # Which hooks each has of its own.
        self._hooked = [
            (type(one).applicable is not Eval.applicable, type(one).pre is not Eval.pre) for one in self.evals
        ]
        # What was read, by the place of the eval and the identity of what it gave, which is kept.
        self._read: dict[tuple[int, int], tuple[Any, Mapping[str, Any]]] = {}
        self._packers: dict[tuple[Limits, bool], Packer] = {}

    @classmethod
    def of(cls, evals: EvalSet | Sequence[Eval] | Eval) -> EvalSet:
        if isinstance(evals, EvalSet):
            return evals
        return cls([evals] if isinstance(evals, Eval) else evals)

    def packer(self, limits: Limits, *, isolate: bool) -> Packer:
        """What packs their questions for a backend with `limits`."""
        packer = self._packers.get((limits, isolate))
        if packer is None:
            packer = self._packers[limits, isolate] = Packer(self.names, limits, isolate=isolate)
        return packer

    def ask(self, sample: Sample) -> list[Result | Asked]:
        """For each eval what it asks of `sample`, or its result where nothing needs to be asked."""
        return self.ask_each([sample])[0]

    def ask_each(self, samples: Sequence[Sample]) -> list[list[Result | Asked]]:
        """`ask` for each of `samples`. Eval by eval: a processor that does the same again is a quarter faster."""
        pieces: list[list[Result | Asked]] = [[] for _ in samples]
        lacking: list[dict[tuple[str, ...], list[str]]] = [{} for _ in samples]
        for index, one in enumerate(self.evals):
            for sample, mine, missing in zip(samples, pieces, lacking, strict=True):
                mine.append(self._ask(index, one, sample, missing))
        return pieces

    def _ask(self, index: int, one: Eval, s: Sample, missing: dict[tuple[str, ...], list[str]]) -> Result | Asked:
        stage = "requires"
        try:
            requires = one.requires if type(one.requires) is tuple else tuple(one.requires)
            lacking = missing.get(requires)
            if lacking is None:
                lacking = missing[requires] = s.missing(requires)
            if lacking:
                return self._unasked(index, "skipped", "missing " + ", ".join(lacking))
            has_applicable, has_pre = self._hooked[index]
            if has_applicable:
                stage = "applicable"
                applies, why = one.applicable(s)
                if not applies:
                    return self._unasked(index, "skipped", str(why) or "it does not apply")
            if has_pre:
                stage = "pre"
                if (known := one.pre(s)) is not None:
                    return settled(known, self.names[index], one, {}, _FREE)
            stage = "questions"
            questions = self._questions(index, one.questions(s))
            if not questions:
                stage = "reduce"
                return settled(one.reduce({}, s), self.names[index], one, {}, _FREE)
            stage = "state"
            state = one.state(s)
            if not (type(state) is dict or isinstance(state, Mapping)) or not set(map(type, state)) <= _TEXTS:
                raise UsageError(f"an object with names as keys is expected, not {shorten(state)}")
            return Asked(self.names[index], state, questions)
        except Exception as error:
            return self._unasked(index, "error", told(stage, error))

    def _questions(self, index: int, questions: Any) -> Mapping[str, Any]:
        """The questions of the eval at `index`, checked. Those that it gives again are the same object as before: whatever is
        worked out for them can be kept."""
        given = (index, id(questions))
        known = self._read.get(given)
        if known is not None and _same(known[1], questions):
            return known[1]
        if not isinstance(questions, Mapping):
            raise UsageError(f"questions by id are expected, not {shorten(questions)}")
        for name, question in questions.items():
            if not isinstance(name, str):
                raise UsageError(f"the id of a question is a text, not {shorten(name)}")
            if not isinstance(question, _QUESTIONS):
                return {key: read_question(value, f"questions.{key}") for key, value in questions.items()}
        if len(self._read) >= _KEPT:
            self._read.clear()
        # A copy: the eval may go on changing its own.
        self._read[given] = (questions, found := dict(questions))
        return found

    def _unasked(self, index: int, status: Status, reason: str) -> Result:
        return Result(name=self.names[index], status=status, reason=printable(reason))

    def conclude(self, index: int, answers: Mapping[str, Answer], s: Sample, usage: Usage) -> Result:
        """The result of the eval at `index`, given the answers to all it asked."""
        one, name = self.evals[index], self.names[index]
        if not one.partial and (none := _unanswered(answers)):
            return Result(name=name, status=none[0], reason=none[1], answers=answers, usage=usage)
        try:
            return settled(one.reduce(answers, s), name, one, answers, usage)
        except Exception as error:
            reason = told("reduce", error)
            return Result(name=name, status="error", reason=reason, answers=answers, usage=usage)

    def failed(self, reason: str) -> list[Result]:
        """Results where the sample itself cannot be read: an error of every eval."""
        return [self._unasked(index, "error", reason) for index in range(len(self.evals))]


def settled(result: Any, name: str, one: Eval, answers: Mapping[str, Answer], usage: Usage) -> Result:
    """What `reduce` or `pre` gave, checked, under its name in this run; `passed` from the threshold where it is left open.

    Raises `UsageError` where it says nothing, or something that is no score or verdict (NaN, 90, "yes").
    """
    if not isinstance(result, Result):
        raise UsageError(f"a Result is expected, not {shorten(result)}")
    if result.action not in _ACTIONS:
        raise UsageError(f"unknown action {shorten(result.action)}")
    score, passed, status = result.score, result.passed, result.status
    if status == "measured":
        if score is not None and (type(score) is not float or not 0.0 <= score <= 1.0):
            score = _within(score, "score")
        if passed is None:
            if score is None:
                raise UsageError("the result has neither a score nor a verdict")
            if result.answer is None:  # an answer without a verdict says what is the case
                passed = score >= one.threshold
        elif passed is not True and passed is not False:
            raise UsageError(f"passed is true or false, not {shorten(passed)}")
    elif status not in _STATUSES:
        raise UsageError(f"unknown status {shorten(status)}")
    else:
        score = passed = None  # what is unmeasured has neither
    probability = result.probability
    if probability is not None and (type(probability) is not float or not 0.0 <= probability <= 1.0):
        probability = _within(probability, "probability")
    return Result(
        name, score, passed, result.answer, probability, result.detail, result.evidence, result.answers or answers,
        result.action, result.value, status, result.reason, usage,
    )  # fmt: skip


def _within(value: Any, what: str) -> float:
    if type(value) is not float and (isinstance(value, bool) or not isinstance(value, int | float)):
        try:
            value = None if isinstance(value, bool | str | bytes) else value.__float__()
        except (AttributeError, TypeError, ValueError):
            value = None
        if value is None:
            raise UsageError(f"the {what} is not a number")
    if not 0.0 <= value <= 1.0:
        raise UsageError(f"the {what} is not within 0..1: {shorten(value)}")
    return float(value)


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether both hold the very same questions in the same order."""
    return [*one] == [*other] and all(map(is_, one.values(), other.values()))


def _unanswered(answers: Mapping[str, Answer]) -> tuple[Status, str] | None:
    """The worst state among the questions without an answer, with their ids and a reason."""
    lacking = {id: answer for id, answer in answers.items() if type(answer) is NoAnswer}
    for state in _WORST if lacking else ():
        ids = [id for id, answer in lacking.items() if answer.state == state]
        if ids:
            more = f" and {len(ids) - 3} more" if len(ids) > 3 else ""
            return state, f"{', '.join(map(printable, ids[:3]))}{more}: {lacking[ids[0]].reason}"
    return None


def told(stage: str, error: Exception) -> str:
    """An exception in one line: where it happened, its type unless it is ours, and its message."""
    text = str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"
    line = printable(f"{stage}: {text.strip()}")
    return line if len(line) <= _MESSAGE else line[: _MESSAGE - 1] + "…"
