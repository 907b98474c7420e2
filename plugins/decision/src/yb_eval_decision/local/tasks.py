"""The tasks that the local model knows: from a question's parts to a probability, or to why there is none.

It says nothing where it could only guess: between the cuts of a head's band, in a language it was not trained on, about what is
encoded, about an empty text. That is an abstention, with its reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from attrs import field, frozen

from yb_eval_decision.answers import Answer, ChoiceAnswer, NoAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.local.bearing import relevance
from yb_eval_decision.local.language import encoded, foreign, plain_words, scripts, unfamiliar
from yb_eval_decision.local.model import Model
from yb_eval_decision.local.ngrams import ngrams, tokens, windows
from yb_eval_decision.local.overlap import Evidence, evidence_of
from yb_eval_decision.local.parts import flat, texts_of
from yb_eval_decision.local.reading import Statement, read_text
from yb_eval_decision.local.supporting import support
from yb_eval_decision.questions import Choice, Noul, Question, Score

#: The parts that each task needs.
TASKS: Mapping[str, tuple[str, ...]] = {
    "support": ("claim", "evidence"),
    "injection": ("text",),
    "indirect_injection": ("text",),
    "jailbreak": ("text",),
    "refusal": ("answer",),
    "noncommittal": ("answer",),
    "relevance": ("question", "text"),
}
ANSWERED = "answered"
#: Share of a text's letters in a claim's script below which the two are in different languages.
_SAME_SCRIPT = 0.15
#: Texts of a kind that a reader remembers.
_KEPT = 1 << 10

K = TypeVar("K")
V = TypeVar("V")


def abstained(reason: str) -> NoAnswer:
    return NoAnswer("abstained", reason)


@frozen(slots=True, eq=False)
class Reading:
    """A text, read once for all heads: the n-grams of its windows, and what of it cannot be read."""

    windows: tuple[tuple[str, ...], ...]
    empty: bool
    foreign: bool
    unfamiliar: bool
    encoded: bool

    @classmethod
    def of(cls, text: str, vocabulary: Collection[str]) -> Reading:
        found = tokens(text)
        parts = list(windows(found))
        return cls(
            tuple(tuple(ngrams(part)) for part in parts),
            not any(token[0].isalnum() for token in found),
            any(foreign(part) for part in parts),
            any(unfamiliar(part, vocabulary) for part in parts),
            encoded(text),
        )


@frozen(slots=True, eq=False)
class Reader:
    """Answers questions about states with `model`. What it has read is kept as long as the reader is, up to `_KEPT` of a kind:
    one reader a batch."""

    model: Model
    _texts: dict[str, Reading] = field(factory=dict, init=False)
    _statements: dict[str, list[Statement]] = field(factory=dict, init=False)
    _values: dict[int, tuple[Any, Evidence]] = field(factory=dict, init=False)
    _evidence: dict[tuple[str, ...], Evidence] = field(factory=dict, init=False)

    def answer(self, question: Question, state: Mapping[str, Any]) -> Answer:
        """The answer to one question. Never raises for what the state holds."""
        task = question.task
        if task is None or task.name not in TASKS:
            return abstained("the local model answers no such question")
        parts: dict[str, Any] = {}
        for name in TASKS[task.name]:
            if name not in task.parts:
                return NoAnswer("error", f"the question's task {task.name!r} does not say where its {name!r} is")
            found, value = value_at(state, task.parts[name])
            if not found:
                return NoAnswer("error", f"the state has no {task.parts[name]!r}")
            parts[name] = value
        return _ANSWERS[task.name](self, task.name, question, parts)

    def reading(self, value: Any) -> Reading:
        """The reading of a text, or of the text that a JSON value holds."""
        text = value if isinstance(value, str) else flat(value)
        found = self._texts.get(text)
        return found if found is not None else _kept(self._texts, text, Reading.of(text, self.model.vocabulary))

    def statements(self, text: str) -> list[Statement]:
        """What a claim or a question says."""
        found = self._statements.get(text)
        return found if found is not None else _kept(self._statements, text, read_text(text))

    def evidence(self, value: Any) -> Evidence:
        """A value to compare with, read once for all questions about it, and for all values that hold the same texts."""
        known = self._values.get(id(value))
        if known is not None and known[0] is value:
            return known[1]
        texts = tuple(texts_of(value))
        found = self._evidence.get(texts)
        if found is None:
            found = _kept(self._evidence, texts, evidence_of(texts))
        return _kept(self._values, id(value), (value, found))[1]  # with the value, so that no other one gets its id


def _kept(memo: dict[K, V], key: K, value: V) -> V:
    """`value`, remembered. A full memo is emptied: texts come in batches that share them, an old one hardly comes again."""
    if len(memo) >= _KEPT:
        memo.clear()
    memo[key] = value
    return value


def value_at(state: Mapping[str, Any], path: str) -> tuple[bool, Any]:
    """Whether there is something at the dotted `path`, and what. Numbers are positions in lists."""
    if path in state:
        return True, state[path]
    value: Any = state
    for key in path.split("."):
        if isinstance(value, Mapping) and key in value:
            value = value[key]
        elif isinstance(value, list | tuple) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return False, None
    return True, value


def _decided(reader: Reader, task: str, logit: int) -> tuple[float, bool]:
    """The probability, and whether it lies outside of the head's band."""
    model = reader.model
    probability = model.curve.probability(logit)
    head = model.wordings[task] if task in model.wordings else model.measures[task]
    return probability, not head.band.undecided(probability)


def _undecided(probability: float) -> NoAnswer:
    return abstained(f"undecided (p = {probability:.2f})")


def _of_text(reader: Reader, task: str, value: Any) -> float | NoAnswer:
    """The probability that a head over wordings gives a text, where it can tell."""
    read = reader.reading(value)
    if read.empty:
        return abstained("there is no text")
    probability, decided = _decided(reader, task, reader.model.wordings[task].logit_of(read.windows))
    # A wording that was found is there, whatever else the text holds; that none was found says nothing of what is not read.
    if probability < 0.5 and read.foreign:
        return abstained("the text is in another language than English or Russian")
    if probability < 0.5 and read.unfamiliar:
        return abstained("the text holds hardly a word that the local model knows")
    if probability < 0.5 and read.encoded:
        return abstained("a part of the text is encoded")
    return probability if decided else _undecided(probability)


def _attack(reader: Reader, task: str, question: Question, parts: Mapping[str, Any]) -> Answer:
    return _yes_or_no(task, question, lambda: _of_text(reader, task, parts["text"]))


def _noncommittal(reader: Reader, task: str, question: Question, parts: Mapping[str, Any]) -> Answer:
    return _yes_or_no(task, question, lambda: _of_text(reader, task, parts["answer"]))


def _yes_or_no(task: str, question: Question, ask: Callable[[], float | NoAnswer]) -> Answer:
    if not isinstance(question, Noul):
        return abstained(f"the local model answers {task!r} as yes or no only")
    found = ask()
    return found if isinstance(found, NoAnswer) else NoulAnswer(found)


def _refusal(reader: Reader, task: str, question: Question, parts: Mapping[str, Any]) -> Answer:
    """Sure of `answered` only: whether a refusal is warranted takes knowledge of the world."""
    if not isinstance(question, Choice) or ANSWERED not in question.criteria or len(question.criteria) < 2:
        return abstained(f"the local model answers {task!r} only as a choice with the option {ANSWERED!r}")
    refused = _of_text(reader, task, parts["answer"])
    if isinstance(refused, NoAnswer):
        return refused
    if refused >= 0.5:
        return abstained(f"not plainly answered (p = {refused:.2f}); whether that is right the local model cannot tell")
    others = [option for option in question.criteria if option not in (ANSWERED, question.abstain)]
    share = round(refused / max(len(others), 1), 6)
    shares = dict.fromkeys(question.criteria, 0.0) | dict.fromkeys(others, share)
    shares[ANSWERED] = round(1.0 - share * len(others), 6)
    return ChoiceAnswer(ANSWERED, shares)


def _support(reader: Reader, task: str, question: Question, parts: Mapping[str, Any]) -> Answer:
    def ask() -> float | NoAnswer:
        claim = parts["claim"] if isinstance(parts["claim"], str) else flat(parts["claim"])
        statements = reader.statements(claim)
        evidence = reader.evidence(parts["evidence"])
        if not any(statement.words or statement.numbers for statement in statements):
            return abstained("the claim says nothing that could be looked for")
        if not evidence.statements:
            return abstained("there is no evidence")
        if not _one_language(claim, evidence):
            return abstained("claim and evidence are in different languages")
        model = reader.model
        return _compared(reader, task, support(statements, evidence, model.rarity, model.rarest))

    return _yes_or_no(task, question, ask)


def _relevance(reader: Reader, task: str, question: Question, parts: Mapping[str, Any]) -> Answer:
    if isinstance(question, Choice) or (isinstance(question, Score) and len(question.criteria) % 2):
        return abstained(f"the local model answers {task!r} as yes or no, or in an even number of levels")
    asked = parts["question"] if isinstance(parts["question"], str) else flat(parts["question"])
    statements = reader.statements(asked)
    evidence = reader.evidence(parts["text"])
    if not any(statement.words for statement in statements):
        return abstained("the question names nothing that could be looked for")
    if not evidence.statements:
        return abstained("there is no text")
    if not _one_language(asked, evidence):
        return abstained("question and text are in different languages")
    model = reader.model
    measured = relevance(statements, list(plain_words(asked)), evidence, model.rarity, model.rarest)
    found = _compared(reader, task, measured)
    if isinstance(found, NoAnswer):
        return found
    return NoulAnswer(found) if isinstance(question, Noul) else _levels(found, question)


def _levels(probability: float, question: Score) -> ScoreAnswer:
    """The upper half of the levels shares the probability that the text bears on the question, the lower half the rest, each
    half evenly: how well it does so the model cannot tell."""
    half = len(question.criteria) // 2
    lower, upper = round((1.0 - probability) / half, 6), round(probability / half, 6)
    shares = (lower,) * half + (upper,) * half
    score = sum(index * share for index, share in enumerate(shares))
    return ScoreAnswer(score=score, probabilities=shares, levels=question.criteria)


def _compared(reader: Reader, task: str, measured: list[int]) -> float | NoAnswer:
    probability, decided = _decided(reader, task, reader.model.measures[task].logit(measured))
    return probability if decided else _undecided(probability)


def _one_language(text: str, evidence: Evidence) -> bool:
    """Whether what is compared can share words: letters of one script, and none of a language that is not known."""
    latin, russian = scripts(text)
    there_latin, there_russian = evidence.scripts
    if latin + russian == 0 or there_latin + there_russian == 0:
        # Numbers alone compare in any language; other scripts cannot be read.
        return latin + russian > 0 or not any(char.isalpha() for char in text)
    share = (there_russian if russian > latin else there_latin) / (there_latin + there_russian)
    return share >= _SAME_SCRIPT


_ANSWERS: Mapping[str, Callable[[Reader, str, Question, Mapping[str, Any]], Answer]] = {
    "support": _support,
    "injection": _attack,
    "indirect_injection": _attack,
    "jailbreak": _attack,
    "refusal": _refusal,
    "noncommittal": _noncommittal,
    "relevance": _relevance,
}
