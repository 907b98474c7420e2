"""Choices without a verdict, and choices that chance would decide."""

from __future__ import annotations

from yb_eval_decision import Choice, ChoiceEval, MockBackend, evaluate


class Topic(ChoiceEval):
    """What is it about?"""

    instructions = "What is `output` about?"
    options = {"billing": None, "delivery": None}
    requires = ("output",)
    insufficient = False

    def state(self, s):
        return {"output": s.output}


class Polite(Topic):
    """Is it polite?"""

    options = {"polite": None, "neutral": None, "rude": None}
    good = ("polite", "neutral")


def ask(one, **probabilities):
    return evaluate("Your parcel is late.", [one], backend=MockBackend({"q": probabilities}))


def test_a_choice_without_good_options_says_what_is_the_case_and_gives_no_verdict():
    report = ask(Topic(), billing=0.2, delivery=0.8)
    assert report.topic.answer == "delivery"
    assert report.topic.measured and report.topic.passed is None
    assert report.topic.score == 0.8


def test_a_tie_between_a_good_and_a_bad_option_is_undecided_whichever_comes_first():
    for options in ({"polite": 0.5, "neutral": 0.0, "rude": 0.5}, {"polite": 0.1, "neutral": 0.45, "rude": 0.45}):
        result = ask(Polite(), **options).polite
        assert result.status == "abstained" and "undecided between" in result.reason
        assert result.passed is None and not result


def test_a_tie_among_good_options_passes():
    result = ask(Polite(), polite=0.45, neutral=0.45, rude=0.1).polite
    assert result.passed is True and result.score == 0.9


def test_a_tie_with_the_option_for_too_little_evidence_is_undecided():
    class Sure(Polite):
        insufficient = True

    result = ask(Sure(), polite=0.5, neutral=0.0, rude=0.0, insufficient_evidence=0.5).sure
    assert result.status == "abstained"


def test_the_questions_are_choices():
    (question,) = Polite().questions(None).values()
    assert isinstance(question, Choice) and question.abstain is None
