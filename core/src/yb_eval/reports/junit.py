"""The report as JUnit XML, for CI systems that show test results.

Suites are testsuites; gates, and the samples that are wrong or failed, are testcases. The file agrees with the verdict:
it holds a failure or an error if and only if the run did not pass. So a wrong sample under gates that all passed is
`skipped` (tolerated), and so is a gate that only warns. Written against the schema that Jenkins publishes
(junit-10.xsd); `tests/core/junit.xsd` states it in our words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from yb_eval.reports import findings
from yb_eval.reports.view import Json, RunView
from yb_eval.reports.wording import plural, shown

#: Samples listed per suite; the outcome log has all.
MAX_SAMPLES = 1_000

_NAME = 200
_VALUE = 500
_TEXT = 2_000

_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")

Kind: TypeAlias = Literal["passed", "failure", "error", "skipped"]


def junit(view: RunView) -> Iterator[str]:
    """The whole XML document. Characters that XML cannot carry, and those that would reorder text, are escaped."""
    document = view.document
    root = Element("testsuites", name="yb-eval")
    for index, suite in enumerate(document["suites"]):
        _suite(root, view, index, suite)
    if document["verdict"] != "pass" and not _failing(root):
        extra = SubElement(root, "testsuite", {"name": "yb-eval"} | _when(document))
        _add(extra, "verdict", "yb-eval", "error", f"the run's verdict is {document['verdict']}")
        _total(extra)
    _total(root)
    indent(root)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, view: RunView, index: int, suite: Json) -> None:
    document = view.document
    name = shown(findings.name_of(suite), _NAME)
    element = SubElement(root, "testsuite", {"name": name, "id": str(index), "package": "yb_eval"} | _when(document))
    properties = SubElement(element, "properties")
    for key, value in _properties(document, suite):
        SubElement(properties, "property", name=key, value=shown(value, _TEXT))
    for gate in suite["gates"]:
        _gate(element, name, gate)
    passed = suite["verdict"] == "pass"
    broken = {flip["id"]: flip for flip in findings.flips(suite, "broken")}
    found = findings.troubles(view, index, limit=MAX_SAMPLES, always=broken)
    for failed in found.failed:
        _add(element, findings.label(failed), f"{name}.samples", "skipped" if passed else "error", failed.reason)
    for wrong in found.wrong:
        message = findings.told(wrong, _VALUE)
        if wrong.id in broken:
            message = f"broken since the baseline: {findings.flipped(broken[wrong.id], _VALUE)}; {message}"
        if passed:
            message = f"tolerated by the gates: {message}"
        _add(element, findings.label(wrong), f"{name}.samples", "skipped" if passed else "failure", message)
    if not passed and not _failing(element):
        _add(element, "verdict", f"{name}.gates", "error", f"the suite's verdict is {suite['verdict']}")
    SubElement(element, "system-out").text = _left_out(found)
    failures = (shown(failure, _TEXT) for failure in document.get("failures") or ())
    SubElement(element, "system-err").text = "\n".join(failures)
    _total(element)


def _gate(element: Element, suite: str, gate: Json) -> None:
    verdict, binding = gate["verdict"], gate["severity"] == "block"
    kind: Kind
    if verdict == "pass":
        kind = "passed"
    elif binding:
        kind = "failure" if verdict == "fail" else "error"
    else:
        kind = "skipped"
    reason = gate["reason"] if binding or verdict == "pass" else f"warning, {verdict}: {gate['reason']}"
    _add(element, gate["gate"], f"{suite}.gates", kind, reason)


def _add(element: Element, name: str, group: str, kind: Kind, message: str) -> None:
    case = SubElement(element, "testcase", name=shown(name, _NAME), classname=group)
    if kind != "passed":
        attributes = {"message": shown(message, _NAME)} | (
            {} if kind == "skipped" else {"type": group.rpartition(".")[2]}
        )
        SubElement(case, kind, attributes).text = shown(message, _TEXT)


def _properties(document: Json, suite: Json) -> Iterator[tuple[str, str]]:
    yield "verdict", suite["verdict"]
    yield "plan_id", suite["plan_id"]
    yield "run_id", suite["run_id"]
    yield "target", suite["target"]["spec"]
    for dataset in suite["datasets"]:
        yield f"dataset.{shown(dataset['id'], _NAME)}", dataset["revision_id"]
    for name, count in suite["counts"].items():
        yield f"count.{name}", str(count)
    for name, measurement in suite["measurements"].items():
        value = measurement["value"]
        yield f"measurement.{shown(name, _NAME)}", "null" if value is None else repr(value)


def _left_out(found: findings.Troubles) -> str:
    wrong = found.wrong_count - len(found.wrong)
    failed = sum(group.count for group in found.errors) - len(found.failed)
    parts = [
        f"{plural(count, noun)} not listed" for count, noun in ((wrong, "wrong sample"), (failed, "error")) if count > 0
    ]
    return "; ".join(parts)


def _when(document: Json) -> dict[str, str]:
    """The attributes of a testsuite that say when and where, in the form that XML Schema's dateTime has."""
    envelope = document.get("envelope") or {}
    started, host = envelope.get("started"), envelope.get("host")
    found = _DATE_TIME.match(started) if isinstance(started, str) else None
    return ({"timestamp": found[0]} if found else {}) | ({"hostname": shown(host, _NAME)} if host else {})


def _failing(element: Element) -> int:
    return sum(1 for kind in ("failure", "error") for _ in element.iter(kind))


def _total(element: Element) -> None:
    """Writes the counts of an element from what it holds, so that they add up by construction."""
    counted = {"tests": "testcase", "failures": "failure", "errors": "error"}
    if element.tag == "testsuite":
        counted["skipped"] = "skipped"
    for attribute, tag in counted.items():
        element.set(attribute, str(sum(1 for _ in element.iter(tag))))
