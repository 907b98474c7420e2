"""One eval on one sample, without a backend: what it asks, and what made-up answers come to.

Tests load it by path, since they are no package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from yb_eval_decision.answers import Answer, NoAnswer
from yb_eval_decision.asking import EvalSet
from yb_eval_decision.eval import Eval
from yb_eval_decision.packing import Asked
from yb_eval_decision.questions import Choice, Noul, Question, paths_read
from yb_eval_decision.results import Result, Usage
from yb_eval_decision.sample import Sample
from yb_eval_decision.validation import read_answers

#: Answers by id, or a function of (id, question, state).
Answers = Mapping[str, Any] | Callable[[str, Question, Mapping[str, Any]], Any]


def ask(one: Eval, sample: Any) -> Result | Asked:
    """What `one` asks of `sample`, or its result where it asks nothing. What is asked is held against the house rules."""
    s = Sample.of(sample)
    asked = EvalSet([one]).ask(s)[0]
    if isinstance(asked, Asked):
        for question in asked.questions.values():
            for path in paths_read(question) or ():
                look_up(asked.state, path)
    return asked


def result(one: Eval, sample: Any, answers: Answers = ()) -> Result:  # type: ignore[assignment]
    """The result of `one` on `sample`. An answer is a number (noul), a list (levels), a mapping (options), or a `NoAnswer`."""
    s = Sample.of(sample)
    asked = ask(one, s)
    if isinstance(asked, Result):
        return asked
    raw = {}
    for id, question in asked.questions.items():
        given = answers(id, question, asked.state) if callable(answers) else dict(answers).get(id)
        if given is not None:
            raw[id] = _wire(question, given)
    return EvalSet([one]).conclude(0, read_answers(asked.questions, raw), s, Usage())


def look_up(state: Any, path: str) -> Any:
    """The part of the state at a dotted path; `KeyError` where there is none."""
    for step in path.split("."):
        state = state[step]
    return state


def _wire(question: Question, given: Any) -> Any:
    if isinstance(given, NoAnswer):
        return given
    if isinstance(question, Noul):
        return {"type": "noul", "noul": given}
    kind = "choice" if isinstance(question, Choice) else "score"
    return {"type": kind, "probabilities": given}


def gone(state: str = "error", reason: str = "nothing came back") -> Answer:
    return NoAnswer(state, reason)  # type: ignore[arg-type]
