"""gitleaks, many rows to a process: they go in as one text, and each finding's line tells the row it is from.

Rows stand apart by a blank line. A match that begins in one row and ends in another, which would not be there in either
alone, sends the rows it spans through once more, each by itself. gitleaks reads its input in pieces of about 100 kB that
end at a blank line; rows with blank lines inside, and very long ones, therefore come in texts smaller than that, and so
do rows with a match in decoded text, once more: columns are counted from the piece, and only there is it known where
the piece begins.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from attrs import field, frozen

from yb_eval import Answer, Target
from yb_eval.digest import identify
from yb_eval.interfaces import Concurrency

_APART = "\n\n"
_PIECE = 90_000
_TOGETHER = 16_000_000
_LONG_ROW = 20_000
_BLANK_LINE = re.compile(r"\n[ \t\r]*\n")
_TIMEOUT = 600.0


@lru_cache(maxsize=1)
def binary() -> str:
    """The path of the program. Raises ImportError where there is none."""
    beside = Path(sys.executable).with_name("gitleaks")
    found = str(beside) if beside.is_file() else shutil.which("gitleaks")
    if found is None:
        raise ImportError("gitleaks is not installed", name="gitleaks")
    return found


class _Failed(Exception):
    """gitleaks ended without a report."""


@frozen(slots=True)
class GitleaksTarget:
    """gitleaks as a target; of the environment only what a process needs is handed on, so no setting leaks in."""

    fingerprint: str
    spec: str = "gitleaks"
    batch_size: int = 5_000
    concurrency: Concurrency = field(default="threads")

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        texts = [request["text"] for request in requests]
        answers: list[Answer] = [Answer()] * len(texts)
        careful = {row for row, text in enumerate(texts) if len(text) > _LONG_ROW or _BLANK_LINE.search(text)}
        usual = [row for row in range(len(texts)) if row not in careful]
        for rows in (*_blocks(texts, usual, _TOGETHER), *_blocks(texts, sorted(careful), _PIECE)):
            for row, answer in zip(rows, _asked([texts[row] for row in rows]), strict=True):
                answers[row] = answer
        return answers

    def close(self) -> None:
        pass


def _blocks(texts: Sequence[str], rows: Sequence[int], limit: int) -> Iterator[list[int]]:
    """Those of `rows` that can go in together: at most `limit` bytes, unless one alone is longer."""
    block: list[int] = []
    size = 0
    for row in rows:
        width = len(texts[row].encode()) + len(_APART)
        if block and size + width > limit:
            yield block
            block, size = [], 0
        block.append(row)
        size += width
    if block:
        yield block


def _asked(texts: Sequence[str]) -> list[Answer]:
    """The answers to texts that go in together."""
    joined = (_APART.join(texts) + "\n").encode()
    try:
        reported = _run(joined)
    except (_Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
        # What it printed may quote its input.
        reason = str(error) if isinstance(error, _Failed) else f"gitleaks failed: {type(error).__name__}"
        return [Answer(None, reason)] * len(texts)
    row_of_line = [row for row, text in enumerate(texts) for _ in range(text.count("\n") + len(_APART))]
    found: list[list[dict[str, Any]]] = [[] for _ in texts]
    alone: set[int] = set()
    decoded: set[int] = set()
    for finding in reported:
        first, last = (row_of_line[min(finding[end], len(row_of_line)) - 1] for end in ("StartLine", "EndLine"))
        found[first].append(finding)
        if first != last:
            alone.update(range(first, last + 1))
        elif len(joined) > _PIECE and finding["Secret"] not in texts[first]:
            decoded.add(first)
    answers = []
    line = 1
    for text, findings in zip(texts, found, strict=True):
        answers.append(Answer({"findings": _placed(text, findings, line)}))
        line += text.count("\n") + len(_APART)
    for row in alone:
        answers[row] = _asked([texts[row]])[0]
    for rows in _blocks(texts, sorted(decoded - alone), _PIECE):
        for row, answer in zip(rows, _asked([texts[row] for row in rows]), strict=True):
            answers[row] = answer
    return answers


def _run(data: bytes) -> list[dict[str, Any]]:
    command = [
        binary(), "stdin", "--no-banner", "--log-level", "error", "--exit-code", "0",
        "--ignore-gitleaks-allow", "--report-format", "json", "--report-path", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command, input=data, capture_output=True, timeout=_TIMEOUT, env={"HOME": "/", "PATH": ""}, check=False
    )
    if done.returncode:
        raise _Failed(f"gitleaks ended with the exit code {done.returncode}")
    reported: list[dict[str, Any]] = json.loads(done.stdout or b"[]") or []
    return reported


def _placed(text: str, reported: Sequence[Mapping[str, Any]], first_line: int) -> list[dict[str, Any]]:
    """Findings of one row with their places in it, in code points.

    gitleaks counts columns in bytes from 1, and on all lines but the first of a piece from the line break before. So a
    secret is looked for from the place it tells on; one that was decoded is where it is told to be.
    """
    data = text.encode()
    starts = [0, *(match.end() for match in re.finditer(b"\n", data))]
    placed = set()
    for finding in reported:
        first, last = finding["StartLine"], finding["EndLine"]
        start = max(0, starts[first - first_line] + finding["StartColumn"] - 1 - (first > 1))
        secret = finding["Secret"].encode()
        exact = data.find(secret, max(0, start - 1))
        if exact >= 0:
            start, end = exact, exact + len(secret)
        else:
            end = starts[min(last - first_line, len(starts) - 1)] + finding["EndColumn"] - (last > 1)
            end = min(len(data), max(end, start + 1))
        place = [len(data[:offset].decode("utf-8", "ignore")) for offset in (start, end)]
        placed.add((*place, finding["RuleID"]))
    return [{"type": "secret", "kind": kind, "start": start, "end": end} for start, end, kind in sorted(placed)]


def open_target() -> Target:
    """gitleaks as a target. Raises ImportError where it is not installed."""
    done = subprocess.run([binary(), "version"], capture_output=True, timeout=60, check=True)
    version = done.stdout.decode("ascii", "replace").strip()
    return GitleaksTarget(identify("target", {"peer": "gitleaks", "version": version}))
