"""The errors of yb-eval and the exit code each one ends the command with.

```
YbEvalError
├── Refused (exit 2): nothing was evaluated
│   ├── UsageError       options, arguments, configuration
│   ├── DatasetError     a dataset that cannot be trusted as it stands
│   ├── ExpressionError  a gate or filter that cannot mean anything
│   └── PluginError      an unknown, broken or clashing plugin
├── NotMeasured (exit 3): the run began and has no trustworthy end
│   ├── StoreError       a result could not be written, or what was stored does not verify
│   └── EvaluationError  an evaluator broke its contract
└── Interrupted (exit 130)
```

Every error reads as one line: what is wrong, where, and what would mend it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What the process ends with; the table in `docs/cli.md` explains each."""

    PASS = 0
    FAIL = 1
    REFUSED = 2
    NOT_MEASURED = 3
    INTERRUPTED = 130


class YbEvalError(Exception):
    """Base of all errors that are shown to a user as one line.

    `what` is the fault, `where` the place (`file:line` or a JSON path), `hint` what would mend it.
    """

    exit_code: ExitCode = ExitCode.NOT_MEASURED

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        mend = f" ({self.hint})" if self.hint else ""
        return printable(f"{place}{self.what}{mend}")

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process boundaries; keyword arguments do not survive the default pickling.
        return (_rebuild, (type(self), self.what, self.where, self.hint))


def _rebuild(kind: type[YbEvalError], what: str, where: str | None, hint: str | None) -> YbEvalError:
    return kind(what, where=where, hint=hint)


class Refused(YbEvalError):
    exit_code = ExitCode.REFUSED


class UsageError(Refused):
    pass


class DatasetError(Refused):
    pass


class ExpressionError(Refused):
    pass


class PluginError(Refused):
    pass


class NotMeasured(YbEvalError):
    exit_code = ExitCode.NOT_MEASURED


class StoreError(NotMeasured):
    pass


class EvaluationError(NotMeasured):
    pass


class Interrupted(YbEvalError):
    exit_code = ExitCode.INTERRUPTED


#: Noted on a `KeyboardInterrupt` that leaves nothing to resume.
NOTHING_KEPT = "nothing is kept, for no run had begun"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A hint that names the known word closest to `name`, or lists what is known."""
    from difflib import get_close_matches

    words = sorted(set(known))
    close = get_close_matches(name, words, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + ", ".join(words) if words else None


def shorten(value: object, limit: int = 80) -> str:
    """`repr(value)` on one line and cut to `limit` characters: for quoting hostile data in a message."""
    text = repr(value[: limit * 2]) if isinstance(value, str | bytes) else repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str) -> str:
    """`text` on one line, control characters escaped: what data says must not drive a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
