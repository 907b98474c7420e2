"""The report as Markdown, for pull-request comments and step summaries: the verdict first, details folded away.

Datasets and targets are hostile here: their text must neither mention people, link issues, open a tag nor end a table.
It is put in a `<code>` element - hosts link nothing inside it - with every character that Markdown gives a meaning
written as a numeric entity, which CommonMark never reads as structure (section 2.5).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from attrs import frozen

from yb_eval.reports import findings
from yb_eval.reports.families import Family, family_of
from yb_eval.reports.view import Json, RunView
from yb_eval.reports.wording import brief, duration, interval, number, p_value, plural, shown, signed

#: The first line of every report, by which a comment is found again.
MARKER = "<!-- yb-eval -->"

#: The longest comment that GitHub accepts, in characters.
COMMENT_LIMIT = 65_536

_ROWS = 20
_VALUE = 120
_ICON = {
    "pass": "\N{WHITE HEAVY CHECK MARK}",
    "fail": "\N{CROSS MARK}",
    "unmeasured": "\N{WHITE QUESTION MARK ORNAMENT}",
}
_WARNING = "\N{WARNING SIGN}\N{VARIATION SELECTOR-16}"
#: Full stops are harmless but in `www.`, which hosts make a link of.
_MEANINGFUL = re.compile(r"[^A-Za-z0-9 .,/;%+=(){}?-]|(?<=[wW])\.")


@frozen(slots=True)
class Section:
    """A part that can be left out as a whole; the one with the highest `rank` goes first."""

    rank: int
    title: str
    body: str


def markdown(view: RunView, *, limit: int = COMMENT_LIMIT) -> Iterator[str]:
    """The report in at most `limit` characters (UTF-16 code units, as the hosts count them).

    When it is too long, whole sections go: the details of the least important first, and a line says which. The marker
    line, the verdict and the ids stay. Raises `ValueError` where not even these fit.
    """
    document = view.document
    head, tail = _head(document), _tail(document)
    suites = range(len(document["suites"]))
    sections = [*(section for index in suites for section in _suite(view, index)), *_failures(document)]
    dropped: list[str] = []
    while True:
        note = [f"_Left out to fit: {', '.join(dropped)}._\n"] if dropped else []
        parts = [head, *(section.body for section in sections), *note, tail]
        if sum(_units(part) + 1 for part in parts) <= limit:
            break
        if not sections:
            raise ValueError(f"a report cannot be shortened to {limit} characters")
        # The last of the least important: sections come in the order of the suites.
        place = max(range(len(sections)), key=lambda i: (sections[i].rank, i))
        dropped.append(sections.pop(place).title)
        if len(dropped) > _ROWS:
            dropped[_ROWS // 2 :] = ["and more"]
    yield "\n".join(parts)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def code(value: Any, limit: int = _VALUE) -> str:
    """A value from outside as inert Markdown: one line, in `<code>`, cut to about `limit` characters."""
    escaped = shown(value, limit)
    return f"<code>{_MEANINGFUL.sub(_entity, escaped) or ' '}</code>"


def _entity(found: re.Match[str]) -> str:
    character = found[0]
    if not character.isascii():
        return character
    # A comment after the entity keeps hosts from finding an e-mail address in the text they have decoded.
    return f"&#{ord(character)};<!-- -->" if character == "@" else f"&#{ord(character)};"


def _head(document: Json) -> str:
    verdict = document["verdict"]
    lines = [
        MARKER,
        f"## {_ICON[verdict]} yb-eval: {verdict}",
        "",
        f"{_plain(findings.headline(document))}.",
        "",
        *_table(
            ("suite", "verdict", "samples", "errors", "gates passed"),
            "llrrr",
            [
                (
                    code(findings.name_of(suite)),
                    _word(suite["verdict"]),
                    number(suite["counts"]["samples"]),
                    number(suite["counts"]["error"]),
                    f"{sum(gate['verdict'] == 'pass' for gate in suite['gates'])} of {len(suite['gates'])}",
                )
                for suite in document["suites"]
            ],
        ),
    ]
    return "\n".join(lines) + "\n"


def _notes(suite: Json) -> list[str]:
    """What the suite says of its run, and what is to be noted of it."""
    return [*findings.summary(suite), *(suite.get("notes") or ())]


def _tail(document: Json) -> str:
    seconds = (document.get("envelope") or {}).get("seconds")
    took = f", in {duration(seconds)}" if isinstance(seconds, int | float) else ""
    return f"<sub>run {code(document['run_id'])}, plan {code(document['plan_id'])}{took}</sub>\n"


def _failures(document: Json) -> Iterator[Section]:
    """Reports and hooks that failed: they change no verdict, and are told."""
    failures = document.get("failures") or ()
    if failures:
        lines = [f"- {_WARNING} not done: {code(failure, 300)}" for failure in failures[:_ROWS]]
        yield Section(1, "what was not done", "\n".join([*lines, *_more(len(failures) - _ROWS, ""), ""]))


def _suite(view: RunView, index: int) -> Iterator[Section]:
    suite = view.document["suites"][index]
    name = findings.name_of(suite)
    made = (
        (0, "gates", _gates(suite), suite["verdict"] != "pass"),
        (1, "what broke", _broken(view, index, suite), True),
        (2, "since the baseline", _change(suite), False),
        (3, "numbers", _numbers(suite), False),
        (4, "worst slices", _slices(suite), False),
        (5, "fixed and changed", _moved(suite), False),
        (6, "notes", [f"- {code(note, 300)}" for note in _notes(suite)[:_ROWS]], False),
    )
    for rank, title, lines, opened in made:
        if lines:
            summary = f"<summary>{code(name)}: {title}</summary>"
            body = "\n".join((f"<details{' open' if opened else ''}>{summary}", "", *lines, "", "</details>", ""))
            yield Section(rank, f"{title} of {code(name, 40)}", body)


def _gates(suite: Json) -> list[str]:
    rows = [
        (
            _word(gate["verdict"], warning=gate["severity"] == "warn"),
            code(gate["gate"]),
            code(gate["reason"], 240) if gate["reason"] else "",
        )
        for gate in findings.worst_first(suite["gates"])
    ]
    return _table(("verdict", "gate", "reason"), "lll", rows)


def _broken(view: RunView, index: int, suite: Json) -> list[str]:
    found = findings.troubles(view, index, limit=_ROWS)
    rows = [
        (
            f"error, {plural(group.count, 'sample')}",
            ", ".join(code(identifier, 60) for identifier in group.ids),
            code(group.reason, 240),
        )
        for group in found.errors
    ]
    broken = list(findings.flips(suite, "broken"))
    known = findings.compared(suite) is not None
    if known:
        rows += [("broken", code(flip["id"], 60), _flip(flip)) for flip in broken[:_ROWS]]
        hidden = len(broken) - _ROWS
    else:
        rows += [
            ("wrong", code(findings.label(wrong), 60), code(findings.told(wrong, 60), 240)) for wrong in found.wrong
        ]
        hidden = found.wrong_count - len(found.wrong)
    return _table(("what", "sample", "how"), "lll", rows) + _more(hidden, "broken" if known else "wrong")


def _flip(flip: Json) -> str:
    judgement = f"{code(flip['judgement'], 40)}: " if flip.get("judgement") else ""
    return f"{judgement}{code(brief(flip['before'], 60))} &rarr; {code(brief(flip['after'], 60))}"


def _more(hidden: int, kind: str) -> list[str]:
    return ["", f"and {hidden:,} more {kind}".rstrip()] if hidden > 0 else []


def _change(suite: Json) -> list[str]:
    comparison = suite.get("comparison")
    if not comparison:
        return []
    if not comparison["comparable"]:
        return [f"{_WARNING} not comparable: {code(comparison['reason'], 240)}"]
    rows = [
        (
            code(name) if name else "all",
            *(number(paired[kind]) for kind in ("n", "broken", "fixed", "changed", "lost")),
            p_value(paired.get("p_value")),
        )
        for name, paired in comparison["judgements"].items()
    ]
    lines = _table(("judgement", "pairs", "broken", "fixed", "changed", "lost", "McNemar"), "lrrrrrr", rows)
    if not comparison["same_revision"]:
        counts = (
            f"{comparison['shared']:,} shared",
            *(f"{len(comparison[kind]):,} {kind}" for kind in ("added", "removed")),
        )
        lines += ["", f"{_WARNING} another dataset revision: {', '.join(counts)} samples"]
    smallest = comparison.get("minimum_detectable_change")
    if smallest is not None:
        lines += ["", f"A change under {number(smallest)} would go unseen."]
    return lines


def _numbers(suite: Json) -> list[str]:
    family = family_of(suite)
    covered = frozenset() if family is None else family.names
    whole = [n for n in suite["measurements"] if findings.split_slice(n)[1] is None and n not in covered]
    lines = _measured(suite, whole)
    if family is None:
        return lines
    return [*lines, "", *_family(suite, family)]


def _family(suite: Json, family: Family) -> list[str]:
    """A row for each judgement; the first measurement with its n and interval."""
    rows = []
    for judgement, names in family.rows:
        entries = [suite["measurements"][name] if name is not None else None for name in names]
        first = entries[0] or {"n": None, "interval": None}
        values = ["" if e is None else "-" if e["value"] is None else number(e["value"]) for e in entries]
        rows.append((code(judgement), values[0], number(first["n"]), interval(first.get("interval")), *values[1:]))
    if not rows:
        return [f"Nothing was measured of {plural(len(family.silent), 'judgement')}."]
    first_name, *others = family.measures
    lines = _table(("judgement", first_name, "n", "95 % interval", *others), "lrrl" + "r" * len(others), rows)
    return [*lines, "", f"Nothing was measured of {len(family.silent)} more."] if family.silent else lines


def _slices(suite: Json) -> list[str]:
    return _measured(suite, findings.worst_slices(suite, 10))


def _measured(suite: Json, names: Sequence[str]) -> list[str]:
    changes = (findings.compared(suite) or {}).get("measurements") or {}
    rows = []
    for name in names:
        measurement, change = suite["measurements"][name], changes.get(name) or {}
        missing = measurement["value"] is None
        moved = (
            f"{signed(change['change'])} {interval(change.get('interval'))}" if change.get("change") is not None else ""
        )
        rows.append(
            (
                code(name),
                "unmeasured" if missing else f"**{number(measurement['value'])}**",
                number(measurement["n"]),
                code(measurement["reason"])
                if missing and measurement.get("reason")
                else interval(measurement.get("interval")),
                moved.strip(),
            )
        )
    return _table(("measurement", "value", "n", "95 % interval", "change"), "lrrlr", rows)


def _moved(suite: Json) -> list[str]:
    lines: list[str] = []
    rows = []
    for kind in ("fixed", "changed"):
        found = list(findings.flips(suite, kind))
        rows += [(kind, code(flip["id"], 60), _flip(flip)) for flip in found[:_ROWS]]
        lines += _more(len(found) - _ROWS, kind)
    return _table(("what", "sample", "how"), "lll", rows) + lines


def _word(verdict: str, *, warning: bool = False) -> str:
    icon = _WARNING if warning and verdict != "pass" else _ICON[verdict]
    return f"{icon} {verdict}{' (warn)' if warning else ''}"


def _plain(text: str) -> str:
    """A sentence of ours that may quote a suite's name: Markdown's characters in it are written as entities."""
    return _MEANINGFUL.sub(_entity, shown(text, 1_000))


def _table(header: Sequence[str], alignment: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """A table without the columns that hold nothing; no line at all without rows."""
    kept = [place for place in range(len(header)) if any(row[place] for row in rows)]
    rules = ["---:" if place == "r" else "---" for place in alignment]
    lines = (header, rules, *rows) if rows else ()
    return [f"| {' | '.join(line[place] for place in kept)} |" for line in lines]
