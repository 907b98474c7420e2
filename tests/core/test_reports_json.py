"""The JSON report is the document: nothing rounded, nothing lost, and strictly JSON."""

from __future__ import annotations

import json
from types import ModuleType
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval.reports import RunView
from yb_eval.reports.json_report import json_report


def refuse(token: str) -> NoReturn:
    raise AssertionError(f"{token} is not JSON")


def read(view: RunView) -> Any:
    return json.loads("".join(json_report(view)), parse_constant=refuse)


@pytest.mark.parametrize("make", ["everything", "passing", "hostile"])
def test_it_is_the_document_itself(documents: ModuleType, make: str) -> None:
    view = getattr(documents, make)()
    assert read(view) == view.document


def test_it_is_indented_and_ends_in_a_newline(documents: ModuleType) -> None:
    report = "".join(json_report(documents.passing()))
    assert report.startswith('{\n  "schema": "yb-eval/report/1",\n') and report.endswith("}\n")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_never_rounded(value: float) -> None:
    assert read(RunView(document={"value": value})) == {"value": value}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_json_has_no_number_for_is_refused_with_its_path(value: float) -> None:
    with pytest.raises(ValueError, match=r"^\$\.suites\[1\]\.details\.x is "):
        list(json_report(RunView(document={"suites": [{}, {"details": {"x": value}}]})))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=50))
@settings(max_examples=200)
def test_any_text_is_written_and_read_back(value: str) -> None:
    assert read(RunView(document={"text": value})) == {"text": value}


def test_a_lone_surrogate_is_replaced() -> None:
    assert "\ufffd" in read(RunView(document={"\udfff": "\ud800"}))[next(iter(read(RunView(document={"\udfff": 1}))))]
