"""Whether what was retrieved is useful, and ranked so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from yb_eval_decision.answers import Answer
from yb_eval_decision.cuts import parts_of
from yb_eval_decision.eval import Eval
from yb_eval_decision.evals.support import ItemQuestions, Items
from yb_eval_decision.parameters import parameter
from yb_eval_decision.questions import Noul, Question, Task
from yb_eval_decision.results import Result
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import fields


@lru_cache(maxsize=4096)
def _question(chunk: str, with_reference: bool) -> Noul:
    asked = f"Is `{chunk}` useful for answering `request`"
    reads = ("request", "reference", chunk) if with_reference else ("request", chunk)
    task = Task("relevance", {"question": "request", "text": chunk})
    return Noul(f"{asked} as `reference` does?" if with_reference else f"{asked}?", task=task, reads=reads)


@lru_cache(maxsize=1024)
def _chunk_questions(chunks: tuple[tuple[str, ...], ...], with_reference: bool) -> ItemQuestions:
    return ItemQuestions.of("chunk", ([_question(path, with_reference) for path in paths] for paths in chunks))


def average_precision(flags: Sequence[bool]) -> float:
    """The mean, over the hits, of the precision at each hit's rank; 0 without hits. Manning, Raghavan and Schütze,
    Introduction to Information Retrieval (2008), section 8.4."""
    hits, total = 0, 0.0
    for rank, hit in enumerate(flags, start=1):
        if hit:
            hits += 1
            total += hits / rank
    return total / hits if hits else 0.0


class ContextPrecision(Eval):
    """Are the useful contexts ranked first?

    One question a chunk (`chunk0`, `chunk1`, ...; `chunk0.w0`, ... for one that is longer than a window): is it useful for
    answering the request, as the reference does where there is one? A chunk counts as useful from `chunk_threshold` on, and the
    score is the average precision of the ranking; it passes from `threshold` on. A chunk that turns out useful can raise or
    lower that score, so one chunk without an answer, or beyond `max_contexts`, leaves the eval unmeasured.
    """

    category = "quality"
    requires = ("input", "contexts")
    partial = True

    chunk_threshold = parameter(0.5, help="The p from which a chunk is useful.", minimum=0.0, maximum=1.0)
    max_contexts = parameter(100, help="Chunks asked about; with more, the eval is unmeasured.", minimum=1)

    def state(self, s: Sample) -> Mapping[str, Any]:
        return fields(s, "request", "contexts", *(["reference"] if s.expected else []))

    def questions(self, s: Sample) -> Mapping[str, Question]:
        return self._asked(s).questions

    def _asked(self, s: Sample) -> ItemQuestions:
        contexts = fields(s, "contexts")["contexts"]
        paths: dict[str, list[str]] = {}
        for part in parts_of("contexts", contexts):
            held = contexts if part == "contexts" else contexts[part.partition(".")[2]]
            for chunk in held:
                paths.setdefault(chunk, []).append(f"{part}.{chunk}")
        return _chunk_questions(tuple(map(tuple, paths.values()))[: self.max_contexts], bool(s.expected))

    def reduce(self, answers: Mapping[str, Answer], s: Sample) -> Result:
        asked = self._asked(s).answered(answers)
        n = len(s.contexts)
        items = Items.read("chunk", asked, self.chunk_threshold, beyond=n - len(asked),
                           limit=f"max_contexts={self.max_contexts}")  # fmt: skip
        useless = items.below(self.chunk_threshold)
        evidence = {"per_chunk": items.p, "irrelevant": useless, "unmeasured": items.gaps}
        if items.gaps:
            return items.unmeasured(evidence=evidence)
        flags = [index not in set(useless) for index in range(n)]
        score = average_precision(flags)
        irrelevant = f", irrelevant: {', '.join(map(str, useless))}" if useless else ""
        return Result(
            score=score,
            passed=score >= self.threshold,
            detail=f"{sum(flags)}/{n} chunks useful{irrelevant}",
            evidence={**evidence, "relevant": flags},
        )
