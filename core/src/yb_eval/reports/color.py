"""Styled lines on a terminal, through rich; imported only when a terminal that shows colour reads the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO

from rich.console import Console
from rich.text import Text

from yb_eval.reports.layout import Line, Style

_RICH: dict[Style, str] = {
    "": "",
    "pass": "bold green",
    "fail": "bold red",
    "unmeasured": "bold yellow",
    "strong": "bold",
    "dim": "dim",
}


def colored(lines: Iterable[Line]) -> Iterator[str]:
    """Each line with ANSI styles. Lines are already fitted and escaped: rich neither wraps nor reads markup in them."""
    target = StringIO()
    console = Console(
        file=target, force_terminal=True, color_system="standard", highlight=False, markup=False, emoji=False,
        soft_wrap=True, legacy_windows=False,
    )  # fmt: skip
    for spans in lines:
        console.print(Text.assemble(*((part, _RICH[style]) for style, part in spans)))
        yield target.getvalue()
        target.seek(0)
        target.truncate()
