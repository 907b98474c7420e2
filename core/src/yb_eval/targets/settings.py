"""What a run lets its targets do: time limits, retries, parallel work, where answers are kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import Attribute, field, frozen

from yb_eval.errors import UsageError

MEBIBYTE = 1 << 20


def positive(_: object, attribute: Attribute[Any], value: float) -> None:
    """A validator of limits in seconds."""
    if not math.isfinite(value) or value <= 0:
        raise UsageError(f"{attribute.name} must be a finite number above 0, not {value!r}")


def at_least(least: int) -> Callable[[object, Attribute[Any], int], None]:
    """A validator of counts."""

    def check(_: object, attribute: Attribute[Any], value: int) -> None:
        if type(value) is not int or value < least:
            raise UsageError(f"{attribute.name} must be a whole number of at least {least}, not {value!r}")

    return check


@frozen(slots=True, kw_only=True)
class Settings:
    """How targets are opened and asked. None of this enters a fingerprint: it bounds the work, not the answers.

    `timeout`: seconds one request may take (one attempt of it over http; the start of its process included for exec).
    `retries`: further attempts over http after 429, 5xx or a transport error; `backoff` seconds before the first,
    doubling; never more than `longest_wait`, whatever a Retry-After asks for. `restarts`: how often in a row an exec
    process may end without one good answer before it is given up. `grace`: seconds a closing process has to end by
    itself. `jobs`: how many requests may be under way at once. `answer_limit`: bytes an answer may have. `cache`: the
    folder of kept answers. `record`: the cassette to write; `resume` keeps what it already holds. `private`: fields of a
    request that a cassette holds as their sha256 only. `base`: the folder
    that relative files and commands are looked up in, and that `python:` imports from.
    """

    timeout: float = field(default=60.0, validator=positive)
    connect_timeout: float = field(default=10.0, validator=positive)
    retries: int = field(default=3, validator=at_least(0))
    backoff: float = field(default=0.5, validator=positive)
    longest_wait: float = field(default=60.0, validator=positive)
    restarts: int = field(default=10, validator=at_least(0))
    grace: float = field(default=2.0, validator=positive)
    jobs: int = field(default=1, validator=at_least(1))
    answer_limit: int = field(default=64 * MEBIBYTE, validator=at_least(0))
    cache: Path | None = None
    record: Path | None = None
    resume: bool = False
    private: frozenset[str] = frozenset()
    base: Path = field(factory=Path.cwd)
