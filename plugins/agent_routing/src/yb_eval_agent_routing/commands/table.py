"""`yb-eval agent-routing table`: a stored run, scenario by scenario."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import click

from yb_eval import Measurement, UsageError
from yb_eval.cli.output import emit
from yb_eval.cli.store_option import store_option
from yb_eval.record import Store, read_log
from yb_eval.record.outcomes import decode
from yb_eval_agent_routing.confusion import GroupConfusion
from yb_eval_agent_routing.report import headline, table
from yb_eval_agent_routing.scoreboard import row

SUITE = "agent-routing"
PAIRS = 10


@click.command("table")
@click.argument("run", default="latest")
@click.option("--wrong", is_flag=True, help="Only the scenarios that are not EXACT.")
@click.option("--transcript", metavar="SCENARIO", help="The whole conversation of one scenario instead.")
@store_option
def command(run: str, wrong: bool, transcript: str | None, store: Store) -> None:
    """What was asked for, loaded and delivered in each scenario of a stored run, and the worst mix-ups."""
    found = store.find(run)
    reports = [child.manifest["report"] for child in store.children(found)]
    chosen = [report for report in reports if report["suite"] == SUITE]
    if not chosen:
        raise UsageError(f"the run {found.run_id[:12]} has no suite {SUITE}")
    for report in chosen:
        with store.open(report["outcomes"]["sha256"]) as log:
            lines = list(read_log(log))
        if transcript is None:
            emit(f"{line}\n" for line in told(report, lines, wrong=wrong))
        else:
            emit(f"{line}\n" for line in conversation(lines, transcript))


def told(report: Mapping[str, Any], lines: list[dict[str, Any]], *, wrong: bool) -> Iterator[str]:
    """The table, upstream's headline, the suite's summary and the heaviest confusions."""
    outcomes = [decode(line) for line in lines]
    rows = [row(outcome) for outcome in outcomes]
    yield from table(each for each in rows if not wrong or each["verdict"] != "EXACT")
    measured = {name: Measurement(name, entry["value"], entry["n"]) for name, entry in report["measurements"].items()}
    yield ""
    yield headline(measured)
    counted = Counter(each["verdict"] for each in rows)
    yield "  ".join(f"{word}={counted[word]}" for word in ("EXACT", "HIT", "SKIP", "MISS", "ERROR"))
    yield from report["details"].get("summary", ())[1:]
    metric = GroupConfusion()
    (confusion,) = metric.finish(metric.add(metric.start(), outcomes))
    pairs = confusion.details.get("pairs", [])[:PAIRS]
    if pairs:
        yield ""
        yield "needed but not delivered -> delivered instead"
        for needed, came, weight in pairs:
            yield f"  {needed} -> {came}  {weight:g}"


def conversation(lines: list[dict[str, Any]], scenario: str) -> Iterator[str]:
    """The transcript of a scenario, one part after another."""
    import json

    found = [line for line in lines if line["id"] == scenario]
    if not found:
        raise UsageError(f"the run has no scenario {scenario!r}")
    for line in found:
        yield f"# {scenario}, repeat {line.get('repeat', 0)}: {line['details']['verdict']}"
        for part in line["details"]["transcript"]:
            yield json.dumps(part, ensure_ascii=False)
