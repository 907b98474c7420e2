"""Puts the report together: what the document says, drawn and worded, into the template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from yb_eval.reports import findings
from yb_eval.reports.html import samples
from yb_eval.reports.html.sections import suite_section
from yb_eval.reports.html.shell import environment, policy, resource
from yb_eval.reports.view import RunView


def page(view: RunView) -> Iterator[str]:
    """The report as HTML, in pieces."""
    style, script = resource("report.css"), report_script()
    values = {**report_values(view), "style": style, "script": script, "policy": policy(style, script)}
    yield from environment().get_template("page.html.j2").generate(values)
    yield "\n"


def report_script() -> str:
    return resource("theme.js") + "\n" + resource("report.js")


def report_values(view: RunView) -> dict[str, Any]:
    """What the template of a report is filled with, but for style, script and policy. Reads the outcome logs."""
    document = view.document
    gates = [
        {"suite": findings.name_of(suite), "index": index, **gate}
        for index, suite in enumerate(document["suites"])
        for gate in suite["gates"]
    ]
    return {
        "document": document,
        "envelope": document.get("envelope") or {},
        "headline": findings.headline(document),
        "gates": findings.worst_first(gates),
        "sections": [suite_section(view, index) for index in range(len(document["suites"]))],
        "samples": samples.embed(view),
    }
