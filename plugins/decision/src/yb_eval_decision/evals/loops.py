"""Whether an agent runs in a circle: counted by code, judged by the model where the count is high."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from yb_eval import UsageError
from yb_eval.errors import printable
from yb_eval_decision.answers import NoulAnswer
from yb_eval_decision.evals.calls import Key, key
from yb_eval_decision.kinds import NoulEval
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import Noul, Question
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import CALLS, calls_made


class LoopDetection(NoulEval):
    """Is the agent stuck, making the same call again without getting on?

    Of the last `window` calls (a call that is only proposed counts as the last) those with the same tool and the same
    arguments are counted, the order of keys in the arguments aside. Where no call is there `min_repeats` times, the eval
    passes with score 1 and asks nothing. Otherwise the model is asked (`stuck`), since polling, paging and a retry repeat
    calls too; the score is 1 - p(stuck), and it passes above `threshold`.
    """

    category = "agent"
    requires = ("messages",)
    reads = ("goal", "actions", "tool_results")
    asked_as = "stuck"
    positive_is_good = False
    criteria: ClassVar[Mapping[str, str] | None] = {
        "true": "The calls repeat and their results bring nothing new.",
        "false": "There is progress, or a good reason to repeat: waiting for a state, turning pages, one retry.",
    }

    window = parameter(6, help="How many of the last calls are looked at.", minimum=2, maximum=CALLS)
    min_repeats = parameter(2, help="How often one call must be there before the model is asked.", minimum=2)

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        if self.min_repeats > self.window:
            raise UsageError(f"no call can be there {self.min_repeats} times in {self.window}", where="LoopDetection",
                             hint="min_repeats is at most window")  # fmt: skip

    def question(self) -> Question:
        asked = f"Do the last {self.window} entries of `actions` repeat calls without getting on with `goal`?"
        return Noul(asked, self.criteria, reads=self.reads)

    def pre(self, s: Sample) -> Result | None:
        _, n, of = self._most_repeated(s)
        if n >= self.min_repeats:
            return None
        return Result(score=1.0, passed=True, probability=0.0, detail=f"no call repeats in the last {of}",
                      evidence={"repeats": n, "calls": of})  # fmt: skip

    def judge(self, answer: NoulAnswer, s: Sample) -> Result:
        call, n, of = self._most_repeated(s)
        score = 1.0 - answer.probability
        tool = printable(call.name) if call is not None else ""
        return Result(
            score=score,
            passed=score > self.threshold,
            probability=answer.probability,
            detail=f"{tool} called {n} times alike in the last {of} calls",
            evidence={"repeats": n, "calls": of, "call": str(call)},
        )

    def _most_repeated(self, s: Sample) -> tuple[Key | None, int, int]:
        """The call that is there most often (the first of equals), how often, and of how many calls."""
        recent = [key(call) for call, _ in calls_made(s)[-self.window :]]
        call, n = next(iter(Counter(recent).most_common(1)), (None, 0))
        return call, n, len(recent)
