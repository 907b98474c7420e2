"""Writing files so that nothing is ever lost or half-written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from yb_eval.errors import StoreError, UsageError


@contextmanager
def atomic(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under `path` whole, or not at all: a temporary name in the same folder, fsync, rename.

    Raises `StoreError` (read-only folder, full disk). A character device such as /dev/full is written directly.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb", buffering=0) as device:
                yield device
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name[:40]}.{os.urandom(8).hex()}.tmp")
        try:
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def writable(path: Path, noun: str) -> None:
    """Raises `UsageError` if no file can be written at `path`, which `noun` says the use of: better before a run than
    after it. A device is not tried."""
    try:
        if path.is_dir():
            raise UsageError(f"{noun} cannot be written there: it is a folder", where=str(path))
        if path.is_file() or not path.exists():
            # Trying is the only way to know: permissions say nothing to root, nor of /proc.
            with TemporaryFile(dir=next(folder for folder in path.absolute().parents if folder.exists())):
                pass
    except OSError as error:
        raise UsageError(f"{noun} cannot be written there: {error.strerror or error}", where=str(path)) from error


def cannot_write(path: Path, error: OSError) -> StoreError:
    return StoreError(f"cannot write: {error.strerror or error}", where=str(path))


def sync_folder(folder: Path) -> None:
    """Makes a rename in `folder` durable. Where folders cannot be opened (Windows), renames are as durable as they
    get."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
