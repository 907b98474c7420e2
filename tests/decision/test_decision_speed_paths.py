"""Short cuts that spare most samples the long way: they must lead where it leads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_decision import (
    Choice,
    Eval,
    MockBackend,
    Noul,
    Result,
    Sample,
    Score,
    Usage,
    declining,
    sentences,
    validation,
)
from yb_eval_decision.answers import ChoiceAnswer, ScoreAnswer
from yb_eval_decision.assessing import assess
from yb_eval_decision.messages import known
from yb_eval_decision.messages import tools as tools_module
from yb_eval_decision.quality import Faithfulness, Hallucination
from yb_eval_decision.shares import divided

ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60)


@given(st.from_regex(sentences._POLITE, fullmatch=True))
def test_whatever_is_polite_in_ascii_begins_as_the_short_cut_expects(text):
    text = text.strip()
    if text.isascii():
        assert text.lower().startswith(sentences._POLITE_STARTS)


@given(st.from_regex(declining._DECLINES, fullmatch=True))
def test_whatever_declines_in_ascii_begins_as_the_short_cut_expects(text):
    text = text.strip()
    if text.isascii() and any(map(str.isalpha, text)):
        assert text.lower().startswith(declining._STARTS)


@given(ASCII)
def test_a_sentence_declines_whichever_way_it_is_looked_at(text):
    bare = text.strip()
    letters = any(map(str.isalpha, bare))
    assert declining.declines(text) == (letters and declining._DECLINES.fullmatch(bare) is not None)


@pytest.mark.parametrize(
    "text",
    [
        "The delivery is - as we said - late.",
        "Take plan B) or plan C) as you like, both are paid.",
        "It costs 5 * 3 euros in all.",
    ],
)
def test_a_marker_is_one_at_the_beginning_only(text):
    assert sentences.claims(text) == [text.replace(" *", " ")] or sentences.claims(text) == [text]


# What is known already


def tools(**more):
    return [{"name": "find", "description": "Finds.", "parameters": {"type": "object", "default": more.get("default")}}]


@pytest.mark.parametrize(
    ("one", "other"), [(True, 1), (1, 1.0), (0.0, -0.0), (None, "None"), ([1], (1,)), (b"a", bytearray(b"a"))]
)
def test_tools_that_are_nearly_the_same_are_told_apart(one, other):
    for default in (one, other, one):
        fresh = tools_module._tools(*tools(default=default), "tools")
        read = Sample.of({"tools": tools(default=default)}).tools
        assert repr(read) == repr(fresh)


def test_tools_that_changed_are_read_anew_and_no_two_samples_share_them():
    given_ = tools()
    first = Sample.of({"tools": given_}).tools
    second = Sample.of({"tools": given_}).tools
    first[0].parameters["type"] = "changed"
    assert second[0].parameters["type"] == Sample.of({"tools": given_}).tools[0].parameters["type"] == "object"
    given_[0]["description"] = "Finds more."
    assert Sample.of({"tools": given_}).tools[0].description == "Finds more."


def test_a_tool_of_another_type_is_none_of_those_that_were_read():
    class Name(str):
        pass

    Sample.of({"tools": [{"name": "a"}]}).tools  # noqa: B018
    assert known.written([{"name": Name("a")}]) is None
    assert not known.is_json([{"name": b"a"}]) and not known.is_json([{1: "a"}])
    deep = []
    for _ in range(500):
        deep = [deep]
    assert not known.is_json(deep)


def test_what_is_known_is_bounded():
    memo = known.Known()
    for number in range(300):
        memo.keep(b"%d" % number, bytes(known._LARGEST - 10))
        assert sum(len(key) + len(value) for key, value in memo._values.items()) <= known._TOGETHER
    memo.keep(b"large", bytes(known._LARGEST))
    assert memo.get(b"large") is None and memo.get(b"299") is not None


class Changing(Eval):
    """Gives the same mapping each time, with other questions in it."""

    asked = {}

    def state(self, s):
        return {"output": s.output}

    def questions(self, s):
        self.asked.clear()
        self.asked[s.output] = Noul(f"Is it {s.output}?")
        return self.asked

    def reduce(self, answers, s):
        ((id, answer),) = answers.items()
        return Result(score=answer.probability, detail=id)


def test_an_eval_that_changes_its_mapping_of_questions_is_asked_what_it_says_now():
    backend = MockBackend({"a": 0.1, "b": 0.2, "c": 0.3})
    reports = assess([{"output": name} for name in "abcab"], [Changing()], backend)
    assert [(report.changing.detail, report.changing.score) for report in reports] == [
        ("a", 0.1), ("b", 0.2), ("c", 0.3), ("a", 0.1), ("b", 0.2),
    ]  # fmt: skip


def test_evals_that_share_their_questions_keep_their_own_names():
    rag = {"input": "How long?", "output": "It takes ten days.", "contexts": ["It takes ten days."]}
    alone = {**rag, "output": "I do not know.", "plan": "x"}
    backend = MockBackend({"faithfulness.*": 0.9, "hallucination.*": 0.1})
    for sample in (rag, alone, rag):
        report = assess([sample], [Faithfulness(), Hallucination()], backend)[0]
        if report.faithfulness.measured:
            assert (report.faithfulness.score, report.hallucination.score) == (1.0, 0.0)


@given(st.lists(st.sampled_from([0.0, 0.2, 0.25, 0.5, 1.0, float("nan"), True, None, 2.0]), min_size=2, max_size=4),
       st.sampled_from([0.0, 0.5, 1.0, 9.0, float("nan"), None]))  # fmt: skip
def test_answers_are_held_to_the_same_rules_whichever_way(shares, stated):
    question = Score("How?", [f"level {level}" for level in range(len(shares))])
    quick = validation._is_plainly_right(question, ScoreAnswer(stated, tuple(shares), question.criteria))
    wire = {"type": "score", "score": stated, "probabilities": shares}
    if quick:
        assert validation.read_answer(question, wire) == ScoreAnswer(stated, tuple(shares), question.criteria)
    choice = Choice("Which?", [f"o{n}" for n in range(len(shares))])
    p = dict(zip(choice.criteria, shares, strict=True))
    for chosen in (*choice.criteria, "other", None, []):
        if validation._is_plainly_right(choice, ChoiceAnswer(chosen, p)):
            assert (
                validation.read_answer(choice, {"type": "choice", "choice": chosen, "probabilities": p}).choice
                == chosen
            )


def test_shares_of_a_usage_that_was_divided_before_are_the_same():
    usage = Usage(requests=1, questions=7, input_tokens=203, cost_usd=0.1, latency_ms=1.7)
    first, again = divided(usage, [1, 2, 4]), divided(usage, [1, 2, 4])
    assert first == again and first is not again
    assert sum(share.cost_usd for share in first) == 0.1


def test_what_a_sample_keeps_cannot_be_changed_through_what_it_gives():
    s = Sample.of({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})
    for name in ("messages", "turns", "tools", "tool_calls", "tool_results", "contexts", "user_messages", "steps"):
        before = len(getattr(s, name))
        getattr(s, name).append("x")
        assert len(getattr(s, name)) == before
    assert s.final_answer == s.output == "b" and s.goal == s.input == "a"
    with pytest.raises(AttributeError):
        s.output = "c"
