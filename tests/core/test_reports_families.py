"""Many judgements with the same measurements are one table in every report, and gated ones keep their own row."""

from __future__ import annotations

from types import ModuleType

import pytest

from yb_eval.reports import REPORTERS
from yb_eval.reports.families import family_of
from yb_eval.reports.text import text

MEASURES = ("accuracy", "recall", "pass_rate", "asked")


@pytest.fixture
def suite_of(documents: ModuleType):
    def make(judgements: int, silent: int = 0, gates=()):
        measurements, declared = {"samples": documents.count(50, 50)}, {"samples": documents.declared("n", high=None)}
        for number in range(judgements + silent):
            for measure in MEASURES:
                name = f"eval_{number}.{measure}"
                counted = measure == "asked"
                known = number < judgements
                measurements[name] = documents.count(40, 40) if counted else documents.rate(30, 40 if known else 0)
                declared[name] = documents.declared(measure, high=None if counted else 1.0)
        made = documents.suite("decision", [documents.outcome("a", "x", "x")], measurements, list(gates))
        return {**made, "declared": declared}

    return make


def view_of(documents, suite, **more):
    return documents.run((suite, [documents.outcome("a", "x", "x")]), **more)


def test_few_judgements_stay_a_list(suite_of):
    assert family_of(suite_of(3)) is None
    assert family_of(suite_of(4)) is not None


def test_the_text_has_a_row_for_each_and_says_how_many_say_nothing(documents, suite_of):
    report = "".join(text(view_of(documents, suite_of(9, silent=2), width=110)))
    rows = [line.split() for line in report.splitlines() if line.strip().startswith("eval_")]
    assert len(rows) == 9
    assert rows[0][:3] == ["eval_0", "40", "0.750"]
    assert "and 2 judgements of which nothing was measured" in report
    assert "eval_0.accuracy" not in report
    assert all(len(line) <= 110 for line in report.splitlines())


def test_a_narrow_terminal_keeps_the_first_measurement(documents, suite_of):
    report = "".join(text(view_of(documents, suite_of(9), width=44)))
    assert "accuracy" in report and "eval_8" in report
    assert all(len(line) <= 44 for line in report.splitlines())


def test_markdown_has_the_same_table(documents, suite_of):
    report = "".join(REPORTERS["markdown"](view_of(documents, suite_of(9, silent=1))))
    assert "| judgement | accuracy | n | 95 % interval | recall | pass_rate | asked |" in report
    assert "Nothing was measured of 1 more." in report


def test_html_draws_it_and_a_gated_measurement_keeps_its_row(documents, suite_of):
    gate = documents.gate("eval_3.accuracy >= 0.7")
    report = "".join(REPORTERS["html"](view_of(documents, suite_of(9, silent=1, gates=[gate]))))
    assert "By judgement" in report
    assert "eval_3.accuracy" in report and "eval_4.accuracy" not in report
    assert "Judgements of which nothing was measured are not shown: 1." in report


def test_measurements_that_say_nothing_of_any_judgement_have_no_column(documents, suite_of):
    suite = suite_of(6)
    for number in range(6):
        suite["measurements"][f"eval_{number}.recall"] = documents.rate(0, 0)
        suite["measurements"][f"eval_{number}.asked"] = documents.count(0, 40)
    assert family_of(suite).measures == ("accuracy", "pass_rate")
    report = "".join(text(view_of(documents, suite, width=110)))
    assert "recall" not in report and "asked" not in report


def test_where_nothing_was_measured_every_report_says_just_that(documents, suite_of):
    view = view_of(documents, suite_of(0, silent=5), width=80)
    report = "".join(text(view))
    assert "5 judgements of which nothing was measured" in report and "eval_0" not in report
    assert "Nothing was measured of 5 judgements." in "".join(REPORTERS["markdown"](view))
    assert "Nothing was measured of any of the 5." in "".join(REPORTERS["html"](view))


def test_html_shows_counts_without_a_plot(documents, suite_of):
    report = "".join(REPORTERS["html"](view_of(documents, suite_of(5))))
    assert '<td class="tabular" colspan="2">40</td>' in report


def test_what_a_suite_says_of_its_run_is_in_every_report(documents, suite_of):
    suite = {**suite_of(4), "details": {"summary": ["the backend <abstains>"]}}
    view = view_of(documents, suite)
    assert "the backend <abstains>" in "".join(text(view))
    assert "the backend &#60;abstains&#62;" in "".join(REPORTERS["markdown"](view))
    assert "the backend &lt;abstains&gt;" in "".join(REPORTERS["html"](view))
