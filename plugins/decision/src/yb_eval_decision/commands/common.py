"""What several commands of the suite have in common."""

from __future__ import annotations

from pathlib import Path

import click

from yb_eval_decision.backends.base import Backend

timeout_option = click.option(
    "--timeout", default=60.0, show_default=True, metavar="X", help="Seconds the backend has for one request."
)


def open_for(spec: str | None, timeout: float) -> Backend:
    """The backend that a command asks. Raises `UsageError` for one that cannot be opened, and a timeout that is none."""
    from yb_eval.targets import Settings
    from yb_eval_decision.backends.opening import open_backend

    return open_backend(spec, settings=Settings(timeout=timeout))


def cached(backend: Backend, store: Path | None) -> Backend:
    """`backend` behind the cache of answers in the folder `store`, the one that `yb-eval run decision --cache` keeps; `None`: as
    it is. Raises `UsageError` for a cache that cannot be opened."""
    if store is None:
        return backend
    from yb_eval_decision.cache import CachedBackend, place_in

    return CachedBackend(backend, place_in(store / "cache"))
