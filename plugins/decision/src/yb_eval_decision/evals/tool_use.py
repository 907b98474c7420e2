"""Tools: was the right one called, rightly, and was its result used?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from yb_eval_decision.answers import Answer
from yb_eval_decision.kinds import ChoiceEval, NoulEval
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import all_results, whole_call


class ToolChoice(ChoiceEval):
    """Was the right tool called?

    Judged for the turn that the final answer belongs to. The options are `correct`, `unnecessary` (called although known
    already or not asked for), `missing` (not called although needed) and `wrong_tool`; the score is p(correct), and it passes
    where that option is the likeliest. Own `options` need their own `good`. Skipped where no tool is on offer and none was
    called.
    """

    category = "agent"
    requires = ("messages",)
    reads = ("request", "earlier_turns", "available_tools", "actions", "final_answer")
    instructions = (
        "Which option describes the tool use in `actions`, given `request` and `available_tools`? "
        "Entries of `actions` marked with a `turn` belong to other turns and are not judged."
    )
    options = MappingProxyType(
        {
            "correct": "Every tool that `request` needed was called and no other, or none was needed and none was called.",
            "unnecessary": "A tool was called although what it gives was known already or not asked for.",
            "missing": "A tool that `request` needed was not called.",
            "wrong_tool": "A tool was called where another of `available_tools` was the right one.",
        }
    )
    good = ("correct",)

    def applicable(self, s: Sample) -> tuple[bool, str]:
        return bool(s.tools or s.tool_calls), "no tool is on offer and none was called"


class ArgumentValidity(NoulEval):
    """Are all arguments of the tool call right, complete and taken from what was said or found?

    Judges the call given as `tool_call`, else the last one. The score is p; it passes from `threshold` on. A result of the
    call itself is no source for its arguments. Arguments too long to be shown whole are not judged: the eval abstains.
    """

    category = "agent"
    requires = ("tool_call",)
    reads = ("conversation", "tool_call", "tool_schema", "prior_results")
    instructions = (
        "Are all values in `tool_call.args` correct, complete and traceable to `conversation` or `prior_results`, and do they "
        "fit `tool_schema` where there is one? The result that `tool_call.result` names came later and is no source."
    )
    criteria: ClassVar[Mapping[str, str] | None] = {
        "true": "Every value is right and has a source, or is a plain default; no required argument is missing.",
        "false": "A value is invented, wrong, of another type than the schema's, or a required argument is missing.",
    }

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        if not whole_call(s):
            return Result.unmeasured("abstained", "the arguments are too long to be shown whole")
        return super().reduce(answers, s)


class UsedToolResult(NoulEval):
    """Does the answer use what the tools returned?

    Ignoring or contradicting a result is a no. Judged for the turn that the final answer belongs to; skipped where no result
    came back in it. The score is p; it passes from `threshold` on.
    """

    category = "agent"
    requires = ("messages",)
    reads = ("request", "tool_results", "final_answer")
    instructions = (
        "Does `final_answer` use what `tool_results` hold for `request`? "
        "Results marked with a `turn` belong to other turns and need not be used."
    )
    criteria: ClassVar[Mapping[str, str] | None] = {
        "true": "What the answer says agrees with the results that matter for the request and is built on them.",
        "false": "The answer ignores a result that matters, or contradicts one.",
    }

    def applicable(self, s: Sample) -> tuple[bool, str]:
        if not s.final_answer:
            return False, "no final answer"
        return any(turn is None for _, _, _, turn in all_results(s)), "no tool results"
