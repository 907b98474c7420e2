"""The report for a terminal or a log: the verdict, what broke, the gates, the numbers, the worst slices.

Colour comes from rich and only where the reader is a terminal that shows it; a pipe gets the same lines plain, and rich
is not imported for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from yb_eval.reports import findings
from yb_eval.reports.families import Family, family_of
from yb_eval.reports.layout import Cell, Column, Line, Style, line, paragraph, table
from yb_eval.reports.view import Json, RunView
from yb_eval.reports.wording import duration, interval, number, p_value, plural, signed

_SAMPLES = 10
_SLICES = 5
_NARROWEST = 40

_VERDICT_STYLE: dict[str, Style] = {"pass": "pass", "fail": "fail", "unmeasured": "unmeasured"}

_NUMBERS = (
    Column(flexible=True), Column(right=True), Column(right=True, optional=True), Column(flexible=True, optional=True),
    Column(right=True, optional=True), Column(flexible=True, optional=True),
)  # fmt: skip


def text(view: RunView) -> Iterator[str]:
    """The report as lines, each at most `view.width` columns wide (but never cut below 40).

    Numbers are rounded for people. Text from datasets and targets is escaped, so that it cannot drive the terminal.
    """
    lines = _report(view, max(view.width, _NARROWEST))
    if view.color and not os.environ.get("NO_COLOR"):
        from yb_eval.reports.color import colored

        yield from colored(lines)
        return
    for spans in lines:
        yield "".join(part for _, part in spans) + "\n"


def _report(view: RunView, width: int) -> Iterator[Line]:
    document = view.document
    yield from paragraph(width, "strong", findings.headline(document), lead=_verdict(document))
    for index, suite in enumerate(document["suites"]):
        yield ()
        yield line(width, ("strong", findings.name_of(suite)), _verdict(suite))
        yield from paragraph(width, "dim", _subject(suite), indent=2)
        for sentence in findings.summary(suite):
            yield from paragraph(width, "", sentence, indent=2)
        for section in (
            _broken(view, index, suite, width),
            _change(suite, width),
            _gates(suite, width),
            _numbers(suite, width),
            _slices(suite, width),
        ):
            if section:
                yield from section
        for note in suite.get("notes") or ():
            yield from paragraph(width, "dim", note, indent=2, lead=("dim", "note:"))
    yield ()
    for failure in document.get("failures") or ():
        yield from paragraph(width, "", failure, lead=("fail", "not done:"))
    yield from paragraph(width, "dim", document["plan_id"], lead=("dim", "plan"))
    yield from paragraph(width, "dim", document["run_id"], lead=("dim", "run "))
    seconds = (document.get("envelope") or {}).get("seconds")
    if isinstance(seconds, int | float):
        yield line(width, ("dim", "took"), ("dim", duration(seconds)))


def _verdict(thing: Json) -> Cell:
    word = thing["verdict"]
    return _VERDICT_STYLE[word], word.upper()


def _subject(suite: Json) -> str:
    """What was measured, on what: the target, the samples, each dataset's digest."""
    counts = suite["counts"]
    parts = [plural(counts["samples"], "sample")]
    parts += [plural(counts["error"], "error")] if counts["error"] else []
    parts += [f"{counts['skipped']:,} skipped"] if counts["skipped"] else []
    parts += [f"{dataset['id']}@{dataset['revision_id'][:8]}" for dataset in suite["datasets"]]
    return f"{', '.join(parts)}, target {suite['target']['spec']}"


def _title(title: str, width: int) -> list[Line]:
    return [(), line(width, ("strong", title), indent=2)]


def _broken(view: RunView, index: int, suite: Json, width: int) -> list[Line]:
    room = max((width - 40) // 2, 24)  # for each of two values beside an id
    found = findings.troubles(view, index, limit=_SAMPLES)
    rows: list[list[Cell]] = []
    for group in found.errors:
        more = ", ..." if group.count > len(group.ids) else ""
        rows.append(
            [("fail", "error"), ("", f"{', '.join(group.ids)}{more}"), ("", f"{group.count:,} x {group.reason}")]
        )
    broken = list(findings.flips(suite, "broken"))
    for flip in broken[:_SAMPLES]:
        rows.append([("fail", "broken"), ("", flip["id"]), ("", findings.flipped(flip, room))])
    known = findings.compared(suite) is not None
    if not known:
        rows += [
            [("fail", "wrong"), ("", findings.label(sample)), ("", findings.told(sample, room))]
            for sample in found.wrong
        ]
    if not rows:
        return []
    lines = _title("What broke", width)
    lines += table(width, ("", "", ""), (Column(), Column(flexible=True), Column(flexible=True)), rows, indent=4)
    hidden = len(broken) - _SAMPLES if known else found.wrong_count - len(found.wrong)
    if hidden > 0:
        lines.append(line(width, ("dim", f"and {hidden:,} more {'broken' if known else 'wrong'}"), indent=4))
    return lines


def _change(suite: Json, width: int) -> list[Line]:
    comparison = suite.get("comparison")
    if not comparison:
        return []
    lines = _title("Since the baseline", width)
    if not comparison["comparable"]:
        said = comparison["reason"] or "no reason given"
        return lines + paragraph(width, "", said, indent=4, lead=("unmeasured", "not comparable:"))
    for name, paired in comparison["judgements"].items():
        counts = ", ".join(
            f"{paired[kind]:,} {kind}" for kind in ("broken", "fixed", "changed", "lost") if paired[kind]
        )
        quiet = "nothing changed" if paired["n"] else "nothing to compare"
        verdict = f"{counts or quiet} in {plural(paired['n'], 'pair')}"
        lines.append(
            line(
                width,
                ("", f"{name}: {verdict}" if name else verdict),
                ("dim", p_value(paired.get("p_value"))),
                indent=4,
            )
        )
    if not comparison["same_revision"]:
        moved = ", ".join(f"{len(comparison[kind]):,} {kind}" for kind in ("added", "removed"))
        said = f"another dataset revision: {comparison['shared']:,} samples shared, {moved}"
        lines += paragraph(width, "unmeasured", said, indent=4)
    smallest = comparison.get("minimum_detectable_change")
    if smallest is not None:
        lines.append(line(width, ("dim", f"a change under {number(smallest)} would go unseen"), indent=4))
    return lines


def _gates(suite: Json, width: int) -> list[Line]:
    lines = _title("Gates", width)
    gates = findings.worst_first(suite["gates"])
    if not gates:
        return [*lines, line(width, ("unmeasured", "none"), indent=4)]
    words = [f"{gate['verdict']} (warn)" if gate["severity"] == "warn" else gate["verdict"] for gate in gates]
    for word, gate in zip(words, gates, strict=True):
        style: Style = _VERDICT_STYLE[gate["verdict"]]
        if gate["severity"] == "warn" and style == "fail":
            style = "unmeasured"
        lead = f"{word:<{max(map(len, words))}}"
        lines += paragraph(width, "", gate["gate"], indent=4, lead=(style, lead))
        if gate["verdict"] != "pass":
            lines += paragraph(width, "dim", gate["reason"], indent=6 + len(lead))
    return lines


def _numbers(suite: Json, width: int) -> list[Line]:
    changes = (findings.compared(suite) or {}).get("measurements") or {}
    family = family_of(suite)
    whole = {
        name: value
        for name, value in suite["measurements"].items()
        if findings.split_slice(name)[1] is None and (family is None or name not in family.names)
    }
    lines: list[Line] = []
    if whole:
        header = ("measurement", "value", "n", "95 % interval", "change", "of the change")
        rows = [_measured(name, measurement, changes.get(name)) for name, measurement in whole.items()]
        lines += [(), *table(width, header, _NUMBERS, rows, indent=2)]
    return lines if family is None else lines + _family(suite, family, width)


def _family(suite: Json, family: Family, width: int) -> list[Line]:
    """A row for each judgement: n and interval of its first measurement, and the values of all, as many as fit."""
    measurements = suite["measurements"]
    rows: list[list[Cell]] = []
    for judgement, names in family.rows:
        entries = [measurements[name] if name is not None else None for name in names]
        first = entries[0] or {"n": "", "interval": None}
        cells: list[Cell] = [("", judgement), ("dim", number(first["n"])), _value(entries[0])]
        cells += [("dim", interval(first.get("interval"))), *map(_value, entries[1:])]
        rows.append(cells)
    lines: list[Line] = [()]
    if rows:
        first_name, *others = family.measures
        layout = (Column(flexible=True), *(Column(right=True, optional=place > 1) for place in range(len(others) + 3)))
        header = ("judgement", "n", first_name, "95 % interval", *others)
        lines += table(width, header, layout, rows, indent=2)
    if family.silent:
        said = f"{plural(len(family.silent), 'judgement')} of which nothing was measured"
        lines.append(line(width, ("dim", f"and {said}" if rows else said), indent=2))
    return lines


def _value(measurement: Json | None) -> Cell:
    if measurement is None:
        return "", ""
    known = measurement["value"] is not None
    return ("strong", number(measurement["value"])) if known else ("unmeasured", "-")


def _measured(name: str, measurement: Json, change: Json | None) -> list[Cell]:
    moved = change or {}
    return [
        ("", name),
        ("strong" if measurement["value"] is not None else "unmeasured", number(measurement["value"])),
        ("dim", number(measurement["n"])),
        (
            "dim",
            interval(measurement.get("interval"))
            if measurement["value"] is not None
            else measurement.get("reason") or "",
        ),
        ("", signed(moved["change"]) if moved.get("change") is not None else ""),
        ("dim", interval(moved.get("interval"))),
    ]


def _slices(suite: Json, width: int) -> list[Line]:
    names = findings.worst_slices(suite, _SLICES)
    if not names:
        return []
    rows = []
    for name in names:
        whole = suite["measurements"][findings.split_slice(name)[0]]["value"]
        rows.append([*_measured(name, suite["measurements"][name], None)[:4], ("dim", number(whole)), ("", "")])
    header = ("worst slice", "value", "n", "95 % interval", "whole", "")
    return [(), *table(width, header, _NUMBERS, rows, indent=2)]
