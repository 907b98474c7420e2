"""stdout carries the result and nothing else; everything said beside it goes to stderr."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, redirect_stdout

from yb_eval.cli.logs import Level, log
from yb_eval.errors import StoreError


class _Beside(io.TextIOBase):
    """A stdout that is stderr. A plugin may close it, and closes nothing of ours."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


def beside() -> AbstractContextManager[object]:
    """While plugins and targets run: what they print is not the result, and goes to stderr."""
    return redirect_stdout(_Beside())


def emit(pieces: Iterable[str]) -> None:
    """Writes the result to stdout as UTF-8. A reader that has seen enough is no error; a full disk is
    (`StoreError`)."""
    stream = getattr(sys.stdout, "buffer", None)
    try:
        for piece in pieces:
            if stream is None:
                sys.stdout.write(piece)
            else:
                stream.write(piece.encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise StoreError(f"the result cannot be written: {error.strerror}", where="stdout") from error


def note(text: str, level: Level | None = None, **fields: str | int) -> None:
    """A line beside the result, on stderr; `fields` are shown where the log is JSON (see `Log.write`)."""
    log.write(text, level, **fields)


def color() -> bool:
    """Whether stdout is a terminal that wants colour (https://no-color.org: any non-empty NO_COLOR says no)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


def width() -> int:
    return shutil.get_terminal_size((100, 24)).columns
