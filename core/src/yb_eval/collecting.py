"""Garbage collection while many small values come and go."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

#: New containers after which Python looks for cycles, instead of 700: a batch has thousands of them, none in a cycle.
_SELDOM = 50_000


@contextmanager
def seldom() -> Iterator[None]:
    """Looks for cycles seldom, as long as this lasts. A caller who has turned collection off, or further down, is left
    alone."""
    before = gc.get_threshold()
    if not 0 < before[0] < _SELDOM:
        yield
        return
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
