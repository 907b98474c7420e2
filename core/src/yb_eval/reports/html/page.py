"""Puts the page together: what the document says, drawn and worded, into the template, under a strict policy.

The Content-Security-Policy allows the page's own style and script by digest and nothing else: no request, no inline
handler, no `eval`, no markup made from strings. Jinja escapes every value; text from datasets and targets goes
through `line` or `block` first, which escape what would drive or reorder text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from yb_eval.reports import findings, wording
from yb_eval.reports.html import samples
from yb_eval.reports.html.sections import suite_section
from yb_eval.reports.view import RunView


def page(view: RunView) -> Iterator[str]:
    """The report as HTML, in pieces."""
    document = view.document
    style, script = _resource("report.css"), _resource("report.js")
    embedded = samples.embed(view)
    gates = [
        {"suite": findings.name_of(suite), "index": index, **gate}
        for index, suite in enumerate(document["suites"])
        for gate in suite["gates"]
    ]
    yield from (
        _environment()
        .get_template("page.html.j2")
        .generate(
            document=document,
            envelope=document.get("envelope") or {},
            headline=findings.headline(document),
            gates=findings.worst_first(gates),
            sections=[suite_section(view, index) for index in range(len(document["suites"]))],
            samples=embedded,
            style=style,
            script=script,
            policy=_policy(style, script),
        )
    )
    yield "\n"


def _policy(style: str, script: str) -> str:
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def _resource(name: str) -> str:
    """A file of the package, with the ends of its lines as an HTML parser will see (and hash) them."""
    text = (files(__package__) / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Any] = {
        "number": wording.number,
        "signed": wording.signed,
        "interval": wording.interval,
        "p_value": wording.p_value,
        "plural": lambda count, noun: wording.plural(count, noun),
        "duration": wording.duration,
        "line": samples.line,
        "block": samples.block,
    }
    environment.filters.update(filters)
    return environment
