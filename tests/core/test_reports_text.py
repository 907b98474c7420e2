"""The text report: what stands in it and in which order, and that nothing in the data can get out of its line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.reports import REPORTERS, RunView
from yb_eval.reports.text import text
from yb_eval.reports.wording import columns, duration, number, p_value, shown, signed

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def whole(view: RunView) -> str:
    return "".join(text(view))


def test_the_verdict_is_the_first_word_and_what_broke_stands_before_gates_and_numbers(documents: ModuleType) -> None:
    report = whole(documents.everything(width=100))
    assert report.startswith("FAIL  2 of 8 gates failed in guards; 1 could not be measured in decision; 2 warnings\n")
    places = [
        report.index(title) for title in ("What broke", "Since the baseline", "Gates", "measurement", "worst slice")
    ]
    assert places == sorted(places)


def test_a_failed_gate_is_listed_before_one_that_passed_and_says_why(documents: ModuleType) -> None:
    report = whole(documents.everything(width=100))
    assert report.index("precision >= 0.98") < report.index("recall >= 0.9")
    assert "precision is 0.9478" in report


def test_errors_are_told_apart_from_broken_samples(documents: ModuleType) -> None:
    report = whole(documents.everything(width=100))
    assert re.search(r"error +g-0017 +1 x timeout after 30 s", report)
    assert re.search(r"broken +g-0003 +detect -> clean", report)
    assert "and 11 more broken" in report


def test_without_a_baseline_the_first_wrong_samples_are_shown_and_the_rest_counted(documents: ModuleType) -> None:
    report = whole(documents.run(documents.triage(), width=100))
    assert "severity: expected 2, got 3" in report
    assert re.search(r"and \d+ more wrong", report)


def test_a_value_stands_with_its_n_and_interval_and_a_missing_one_with_its_reason(documents: ModuleType) -> None:
    report = whole(documents.everything(width=100))
    assert re.search(r"precision +0\.948 +230 +\[0\.911, 0\.970\] +-0\.021 +\[-0\.037, -0\.004\]", report)
    assert re.search(r"escalate\.recall +- +0 +no sample in the denominator", report)


def test_a_column_without_a_single_value_is_left_out(documents: ModuleType) -> None:
    assert "of the change" in whole(documents.everything(width=100))
    assert "of the change" not in whole(documents.passing(width=100))


def test_a_comparison_that_could_not_be_made_says_so(documents: ModuleType) -> None:
    made, outcomes = documents.guards()
    made["comparison"] |= {"comparable": False, "reason": "the baseline is of the suite triage"}
    report = whole(documents.run((made, outcomes)))
    assert "not comparable:  the baseline is of the suite triage" in report


def test_ids_are_shown_in_full(documents: ModuleType) -> None:
    view = documents.passing()
    report = whole(view)
    assert view.document["run_id"] in report and view.document["plan_id"] in report


def test_reports_that_failed_are_named(documents: ModuleType) -> None:
    view = documents.passing()
    view.document["failures"].append("html: disk full")
    assert "not done:  html: disk full" in whole(view)


@pytest.mark.parametrize("width", [40, 52, 80, 100, 200])
@pytest.mark.parametrize("make", ["everything", "hostile", "passing"])
def test_no_line_is_wider_than_the_terminal(documents: ModuleType, make: str, width: int) -> None:
    for line in whole(getattr(documents, make)(width=width)).split("\n"):
        assert columns(line) <= width, line


def test_hostile_text_is_escaped_and_adds_no_line(documents: ModuleType) -> None:
    report = whole(documents.hostile(width=100))
    assert all(line.isprintable() for line in report.split("\n"))
    assert "\\x1b[31m" in report and "\\u202e" in report


def test_hostile_text_cannot_style_a_coloured_report(documents: ModuleType) -> None:
    colored = whole(documents.hostile(width=100, color=True))
    assert ANSI.search(colored)
    assert all(line.isprintable() for line in ANSI.sub("", colored).split("\n"))


def test_colour_changes_how_the_report_looks_and_not_what_it_says(
    documents: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain, colored = whole(documents.everything(width=90)), whole(documents.everything(width=90, color=True))
    assert colored != plain
    assert ANSI.sub("", colored) == plain


def test_no_color_wins_over_a_terminal(documents: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in whole(documents.everything(color=True))


def test_a_plain_report_imports_neither_rich_nor_jinja2_nor_an_xml_parser() -> None:
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import report_documents as d;"
        "from yb_eval.reports import REPORTERS; ''.join(REPORTERS['text'](d.everything()));"
        "print([m for m in ('rich', 'jinja2', 'opentelemetry', 'xml.etree') if m in sys.modules])"
    )
    here = str(Path(__file__).parent)
    made = subprocess.run(
        [sys.executable, "-c", script, here], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert made.stdout.strip() == "[]"


def test_a_megabyte_is_cut_and_the_cut_is_counted(documents: ModuleType) -> None:
    outcomes = [documents.outcome("big", "a", "x" * 1_000_000)]
    made = documents.suite("big", outcomes, {}, [documents.gate("accuracy >= 1", "fail")])
    report = whole(documents.run((made, outcomes)))
    assert len(report) < 3_000
    assert re.search(r"x\.\.\. \(\+999,\d{3} chars\)", report)


def test_the_outcome_log_is_not_read_where_the_counts_say_there_is_nothing_to_find(documents: ModuleType) -> None:
    view = documents.passing()
    view.document["suites"][0]["counts"]["wrong"] = 0

    def refuse(index: int) -> None:
        raise AssertionError("the log was read")

    assert whole(RunView(document=view.document, outcomes=refuse)).startswith("PASS")  # type: ignore[arg-type]


def test_the_worst_slices_are_those_that_are_surely_worse(documents: ModuleType) -> None:
    from yb_eval.reports.findings import worst_slices

    rate = documents.rate
    measured = {
        "recall": rate(900, 1000),
        "recall[few]": rate(0, 1),
        "recall[many]": rate(200, 400),
        "recall[fine]": rate(95, 100),
        "recall[none]": rate(0, 0),
        "fpr": rate(10, 100),
        "fpr[high]": rate(60, 100),
        "undirected": rate(1, 2),
        "undirected[low]": rate(0, 9),
    }
    suite = {
        "measurements": measured,
        "declared": {
            "recall": documents.declared(""),
            "fpr": documents.declared("", better="lower"),
            "undirected": documents.declared("", better=None),
        },
    }
    assert worst_slices(suite, 9) == ["fpr[high]", "recall[many]", "recall[few]"]


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "-"), (0, "0"), (12345, "12,345"), (0.5, "0.500"), (1.0, "1.000"), (0.99996, "0.99996"),
     (0.0000001, "0.0000001"), (1e-12, "1e-12"), (-0.25, "-0.250"), (1234.5678, "1,234.6"),
     (0.9999999999999, "1.000000000")],
)  # fmt: skip
def test_numbers_are_rounded_for_people_but_not_to_whole_ones_they_are_not(value: float | None, said: str) -> None:
    assert number(value) == said


def test_changes_carry_their_sign_and_small_p_values_are_not_zero() -> None:
    assert (signed(0.02), signed(-0.02), signed(0.0), signed(3)) == ("+0.020", "-0.020", "0", "+3")
    assert (p_value(0.00001), p_value(0.25), p_value(None)) == ("p < 0.001", "p = 0.250", "")
    assert [duration(s) for s in (0.0123, 3.21, 75, 7300)] == ["12 ms", "3.2 s", "1 min 15 s", "2 h 1 min"]


@given(st.text(), st.integers(1, 120))
@settings(max_examples=300)
def test_shown_text_is_printable_and_within_its_limit(value: str, limit: int) -> None:
    result = shown(value, limit)
    assert columns(result) <= limit
    assert result.isprintable()


@given(st.lists(st.text(min_size=0, max_size=300), min_size=1, max_size=4), st.integers(40, 160))
@settings(max_examples=40, deadline=None)
def test_any_text_keeps_every_line_within_the_width(documents: ModuleType, strings: list[str], width: int) -> None:
    for line in whole(documents.hostile(strings, width=width)).split("\n"):
        assert line.isprintable() and columns(line) <= width


def test_every_built_in_reporter_is_found_by_name() -> None:
    assert list(REPORTERS) == ["text", "json", "markdown", "junit", "html", "otel"]
