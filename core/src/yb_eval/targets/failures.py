"""How a failure of the system under test reads in an outcome: one printable line, short, without secrets, and the same
each time."""

from __future__ import annotations

import re

from yb_eval.errors import printable, shorten
from yb_eval.targets.secrets import Masker, mask

LONGEST = 300

# Where an object happens to lie in memory would give each run other outcomes.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]{4,16}\b")


def failed(error: BaseException) -> str:
    """An exception of the system under test: its type and the first line of its message."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # a __str__ that raises belongs to the system under test too
        lines = []
    text = type(error).__name__ + (f": {lines[0].strip()}" if lines else "")
    return clip(_ADDRESS.sub("", mask(text)))


def clip(text: str, limit: int = LONGEST) -> str:
    """`text` on one printable line of at most `limit` characters."""
    # Cut before escaping too: an answer can be 64 MiB.
    text = printable(text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quoted(raw: bytes, masker: Masker, limit: int = 80) -> str:
    """The beginning of what came back, for quoting in a failure; its size where not all is shown."""
    if not raw:
        return "nothing"
    # Mask before cutting: half a secret is still half a secret.
    head = raw[: limit * 4 + masker.longest]
    shown = shorten(masker.mask(head.decode("utf-8", "backslashreplace")), limit)
    return shown if len(raw) <= limit else f"{shown} ({len(raw):,} bytes)"
