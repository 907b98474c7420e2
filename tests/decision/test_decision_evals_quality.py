"""The evals of an answer: relevance, precision of retrieval, agreement, rubrics, refusals."""

import importlib.util
import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.evals.retrieval import average_precision
from yb_eval_decision.means import mean
from yb_eval_decision.quality import (
    AnswerRelevancy,
    Coherence,
    Completeness,
    ContextPrecision,
    Correctness,
    CustomRubric,
    InstructionFollowing,
    Refusal,
)


def _kit():
    spec = importlib.util.spec_from_file_location(
        "decision_evals_kit", Path(__file__).with_name("decision_evals_kit.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = _kit()


RAG = {
    "input": "How long may I return a thing?",
    "output": "You may return it within 30 days.",
    "expected": "30 days.",
    "contexts": ["Returns: 30 days.", "We are open on Sundays.", "Returns need the receipt."],
}


# --- answer relevancy


@given(st.lists(st.integers(1, 50), min_size=4, max_size=4), st.floats(0, 1), st.floats(0, 1))
def test_relevancy_is_the_level_times_the_chance_of_a_real_answer(weights, evasion, threshold):
    p = [w / sum(weights) for w in weights]
    result = kit.result(AnswerRelevancy(threshold=threshold), RAG, {"relevance": p, "noncommittal": evasion})
    expected = (p[1] + 2 * p[2] + 3 * p[3]) / 3 * (1 - evasion)
    assert result.score == pytest.approx(expected)
    assert result.passed is (result.score >= threshold)
    assert result.evidence["noncommittal"] == evasion


def test_relevancy_needs_both_answers():
    result = kit.result(AnswerRelevancy(), RAG, {"relevance": [0, 0, 0, 1]})
    assert (result.status, result.score) == ("error", None)
    assert result.reason.startswith("noncommittal: ")


def test_relevancy_names_its_parts_for_models_that_know_tasks():
    questions = kit.ask(AnswerRelevancy(), RAG).questions
    assert dict(questions["relevance"].task.parts) == {"question": "request", "text": "final_answer"}
    assert dict(questions["noncommittal"].task.parts) == {"answer": "final_answer"}


def test_issue_22_relevancy_judges_the_turn_the_answer_belongs_to():
    messages = [
        {"role": "user", "content": "Сколько стоит доставка?"},
        {"role": "assistant", "content": "300 рублей."},
        {"role": "user", "content": "А когда привезут?"},
        {"role": "assistant", "content": "Завтра."},
    ]
    state = kit.ask(AnswerRelevancy(), {"messages": messages}).state
    assert (state["request"], state["final_answer"]) == ("А когда привезут?", "Завтра.")


# --- context precision


def by_definition(flags):
    """Average precision with exact fractions, straight from the definition."""
    ranks = [rank for rank, hit in enumerate(flags, 1) if hit]
    precisions = [Fraction(sum(flags[:rank]), rank) for rank in ranks]
    return sum(precisions, Fraction(0)) / len(ranks) if ranks else Fraction(0)


@given(st.lists(st.booleans(), max_size=12))
def test_average_precision_is_that_of_the_definition(flags):
    assert average_precision(flags) == pytest.approx(float(by_definition(flags)))


@given(st.lists(st.booleans(), min_size=1, max_size=9))
def test_no_order_of_the_same_chunks_is_better_than_the_useful_ones_first(flags):
    best = average_precision(sorted(flags, reverse=True))
    assert best == (1.0 if any(flags) else 0.0)
    assert average_precision(flags) <= best


@pytest.mark.parametrize(
    ("p", "score"),
    [([0.9, 0.1, 0.9], (1 + 2 / 3) / 2), ([0.1, 0.1, 0.5], 1 / 3), ([0.1, 0.1, 0.1], 0.0), ([0.9, 0.9, 0.9], 1.0)],
)
def test_context_precision_by_hand(p, score):
    result = kit.result(ContextPrecision(), RAG, {f"chunk{n}": each for n, each in enumerate(p)})
    assert (result.score, result.passed) == (pytest.approx(score), score >= 0.5)
    assert result.evidence["irrelevant"] == [n for n, each in enumerate(p) if each < 0.5]
    assert result.evidence["relevant"] == [each >= 0.5 for each in p]


def test_issue_18_a_chunk_without_an_answer_shifts_no_rank():
    result = kit.result(ContextPrecision(), RAG, {"chunk0": 0.9, "chunk2": 0.1})
    assert (result.status, result.score) == ("error", None)
    assert result.evidence["per_chunk"] == [0.9, None, 0.1]
    assert result.evidence["irrelevant"] == [2]
    assert result.reason.startswith("no answer on chunk1 of 3: ")


def test_precision_is_not_monotone_so_a_gap_is_never_filled():
    assert average_precision([True, False, True]) < average_precision([True, False, False])


def test_chunks_beyond_the_limit_are_said():
    one = ContextPrecision(max_contexts=2)
    assert list(kit.ask(one, RAG).questions) == ["chunk0", "chunk1"]
    result = kit.result(one, RAG, {"chunk0": 0.9, "chunk1": 0.9})
    assert result.status == "abstained"
    assert result.reason == "no answer on chunk2 of 3: beyond max_contexts=2, not asked about"


def test_the_reference_counts_where_there_is_one():
    with_reference = kit.ask(ContextPrecision(), RAG)
    assert "reference" in with_reference.state
    assert "reference" in with_reference.questions["chunk0"].instructions
    without = kit.ask(ContextPrecision(), {k: v for k, v in RAG.items() if k != "expected"})
    assert "reference" not in without.state
    assert "reference" not in without.questions["chunk0"].instructions


def test_a_useful_passage_in_the_middle_of_a_long_chunk_is_found():
    contexts = ["short", "filler " * 1500 + "Returns: 30 days. " + "filler " * 1500]
    asked = kit.ask(ContextPrecision(), {**RAG, "contexts": contexts})
    assert "chunk0" in asked.questions
    assert sum(id.startswith("chunk1.w") for id in asked.questions) > 2

    def useful(id, question, state):
        return 0.9 if "30 days" in kit.look_up(state, question.task.parts["text"]) else 0.1

    result = kit.result(ContextPrecision(), {**RAG, "contexts": contexts}, useful)
    assert result.evidence["relevant"] == [False, True]
    assert result.score == 0.5


@given(st.lists(st.integers(1, 9000), min_size=1, max_size=7))
def test_every_chunk_keeps_its_rank_however_they_are_divided(sizes):
    contexts = [f"{n}:" + "x" * size for n, size in enumerate(sizes)]
    sample = {**RAG, "contexts": contexts}

    def useful(id, question, state):
        return 0.9 if kit.look_up(state, question.task.parts["text"]).startswith(("0:", "2:", "4:")) else 0.1

    flags = kit.result(ContextPrecision(), sample, useful).evidence["relevant"]
    assert flags == [n % 2 == 0 and n < 5 for n in range(len(sizes))]


# --- rubrics


@pytest.mark.parametrize(
    ("kind", "threshold"), [(Correctness, 0.66), (Completeness, 0.66), (Coherence, 0.5)]
)  # fmt: skip
def test_a_rubric_of_four_levels_passes_from_its_threshold_on(kind, threshold):
    one = kind()
    assert one.threshold == threshold
    assert list(kit.ask(one, RAG).questions) == ["q"]
    for level, expected in enumerate((0.0, 1 / 3, 2 / 3, 1.0)):
        p = [0.0] * 4
        p[level] = 1.0
        result = kit.result(one, RAG, {"q": p})
        assert (result.score, result.passed) == (pytest.approx(expected), expected >= threshold)


def test_instruction_following_needs_an_instruction():
    assert kit.result(InstructionFollowing(), {"output": "ok"}).reason.startswith("no instructions")
    assert kit.result(InstructionFollowing(), {"output": "ok", "system_prompt": "Be brief."}, {"q": 0.9}).passed is True


def test_an_own_rubric_sees_the_fields_it_names():
    one = CustomRubric(instructions="How polite is output?", levels=["rude", "neutral", "polite"], name="polite")
    asked = kit.ask(one, RAG)
    assert asked.state == {"input": RAG["input"], "output": RAG["output"]}
    assert one.name == "polite"
    result = kit.result(one, RAG, {"q": [0.0, 0.5, 0.5], "enough": 0.9})
    assert (result.score, result.passed) == (pytest.approx(0.75), True)


def test_an_own_rubric_may_read_any_field_of_a_sample():
    one = CustomRubric(instructions="Does output fit expected?", levels=["no", "yes"], fields=["output", "expected"])
    assert kit.ask(one, RAG).state == {"output": RAG["output"], "expected": "30 days."}
    result = kit.result(one, {"output": "x"})
    assert (result.status, result.reason) == ("skipped", "missing expected")


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ({"levels": ["a", "b"]}, "needs instructions"),
        ({"instructions": "How?"}, "needs levels"),
        ({"instructions": "", "levels": ["a", "b"]}, "instructions"),
        ({"instructions": "How?", "levels": ["a"]}, "2 to 10 levels"),
        ({"instructions": "How?", "levels": "ab"}, "levels"),
        ({"instructions": "How?", "levels": ["good", "fair", " good "]}, "levels 0 and 2 are the same: ' good '"),
        ({"instructions": "How?", "levels": ["a", "b"], "fields": ["inptu"]}, "did you mean 'input'"),
        ({"instructions": "How?", "levels": ["a", "b"], "fields": "output"}, "a list of fields"),
        ({"instructions": "How?", "levels": ["a", "b"], "fields": []}, "a list of fields"),
        ({"instructions": "How?", "levels": ["a", "b"], "threshhold": 1}, "threshold"),
        ({"instructions": "How?", "levels": ["a", "b"], "name": "No Name"}, "lower-case"),
    ],
)
def test_an_own_rubric_is_checked_when_it_is_made(arguments, hint):
    with pytest.raises(UsageError, match=hint):
        CustomRubric(**arguments)


def test_instructions_of_a_rubric_may_be_structured():
    one = CustomRubric(instructions={"grade": "output", "by": ["tone"]}, levels=["a", "b"], insufficient=False)
    assert kit.ask(one, RAG).questions["q"].instructions == {"grade": "output", "by": ["tone"]}


# --- refusal


def kinds(**p):
    names = ("answered", "partial", "warranted_refusal", "over_refusal", "insufficient_evidence")
    return {name: p.get(name, 0.0) for name in names}


@pytest.mark.parametrize(
    ("p", "score", "passed"),
    [
        (kinds(answered=0.9, over_refusal=0.1), 0.9, True),
        (kinds(warranted_refusal=0.6, over_refusal=0.4), 0.6, True),
        (kinds(over_refusal=0.8, partial=0.2), 0.2, False),
        (kinds(partial=0.4, over_refusal=0.3, answered=0.3), 0.7, True),
    ],
)
def test_only_an_over_refusal_fails(p, score, passed):
    result = kit.result(Refusal(), RAG, {"kind": p})
    assert (result.score, result.passed) == (pytest.approx(score), passed)
    assert result.answer == max(p, key=p.get)


def test_a_refusal_that_cannot_be_judged_is_an_abstention():
    assert kit.result(Refusal(), RAG, {"kind": kinds(insufficient_evidence=0.9, answered=0.1)}).status == "abstained"
    question = kit.ask(Refusal(), RAG).questions["kind"]
    assert question.abstain == "insufficient_evidence"
    assert dict(question.task.parts) == {"request": "request", "answer": "final_answer"}


# --- the mean


def test_the_mean_of_nothing_is_none():
    assert mean([]) is None
    assert mean([True, False, True, True]) == 0.75
    assert mean(x / 4 for x in range(5)) == 0.5


def test_every_missing_field_is_named():
    for kind, lacking in [(Correctness, "expected"), (Completeness, "input"), (ContextPrecision, "contexts")]:
        sample = {k: v for k, v in RAG.items() if k != lacking}
        result = kit.result(kind(), sample)
        assert (result.status, result.reason) == ("skipped", f"missing {lacking}")


def test_flags_of_a_few_chunks_all_ways():
    for flags in itertools.product([True, False], repeat=3):
        answers = {f"chunk{n}": 0.8 if flag else 0.2 for n, flag in enumerate(flags)}
        assert kit.result(ContextPrecision(), RAG, answers).score == pytest.approx(float(by_definition(flags)))
