"""Grounded, and what all evals share that hold claims against evidence: gaps, limits, long evidence."""

import importlib.util
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.agent import Grounded
from yb_eval_decision.quality import ContextRecall, Faithfulness, Hallucination
from yb_eval_decision.results import Result


def _kit():
    spec = importlib.util.spec_from_file_location(
        "decision_evals_kit", Path(__file__).with_name("decision_evals_kit.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = _kit()


ANSWER = "Your order shipped on Monday. It arrives on Friday. The price was 40 euros."
FOUND = {"status": "shipped", "on": "Monday", "price": 40}


def sample(answer=ANSWER, found=FOUND, **more):
    messages = [
        {"role": "user", "content": "Where is my order?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "find", "args": {}}]},
        {"role": "tool", "tool_call_id": "1", "content": found if isinstance(found, str) else str(found)},
        {"role": "assistant", "content": answer},
    ]
    return {"messages": messages, **more}


def numbered(p, letter="c"):
    return {f"{letter}{index}": each for index, each in enumerate(p)}


def test_each_claim_is_asked_about_by_its_own_id_and_place():
    asked = kit.ask(Grounded(), sample())
    assert list(asked.questions) == ["c0", "c1", "c2"]
    assert asked.state["claims"]["c1"] == "It arrives on Friday."
    assert asked.questions["c1"].task.name == "support"
    assert dict(asked.questions["c1"].task.parts) == {"claim": "claims.c1", "evidence": "tool_results"}


def test_the_score_is_the_share_of_supported_claims():
    result = kit.result(Grounded(), sample(), numbered([0.9, 0.2, 0.5]))
    assert (result.score, result.passed) == (pytest.approx(2 / 3), True)
    assert result.detail == "2/3 claims supported; worst c1 (p = 0.20) 'It arrives on Friday.'"
    assert result.evidence["per_claim"] == [0.9, 0.2, 0.5]
    assert result.evidence["unsupported"] == [1]


def test_both_thresholds_count():
    answers = numbered([0.9, 0.2, 0.5])
    assert kit.result(Grounded(threshold=0.7), sample(), answers).passed is False
    assert kit.result(Grounded(claim_threshold=0.6), sample(), answers).score == pytest.approx(1 / 3)


@given(st.lists(st.integers(0, 100).map(lambda n: n / 100), min_size=3, max_size=3), st.floats(0, 1), st.floats(0, 1))
def test_score_and_verdict_follow_from_the_probabilities(p, threshold, claim_threshold):
    one = Grounded(threshold=threshold, claim_threshold=claim_threshold)
    result = kit.result(one, sample(), numbered(p))
    share = sum(each >= claim_threshold for each in p) / 3
    assert (result.score, result.passed) == (share, share >= threshold)


# --- weakness 18: gaps and limits


def test_issue_18_a_missing_answer_moves_no_other_claim():
    result = kit.result(Grounded(threshold=0.5), sample(), {"c0": 0.1, "c2": 0.9})
    assert result.status == "error"
    assert result.reason.startswith("no answer on c1 of 3: no answer came back")
    assert result.evidence["per_claim"] == [0.1, None, 0.9]
    assert result.evidence["unsupported"] == [0]
    assert (result.score, result.passed) == (None, None)


@pytest.mark.parametrize(
    ("known", "threshold", "passed"),
    [({"c0": 0.1, "c1": 0.1}, 0.5, False), ({"c0": 0.9, "c1": 0.9}, 0.5, True), ({"c0": 0.9, "c1": 0.9}, 2 / 3, True)],
)
def test_a_verdict_stands_where_the_gap_cannot_change_it(known, threshold, passed):
    result = kit.result(Grounded(threshold=threshold), sample(), known)
    assert (result.status, result.score, result.passed) == ("measured", None, passed)
    assert "1 unmeasured, which do not change the verdict" in result.detail


@given(st.lists(st.sampled_from([0.1, 0.9, None]), min_size=3, max_size=3), st.sampled_from([0.2, 0.5, 0.7, 1.0]))
def test_with_gaps_there_is_a_verdict_exactly_where_every_way_to_fill_them_gives_it(p, threshold):
    result = kit.result(
        Grounded(threshold=threshold), sample(), {k: v for k, v in numbered(p).items() if v is not None}
    )
    ways = [[]]
    for each in p:
        ways = [[*way, value] for way in ways for value in ([each] if each is not None else [0.0, 1.0])]
    verdicts = {sum(each >= 0.5 for each in way) / 3 >= threshold for way in ways}
    assert result.measured is (len(verdicts) == 1)
    assert result.passed is (verdicts.pop() if len(verdicts) == 1 else None)
    assert (result.score is None) is (None in p)


@pytest.mark.parametrize(
    ("first", "second", "worst"),
    [("abstained", "refused", "refused"), ("refused", "error", "error"), ("abstained", "abstained", "abstained")],
)
def test_the_worst_gap_names_the_state(first, second, worst):
    answers = {"c0": kit.gone(first, "first"), "c1": kit.gone(second, "second"), "c2": 0.9}
    result = kit.result(Grounded(), sample(), answers)
    assert result.status == worst
    assert result.reason.startswith("no answer on c0, c1 of 3: ")


def test_issue_18_claims_beyond_the_limit_are_unmeasured_and_said():
    answer = " ".join(f"Item {n} costs {n} euros." for n in range(10, 40))
    one = Grounded(max_claims=20)
    assert len(kit.ask(one, sample(answer)).questions) == 20
    result = kit.result(one, sample(answer), numbered([0.9] * 14 + [0.1] * 6))
    assert result.status == "abstained"
    assert (
        result.reason == "no answer on c20, c21, c22, c23, c24 and 5 more of 30: beyond max_claims=20, not asked about"
    )
    assert result.evidence["per_claim"][20:] == [None] * 10
    assert kit.result(one, sample(answer), numbered([0.9] * 20)).passed is True
    assert kit.result(one, sample(answer), numbered([0.1] * 20)).passed is False


def test_by_default_a_long_answer_is_asked_about_whole():
    answer = " ".join(f"Item {n} costs {n} euros." for n in range(100, 200))
    assert len(kit.ask(Grounded(), sample(answer)).questions) == 100


# --- what the evidence is


def test_long_evidence_is_divided_so_that_padding_hides_nothing():
    found = "filler " * 1000 + "It arrives on Friday." + " filler" * 2000
    asked = kit.ask(Grounded(), sample("It arrives on Friday.", found))
    assert list(asked.questions) == [f"c0.w{n}" for n in range(len(asked.state["evidence"]))]
    assert len(asked.questions) > 2

    def support(id, question, state):
        part = kit.look_up(state, question.task.parts["evidence"])
        return 0.95 if "It arrives on Friday." in str(part) else 0.02

    result = kit.result(Grounded(), sample("It arrives on Friday.", found), support)
    assert result.score == 1.0
    assert result.evidence["per_claim"] == [0.95]


def test_a_part_without_an_answer_matters_only_where_no_other_part_supports_the_claim():
    found = "filler " * 1700
    one = sample("It arrives on Friday.", found)
    ids = list(kit.ask(Grounded(), one).questions)
    assert len(ids) == 3
    assert kit.result(Grounded(), one, {ids[0]: 0.9}).score == 1.0
    assert kit.result(Grounded(), one, {ids[1]: 0.5}).score == 1.0
    assert kit.result(Grounded(), one, {ids[0]: 0.1, ids[1]: 0.2}).status == "error"


def test_the_worst_of_the_parts_without_an_answer_stands_for_the_claim():
    one = sample("It arrives on Friday.", "filler " * 1700)
    first, second, third = kit.ask(Grounded(), one).questions
    answers = {first: kit.gone("abstained", "cannot tell"), second: kit.gone("refused", "will not"), third: 0.1}
    result = kit.result(Grounded(), one, answers)
    assert (result.status, result.reason) == ("refused", "no answer on c0 of 1: will not")


def test_the_first_of_many_results_still_counts_as_evidence():
    messages = [{"role": "user", "content": "go"}]
    for n in range(30):
        messages.append({"role": "assistant", "content": "", "tool_calls": [{"id": str(n), "name": "f", "args": {}}]})
        messages.append({"role": "tool", "tool_call_id": str(n), "content": f"found {n}"})
    messages.append({"role": "assistant", "content": "The first was 0."})
    asked = kit.ask(Grounded(), {"messages": messages})
    part = kit.look_up(asked.state, asked.questions["c0"].task.parts["evidence"])
    assert part["r0"] == "found 0"
    assert len(part) == 30


def test_results_of_earlier_turns_are_evidence_too():
    more = [{"role": "user", "content": "And the price?"}, {"role": "assistant", "content": "It was 40 euros."}]
    one = sample()
    asked = kit.ask(Grounded(), {"messages": [*one["messages"], *more]})
    assert asked.state["claims"] == {"c0": "It was 40 euros."}
    assert asked.state["tool_results"]["r0"]["turn"] == "earlier"


def test_contexts_are_the_evidence_where_no_tool_returned_anything():
    asked = kit.ask(
        Grounded(), {"input": "When?", "output": "On Friday it comes.", "contexts": ["It comes on Friday."]}
    )
    assert asked.questions["c0"].task.parts["evidence"] == "contexts"
    assert asked.state["contexts"] == {"chunk_0": "It comes on Friday."}


@pytest.mark.parametrize(
    ("given_sample", "reason"),
    [
        ({"messages": [{"role": "user", "content": "hi"}], "tool_result": "x"}, "no final answer"),
        ({"input": "hi", "output": "It is 5."}, "no tool results and no contexts"),
        ({"input": "hi", "output": "Hello!", "contexts": ["x"]}, "no claims: the final answer asserts nothing"),
        ({"contexts": ["x"]}, "missing messages"),
    ],
)
def test_what_cannot_be_grounded_is_skipped_with_the_reason(given_sample, reason):
    result = kit.result(Grounded(), given_sample)
    assert (result.status, result.reason) == ("skipped", reason)


def test_issue_24_headings_greetings_and_list_intros_are_no_claims():
    answer = "Hello!\n\n# Your order\n\nHere is what I found:\n\n- It shipped on Monday.\n- It costs 40 euros.\n\nAnything else?"
    asked = kit.ask(Grounded(), sample(answer))
    assert list(asked.state["claims"].values()) == ["It shipped on Monday.", "It costs 40 euros."]


def test_a_russian_answer_is_split_into_its_claims():
    answer = "Здравствуйте! Заказ отправлен в понедельник. Он стоит 40 руб. и придёт в пятницу, т.е. 14 мая."
    result = kit.result(Grounded(), sample(answer, "отправлен в пн, 40 руб."), {"c0": 0.9, "c1": 0.3})
    assert result.evidence["claims"] == [
        "Заказ отправлен в понедельник.",
        "Он стоит 40 руб. и придёт в пятницу, т.е. 14 мая.",
    ]
    assert result.score == 0.5


def test_a_sentence_without_end_is_several_claims_and_none_is_cut():
    log = "x1 " * 1500
    asked = kit.ask(Grounded(), sample(log))
    pieces = list(asked.state["claims"].values())
    assert "".join(pieces) == log.strip()
    assert all(len(piece) <= 1000 for piece in pieces)


def test_hostile_text_in_a_claim_stays_on_one_line_of_the_detail():
    answer = "It shipped\x1b[31m on Monday\u2028now and here."
    detail = kit.result(Grounded(), sample(answer), {"c0": 0.9}).detail
    assert detail.isprintable()


# --- faithfulness and its kin


RAG = {"input": "When?", "output": ANSWER, "contexts": ["It shipped on Monday.", "40 euros."], "expected": ANSWER}


def test_faithfulness_wants_seven_tenths_of_the_statements():
    result = kit.result(Faithfulness(), RAG, numbered([0.9, 0.1, 0.9], "s"))
    assert (result.score, result.passed) == (pytest.approx(2 / 3), False)
    assert kit.result(Faithfulness(), RAG, numbered([0.9, 0.9, 0.9], "s")).passed is True


def test_hallucination_is_the_rest_and_agrees_with_faithfulness():
    for p in ([0.9, 0.1, 0.9], [0.9, 0.9, 0.9], [0.1, 0.1, 0.1]):
        faithful = kit.result(Faithfulness(), RAG, numbered(p, "s"))
        made_up = kit.result(Hallucination(), RAG, numbered(p, "s"))
        assert made_up.score == faithful.score
        assert made_up.probability == pytest.approx(1 - faithful.score)
        assert made_up.passed is faithful.passed
    assert made_up.detail.startswith("3/3 statements unsupported")


def test_hallucination_passes_at_three_tenths_exactly():
    answer = " ".join(f"Item {n} costs {n} euros." for n in range(10, 20))
    one = {**RAG, "output": answer}
    assert kit.result(Hallucination(), one, numbered([0.9] * 7 + [0.1] * 3, "s")).passed is True
    assert kit.result(Hallucination(), one, numbered([0.9] * 6 + [0.1] * 4, "s")).passed is False


def test_faithfulness_grounded_and_hallucination_ask_the_very_same_questions():
    asked = [kit.ask(one, RAG).questions for one in (Faithfulness(), Hallucination(), Grounded())]
    for own in zip(*(each.values() for each in asked), strict=True):
        assert own[0] is own[1] is own[2]


@pytest.mark.parametrize("output", ["I don't know.", "К сожалению, я не могу ответить на этот вопрос.", "Hello!"])
def test_public_issue_ragas_580_an_answer_without_claims_is_skipped_and_not_nan(output):
    result = kit.result(Faithfulness(), {**RAG, "output": output})
    assert (result.status, result.score) == ("skipped", None)
    assert result.reason == "no claims: the final answer asserts nothing"


def test_context_recall_holds_the_reference_against_the_contexts():
    asked = kit.ask(ContextRecall(), RAG)
    assert list(asked.questions) == ["r0", "r1", "r2"]
    assert asked.state["reference_claims"]["r2"] == "The price was 40 euros."
    result = kit.result(ContextRecall(), RAG, numbered([0.9, 0.1, 0.1], "r"))
    assert (result.score, result.passed) == (pytest.approx(1 / 3), False)


def test_long_contexts_are_divided_and_none_is_left_out():
    contexts = [f"chunk number {n} " + "filler " * 200 for n in range(12)]
    asked = kit.ask(Faithfulness(), {**RAG, "contexts": contexts})
    assert len(asked.questions) > 3
    for n in range(12):
        assert f"chunk number {n} " in str(asked.state["contexts"])


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ({"threshold": 1.2}, "out of range"), ({"claim_threshold": "high"}, "number"), ({"max_claims": 0}, "at least 1"),
        ({"claim_treshold": 0.4}, "claim_threshold"), ({"threshold": float("nan")}, "out of range"),
        ({"max_claims": True}, "number"),
    ],
)  # fmt: skip
def test_issue_27_arguments_are_checked(wrong, hint):
    with pytest.raises(UsageError, match=hint):
        Grounded(**wrong)


def test_nothing_measured_is_no_pass():
    assert not kit.result(Grounded(), sample(), {})
    assert not Result.unmeasured("abstained", "x")
