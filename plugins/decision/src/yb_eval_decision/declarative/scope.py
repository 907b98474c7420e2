"""The names that the expressions of a declarative eval may use, and what they stand for.

| question | names |
|---|---|
| noul `grounded` | `grounded`: the probability of yes |
| choice `action` | `action.approve` or `action["approve"]`: the probability of the option; `action.choice`: the option chosen; `action.probability`: its probability; `action.confidence` |
| score `tone` | `tone`: the expected level on 0..1; `tone_level`: the likeliest level, from 0 |

`pass` and the rules of the policy may also use `score`. Functions: `min`, `max`, `abs`, `round`, and `int`, `float`, `bool` of a
number or a condition.
"""  # noqa: E501 - a table

from __future__ import annotations

import keyword
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import field, frozen

from yb_eval import UsageError
from yb_eval.errors import ExpressionError, nearest, shorten
from yb_eval.expressions import Expression, Missing, Reference, Vocabulary
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.questions import Choice, Noul, Question, Score

FUNCTIONS: Mapping[str, int | range] = {
    "min": range(1, 51), "max": range(1, 51), "abs": 1, "round": range(1, 3), "int": 1, "float": 1, "bool": 1,
}  # fmt: skip
DERIVED = ("choice", "probability", "confidence")
SCORE = "score"
_CONSTANTS = ("true", "false", "null")

#: What a name can be: bounds of a number, whole numbers, or texts.
Range = tuple[float, float] | range | tuple[str, ...]


@frozen(slots=True)
class Names:
    """The names that a set of questions gives, each with what it can be."""

    ranges: Mapping[str, Range]
    options: Mapping[str, tuple[str, ...]]
    owners: Mapping[str, str] = field(factory=dict)

    @classmethod
    def of(cls, questions: Mapping[str, Question]) -> Names:
        """Raises `UsageError`, at the question's id, for an id or option that could not be told from another name."""
        ranges: dict[str, Range] = {}
        owners: dict[str, str] = {}
        for id, question in questions.items():
            if keyword.iskeyword(id) or id in (*_CONSTANTS, SCORE):
                hint = "the word has a meaning in expressions"
                raise UsageError(f"a question cannot be called {id!r}", where=id, hint=hint)
            for name, values in _names_of(id, question):
                if name in ranges:
                    raise UsageError(f"{name!r} would mean two things", where=id, hint="rename one of them")
                ranges[name], owners[name] = values, id
        options = {id: tuple(asked.criteria) for id, asked in questions.items() if isinstance(asked, Choice)}
        return cls(ranges, options, owners)

    def read(self, text: str, *, scored: bool) -> Expression:
        """The expression in `text`, of these names and, where `scored`, of `score`. Raises `ExpressionError`."""
        known = {*self.ranges, *self.options, *([SCORE] if scored else [])}
        words = Vocabulary(frozenset(known), FUNCTIONS, frozenset(self.options))
        try:
            expression = Expression.parse(text, words)
        except ExpressionError as error:
            raise ExpressionError(error.what, hint=self._option_hint(text) or error.hint) from None
        for reference in expression.references():
            self._check(reference)
        compared = {name.removesuffix(".choice") for name in map(plain_name, expression.references())}
        texts = [option for id in self.options if id in compared for option in self.options[id]]
        for literal in expression.strings:
            if literal not in texts:
                raise ExpressionError(f"{shorten(literal)} is no option of a choice that is compared here",
                                      hint=nearest(literal, texts) or "only action.choice is compared with a text")  # fmt: skip
        return expression

    def range_of(self, name: str) -> Range:
        return (0.0, 1.0) if name == SCORE else self.ranges[name]

    def questions_in(self, expressions: Iterable[Expression]) -> set[str]:
        """The ids of the questions whose answers the expressions use."""
        names = {plain_name(reference) for expression in expressions for reference in expression.references()}
        return {self.owners[name] for name in names if name != SCORE}

    def _check(self, reference: Reference) -> None:
        name = plain_name(reference)
        if name in self.ranges or name == SCORE:
            return
        options = self.options[reference.base]
        if reference.key is None:
            first = _spelled(reference.base, options[0])
            raise ExpressionError(f"{name!r} is a choice, not a number", hint=f"name an option: {first}")
        raise ExpressionError(
            f"{reference.base!r} has no option {reference.key!r}", hint=nearest(reference.key, options)
        )

    def _option_hint(self, text: str) -> str | None:
        """How an option is written whose name is no word of the language."""
        for id, options in self.options.items():
            for option in options:
                if f"{id}.{option}" in text and _spelled(id, option) != f"{id}.{option}":
                    return f"write {_spelled(id, option)}"
        return None


def plain_name(reference: Reference) -> str:
    """`action["approve"]` and `action.approve` are one name."""
    return reference.base if reference.key is None else f"{reference.base}.{reference.key}"


def _names_of(id: str, question: Question) -> Iterator[tuple[str, Range]]:
    if isinstance(question, Noul):
        yield id, (0.0, 1.0)
    elif isinstance(question, Score):
        yield id, (0.0, 1.0)
        yield f"{id}_level", range(len(question.criteria))
    else:
        for option in question.criteria:
            yield f"{id}.{option}", (0.0, 1.0)
        yield f"{id}.choice", tuple(question.criteria)
        yield f"{id}.probability", (0.0, 1.0)
        yield f"{id}.confidence", (0.0, 1.0)


def _spelled(id: str, option: str) -> str:
    plain = option.isidentifier() and not keyword.iskeyword(option)
    return f"{id}.{option}" if plain else f'{id}["{option}"]'


def evidence_of(answers: Mapping[str, Answer]) -> dict[str, Any]:
    """What the answers say, as JSON: a number for a noul, a number and a level for a score, an object for a choice, null for
    what has no answer."""
    found: dict[str, Any] = {}
    for id, answer in answers.items():
        if isinstance(answer, NoulAnswer):
            found[id] = answer.probability
        elif isinstance(answer, ScoreAnswer):
            found[id] = answer.normalized
            found[f"{id}_level"] = answer.level
        elif isinstance(answer, ChoiceAnswer):
            derived = (answer.choice, answer.probability, answer.confidence)
            found[id] = {**answer.probabilities, **dict(zip(DERIVED, derived, strict=True))}
        else:
            found[id] = None
    return found


@frozen(slots=True)
class Values:
    """A scope: the values of names, choices spelled `action.approve`."""

    values: Mapping[str, Any]

    @classmethod
    def of(cls, evidence: Mapping[str, Any], score: float | None = None) -> Values:
        values = {}
        for name, value in evidence.items():
            if isinstance(value, Mapping):
                values.update({f"{name}.{key}": item for key, item in value.items()})
            elif value is not None:
                values[name] = value
        if score is not None:
            values[SCORE] = score
        return cls(values)

    def lookup(self, name: str) -> Any:
        if name.endswith("]"):
            name = name[:-1].replace("[", ".", 1)
        if name not in self.values:
            raise Missing(name, "has no value")
        return self.values[name]

    def call(self, function: str, arguments: list[Reference | Any]) -> Any:
        values = [self.lookup(each.name) if isinstance(each, Reference) else each for each in arguments]
        if function in ("int", "float", "bool"):
            convert: type[int] | type[float] = {"int": int, "float": float, "bool": bool}[function]
            return convert(_number(values[0], conditions=True))
        numbers = [_number(value) for value in values]
        if function == "round":
            digits = numbers[1] if len(numbers) > 1 else 0
            if digits not in range(16):
                raise TypeError(f"round() to {digits} digits")
            return round(numbers[0], int(digits))
        return abs(numbers[0]) if function == "abs" else min(numbers) if function == "min" else max(numbers)


def _number(value: Any, *, conditions: bool = False) -> Any:
    if isinstance(value, int | float) and (conditions or not isinstance(value, bool)):
        return value
    raise TypeError(f"{shorten(value, 40)} is not a number")
