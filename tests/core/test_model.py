"""The values that flow through a run."""

from __future__ import annotations

import pickle

import pytest

from yb_eval.model import Judgement, Measurement, Measurements, Outcome, Sample

SAMPLE = Sample("a", {"text": "x"}, ("lang:ru",), line=3)


def test_the_summary_of_an_outcome_is_an_error_if_any_judgement_is_one() -> None:
    outcome = Outcome.of(
        SAMPLE,
        {"label": Judgement(correct=True), "severity": Judgement(status="error", reason="no severity in the answer")},
    )
    assert (outcome.status, outcome.correct) == ("error", None)
    assert outcome.reason == "severity: no severity in the answer"
    assert outcome.tags == ("lang:ru",)


def test_the_summary_is_correct_only_if_every_scored_judgement_that_can_be_is() -> None:
    skipped = Judgement(status="skipped", reason="no gold")
    right, wrong, open_ended = Judgement(correct=True), Judgement(correct=False), Judgement(score=0.5)
    assert Outcome.of(SAMPLE, {"a": right, "b": skipped, "c": open_ended}).correct is True
    assert Outcome.of(SAMPLE, {"a": right, "b": wrong}).correct is False
    assert Outcome.of(SAMPLE, {"c": open_ended}).correct is None
    assert Outcome.of(SAMPLE, {"c": open_ended}).status == "scored"


def test_an_outcome_whose_judgements_are_all_skipped_is_skipped_with_their_reasons() -> None:
    skipped = Judgement(status="skipped", reason="no gold")
    outcome = Outcome.of(SAMPLE, {"a": skipped, "b": skipped})
    assert (outcome.status, outcome.reason) == ("skipped", "a: no gold; b: no gold")
    empty = Outcome.of(SAMPLE, {})
    assert (empty.status, empty.reason) == ("skipped", "no judgement")


def test_the_summary_keeps_what_was_expected_and_predicted_by_name() -> None:
    outcome = Outcome.of(SAMPLE.again(2), {"a": Judgement(expected=1, predicted=2, correct=False)}, details={"k": 1})
    assert (outcome.expected, outcome.predicted, outcome.repeat, outcome.details) == ({"a": 1}, {"a": 2}, 2, {"k": 1})


def test_a_judgement_is_found_by_name_and_the_outcome_itself_by_none() -> None:
    judgement = Judgement(correct=True)
    outcome = Outcome.of(SAMPLE, {"a": judgement})
    assert outcome.judgement("a") is judgement
    assert outcome.judgement("b") is None
    assert outcome.judgement(None) is outcome


def test_an_outcome_that_failed_as_a_whole_stands_for_each_of_its_judgements() -> None:
    failed, left_out = Outcome.error(SAMPLE, "timeout"), Outcome.skipped(SAMPLE, "no gold")
    assert failed.judgement("label") is failed
    assert left_out.judgement("label") is left_out
    assert Outcome("a", correct=True).judgement("label") is None


def test_errors_and_skips_keep_the_identity_of_their_sample() -> None:
    repeated = SAMPLE.again(1)
    for outcome in (Outcome.error(repeated, "timeout", expected="x"), Outcome.skipped(repeated, "no gold")):
        assert (outcome.id, outcome.tags, outcome.repeat, outcome.correct) == ("a", ("lang:ru",), 1, None)
        assert outcome.reason
    assert SAMPLE.repeat == 0


def test_measurements_are_a_mapping_in_the_order_they_were_made() -> None:
    measured = Measurements([Measurement("b", 1.0, 3), Measurement("a", None, reason="nothing")])
    assert list(measured) == ["b", "a"]
    assert measured["b"].n == 3
    assert "c" not in measured
    assert len(measured) == 2
    assert dict(Measurements()) == {}


def test_two_measurements_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="'a'"):
        Measurements([Measurement("a", 1.0), Measurement("a", 2.0)])


def test_values_cross_a_process_boundary_as_they_are() -> None:
    outcome = Outcome.of(SAMPLE, {"a": Judgement(correct=True, details={"x": [1]})})
    assert pickle.loads(pickle.dumps(outcome)) == outcome
    measured = Measurements([Measurement("a", 1.0, 3, (0.4, 1.0))])
    assert dict(pickle.loads(pickle.dumps(measured))) == dict(measured)


def test_values_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        SAMPLE.id = "b"  # type: ignore[misc]
