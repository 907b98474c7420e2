"""Labelled data for yb-eval, each set in a folder with its licence and source: `path("eval/golden_routing.jsonl")`."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).parent


def path(name: str) -> Path:
    """Where the data file called `name` lies; whether it is there is for its reader to say.

    A wheel has the data inside the package, a checkout beside its `src` folder: people edit and cite `datasets/eval/...`.
    """
    packaged, checked_out = _HERE / name, _HERE.parents[1] / name
    return packaged if packaged.exists() or not checked_out.exists() else checked_out
