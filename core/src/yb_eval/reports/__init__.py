"""How a run is shown: reporters, all of them made from one value.

A reporter is a function of a `RunView` that yields the report's text in pieces. `REPORTERS` maps the name of each
built-in one (`--report NAME=PATH`) to it; a plugin adds its own through the hook `yb_eval_reporters`. Importing this
package imports no reporter: jinja2, rich and OpenTelemetry come in when a report that needs them is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module

from yb_eval.reports.view import Reporter, RunView

__all__ = ["REPORTERS", "Reporter", "RunView"]


def _lazy(module: str, function: str) -> Reporter:
    """The reporter `function` of a module of this package, imported when it is first called."""

    def report(view: RunView) -> Iterable[str]:
        made: Iterable[str] = getattr(import_module(f"{__name__}.{module}"), function)(view)
        return made

    report.__name__ = report.__qualname__ = function
    return report


#: Name -> reporter. `otel` sends the run away and yields one line that says where to.
REPORTERS: Mapping[str, Reporter] = {
    "text": _lazy("text", "text"),
    "json": _lazy("json_report", "json_report"),
    "markdown": _lazy("markdown", "markdown"),
    "junit": _lazy("junit", "junit"),
    "html": _lazy("html", "html"),
    "otel": _lazy("otel", "otel"),
}
