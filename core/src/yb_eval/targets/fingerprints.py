"""Digests of the files a target is known by."""

from __future__ import annotations

import hashlib
from pathlib import Path

from yb_eval.errors import UsageError


def file_digest(path: Path) -> str:
    """The hex sha256 of a file's bytes. Raises `UsageError` if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path)) from error
