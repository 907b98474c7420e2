"""How a run is told: the table of its scenarios, the headline, what to look at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.cells import cell_len, set_cell_size

from yb_eval import Measurement, Measurements
from yb_eval.errors import printable
from yb_eval_agent_routing.agent.tokens import COUNTER

#: The columns of the table and their widths, as upstream has them; two more say what was asked for and delivered.
COLUMNS = (("SCENARIO", 22), ("RESULT", 7), ("EXPECTED", 22), ("ASKED", 22), ("LOADED", 22), ("DELIVERED", 22))

#: What an intended change must exceed to be seen, in the words of a warning.
_SMALL = "is within the noise"


def fit(text: str, width: int) -> str:
    """A text in exactly `width` columns of a terminal, cut with an ellipsis: by what is shown, not by bytes, so that
    no character is split and wide ones count as two. Control characters are escaped."""
    text = printable(text)
    if cell_len(text) <= width:
        return text + " " * (width - cell_len(text))
    cut = set_cell_size(text, width - 1).rstrip()
    return f"{cut}…" + " " * (width - 1 - cell_len(cut))


def table(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """A line for each scenario (see `scoreboard.row`) under a header. What else happened stands behind it."""
    yield _line([name for name, _ in COLUMNS], "")
    for row in rows:
        if row["verdict"] == "ERROR":
            yield _line([row["id"], "ERROR", _names(row["expected"]), "", "", ""], printable(str(row.get("reason"))))
        else:
            cells = [
                row["id"],
                row["verdict"],
                *(_names(row[key]) for key in ("expected", "asked", "loaded", "delivered")),
            ]
            yield _line(cells, ", ".join(_notes(row)))


def _line(cells: Sequence[str], notes: str) -> str:
    shown = " ".join(fit(text, width) for text, (_, width) in zip(cells, COLUMNS, strict=True))
    return f"{shown}  {notes}".rstrip()


def _names(names: Sequence[str]) -> str:
    return ",".join(names)


def _notes(row: Mapping[str, Any]) -> Iterator[str]:
    if row["nudged"]:
        yield "nudged"
    if row["load_calls"] > 1:
        yield f"{row['load_calls']} load calls"
    for key, word in (("unknown", "unknown"), ("unloaded_calls", "called unloaded")):
        if row[key]:
            yield f"{word}: {printable(_names(row[key]))}"


def headline(measured: Mapping[str, Measurement]) -> str:
    """Upstream's line, with the errors it does not know: `scenarios=9  top1=89%  exact=78%  skip=12%  errors=0`."""

    def percent(name: str) -> str:
        found = measured.get(name)
        return "-" if found is None or found.value is None else f"{100 * found.value:.0f}%"

    listed = measured.get("error_rate")
    n = 0 if listed is None else listed.n
    errors = 0 if listed is None or listed.value is None else round(listed.value * n)
    return (
        f"scenarios={n}  top1={percent('top1')}  exact={percent('exact')}  skip={percent('skip_rate')}  errors={errors}"
    )


def warnings(measured: Measurements, floor: float) -> list[str]:
    """What a reader should not overlook."""
    said = []
    top1 = measured.get("top1")
    if top1 is not None and top1.value is not None and top1.interval is not None:
        low, high = top1.interval
        if low < floor <= top1.value or top1.value < floor <= high:
            half = (high - low) / 2
            said.append(
                f"top1 {_SMALL} of its floor: {top1.value:.1%} +- {half:.1%} (n = {top1.n}) against {floor:.1%}"
            )
    inactive = measured.get("routing_inactive_rate")
    if inactive is not None and inactive.value:
        said.append(
            f"routing inactive in {inactive.value:.0%} of the scenarios: the menu is empty or everything is always on, "
            "so nothing is deferred and nothing saved"
        )
    more = measured.get("costs_more_rate")
    if more is not None and more.value:
        said.append(f"routing sends more tokens than all tools would in {more.value:.0%} of the scenarios")
    return said


def beaten(measured: Measurements) -> dict[str, bool]:
    """Baseline -> whether `top1` is higher than the baseline's."""
    own = measured.get("top1")
    if own is None or own.value is None:
        return {}
    found = {}
    for name, other in measured.items():
        if name.startswith("baseline_top1[") and other.value is not None:
            found[name.removeprefix("baseline_top1[").removesuffix("]")] = own.value > other.value
    return found


def details(measured: Measurements, *, floor: float, recommendation: str | None) -> dict[str, Any]:
    """The suite's own part of the report. `summary` is what to print for people."""
    said: dict[str, Any] = {"headline": headline(measured), "token_counter": COUNTER, "beats": beaten(measured)}
    told = warnings(measured, floor)
    if told:
        said["warnings"] = told
    if recommendation is not None:
        said["recommendation"] = recommendation
    said["summary"] = [said["headline"], *told, *([recommendation] if recommendation is not None else [])]
    rows = measured["listed_scenarios"].details.get("rows") if "listed_scenarios" in measured else None
    if rows:
        said["table"] = list(table(rows))
    return said
