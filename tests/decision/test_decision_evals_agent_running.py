"""The evals of agents and of answers, run whole with a backend that answers what it is told."""

import json
import subprocess
import sys

import pytest

import yb_eval_decision.agent as agent
import yb_eval_decision.quality as quality
from yb_eval_decision import Eval, Noul, Result, evaluate, mean, split_sentences
from yb_eval_decision.agent import Grounded, StayedInScope, ToolCallRisk, ToolChoice, UsedToolResult
from yb_eval_decision.backends.base import Limits
from yb_eval_decision.backends.mock import MockBackend
from yb_eval_decision.quality import AnswerRelevancy, Coherence, Completeness, Faithfulness, Hallucination

MESSAGES = [
    {"role": "user", "content": "Где мой заказ 71?"},
    {"role": "assistant", "content": "Посмотрю.", "tool_calls": [{"id": "1", "name": "find", "args": {"n": 71}}]},
    {"role": "tool", "tool_call_id": "1", "content": "в пути, 14 мая"},
    {"role": "assistant", "content": "Заказ 71 в пути. Он придёт 14 мая."},
]
SAMPLE = {
    "messages": MESSAGES,
    "tools": ["find", "cancel"],
    "contexts": ["Заказ 71 придёт 14 мая."],
    "expected": "Он придёт 14 мая.",
    "expected_tool_calls": [{"name": "find", "args": {"n": 71}}],
}


def all_of_them():
    kinds = [getattr(module, name) for module in (agent, quality) for name in module.__all__]
    return [kind() for kind in kinds if kind is not quality.CustomRubric]


def test_issue_25_all_evals_of_both_groups_make_one_request():
    backend = MockBackend(default_noul=0.9)
    report = evaluate(SAMPLE, all_of_them(), backend=backend)
    assert report.usage.requests == len(backend.calls) == 1
    assert len(report) == 23
    assert not [result for result in report if result.status == "error"]
    assert report.tool_call_f1.score == 1.0


def test_the_example_of_the_readme_group():
    evals = [ToolChoice(), UsedToolResult(), Grounded(), StayedInScope(), AnswerRelevancy(), Completeness()]
    answers = {"tool_choice.q": "correct", "grounded.c0": 0.9, "grounded.c1": 0.2, "*.enough": 0.9, "*.q": 0.9,
               "completeness.q": 3, "answer_relevancy.relevance": 3, "noncommittal": 0.1}  # fmt: skip
    report = evaluate(SAMPLE, evals, backend=MockBackend(answers))
    assert report.tool_choice.answer == "correct"
    assert report.grounded.score == 0.5
    assert report["grounded"].detail.startswith("1/2 claims supported")
    assert report.answer_relevancy.score == pytest.approx(0.9)
    assert report.usage.requests == 1


def test_an_own_grounded_as_the_announcement_writes_it():
    class Grounded(Eval):
        """Is the agent's answer supported by the tool results?"""

        requires = ("messages",)

        def state(self, s):
            return {"evidence": s.tool_results, "claims": split_sentences(s.final_answer)}

        def questions(self, s):
            return {f"c{i}": Noul(f"Is claims[{i}] supported by evidence?")
                    for i in range(len(split_sentences(s.final_answer)))}  # fmt: skip

        def reduce(self, answers, s):
            p = [a.probability for a in answers.values()]
            return Result(score=mean(x >= 0.5 for x in p), evidence={"per_claim": p})

    report = evaluate(SAMPLE, [Grounded()], backend=MockBackend({"c0": 0.9, "c1": 0.1}))
    assert report.grounded.score == 0.5
    assert report.grounded.evidence == {"per_claim": [0.9, 0.1]}


def test_a_backend_that_answers_one_claim_less_passes_nothing():
    backend = MockBackend({"grounded.c1": RuntimeError("lost")}, default_noul=0.9)
    report = evaluate(SAMPLE, [Grounded(threshold=0.8)], backend=backend)
    assert (report.grounded.status, report.passed) == ("error", None)
    assert report.grounded.evidence["per_claim"] == [0.9, None]


def test_issue_15_two_of_a_kind_keep_their_own_answers():
    evals = [Coherence(levels=["bad", "good"]), Coherence(name="fine")]
    report = evaluate(SAMPLE, evals, backend=MockBackend({"coherence.q": 1, "fine.q": 0}))
    assert (report.coherence.score, report.fine.score) == (1.0, 0.0)


def test_public_issue_ragas_597_long_evidence_under_a_small_limit_is_asked_in_parts():
    found = "filler " * 5_000 + "Заказ 71 в пути." + " filler" * 5_000
    messages = [*MESSAGES[:2], {**MESSAGES[2], "content": found}, MESSAGES[3]]

    def support(id, question, state):
        part = state
        for step in question.task.parts["evidence"].split("."):
            part = part[step]
        return 0.9 if "Заказ 71 в пути." in json.dumps(part, ensure_ascii=False) else 0.1

    backend = MockBackend(fn=support, limits=Limits(request_tokens=8_000))
    report = evaluate({"messages": messages}, [Grounded()], backend=backend)
    assert report.usage.requests > 1
    assert report.grounded.status == "measured"
    assert report.grounded.evidence["per_claim"] == [0.9, 0.9]


def test_a_risky_call_is_stopped_and_an_unanswered_one_is_not_allowed():
    sample = {"messages": MESSAGES[:1], "tool_call": {"name": "cancel", "args": {"n": 71}}}
    stopped = evaluate(
        sample, [ToolCallRisk()], backend=MockBackend({"action": {"approve": 0.1, "escalate": 0.1, "block": 0.8}})
    )
    assert (stopped.tool_call_risk.action, stopped.passed) == ("block", False)
    down = evaluate(sample, [ToolCallRisk()], backend=MockBackend({"*": RuntimeError("down")}))
    assert (down.tool_call_risk.action, down.passed) == (None, None)


def test_faithfulness_and_hallucination_agree_in_one_report():
    report = evaluate(SAMPLE, [Faithfulness(), Hallucination()], backend=MockBackend({"s0": 0.9, "s1": 0.1}))
    assert report.faithfulness.score == report.hallucination.score == report.hallucination.probability == 0.5
    assert report.faithfulness.passed is report.hallucination.passed is False


def test_importing_the_evals_imports_nothing_heavy():
    code = (
        "import sys, yb_eval_decision.agent, yb_eval_decision.quality;"
        "print([m for m in ('httpx', 'numpy', 'yaml', 'jsonschema', 're2', 'openai', 'click') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
