"""gitleaks, many rows to a process: they go in as one text, and each finding's line tells the row it is from.

Rows stand apart by a blank line. A match that begins in one row and ends in another, which would not be there in either
alone, sends the rows it spans through once more, each by itself; so does a match in decoded text, whose place can then be
told for certain. gitleaks reads its input in pieces of about 100 kB
that end at a blank line; rows with blank lines inside, and very long ones, therefore come in texts smaller than that.
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
        for rows in _blocks(texts):
            for row, answer in zip(rows, _asked([texts[row] for row in rows]), strict=True):
                answers[row] = answer
        return answers

    def close(self) -> None:
        pass


def _blocks(texts: Sequence[str]) -> Iterator[list[int]]:
    """The indices of texts that can go in together."""
    careful = [len(text) > _LONG_ROW or _BLANK_LINE.search(text) is not None for text in texts]
    for kind, limit in ((False, _TOGETHER), (True, _PIECE)):
        block: list[int] = []
        size = 0
        for row, text in enumerate(texts):
            if careful[row] is not kind:
                continue
            width = len(text.encode()) + len(_APART)
            if block and size + width > limit:
                yield block
                block, size = [], 0
            block.append(row)
            size += width
        if block:
            yield block


def _asked(texts: Sequence[str]) -> list[Answer]:
    try:
        reported = _run(_APART.join(texts))
    except (_Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
        # What it printed may quote its input.
        reason = str(error) if isinstance(error, _Failed) else f"gitleaks failed: {type(error).__name__}"
        return [Answer(None, reason)] * len(texts)
    row_of_line = [row for row, text in enumerate(texts) for _ in range(text.count("\n") + len(_APART))]
    found: list[list[dict[str, Any]]] = [[] for _ in texts]
    again: set[int] = set()
    for finding in reported:
        first, last = (row_of_line[min(finding[end], len(row_of_line)) - 1] for end in ("StartLine", "EndLine"))
        if first == last and (len(texts) == 1 or finding["Secret"] in texts[first]):
            found[first].append(finding)
        else:
            again.update(range(first, last + 1))
    answers = []
    line = 1
    for row, text in enumerate(texts):
        if row in again:
            answers.extend(_asked([text]))
        else:
            answers.append(Answer({"findings": _placed(text, found[row], line)}))
        line += text.count("\n") + len(_APART)
    return answers


def _run(text: str) -> list[dict[str, Any]]:
    command = [
        binary(), "stdin", "--no-banner", "--log-level", "error", "--exit-code", "0",
        "--ignore-gitleaks-allow", "--report-format", "json", "--report-path", "-",
    ]  # fmt: skip
    done = subprocess.run(  # noqa: S603
        command, input=text.encode(), capture_output=True, timeout=_TIMEOUT, env={"HOME": "/", "PATH": ""}, check=False
    )
    if done.returncode:
        raise _Failed(f"gitleaks ended with the exit code {done.returncode}")
    reported: list[dict[str, Any]] = json.loads(done.stdout or b"[]") or []
    return reported


def _placed(text: str, reported: Sequence[Mapping[str, Any]], first_line: int) -> list[dict[str, Any]]:
    """Findings of one row with their places in it, in code points.

    gitleaks counts columns in bytes from 1, and on all lines but the first of a piece from the line break before. So the
    match is looked for around the place it tells; what is not there was decoded, and stands in a text of its own, whose
    first line is the first of its piece.
    """
    data = text.encode()
    starts = [0, *(match.end() for match in re.finditer(b"\n", data))]
    placed = set()
    for finding in reported:
        first, last = finding["StartLine"], finding["EndLine"]
        start = starts[first - first_line] + finding["StartColumn"] - 1 - (first > 1)
        end = starts[last - first_line] + finding["EndColumn"] - (last > 1)
        secret = finding["Secret"].encode()
        exact = data.find(secret, max(0, start - 1), end + len(secret) + 1)
        if exact >= 0:
            start, end = exact, exact + len(secret)
        place = [len(data[:offset].decode("utf-8", "ignore")) for offset in (start, end)]
        placed.add((*place, finding["RuleID"]))
    return [{"type": "secret", "kind": kind, "start": start, "end": end} for start, end, kind in sorted(placed)]


def open_target() -> Target:
    """gitleaks as a target. Raises ImportError where it is not installed."""
    done = subprocess.run([binary(), "version"], capture_output=True, timeout=60, check=True)  # noqa: S603
    version = done.stdout.decode("ascii", "replace").strip()
    return GitleaksTarget(identify("target", {"peer": "gitleaks", "version": version}))
