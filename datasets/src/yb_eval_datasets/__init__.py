"""Labelled data for yb-eval, each set in a folder with its licence and source; `path("eval/golden_routing.jsonl")`."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def path(name: str) -> Path:
    """Where the data file called `name` lies. It may not exist in an older installation: the reader says so."""
    return Path(str(files(__name__).joinpath(*name.split("/"))))
