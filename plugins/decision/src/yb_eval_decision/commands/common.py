"""What several commands of the suite have in common."""

from __future__ import annotations

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
