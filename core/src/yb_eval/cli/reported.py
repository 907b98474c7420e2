"""A run as commands are given it: one of the store, or the JSON report in a file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import orjson

from yb_eval.cli.output import note
from yb_eval.composition import REPORT_SCHEMA, stored_report
from yb_eval.errors import UsageError, printable
from yb_eval.record import Store, read_log
from yb_eval.reports import RunView

_LIMIT = 256 * 2**20
_T = TypeVar("_T")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")


def read_run(text: str, store: Store) -> RunView:
    """The run that `text` names: `latest`, a run id, or the path of a JSON report.

    Beside a report, `outcomes/NAME.jsonl` is the outcome log of the suite NAME, if its digest is the one that the report
    gives. A report from a file is another's word: it is checked for what can be shown, and for nothing else.
    """
    path = Path(text)
    if path.suffix == ".json" or path.is_file():
        return _from_file(path)
    from yb_eval.cli.running import view_of

    return view_of(stored_report(store, store.find(text)), store)


def _from_file(path: Path) -> RunView:
    try:
        if path.stat().st_size > _LIMIT:
            raise UsageError(f"a report of more than {_LIMIT:,} bytes", where=str(path))
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except orjson.JSONDecodeError as error:
        raise UsageError(f"not JSON: {error}", where=str(path)) from error
    if not isinstance(document, dict) or document.get("schema") != REPORT_SCHEMA:
        raise UsageError("not a report that this version reads", where=str(path), hint=f"its schema is {REPORT_SCHEMA}")
    logs = _logs(document, path.parent / "outcomes")

    def outcomes(index: int) -> Iterator[dict[str, Any]]:
        if index in logs:
            with logs[index].open("rb") as log:
                yield from read_log(log)

    return RunView(document=document, outcomes=outcomes)


def _logs(document: dict[str, Any], folder: Path) -> dict[int, Path]:
    """The outcome logs that lie beside a report and are the ones it is of."""
    suites = document.get("suites")
    found = {}
    for index, suite in enumerate(suites if isinstance(suites, list) else []):
        name, kept = (suite.get("name"), suite.get("outcomes")) if isinstance(suite, dict) else (None, None)
        if not isinstance(name, str) or not _NAME.match(name) or not isinstance(kept, dict):
            continue
        log = folder / f"{name}.jsonl"
        if log.is_symlink() or not log.is_file():
            continue
        with log.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest == kept.get("sha256"):
            found[index] = log
        else:
            note(f"warning: {printable(str(log))}: not the outcome log that the report is of, so it is left out")
    return found


def shown(text: str, make: Callable[[], _T]) -> _T:
    """What `make` makes of a report. Raises `UsageError` if the report, which may be another's, is not whole."""
    try:
        return make()
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"the report is not whole: {printable(said)[:200]}", where=text) from error
