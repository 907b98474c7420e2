"""The calls of a whole trace against the expected ones: code only, no question is asked.

An empty `expected_tool_calls` is an expectation like any other: no tool should be called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from yb_eval.errors import printable
from yb_eval_decision.answers import Answer
from yb_eval_decision.eval import Eval
from yb_eval_decision.evals.calls import Key, expected_keys, in_common, longest_in_order, made_keys
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import Question
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample

MODES = ("unordered", "strict", "subset", "superset")
#: Calls named in a detail.
_SHOWN = 8


class _CodeEval(Eval):
    """An eval whose result is computed in `pre`; it has no state and no question."""

    category = "agent"
    requires = ("expected_tool_calls",)

    def applicable(self, s: Sample) -> tuple[bool, str]:
        if s.has("messages") or "tool_calls" in s:
            return True, ""
        return False, "missing messages or tool_calls"

    def state(self, s: Sample) -> Mapping[str, Any]:
        return {}

    def questions(self, s: Sample) -> Mapping[str, Question]:
        return {}

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        return self.pre(s)

    def pre(self, s: Sample) -> Result:
        raise NotImplementedError


class TrajectoryMatch(_CodeEval):
    """Were the expected tools called, as `mode` says?

    Calls are compared as multisets: a call that was made twice is there twice. With G the calls made, E those expected and
    |G ∩ E| how many can be paired one with one, the score is

    - `unordered`: |G ∩ E| / |G ∪ E|, the Jaccard index of multisets
    - `strict`: the longest common subsequence of G and E / max(|G|, |E|)
    - `subset` (nothing but what is expected): |G ∩ E| / |G|
    - `superset` (at least what is expected): |G ∩ E| / |E|

    and 1 where the denominator is 0. It passes where the score reaches `threshold`, by default 1: score and verdict never
    disagree. Names alone are compared, unless `match_args`; see `calls` for when arguments agree.
    """

    threshold = 1.0
    mode = parameter("unordered", choices=MODES, help="What must agree: all in any order, all in order, or one side.")
    match_args = parameter(False, help="Whether arguments must agree too.")

    def pre(self, s: Sample) -> Result:
        made, expected = made_keys(s, args=self.match_args), expected_keys(s, args=self.match_args)
        if self.mode == "strict":
            agreeing, of = longest_in_order(made, expected), max(len(made), len(expected))
        else:
            agreeing = in_common(made, expected)
            either = len(made) + len(expected) - agreeing
            of = {"unordered": either, "subset": len(made), "superset": len(expected)}[self.mode]
        score = agreeing / of if of else 1.0
        return Result(
            score=score,
            passed=score >= self.threshold,
            detail=f"{self.mode}: {_named(made)} called, {_named(expected)} expected",
            evidence={"mode": self.mode, "called": _texts(made), "expected": _texts(expected), "agreeing": agreeing},
        )


class ToolCallF1(_CodeEval):
    """How well do the calls made agree with the expected ones, arguments included?

    With tp the calls that can be paired one with one (as multisets: a call made twice counts twice), fp the other calls made
    and fn the other calls expected, F1 = 2 tp / (2 tp + fp + fn); 1 where nothing was called and nothing expected. It passes
    where F1 reaches `threshold`. Precision and recall are in the evidence, null where their denominator is 0.
    """

    def pre(self, s: Sample) -> Result:
        made, expected = made_keys(s, args=True), expected_keys(s, args=True)
        tp = in_common(made, expected)
        fp, fn = len(made) - tp, len(expected) - tp
        score = 2 * tp / (2 * tp + fp + fn) if made or expected else 1.0
        precision = tp / len(made) if made else None
        recall = tp / len(expected) if expected else None
        return Result(
            score=score,
            passed=score >= self.threshold,
            detail=f"precision {_share(precision)}, recall {_share(recall)}",
            evidence={
                "tp": tp, "fp": fp, "fn": fn, "precision": precision, "recall": recall,
                "called": _texts(made), "expected": _texts(expected),
            },
        )  # fmt: skip


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _texts(keys: Sequence[Key]) -> list[str]:
    return [str(each) for each in keys]


def _named(keys: Sequence[Key]) -> str:
    """The tools of `keys` in order, the first ones; `nothing` for none."""
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    return ", ".join(printable(each.name) for each in keys[:_SHOWN]) + more if keys else "nothing"
