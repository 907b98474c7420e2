"""The user's own rubric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import nearest, shorten
from yb_eval_decision.kinds import ScoreEval, read_levels
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import Question, Score
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import FIELDS, fields

#: The fields of a sample that a rubric may read, and the field of the state that shows them. The state calls them what the
#: rubric calls them.
SHOWN_AS: Mapping[str, str] = {
    "input": "request",
    "output": "final_answer",
    "final_answer": "final_answer",
    "messages": "conversation",
    "system_prompt": "system_prompt",
    "goal": "goal",
    "plan": "plan",
    "expected": "reference",
    "contexts": "contexts",
    "tools": "available_tools",
    "tool_calls": "actions",
    "tool_call": "tool_call",
    "tool_results": "tool_results",
    "steps": "steps",
}
#: Fields that exist in the state only.
_STATE_ONLY = frozenset(FIELDS) - frozenset(SHOWN_AS)


def _instructions(value: Any) -> Any:
    return Score(value, ("no", "yes")).instructions


def _fields(value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or not value:
        raise UsageError(f"a list of fields is expected, not {shorten(value)}", hint="fields=('input', 'output')")
    known = {*SHOWN_AS, *_STATE_ONLY}
    for name in value:
        if not isinstance(name, str) or name not in known:
            raise UsageError(f"a sample has no field {shorten(name)}", hint=nearest(str(name), known))
    return tuple(dict.fromkeys(value))


class CustomRubric(ScoreEval):
    """How does the sample score on a rubric of one's own?

    `instructions` say what is graded, in terms of `fields`; `levels` describe 2 to 10 levels, lowest first. The score is the
    expected level / (number of levels - 1); it passes from `threshold` on. The state holds `fields` under the names given;
    a sample that lacks one is skipped. `name` tells several rubrics apart.
    """

    category = "quality"
    requires = ("input", "output")

    instructions = parameter(required=True, help="What is graded, naming the fields.", check=_instructions)
    levels = parameter(required=True, help="The rubric's levels, lowest first.", check=read_levels)
    fields = parameter(("input", "output"), help="The fields of the sample that are looked at.", check=_fields)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.requires = tuple(name for name in self.fields if name in SHOWN_AS)

    def state(self, s: Sample) -> Mapping[str, Any]:
        return {name: fields(s, shown)[shown] for name in self.fields for shown in (SHOWN_AS.get(name, name),)}

    def applicable(self, s: Sample) -> tuple[bool, str]:
        missing = [name for name, value in self.state(s).items() if not value]
        return not missing, f"missing {', '.join(missing)}"

    def question(self) -> Question:
        return Score(self.instructions, self.levels, reads=self.fields)
