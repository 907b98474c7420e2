"""What every page is made with: the templates' environment, the style and the scripts, and the policy they stand under.

The Content-Security-Policy allows the page's own style and script by digest and nothing else: no request, no inline
handler, no `eval`, no markup made from strings. Jinja escapes every value; text from datasets and targets goes
through `line` or `block` first, which escape what would drive or reorder text.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, StrictUndefined

from yb_eval.reports import wording
from yb_eval.reports.html import samples


def policy(style: str, script: str, *, form_action: str = "'none'") -> str:
    """The policy of a page with this style and this script, whose forms may be sent to `form_action`."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "img-src data:",
            "base-uri 'none'",
            f"form-action {form_action}",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


@cache
def resource(name: str, package: str = "yb_eval.reports.html") -> str:
    """A file of a package, with the ends of its lines as an HTML parser will see (and hash) them."""
    text = (files(package) / name).read_text(encoding="utf-8")
    return text.replace("\r\n", "\n")


@cache
def environment(*packages: str) -> Environment:
    """The environment of this package's templates, and before them those in the `templates` of other `packages`."""
    loaders: list[BaseLoader] = [PackageLoader(package) for package in (*packages, "yb_eval.reports.html")]
    made = Environment(
        loader=ChoiceLoader(loaders),
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
    made.filters.update(filters)
    return made
