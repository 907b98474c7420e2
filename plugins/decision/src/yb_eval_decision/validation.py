"""Reading answers: whatever a backend sends back becomes, for every question asked, a checked answer or the reason why not.

The wire is System One's:

```
{"type": "noul", "noul": 0.9}            also as "probability", "p" or "probabilities": {"true": 0.9, "false": 0.1}
{"type": "choice", "choice": "x", "probabilities": {"x": 0.7, "y": 0.3}, "confidence": 0.4}
{"type": "score", "score": 1.5, "probabilities": {"0": 0.1, "1": 0.3, "2": 0.6}}
{"type": "refusal", "refusal": "..."}
```

Nothing is filled in, clamped or guessed: a probability of 90, a choice without probabilities, a winner that is not the
likeliest are errors of that question. `choice` and `score` may be left out, for they follow from the probabilities; what is
stated must agree with them. Options and levels that are left out count as 0 where the rest sums to 1; a list of levels has all.

How exactly numbers must agree: decision models state probabilities rounded to two decimals, so each may be off by 0.005
(`ROUNDING`). Probabilities are accepted where some distribution that sums to 1 rounds to them, an expected level where it is
that of such a distribution, and a stated winner within 0.01 of the likeliest. The numbers themselves are kept as stated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from operator import mul
from typing import Any, cast

from yb_eval.errors import printable, shorten
from yb_eval_decision.answers import Answer, ChoiceAnswer, NoAnswer, NoAnswerState, NoulAnswer, ScoreAnswer
from yb_eval_decision.questions import Choice, Noul, Question, Score

#: How far a stated probability may be from the true one: half of the last of two decimals.
ROUNDING = 0.005
#: For sums of floats.
_SLACK = 1e-9
#: What wires call the types.
_ALIASES = {"boolean": "noul", "bool": "noul", "predicate": "noul"}
_READY = (NoulAnswer, ChoiceAnswer, ScoreAnswer, NoAnswer)
_ABSENT = object()
_FLOAT = {float}
_STATES = ("abstained", "refused", "error")
#: Characters of a backend's own words that are quoted.
_QUOTED = 200


class _Wrong(Exception):
    """An answer that cannot be taken; its text says what came back."""


def read_answers(
    questions: Mapping[str, Question], raw: Any, *, confidences: Mapping[str, Any] | None = None
) -> dict[str, Answer]:
    """One answer for each of `questions`, in their order, from `raw`: wire answers (or ready `Answer` objects) by id.

    `confidences` are the backend's confidences by id where the wire keeps them apart from the answers. A missing or wrong
    answer is a `NoAnswer("error")` that says what came back, a refusal a `NoAnswer("refused")`, a winning `abstain` option a
    `NoAnswer("abstained")`. Ids that were not asked for change no other answer; see `unasked`. Never raises.
    """
    if not isinstance(raw, Mapping):
        none = NoAnswer("error", f"answers by id are expected, not {_shown(raw)}")
        return dict.fromkeys(questions, none)
    read: dict[str, Answer] = {}
    for id, question in questions.items():
        answer = raw.get(id, _ABSENT)
        if type(answer) is NoulAnswer and type(question) is Noul:  # as most answers of backends that run here are
            p = answer.probability
            if type(p) is float and 0.0 <= p <= 1.0:
                read[id] = answer
                continue
        if answer is _ABSENT:
            read[id] = _missing(id, questions, raw)
            continue
        try:
            if isinstance(answer, _READY):
                read[id] = _checked(question, answer)
            else:
                read[id] = _read(question, answer, (confidences or {}).get(id))
        except _Wrong as wrong:
            read[id] = NoAnswer("error", printable(str(wrong)))
    return read


def read_answer(question: Question, raw: Any) -> Answer:
    """The answer to one question; see `read_answers`."""
    return read_answers({"q": question}, {"q": raw})["q"]


def unasked(questions: Mapping[str, Question], raw: Any) -> tuple[str, ...]:
    """The ids in `raw` that nobody asked for, as a backend that mixes up ids sends them."""
    return tuple(str(id) for id in raw if id not in questions) if isinstance(raw, Mapping) else ()


def _missing(id: str, questions: Mapping[str, Question], raw: Mapping[Any, Any]) -> NoAnswer:
    others = unasked(questions, raw)
    seen = f"; answers to unknown ids came: {', '.join(shorten(other, 40) for other in others[:3])}" if others else ""
    return NoAnswer("error", printable(f"no answer came back for this question{seen}"))


# Answers off the wire


def _read(question: Question, answer: Any, confidence: Any) -> Answer:
    if not isinstance(answer, Mapping):
        raise _Wrong(f"an answer is an object, not {_shown(answer)}")
    kind = answer.get("type", question.type)
    kind = _ALIASES.get(kind, kind) if isinstance(kind, str) else kind
    if kind == "refusal":
        return NoAnswer("refused", _words(answer, "the model refused"))
    if kind == "none":
        return _none(answer)
    if answer.get("error") is not None:
        return NoAnswer("error", _words({"reason": answer["error"]}, "the backend reports an error"))
    if kind != question.type:
        raise _Wrong(f"the question is a {question.type}, the answer is of type {_shown(kind)}")
    if isinstance(question, Noul):
        return _noul(answer)
    stated = _confidence(answer.get("confidence", confidence))
    return _choice(question, answer, stated) if isinstance(question, Choice) else _score(question, answer, stated)


def _none(answer: Mapping[str, Any]) -> NoAnswer:
    state = answer.get("state")
    if state not in _STATES:
        raise _Wrong(f"an answer of type 'none' has a state of {', '.join(_STATES)}, not {_shown(state)}")
    return NoAnswer(cast(NoAnswerState, state), _words(answer, state))


def _noul(answer: Mapping[str, Any]) -> NoulAnswer:
    for name in ("noul", "probability", "p"):
        if answer.get(name) is not None:
            return NoulAnswer(_probability(answer[name], name))
    both = answer.get("probabilities")
    if not isinstance(both, Mapping) or "true" not in both or set(both) - {"true", "false"}:
        raise _Wrong(f"a noul's answer has a probability, this one is {_shown(answer)}")
    yes = _probability(both["true"], "true")
    if "false" in both:
        _check_sum([yes, _probability(both["false"], "false")])
    return NoulAnswer(yes)


def _choice(question: Choice, answer: Mapping[str, Any], confidence: float | None) -> Answer:
    given = answer.get("probabilities")
    if not isinstance(given, Mapping):
        raise _Wrong(f"a choice's answer has probabilities by option, this one is {_shown(answer)}")
    options = question.criteria
    for name in given:
        if name not in options:
            raise _Wrong(f"the question has no option {_shown(name)}")
    p = {name: _probability(given[name], name) if name in given else 0.0 for name in options}
    _check_sum(list(p.values()))
    chosen = answer.get("choice")
    if chosen is None:
        chosen = max(p, key=lambda name: p[name])
    return _chosen(question, ChoiceAnswer(_winner(chosen, p), p, confidence))


def _score(question: Score, answer: Mapping[str, Any], confidence: float | None) -> ScoreAnswer:
    n = len(question.criteria)
    p = _levels(answer, n)
    _check_sum(p)
    expected = sum(level * share for level, share in enumerate(p)) / sum(p)
    stated = answer.get("score")
    if stated is None:
        return ScoreAnswer(expected, p, question.criteria, confidence)
    return ScoreAnswer(_expected(stated, p), p, question.criteria, confidence)


def _levels(answer: Mapping[str, Any], n: int) -> tuple[float, ...]:
    given = answer.get("probabilities")
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) == n:
        return tuple(_probability(share, f"level {level}") for level, share in enumerate(given))
    if not isinstance(given, Mapping):
        raise _Wrong(f"a score's answer has probabilities by level, this one is {_shown(answer)}")
    known = {str(level): level for level in range(n)}
    p: dict[int, float] = {}
    for key, share in given.items():
        level = known.get(key) if isinstance(key, str) else key
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level < n or level in p:
            raise _Wrong(f"the question has levels 0 to {n - 1}, not {_shown(key)}")
        p[level] = _probability(share, f"level {level}")
    return tuple(p.get(level, 0.0) for level in range(n))


# Rules


def _probability(value: Any, name: object) -> float:
    if isinstance(value, float | int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)
    else:
        raise _Wrong(f"the probability of {shorten(name, 40)} is not a number: {_shown(value)}")
    if not 0 <= number <= 1:
        raise _Wrong(f"the probability of {shorten(name, 40)} is not within 0..1: {_shown(value)}")
    return float(number)


def _check_sum(p: Sequence[float]) -> None:
    """Whether some distribution that sums to 1 rounds to `p`."""
    if abs(sum(p) - 1.0) <= ROUNDING < max(p):
        return
    least = sum(share - ROUNDING for share in p if share > ROUNDING)
    most = sum(p) + ROUNDING * len(p)
    if not least - _SLACK <= 1.0 <= most + _SLACK or not any(p):
        raise _Wrong(f"the probabilities sum to {sum(p):.4g}, not to 1")


def _winner(chosen: Any, p: Mapping[str, float]) -> str:
    if not isinstance(chosen, str) or chosen not in p:
        raise _Wrong(f"the question has no option {_shown(chosen)}")
    likeliest = max(p.values())
    if p[chosen] < likeliest - 2 * ROUNDING - _SLACK:
        raise _Wrong(f"it chose {shorten(chosen, 40)} with p = {p[chosen]:.4g}, another option has {likeliest:.4g}")
    return chosen


def _chosen(question: Choice, answer: ChoiceAnswer) -> Answer:
    if question.abstain is not None and answer.choice == question.abstain:
        return NoAnswer("abstained", f"it chose {answer.choice!r} (p = {answer.probability:.2f})")
    return answer


def _expected(stated: Any, p: Sequence[float]) -> float:
    """The stated expected level, which must be that of a distribution that rounds to `p`.

    For p' with |p' - p| <= h and a sum of 1, the expectation is sum((i - c) p'_i) + c for any c, so it differs from
    sum((i - c) p_i) + c by at most h * sum|i - c|; c is the middle level, where the bound is the tightest of that form.
    """
    if isinstance(stated, bool) or not isinstance(stated, Real):
        raise _Wrong(f"the score is not a number: {_shown(stated)}")
    number = float(stated)
    if not 0 <= number <= len(p) - 1:
        raise _Wrong(f"the score is not within 0..{len(p) - 1}: {_shown(stated)}")
    if abs(number - sum(map(mul, range(len(p)), p))) + len(p) * abs(1.0 - sum(p)) <= ROUNDING:
        return number  # within the bound below, whatever it is
    middle = (len(p) - 1) / 2
    expected = sum((level - middle) * share for level, share in enumerate(p)) + middle
    reach = ROUNDING * (1 + sum(abs(level - middle) for level in range(len(p))))
    if abs(number - expected) > reach + _SLACK:
        raise _Wrong(f"the score is {number:.4g}, its probabilities expect level {expected:.4g}")
    return number


def _confidence(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not -2 * ROUNDING <= float(value) <= 1 + 2 * ROUNDING:
        raise _Wrong(f"the confidence is not within 0..1: {_shown(value)}")
    # Computed from rounded probabilities it may lie a little outside.
    return min(1.0, max(0.0, float(value)))


# Answers of backends that run here


def _checked(question: Question, answer: Answer) -> Answer:
    """A ready answer, held against the same rules."""
    if _is_plainly_right(question, answer):
        return answer
    if isinstance(answer, NoulAnswer) and isinstance(question, Noul):
        return NoulAnswer(_probability(answer.probability, "yes"))
    if isinstance(answer, NoAnswer):
        return answer
    if isinstance(answer, ChoiceAnswer) and isinstance(question, Choice):
        if answer.probabilities.keys() != question.criteria.keys():
            raise _Wrong(f"the options answered are not those of the question: {_shown(list(answer.probabilities))}")
        if not _plain(answer.probabilities.values()):
            return _choice(question, answer.to_dict(), _confidence(answer.stated_confidence))
        _check_sum(list(answer.probabilities.values()))
        _winner(answer.choice, answer.probabilities)
        _confidence(answer.stated_confidence)
        return _chosen(question, answer)
    if isinstance(answer, ScoreAnswer) and isinstance(question, Score):
        if len(answer.probabilities) != len(question.criteria):
            raise _Wrong(f"the question has {len(question.criteria)} levels, {len(answer.probabilities)} are answered")
        if not _plain(answer.probabilities):
            return _score(question, answer.to_dict(), _confidence(answer.stated_confidence))
        _check_sum(answer.probabilities)
        _expected(answer.score, answer.probabilities)
        _confidence(answer.stated_confidence)
        return answer
    raise _Wrong(f"the question is a {question.type}, the answer is of type {answer.type!r}")


def _is_plainly_right(question: Question, answer: Answer) -> bool:
    """Whether `answer` keeps all rules to the letter, as most do: what this cannot tell is looked at rule by rule."""
    p: Any
    if type(answer) is ScoreAnswer and type(question) is Score:
        p = answer.probabilities
        if type(p) is not tuple or len(p) != len(question.criteria) or type(answer.score) is not float:
            return False
    elif type(answer) is ChoiceAnswer and type(question) is Choice:
        p = answer.probabilities
        if type(p) is not dict or p.keys() != question.criteria.keys() or answer.choice == question.abstain:
            return False
        p = tuple(p.values())
    else:
        return False
    if answer.stated_confidence is not None or set(map(type, p)) != _FLOAT or min(p) < 0.0 or max(p) > 1.0:
        return False
    if not abs(sum(p) - 1.0) <= _SLACK:  # nor is a sum with a NaN
        return False
    if isinstance(answer, ChoiceAnswer):
        return type(answer.choice) is str and answer.probabilities.get(answer.choice) == max(p)
    return 0.0 <= answer.score <= len(p) - 1 and abs(answer.score - sum(map(mul, range(len(p)), p))) <= _SLACK


def _plain(shares: Iterable[Any]) -> bool:
    """Whether all are floats of Python within 0..1, which need no second look."""
    p = list(shares)
    # The sum: NaN is neither at most nor at least anything, and `min` may pass it over.
    return set(map(type, p)) == _FLOAT and min(p) >= 0.0 and max(p) <= 1.0 and sum(p) <= len(p)


# Words


def _shown(value: Any) -> str:
    return printable(shorten(value))


def _words(answer: Mapping[str, Any], otherwise: str) -> str:
    """The backend's own words, on one line and cut."""
    for name in ("refusal", "reason", "message", "detail"):
        said = answer.get(name)
        if isinstance(said, Mapping):
            said = said.get("message", said)
        if said:
            text = printable(said if isinstance(said, str) else shorten(said, _QUOTED))
            return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"
    return otherwise
