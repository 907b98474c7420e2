"""The JUnit report is valid, adds up, and agrees with the verdict."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from yb_eval.reports import RunView
from yb_eval.reports.junit import MAX_SAMPLES, junit


@pytest.fixture(scope="module")
def schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(Path(__file__).with_name("junit.xsd")))


def read(view: RunView) -> Any:
    return etree.fromstring("".join(junit(view)).encode("utf-8"), etree.XMLParser(resolve_entities=False))


def cases(root: Any, group: str) -> dict[str, str]:
    """Testcase name -> its kind (`passed`, or the tag of its child), of one classname."""
    return {
        case.get("name"): case[0].tag if len(case) else "passed"
        for case in root.iter("testcase")
        if case.get("classname") == group
    }


@pytest.mark.parametrize("make", ["everything", "passing", "hostile", "large"])
def test_it_is_valid_and_its_counts_add_up(documents: ModuleType, schema: etree.XMLSchema, make: str) -> None:
    root = read(getattr(documents, make)())
    schema.assertValid(root)
    for suite in root:
        for attribute, tag in (
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
            ("skipped", "skipped"),
        ):
            assert int(suite.get(attribute)) == len(list(suite.iter(tag)))
    for attribute in ("tests", "failures", "errors"):
        assert int(root.get(attribute)) == sum(int(suite.get(attribute)) for suite in root)


def test_gates_become_passed_failed_broken_and_skipped_cases(documents: ModuleType) -> None:
    root = read(documents.everything())
    assert cases(root, "guards.gates") == {
        "precision >= 0.98": "failure",
        "recall >= 0.9": "passed",
        "errors == 0": "failure",
        "lower(precision) >= 0.95": "skipped",
        "no_worse(recall)": "passed",
    }
    assert cases(root, "decision.gates")["regret <= 0.1"] == "error"


def test_wrong_samples_fail_and_errors_are_errors_where_the_suite_did_not_pass(documents: ModuleType) -> None:
    samples = cases(read(documents.everything()), "guards.samples")
    assert samples["g-0017"] == "error" and samples["g-0003"] == "failure"


def test_wrong_samples_that_the_gates_tolerate_are_skipped(documents: ModuleType) -> None:
    samples = cases(read(documents.everything()), "triage.samples")
    assert samples and set(samples.values()) == {"skipped"}


def test_a_broken_sample_says_what_it_was(documents: ModuleType) -> None:
    root = read(documents.everything())
    (case,) = (case for case in root.iter("testcase") if case.get("name") == "g-0003")
    assert case[0].get("message").startswith("broken since the baseline: detect -> clean; expected detect, got clean")


@given(
    st.lists(
        st.tuples(st.sampled_from(["block", "warn"]), st.sampled_from(["pass", "fail", "unmeasured"])), max_size=4
    ),
    st.sampled_from([None, "fail", "unmeasured"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_it_holds_a_failure_or_an_error_exactly_when_the_run_did_not_pass(
    documents: ModuleType, gates: list[tuple[str, str]], forced: str | None, wrong: bool
) -> None:
    outcomes = [documents.outcome("a", 1, 2 if wrong else 1), documents.error("b", "lost")]
    listed = [documents.gate(f"g{i} >= 0", verdict, severity=severity) for i, (severity, verdict) in enumerate(gates)]
    view = documents.run((documents.suite("s", outcomes, {}, listed), outcomes))
    if forced:
        view.document["verdict"] = forced
    root = read(view)
    red = int(root.get("failures")) + int(root.get("errors"))
    assert (red == 0) == (view.document["verdict"] == "pass")


def test_samples_beyond_the_limit_are_counted_and_broken_ones_kept(documents: ModuleType) -> None:
    outcomes = [documents.outcome(f"s{n}", "a", "b") for n in range(MAX_SAMPLES + 50)]
    made = documents.suite("many", outcomes, {}, [documents.gate("accuracy >= 1", "fail")])
    made["comparison"] = documents.compare(made, outcomes[-1:])
    root = read(documents.run((made, outcomes)))
    assert f"s{MAX_SAMPLES + 49}" in cases(root, "many.samples")
    assert root[0].findtext("system-out") == "49 wrong samples not listed"


def test_no_character_that_xml_forbids_or_that_reorders_text_is_written(documents: ModuleType) -> None:
    report = "".join(junit(documents.hostile()))
    assert all(line.isprintable() for line in report.split("\n"))


@given(st.lists(st.text(alphabet=st.characters(), max_size=40), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_text_gives_a_valid_document(documents: ModuleType, schema: etree.XMLSchema, strings: list[str]) -> None:
    schema.assertValid(read(documents.hostile(strings)))


def test_a_lone_surrogate_and_a_megabyte_do_no_harm(documents: ModuleType, schema: etree.XMLSchema) -> None:
    report = "".join(junit(documents.hostile(["\ud800", "x" * 1_000_000])))
    schema.assertValid(etree.fromstring(report.encode("utf-8")))
    assert len(report) < 100_000
