"""The data tables that ship with the detectors."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

__all__ = ["load_table", "table_bytes"]


def table_bytes(name: str) -> bytes:
    """Return the bytes of the data file `name`."""
    return resources.files(__package__).joinpath("data", name).read_bytes()


def load_table(name: str) -> dict[str, Any]:
    """Return the parsed TOML data file `name`."""
    return tomllib.loads(table_bytes(name).decode("utf-8"))
