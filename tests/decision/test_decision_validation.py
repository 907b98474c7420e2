"""What a backend sends back is taken only where it can be true; everything else says what came back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_decision.answers import ChoiceAnswer, NoAnswer, NoulAnswer, ScoreAnswer
from yb_eval_decision.questions import Choice, Noul, Score
from yb_eval_decision.validation import read_answer, read_answers, unasked

NOUL = Noul("Is it polite?")
CHOICE = Choice("Which one?", options=["a", "b", "c"])
SCORE = Score("How good?", levels=["bad", "fair", "good"])
ABSTAINING = Choice("Which one?", options=["a", "b", "unclear"], abstain="unclear")


def error(question, raw):
    answer = read_answer(question, raw)
    assert isinstance(answer, NoAnswer), answer
    assert answer.state == "error"
    assert answer.reason.isprintable()
    return answer.reason


# Yes/no


@pytest.mark.parametrize(
    "raw",
    [
        {"type": "noul", "noul": 0.9},
        {"noul": 0.9},
        {"type": "boolean", "probability": 0.9},
        {"p": 0.9},
        {"probabilities": {"true": 0.9, "false": 0.1}},
        {"probabilities": {"true": 0.9}},
        NoulAnswer(0.9),
    ],
)
def test_a_noul_is_read_in_every_shape_of_the_wire(raw):
    assert read_answer(NOUL, raw) == NoulAnswer(0.9)


@pytest.mark.parametrize("p", [0, 1, 0.0, 1.0])
def test_the_ends_of_the_range_are_in_it_and_become_floats(p):
    answer = read_answer(NOUL, {"noul": p})
    assert answer == NoulAnswer(float(p))
    assert type(answer.probability) is float


@pytest.mark.parametrize(
    "p", [90, 1.0001, -0.1, math.nan, math.inf, -math.inf, 10**400, True, False, "0.9", "yes", None, [0.9], {"p": 0.9}]
)
def test_a_probability_that_is_none_is_an_error_and_never_a_half(p):
    error(NOUL, {"type": "noul", "noul": p})
    error(NOUL, NoulAnswer(p))


@pytest.mark.parametrize("raw", [None, 0.9, True, "yes", [], {}, {"type": "noul"}, {"type": "noul", "choice": "yes"}])
def test_an_answer_without_a_probability_says_what_came_back(raw):
    assert repr(raw)[:20] in error(NOUL, raw)


def test_two_probabilities_of_a_noul_must_sum_to_one():
    assert "sum to 1.2" in error(NOUL, {"probabilities": {"true": 0.9, "false": 0.3}})
    error(NOUL, {"probabilities": {"true": 0.5, "maybe": 0.5}})
    error(NOUL, {"probabilities": {"false": 0.5}})


# Choices


def test_a_choice_is_read_with_the_options_in_the_order_of_the_question():
    raw = {"choice": "b", "probabilities": {"c": 0.1, "b": 0.7, "a": 0.2}, "confidence": 0.4}
    answer = read_answer(CHOICE, raw)
    assert answer == ChoiceAnswer("b", {"a": 0.2, "b": 0.7, "c": 0.1}, 0.4)
    assert list(answer.probabilities) == ["a", "b", "c"]


def test_the_winner_may_be_left_out_for_it_follows_from_the_probabilities():
    assert read_answer(CHOICE, {"probabilities": {"a": 0.2, "b": 0.7, "c": 0.1}}).choice == "b"


def test_options_left_out_are_zero_where_the_rest_sums_to_one():
    assert read_answer(CHOICE, {"probabilities": {"a": 1.0}}).probabilities == {"a": 1.0, "b": 0.0, "c": 0.0}
    assert "sum to 0.6" in error(CHOICE, {"probabilities": {"a": 0.6}})


def test_a_bare_choice_is_no_answer():
    assert "probabilities by option" in error(CHOICE, {"type": "choice", "choice": "a"})
    error(CHOICE, "a")


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"choice": "d", "probabilities": {"a": 1.0}}, "no option 'd'"),
        ({"choice": "a", "probabilities": {"a": 0.5, "d": 0.5}}, "no option 'd'"),
        ({"choice": "a", "probabilities": {"a": 0.2, "b": 0.8}}, "chose 'a' with p = 0.2, another option has 0.8"),
        ({"choice": "a", "probabilities": {"a": 1.5, "b": -0.5}}, "not within 0..1"),
        ({"choice": "a", "probabilities": {"a": True}}, "not a number"),
        ({"choice": "a", "probabilities": {"a": 0.0, "b": 0.0}}, "sum to 0"),
        ({"choice": "a", "probabilities": {"a": math.nan, "b": 1.0}}, "not within 0..1"),
        ({"choice": ["a"], "probabilities": {"a": 1.0}}, "no option"),
        ({"choice": "a", "probabilities": [1.0, 0.0, 0.0]}, "probabilities by option"),
        ({"choice": "a", "probabilities": {"a": 1.0}, "confidence": 90}, "confidence"),
        ({"type": "noul", "noul": 0.5}, "is a choice, the answer is of type 'noul'"),
    ],
)
def test_a_choice_that_cannot_be_true_is_an_error(raw, why):
    assert why in error(CHOICE, raw)


def test_a_tie_within_rounding_may_go_either_way():
    assert read_answer(CHOICE, {"choice": "b", "probabilities": {"a": 0.5, "b": 0.49, "c": 0.01}}).choice == "b"
    error(CHOICE, {"choice": "b", "probabilities": {"a": 0.51, "b": 0.48, "c": 0.01}})


def test_many_options_rounded_to_zero_do_not_make_any_sum_true():
    many = Choice("Which?", options=[f"o{i}" for i in range(255)])
    error(many, {"probabilities": dict.fromkeys(many.criteria, 0.0)})
    # 254 options may hide 0.005 each, but no distribution has them sum beyond 1 + what was rounded up.
    error(many, {"probabilities": {**dict.fromkeys(many.criteria, 0.0), "o1": 0.9, "o2": 0.9}})


# Scores


def test_a_score_is_read_with_its_levels_as_texts_or_numbers():
    for keys in (["0", "1", "2"], [0, 1, 2]):
        answer = read_answer(SCORE, {"score": 1.5, "probabilities": dict(zip(keys, [0.1, 0.3, 0.6]))})
        assert answer == ScoreAnswer(1.5, (0.1, 0.3, 0.6), ("bad", "fair", "good"))


@pytest.mark.parametrize("stated", [{}, {"score": 1.6}])
def test_levels_that_are_left_out_have_no_probability_as_options_have_none(stated):
    answer = read_answer(SCORE, {**stated, "probabilities": {"1": 0.4, "2": 0.6}})
    assert isinstance(answer, ScoreAnswer)
    assert (answer.probabilities, answer.score) == ((0.0, 0.4, 0.6), pytest.approx(1.6))
    assert read_answer(SCORE, {"probabilities": {"2": 1}}) == ScoreAnswer(2.0, (0.0, 0.0, 1.0), SCORE.criteria)


def test_the_expected_level_follows_from_the_probabilities_where_it_is_left_out():
    assert read_answer(SCORE, {"probabilities": {"0": 0.25, "1": 0.25, "2": 0.5}}).score == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ({"score": 9, "probabilities": {"0": 0.0, "1": 1.0, "2": 0.0}}, "not within 0..2"),
        ({"score": 0.1, "probabilities": {"0": 0.0, "1": 1.0, "2": 0.0}}, "expect level 1"),
        ({"score": 1.0, "probabilities": {"1": 0.8}}, "sum to 0.8"),
        ({"score": 1.0, "probabilities": {}}, "sum to 0"),
        ({"score": 1.0, "probabilities": [0.0, 1.0]}, "probabilities by level"),
        ({"score": 1.0, "probabilities": {"0": 0.0, "1": 1.0, "3": 0.0}}, "levels 0 to 2"),
        ({"score": 1.0, "probabilities": {"0": 0.0, 0: 0.0, "1": 1.0, "2": 0.0}}, "levels 0 to 2"),
        ({"score": 1.0, "probabilities": {"00": 0.0, "1": 1.0, "2": 0.0}}, "levels 0 to 2"),
        ({"score": 1.0, "probabilities": {False: 0.0, True: 1.0, "2": 0.0}}, "levels 0 to 2"),
        ({"score": 1.0}, "probabilities by level"),
        ({"score": True, "probabilities": {"0": 0.0, "1": 1.0, "2": 0.0}}, "not a number"),
        ({"score": math.nan, "probabilities": {"0": 0.0, "1": 1.0, "2": 0.0}}, "not within"),
        ({"score": 1.0, "probabilities": {"0": 0.3, "1": 0.3, "2": 0.3}}, "sum to 0.9"),
    ],
)
def test_a_score_that_cannot_be_true_is_an_error(raw, why):
    assert why in error(SCORE, raw)


# States


def test_a_refusal_is_a_state_of_its_own_with_the_models_words():
    raw = {"type": "refusal", "refusal": "I do not judge\x1b[31m this."}
    answer = read_answer(NOUL, raw)
    assert answer.state == "refused"
    assert answer.reason.startswith("I do not judge")
    assert answer.reason.isprintable()
    assert read_answer(SCORE, {"type": "refusal"}) == NoAnswer("refused", "the model refused")


def test_the_option_for_not_knowing_makes_the_question_abstained():
    raw = {"choice": "unclear", "probabilities": {"a": 0.1, "b": 0.1, "unclear": 0.8}}
    answer = read_answer(ABSTAINING, raw)
    assert answer == NoAnswer("abstained", "it chose 'unclear' (p = 0.80)")
    ready = ChoiceAnswer("unclear", {"a": 0.1, "b": 0.1, "unclear": 0.8})
    assert read_answer(ABSTAINING, ready) == answer
    assert isinstance(
        read_answer(ABSTAINING, {"choice": "a", "probabilities": {"a": 0.9, "unclear": 0.1}}), ChoiceAnswer
    )


def test_an_error_in_the_place_of_an_answer_is_quoted():
    assert "model overloaded" in error(NOUL, {"error": {"message": "model overloaded"}})


# All of a response


def test_every_question_has_an_answer_in_its_order_and_one_bad_one_spoils_no_other():
    questions = {"x": NOUL, "y": CHOICE, "z": NOUL}
    read = read_answers(questions, {"z": {"noul": 0.2}, "x": {"noul": 7}, "other": {"noul": 0.1}})
    assert list(read) == ["x", "y", "z"]
    assert read["z"] == NoulAnswer(0.2)
    assert "not within 0..1: 7" in read["x"].reason
    assert "no answer came back" in read["y"].reason
    assert "'other'" in read["y"].reason
    assert unasked(questions, {"other": 1, "x": 2}) == ("other",)


@pytest.mark.parametrize("raw", [None, [], "text", 3])
def test_a_response_that_is_no_object_is_an_error_for_each_question(raw):
    read = read_answers({"x": NOUL, "y": CHOICE}, raw)
    assert [answer.state for answer in read.values()] == ["error", "error"]


def test_confidences_may_come_apart_from_the_answers():
    raw = {"q": {"choice": "a", "probabilities": {"a": 1.0}}}
    assert read_answers({"q": CHOICE}, raw, confidences={"q": 0.25})["q"].stated_confidence == 0.25


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (CHOICE, ChoiceAnswer("a", {"a": 0.2, "b": 0.8, "c": 0.0})),
        (CHOICE, ChoiceAnswer("a", {"a": 1.0})),
        (CHOICE, ChoiceAnswer("d", {"a": 0.4, "b": 0.3, "c": 0.3})),
        (SCORE, ScoreAnswer(0.0, (0.0, 0.0, 1.0), ("bad", "fair", "good"))),
        (SCORE, ScoreAnswer(0.5, (0.5, 0.5), ("bad", "good"))),
        (SCORE, NoulAnswer(0.5)),
        (NOUL, ChoiceAnswer("a", {"a": 1.0})),
    ],
)
def test_ready_answers_are_held_against_the_same_rules(question, answer):
    error(question, answer)


# Properties


def shares(n):
    return st.lists(st.integers(0, 1000), min_size=n, max_size=n).filter(sum).map(lambda w: [x / sum(w) for x in w])


@given(st.integers(1, 40).flatmap(shares))
def test_every_distribution_rounded_to_two_decimals_is_accepted(p):
    names = [f"o{i}" for i in range(len(p))]
    stated = {name: round(share, 2) for name, share in zip(names, p)}
    if any(stated.values()):
        answer = read_answer(
            Choice("Which?", options=names), {"choice": names[p.index(max(p))], "probabilities": stated}
        )
        assert isinstance(answer, ChoiceAnswer)
        assert answer.probabilities == stated


@given(st.integers(2, 10).flatmap(shares))
def test_every_expectation_rounded_to_two_decimals_is_accepted(p):
    question = Score("How?", levels=[f"l{i}" for i in range(len(p))])
    raw = {
        "score": round(sum(i * x for i, x in enumerate(p)), 2),
        "probabilities": {str(i): round(x, 2) for i, x in enumerate(p)},
    }
    assert isinstance(read_answer(question, raw), ScoreAnswer)


@given(st.integers(2, 8).flatmap(shares), st.floats(0.06, 5))
def test_a_sum_that_rounding_does_not_explain_is_refused(p, off):
    stated = {f"o{i}": min(1.0, x * (1 + off)) for i, x in enumerate(p)}
    answer = read_answer(Choice("Which?", options=list(stated)), {"probabilities": stated})
    if sum(stated.values()) > 1 + 0.005 * len(p) + 1e-6:
        assert isinstance(answer, NoAnswer)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(
        ["type", "noul", "p", "choice", "probabilities", "score", "confidence", "a", "b", "0", "1", "2", "error", "true"]
    ) | st.integers(-1, 3) | st.text(max_size=3), inner, max_size=5),
    max_leaves=12,
)  # fmt: skip


@given(JSON, JSON, JSON)
def test_whatever_comes_back_each_question_has_an_answer_within_the_rules(x, y, z):
    questions = {"x": NOUL, "y": ABSTAINING, "z": SCORE}
    read = read_answers(questions, {"x": x, "y": y, "z": z}, confidences={"y": x})
    assert list(read) == ["x", "y", "z"]
    for answer in read.values():
        if isinstance(answer, NoulAnswer):
            assert 0 <= answer.probability <= 1
        elif isinstance(answer, ChoiceAnswer):
            assert answer.choice in ABSTAINING.criteria
            assert answer.choice != "unclear"
            assert sum(answer.probabilities.values()) == pytest.approx(1, abs=0.015 + 1e-6)
        elif isinstance(answer, ScoreAnswer):
            assert 0 <= answer.score <= 2
        else:
            assert answer.reason.isprintable()
            assert len(answer.reason) < 400


@given(JSON)
def test_any_response_at_all_is_survived(raw):
    assert list(read_answers({"x": NOUL, "0": SCORE}, raw)) == ["x", "0"]


@given(st.floats(0, 1))
def test_what_an_answer_writes_is_read_back(p):
    for question, answer in (
        (NOUL, NoulAnswer(p)),
        (CHOICE, ChoiceAnswer("a" if p >= 0.5 else "b", {"a": p, "b": 1 - p, "c": 0.0})),
        (SCORE, ScoreAnswer(2 * p, (1 - p, 0.0, p), ("bad", "fair", "good"))),
        (NOUL, NoAnswer("refused", "no")),
    ):
        assert read_answer(question, answer) == answer
        assert read_answer(question, answer.to_dict()) == answer
