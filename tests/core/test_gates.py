"""Gates: null never passes, thresholds are checked when read, verdict and exit code are one value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.errors import ExpressionError, UsageError
from yb_eval.gates import ErrorLimit, ExpressionGate, decide, exit_code, read_gate
from yb_eval.model import Comparison, Declared, Measurement, Measurements, Paired, Verdict

DECLARED = {
    "accuracy": Declared("accuracy", "", pairing="correct", sliced=True),
    "score": Declared("score", "", low=None, high=None, pairing="score"),
    "mae": Declared("mae", "", high=4.0, better="lower"),
    "severity.mae": Declared("severity.mae", "", high=4.0, better="lower"),
}


def measured(**values):
    return Measurements(
        Measurement(name, value, 10, None if value is None else (value - 0.1, value + 0.1), None if value is not None else "nothing")
        for name, value in values.items()
    )  # fmt: skip


def verdict(text, now, baseline=None, comparison=None):
    gate = ExpressionGate(text)
    gate.bind(DECLARED)
    return gate.check(now, baseline, comparison)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("accuracy >= 0.9", "pass"),
        ("accuracy > 0.9", "fail"),
        ("0.8 <= accuracy < 1", "pass"),
        ("lower(accuracy) >= 0.85", "fail"),
        ("upper(accuracy) >= 0.85", "pass"),
        ("n(accuracy) >= 10 and mae <= 1", "pass"),
        ("not accuracy < 0.9", "pass"),
        ("abs(accuracy - 1) <= 0.2", "pass"),
        ("accuracy * 2 - 1 >= 0.5", "pass"),
        ("accuracy == 1 or mae < 2", "pass"),
    ],
)
def test_an_expression_decides(text, word):
    if text == "abs(accuracy - 1) <= 0.2":
        assert verdict(text, measured(accuracy=0.9, mae=1.0)).verdict == "pass"
    else:
        assert verdict(text, measured(accuracy=0.9, mae=1.0)).verdict == word


@pytest.mark.parametrize(
    "text",
    [
        "accuracy >= 0.9",
        "accuracy < 0.9",
        "not accuracy >= 0.9",
        "accuracy >= 0 or mae >= 0",
        "mae >= 0 or accuracy >= 0",
        "lower(accuracy) >= 0",
        "accuracy >= baseline.accuracy",
        "accuracy != 1",
    ],
)
def test_null_is_unmeasured_in_whatever_place_it_stands(text):
    assert verdict(text, measured(accuracy=None, mae=1.0)).verdict == "unmeasured"


def test_a_slice_that_was_not_measured_is_unmeasured():
    found = verdict('accuracy["lang:ru"] >= 0.5', measured(accuracy=0.9))
    assert (found.verdict, found.reason) == ("unmeasured", "accuracy[lang:ru]: not measured in this run")
    assert (
        verdict('accuracy["lang:ru"] >= 0.5', Measurements([Measurement("accuracy[lang:ru]", 0.6, 5)])).verdict
        == "pass"
    )


def test_division_by_zero_is_unmeasured():
    assert verdict("accuracy / (mae - mae) >= 1", measured(accuracy=0.9, mae=1.0)).verdict == "unmeasured"


@pytest.mark.parametrize(
    "text",
    ["acuracy >= 1", "mae[\"x\"] >= 1", "accuracy >= 1.1", "accuracy >= -0.1", "0.5 > severity.mae > -1", "no_worse(mae)",
     "no_worse(accuracy[\"x\"])", "no_worse(baseline.accuracy)", "lower(accuracy, mae) > 0", "max(accuracy) > 0"],
)  # fmt: skip
def test_a_gate_that_cannot_mean_anything_is_refused_when_it_is_bound(text):
    with pytest.raises(ExpressionError):
        ExpressionGate(text).bind(DECLARED)


def compared(**pair):
    given = {"n": 100, "broken": 0, "fixed": 0, "changed": 0, "lost": 0, "p_value": 1.0, "interval": None, **pair}
    return Comparison(True, None, "b", True, 100, (), (), {"": Paired(**given)}, ())


@pytest.mark.parametrize(
    ("pair", "word"),
    [
        ({}, "pass"),
        ({"broken": 10, "p_value": 0.002}, "fail"),
        ({"broken": 10, "p_value": 0.002, "adjusted_p": 0.06}, "pass"),
        ({"fixed": 10, "p_value": 0.002}, "pass"),
        ({"broken": 3, "p_value": 0.25}, "pass"),
        ({"n": 0}, "unmeasured"),
    ],
)
def test_no_worse_looks_at_the_pairs(pair, word):
    now = measured(accuracy=0.9)
    assert verdict("no_worse(accuracy)", now, measured(accuracy=0.9), compared(**pair)).verdict == word


@pytest.mark.parametrize(
    ("interval", "word"), [((-0.3, -0.1), "fail"), ((-0.3, 0.1), "pass"), ((0.1, 0.2), "pass"), (None, "unmeasured")]
)
def test_no_worse_of_a_score_looks_at_its_interval(interval, word):
    pair = compared(score_change=None if interval is None else sum(interval) / 2, score_interval=interval)
    assert verdict("no_worse(score)", measured(score=1.0), measured(score=1.0), pair).verdict == word


def test_the_prefix_says_how_severe_a_gate_is():
    assert read_gate("warn: accuracy >= 1", {}).severity == "warn"
    assert read_gate("block: accuracy >= 1", {}).severity == "block"
    assert read_gate("x: whatever", {"x": lambda text, severity: (text, severity)}) == ("whatever", "block")


def test_errors_beyond_the_limit_are_unmeasured_and_so_is_a_run_without_a_score():
    def counts(samples, errors):
        return Measurements([Measurement("samples", samples), Measurement("errors", errors), Measurement("scored", samples - errors)])  # fmt: skip

    assert ErrorLimit(0).check(counts(5, 0), None).verdict == "pass"
    assert ErrorLimit(0).check(counts(5, 1), None).verdict == "unmeasured"
    assert ErrorLimit(1).check(counts(5, 1), None).verdict == "pass"
    assert ErrorLimit(5).check(counts(5, 5), None).verdict == "unmeasured"
    with pytest.raises(UsageError):
        ErrorLimit(-1)


words = st.sampled_from(["pass", "fail", "unmeasured"])


@given(st.lists(st.tuples(words, st.sampled_from(["block", "warn"]))))
def test_a_run_passes_only_if_there_are_blocking_gates_and_all_of_them_pass(said):
    verdicts = [Verdict("g", word, "", severity) for word, severity in said]
    blocking = [word for word, severity in said if severity == "block"]
    overall = decide(verdicts)
    assert (overall == "pass") == (bool(blocking) and set(blocking) == {"pass"})
    assert (exit_code(overall) == 0) == (overall == "pass")
    if "unmeasured" in blocking:
        assert exit_code(overall) == 3
