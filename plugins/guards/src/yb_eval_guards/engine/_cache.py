"""Compiled hyperscan databases kept in a folder: loading one takes a thousandth of the time of compiling it.

A file is named by what it was compiled from, by which hyperscan and for which machine, and begins with the sha256 of
what follows; a file that does not hold what it says is compiled anew. hyperscan itself refuses a database of another
version or for another processor. A folder that cannot be written costs the next run its time and nothing else.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from importlib_metadata import version

from .protocol import FeaturePattern

__all__ = ["cached_database"]

_LIMIT = 256 << 20


def cached_database(patterns: tuple[FeaturePattern, ...], folder: Path, compile: Callable[[], Any]) -> Any:
    """The database of `patterns` from `folder`, or what `compile` makes, kept there for the next time."""
    import hyperscan

    path = folder / f"hyperscan-{_key(patterns)}.bin"
    content = _read(path)
    if content is not None:
        with suppress(hyperscan.HyperscanError):
            return hyperscan.loadb(content, hyperscan.HS_MODE_BLOCK)
    database = compile()
    _write(path, hyperscan.dumpb(database))
    return database


def _key(patterns: tuple[FeaturePattern, ...]) -> str:
    digest = hashlib.sha256(b"yb-eval-guards/hyperscan/1\0")
    digest.update(f"{version('hyperscan')}\0{platform.machine()}\0{_features()}\0".encode())
    for entry in patterns:
        digest.update(b"%x:%d:" % (entry.bit, len(entry.pattern)) + entry.pattern)
    return digest.hexdigest()


def _features() -> str:
    """What the processor can do, as far as the system tells: the same folder may serve several machines."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines():
            if line.startswith("flags"):
                return " ".join(sorted(line.partition(":")[2].split()))
    return platform.processor()


def _read(path: Path) -> bytes | None:
    try:
        if path.stat().st_size > _LIMIT:
            return None
        raw = path.read_bytes()
    except OSError:
        return None
    stated, content = raw[:32], raw[32:]
    return content if hashlib.sha256(content).digest() == stated else None


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(hashlib.sha256(content).digest() + content)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
