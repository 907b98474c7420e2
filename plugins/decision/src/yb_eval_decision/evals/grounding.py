"""Claims of the answer, or of the reference, held against what tools or retrieval found."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve

from yb_eval_decision.evals.support import Items, SupportEval
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import results_shown_whole


class Grounded(SupportEval):
    """Is every claim of the final answer supported by the tool results?

    One question a claim (`c0`, `c1`, ...; `c0.w0`, ... where the evidence is longer than a window). The evidence is what the
    tools returned in this turn and before, or where no tool returned anything, the contexts. The score is the share of supported
    claims; see `SupportEval` for thresholds, gaps and limits. Skipped where there is no evidence or the answer asserts nothing.
    """

    category = "agent"
    requires = ("messages",)

    def grounds(self, s: Sample) -> str:
        if not s.tool_results:
            return "contexts"
        return "tool_results" if results_shown_whole(s) else "evidence"

    def applicable(self, s: Sample) -> tuple[bool, str]:
        if not s.final_answer:
            return False, "no final answer"
        if not s.tool_results and not s.contexts:
            return False, "no tool results and no contexts"
        return super().applicable(s)


class Faithfulness(SupportEval):
    """Does every statement of the answer follow from the contexts alone?

    One question a statement (`s0`, `s1`, ...). The score is the share of supported statements, and it passes from `threshold`
    on; see `SupportEval` for gaps and limits. An answer that asserts nothing, as one that declines, is skipped: it is neither
    faithful nor unfaithful.
    """

    category = "quality"
    requires = ("contexts", "output")
    threshold = 0.7
    letter = "s"


class Hallucination(Faithfulness):
    """How much of the answer is made up, held against the contexts?

    Asks what Faithfulness asks. The score is the share of supported statements, `probability` the share of the others; it
    passes where that is at most 1 - `threshold`.
    """

    def told(self, supported: int, unsupported: int, n: int) -> str:
        return f"{unsupported}/{n} statements unsupported"

    def judged(self, items: Items, texts: Sequence[str]) -> Result:
        result = super().judged(items, texts)
        return result if result.score is None else evolve(result, probability=1.0 - result.score)


class ContextRecall(SupportEval):
    """Do the contexts hold everything that the reference states?

    One question a statement of the reference (`r0`, `r1`, ...). The score is the share of statements that the contexts
    support; see `SupportEval` for thresholds, gaps and limits.
    """

    category = "quality"
    requires = ("contexts", "expected")
    letter = "r"
    about = "reference_claims"
