"""The backend of a call: opened, kept or wrapped as the call says.

A backend that is named by its spec is opened once in a process, shared by all calls, and closed when the process ends: its
connections are pooled, whatever threads or event loops the calls come from. A backend object belongs to whoever made it.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from yb_eval import UsageError
from yb_eval.errors import shorten
from yb_eval_decision.backends.base import Backend

_lock = threading.Lock()
_shared: dict[tuple[int, str | None], Backend] = {}


def shared_backend(spec: str | None = None) -> Backend:
    """The process's backend for `spec` (`None`: the default one). Raises `UsageError` for one that cannot be opened."""
    # A forked child has no thread of its parent's: it opens its own.
    key = (os.getpid(), spec)
    with _lock:
        backend = _shared.get(key)
        if backend is None:
            from yb_eval_decision.backends.opening import open_backend

            backend = _shared[key] = open_backend(spec)
        return backend


def close_shared() -> None:
    """Closes what `shared_backend` opened in this process; the next call opens it anew."""
    with _lock:
        mine = [key for key in _shared if key[0] == os.getpid()]
        backends = [_shared.pop(key) for key in mine]
    for backend in backends:
        backend.close()


atexit.register(close_shared)


@contextmanager
def opened(backend: Backend | str | None, *, cache: Any = None, max_cost: Any = None) -> Iterator[Backend]:
    """`backend` as a call uses it: found by its spec, behind a cost limit, behind a cache (whose hits cost nothing)."""
    if backend is not None and not isinstance(backend, Backend | str):
        hint = "write its spec, or make one" if not isinstance(backend, type) else f"write {backend.__name__}(...)"
        raise UsageError(f"not a backend: {shorten(backend)}", hint=hint)
    ready = backend if isinstance(backend, Backend) else shared_backend(backend)
    if max_cost is not None:
        from yb_eval_decision.budget import MaxCost

        ready = MaxCost(ready, max_cost)
    if cache is None:
        yield ready
        return
    from yb_eval_decision.cache import CachedBackend, ResponseCache

    if isinstance(cache, ResponseCache):
        yield CachedBackend(ready, cache)
    elif isinstance(cache, str | Path):
        with ResponseCache(cache) as store:
            yield CachedBackend(ready, store)
    else:
        raise UsageError(f"a cache is a file's path, not {shorten(cache)}")
