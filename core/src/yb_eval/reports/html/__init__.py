"""The report as one HTML file that opens offline: no request leaves it, and nothing in it is code but its script."""

from __future__ import annotations

from collections.abc import Iterator

from yb_eval.reports.view import RunView

__all__ = ["html"]


def html(view: RunView) -> Iterator[str]:
    """The whole page, in pieces. Needs jinja2, which is imported when the first page is made."""
    from yb_eval.reports.html.page import page

    return page(view)
