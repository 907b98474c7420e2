"""How what is said on stderr is written: lines for people, or a JSON object a line (`--log-format json`)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from yb_eval.errors import UsageError, printable

Level = Literal["info", "warning", "error"]

FORMATS = ("text", "json")
VARIABLE = "YB_EVAL_LOG_FORMAT"
_OPTION = "--log-format"

#: What stands before a line for people says how grave it is.
_PREFIXES: tuple[tuple[str, Level], ...] = (("warning: ", "warning"), ("yb-eval: ", "error"), ("note: ", "info"))


class Log:
    """Where notes go, and in which form. `chosen` is what the command line or the environment asks for; a
    configuration file has its say where they do not."""

    def __init__(self) -> None:
        self.chosen: str | None = None
        self.configured = "text"

    @property
    def json(self) -> bool:
        return (self.chosen or self.configured) == "json"

    def take(self, arguments: Sequence[str]) -> list[str]:
        """Reads `--log-format` out of the arguments of any command and returns the others. Raises `UsageError`."""
        rest: list[str] = []
        said = os.environ.get(VARIABLE) or None
        self.chosen, self.configured = said if said in FORMATS else None, "text"
        words = iter(arguments)
        for word in words:
            name, equals, value = word.partition("=")
            if word == "--":
                rest += [word, *words]
            elif name == _OPTION:
                said = self.chosen = value if equals else next(words, "")
            else:
                rest.append(word)
        if said is not None and said not in FORMATS:
            self.chosen = None
            raise UsageError(f"{said!r} is no format of the log", where=_OPTION, hint="text or json")
        return rest

    def write(self, text: str, level: Level | None = None, **fields: str | int) -> None:
        """One line. Its level is that of its prefix, unless it is given; `fields` are for machines only."""
        if not self.json:
            self._print(printable(text))
            return
        import json

        for prefix, meant in _PREFIXES:
            if text.startswith(prefix):
                text, level = text[len(prefix) :], level or meant
                break
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        # The standard library's: it writes ASCII, which reaches a reader whatever the encoding of stderr is.
        self._print(json.dumps({"time": time, "level": level or "info", "message": text.strip(), **fields}))

    @staticmethod
    def _print(line: str) -> None:
        """A note that nobody can read (a full disk, a closed pipe) decides nothing: the verdict stays what it is."""
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:
            # What is left in the buffer must not fail again when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


log = Log()
