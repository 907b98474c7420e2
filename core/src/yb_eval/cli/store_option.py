"""The option that every command on stored runs has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from yb_eval.configuration import WholeOptions, find_configuration
from yb_eval.record import Store
from yb_eval.resolution import whole_of


def _store(ctx: click.Context, param: click.Parameter, value: str | None) -> Store:
    if value is not None:
        return Store(Path(value))
    options: WholeOptions = whole_of(find_configuration(Path())).options
    return Store(options.store)


def store_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds `--store`, and hands the command a `Store`."""
    return click.option(
        "--store",
        envvar="YB_EVAL_STORE",
        callback=_store,
        metavar="PATH",
        help="The folder of runs.  [default: .yb-eval]",
    )(command)
