"""The samples that the page carries: chosen, cut and escaped, as JSON that no HTML parser can be led out of.

The page holds at most `LIMIT` samples and about `BUDGET` bytes of them, errors, wrong samples and those that changed
since the baseline before the rest; what is left out is counted.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from attrs import define, frozen

from yb_eval.errors import printable
from yb_eval.reports import findings
from yb_eval.reports.view import Json, RunView
from yb_eval.reports.wording import brief, number

LIMIT = 10_000
BUDGET = 24 * 2**20

_CELL = 400
_BLOCK = 6_000
_TAGS = 24

#: Characters that end a script element or a JavaScript line, as JSON escapes (HTML standard, section 4.12.1.3).
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPE_TABLE = str.maketrans(_ESCAPES)


@frozen(slots=True)
class Samples:
    """The rows as JSON for the page's script, how many there are of how many, and how many of those to look at."""

    payload: str
    embedded: int
    total: int
    notable: int
    notable_total: int


@define(slots=True)
class _Chosen:
    """Packed rows in two classes, each with its place in the run; the rest is only counted."""

    limit: int
    size: int = 0
    total: int = 0
    notable_total: int = 0

    def choose(self, rows: Iterable[tuple[bool, Any]]) -> tuple[list[tuple[int, bytes]], list[tuple[int, bytes]]]:
        notable: list[tuple[int, bytes]] = []
        others: list[tuple[int, bytes]] = []
        for place, (matters, make) in enumerate(rows):
            self.total += 1
            self.notable_total += matters
            kept = notable if matters else others
            full = self.size >= BUDGET
            # Beyond the budget a row that matters still takes the place of one that does not.
            if len(kept) >= self.limit or (full and not (matters and others)):
                continue
            if full:
                self.size -= len(others.pop()[1])
            packed = orjson.dumps(make())
            self.size += len(packed)
            kept.append((place, packed))
        return notable, others


def embed(view: RunView, *, limit: int = LIMIT) -> Samples:
    """Reads every outcome log once, with memory for `limit` rows of each class."""
    chosen = _Chosen(limit)
    notable, others = chosen.choose(_rows(view))
    kept = sorted([*notable, *others[: max(limit - len(notable), 0)]])
    payload = "[" + ",".join(packed.decode() for _, packed in kept) + "]"
    return Samples(payload.translate(_ESCAPE_TABLE), len(kept), chosen.total, len(notable), chosen.notable_total)


def _rows(view: RunView) -> Iterator[tuple[bool, Any]]:
    for index, suite in enumerate(view.document["suites"]):
        flips = {flip["id"]: flip for flip in _flips(suite)}
        for outcome in view.outcomes(index):
            flip = flips.get(outcome["id"])
            matters = outcome["status"] == "error" or outcome.get("correct") is False or flip is not None
            yield matters, lambda i=index, o=outcome, f=flip: _row(i, o, f)


def _flips(suite: Json) -> Iterator[Json]:
    """The flips of the suite, so that of several of one sample the gravest is the last."""
    return itertools.chain.from_iterable(findings.flips(suite, kind) for kind in ("changed", "fixed", "broken"))


def _row(index: int, outcome: Json, flip: Json | None) -> dict[str, Any]:
    """One row; what is empty is left out. Keys are short for they are written ten thousand times."""
    judgements = outcome.get("judgements") or {}
    mistakes = {mistake.judgement for mistake in findings.mistakes(outcome)}
    row: dict[str, Any] = {
        "id": line(outcome["id"]),
        "k": kind(outcome),
        "e": _answer(outcome, judgements, "expected", mistakes),
        "p": _answer(outcome, judgements, "predicted", mistakes),
    }
    optional = {
        "s": index,
        "n": (outcome.get("repeat") or 0) + 1 if outcome.get("repeat") else None,
        "r": line(outcome["reason"]) if outcome.get("reason") else None,
        "t": [line(tag) for tag in (outcome.get("tags") or [])[:_TAGS]],
        "f": flip["kind"] if flip else None,
        "b": line(findings.flipped(flip, _CELL // 2)) if flip else None,
        "c": number(outcome["confidence"]) if outcome.get("confidence") is not None else None,
        "o": number(outcome["score"]) if outcome.get("score") is not None else None,
        "j": [_judgement(name, judgement) for name, judgement in judgements.items()],
        "d": block(outcome["details"]) if outcome.get("details") else None,
        "E": _whole(outcome.get("expected"), judgements),
        "P": _whole(outcome.get("predicted"), judgements),
    }
    return row | {key: value for key, value in optional.items() if value}


def kind(outcome: Json) -> str:
    """One word for what became of a sample; `unjudged` is scored but neither right nor wrong."""
    if outcome["status"] != "scored":
        return str(outcome["status"])
    return {True: "right", False: "wrong"}.get(outcome.get("correct"), "unjudged")  # type: ignore[arg-type]


def _answer(outcome: Json, judgements: Json, side: str, mistakes: set[str | None]) -> str:
    """What was expected or predicted, on one line: of several judgements the wrong ones, or all where none is wrong."""
    if not judgements:
        value = outcome.get(side)
        return "" if value is None else line(value)
    told = [name for name in judgements if name in mistakes] or list(judgements)
    return line(", ".join(f"{name}: {brief(judgements[name].get(side), _CELL // 2)}" for name in told))


def _whole(value: Any, judgements: Json) -> str | None:
    """The value in full where one line does not say all of it."""
    if judgements or value is None:
        return None
    text = block(value)
    return text if text != line(value) else None


def _judgement(name: str, judgement: Json) -> list[str]:
    fields = (judgement.get("expected"), judgement.get("predicted"))
    confidence = judgement.get("confidence")
    return [
        line(name),
        kind(judgement),
        *("" if value is None else line(value) for value in fields),
        number(confidence) if confidence is not None else "",
        line(judgement["reason"]) if judgement.get("reason") else "",
    ]


def line(value: Any, limit: int = _CELL) -> str:
    """A value on one line; control and direction characters are escaped, a long rest is counted."""
    return printable(brief(value, limit))


def block(value: Any, limit: int = _BLOCK) -> str:
    """A value over several lines: a string as it is, anything else as indented JSON."""
    text = value if isinstance(value, str) else _indented(value)
    return "\n".join(map(printable, brief(text, limit).split("\n")))


def _indented(value: Any) -> str:
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # a lone surrogate, which orjson refuses and the standard library escapes
        return json.dumps(value, indent=2)
