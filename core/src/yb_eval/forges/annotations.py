"""Broken samples as annotations of a GitHub job, at their lines in the dataset files.

A report knows a dataset's files by size and sha256 only. So the files are looked for in the checkout by these: what is
found is the very file that was evaluated, under whatever name, and what is not found there could not be annotated
anyway. Workflow commands: docs.github.com, "Workflow commands for GitHub Actions"; a step shows ten of each type.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import orjson
from attrs import frozen

from yb_eval.errors import DatasetError
from yb_eval.reports import RunView, findings
from yb_eval.reports.view import Json
from yb_eval.reports.wording import plural, shown

#: What GitHub shows of each type for one step.
LIMIT = 10

_MESSAGE = 500
_MOST_FILES = 200_000
_SKIPPED = frozenset(("node_modules", "__pycache__", "venv"))

Kind = Literal["error", "warning", "notice"]


@frozen(slots=True)
class Annotation:
    """What is said, and where: `file` is relative to the checkout, `line` counts from 1."""

    kind: Kind
    title: str
    message: str
    file: str | None = None
    line: int | None = None

    def command(self) -> str:
        """The workflow command, on one line whatever the text holds."""
        places = {"file": self.file, "line": None if self.line is None else str(self.line), "title": self.title}
        given = ",".join(f"{name}={_property(value)}" for name, value in places.items() if value)
        return f"::{self.kind} {given}::{_data(shown(self.message, _MESSAGE))}\n"


def workflow_commands(view: RunView, checkout: Path, *, limit: int = LIMIT) -> Iterator[str]:
    """Workflow commands for what is wrong with a run: at most `limit` errors and `limit` warnings.

    Errors are of suites that did not pass: gates first, then samples that broke since the baseline, failed, or are
    wrong. In a suite that passed, a sample that broke since the baseline is a warning.
    """
    found = [one for index in range(len(view.document["suites"])) for one in _suite(view, index, limit)]
    kept: list[_Finding] = []
    for kind in ("error", "warning"):
        of_kind = [one for one in found if one.kind == kind]
        kept += of_kind[:limit]
    lines = _lines(view.document, kept, checkout)
    for one in kept:
        file, line = lines.get((one.index, one.sample), (None, None)) if one.sample is not None else (None, None)
        yield Annotation(one.kind, one.title, one.message, file, line).command()
    total = sum(_total(view, index) for index in range(len(view.document["suites"])))
    samples = sum(one.sample is not None for one in kept)
    if total > samples:
        rest = f"{plural(total - samples, 'more sample')} that broke, failed or are wrong: see the report"
        yield Annotation("notice", "yb-eval", rest).command()


@frozen(slots=True)
class _Finding:
    index: int
    kind: Kind
    title: str
    message: str
    sample: str | None = None


def _suite(view: RunView, index: int, limit: int) -> Iterator[_Finding]:
    suite = view.document["suites"][index]
    name, passed = findings.name_of(suite), suite["verdict"] == "pass"
    for gate in findings.worst_first(suite["gates"]):
        if gate["verdict"] != "pass":
            kind: Kind = "error" if gate["severity"] == "block" else "warning"
            yield _Finding(index, kind, f"{name}: gate {gate['verdict']}", f"{gate['gate']}: {gate['reason']}")
    seen: set[str] = set()
    for flip in findings.flips(suite, "broken"):
        if flip["id"] not in seen and len(seen) < limit:
            seen.add(flip["id"])
            said = f"{flip['id']}: {findings.flipped(flip, 200)}"
            yield _Finding(index, "warning" if passed else "error", f"{name}: broken", said, flip["id"])
    if passed:
        return
    troubles = findings.troubles(view, index, limit=limit + len(seen))
    for failed in troubles.failed:
        if failed.id not in seen:
            seen.add(failed.id)
            yield _Finding(index, "error", f"{name}: error", f"{failed.id}: {failed.reason}", failed.id)
    # With a baseline the change is to blame for what broke, not for what was wrong before.
    for wrong in troubles.wrong if findings.compared(suite) is None else ():
        if wrong.id not in seen:
            seen.add(wrong.id)
            yield _Finding(index, "error", f"{name}: wrong", f"{wrong.id}: {findings.told(wrong, 200)}", wrong.id)


def _total(view: RunView, index: int) -> int:
    """How many samples of a suite there would be something to say of."""
    suite = view.document["suites"][index]
    broken = {flip["id"] for flip in findings.flips(suite, "broken")}
    if suite["verdict"] == "pass":
        return len(broken)
    troubles = findings.troubles(view, index, limit=0)
    failed = sum(group.count for group in troubles.errors)
    return len(broken) + failed + (troubles.wrong_count if findings.compared(suite) is None else 0)


def _lines(
    document: Json, kept: Iterable[_Finding], checkout: Path
) -> dict[tuple[int, str | None], tuple[str, int | None]]:
    """(suite, sample) -> (file, line) for those whose file is in the checkout."""
    asked: dict[int, list[str]] = {}
    for one in kept:
        if one.sample is not None:
            asked.setdefault(one.index, []).append(one.sample)
    digests = {
        index: [
            (file["size"], file["sha256"]) for data in document["suites"][index]["datasets"] for file in data["files"]
        ]
        for index in asked
    }
    paths = find_files(checkout, {digest for listed in digests.values() for digest in listed})
    placed: dict[tuple[int, str | None], tuple[str, int | None]] = {}
    for index, samples in asked.items():
        files = [paths[digest] for digest in digests[index] if digest in paths]
        for path in files:
            name = path.relative_to(checkout).as_posix()
            for sample, line in locate(path, [s for s in samples if (index, s) not in placed]).items():
                placed[index, sample] = (name, line)
        for sample in samples if files else ():
            # Some formats have no lines, some suites make ids of their own: then the file must do.
            placed.setdefault((index, sample), (files[0].relative_to(checkout).as_posix(), None))
    return placed


def find_files(folder: Path, wanted: set[tuple[int, str]]) -> dict[tuple[int, str], Path]:
    """(size, sha256) -> the first file below `folder`, by name, that has them. Hidden folders are not looked into, and
    nothing is followed; only files of a size that is wanted are read."""
    sizes = {size for size, _ in wanted}
    found: dict[tuple[int, str], Path] = {}
    looked_at = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for name in sorted(names):
            looked_at += 1
            if looked_at > _MOST_FILES or len(found) == len(wanted):
                return found
            path = Path(parent, name)
            try:
                status = path.lstat()
                if status.st_size not in sizes or path.is_symlink() or not path.is_file():
                    continue
                with path.open("rb") as file:
                    digest = (status.st_size, hashlib.file_digest(file, "sha256").hexdigest())
            except OSError:
                continue
            if digest in wanted:
                found.setdefault(digest, path)
    return found


def locate(path: Path, samples: Sequence[str]) -> dict[str, int]:
    """Sample id -> its line in a dataset file, as far as that can be told."""
    from yb_eval.datasets import RowDataset

    wanted = set(samples)
    found: dict[str, int] = {}
    if not wanted:
        return found
    try:
        for batch in RowDataset(path).open().samples(1_000):
            found |= {s.id: s.line for s in batch if s.id in wanted and s.line is not None}
    except DatasetError:
        pass  # a format of the suite's own
    missing = wanted - found.keys()
    return found | _search(path, missing) if missing else found


def _search(path: Path, missing: set[str]) -> dict[str, int]:
    """The first lines on which ids stand as JSON strings: in a document, rows have no line numbers."""
    tokens = {re.escape(orjson.dumps(sample).decode("utf-8", "replace")): sample for sample in missing}
    # Plain strings joined: the pattern holds no repetition, so it is as fast as it is long.
    pattern = re.compile("|".join(sorted(tokens, key=len, reverse=True)))
    found: dict[str, int] = {}
    try:
        with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file, 1):
                for match in pattern.finditer(line):
                    found.setdefault(tokens[re.escape(match[0])], number)
    except OSError:
        return {}
    return found


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(shown(text, _MESSAGE)).replace(":", "%3A").replace(",", "%2C")
