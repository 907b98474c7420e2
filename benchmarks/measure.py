"""Timing whole processes: CPU seconds and peak memory as the operating system counts them, medians over runs.

Benchmarks print ratios of what was measured in one run, in turn (A B A B ...), so that a machine whose speed drifts
still compares like with like.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen


@frozen
class Usage:
    """What one process took: CPU and wall seconds, peak resident MiB (of the largest process)."""

    cpu: float
    wall: float
    peak: float


def run(command: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None) -> Usage:
    """Runs a command to its end. Raises `RuntimeError` with its stderr if it fails."""
    import time

    began = time.perf_counter()
    with open(cwd / "stderr.txt", "wb") as errors:
        inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment = {**inherited, **(env or {})}
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command}: {(cwd / 'stderr.txt').read_text()[-2000:]}")
    scale = 1 / 1024 if sys.platform == "linux" else 1 / 1024 / 1024
    return Usage(used.ru_utime + used.ru_stime, time.perf_counter() - began, used.ru_maxrss * scale)


def in_turn(commands: Mapping[str, Sequence[str]], runs: int, *, cwd: Path, env: Mapping[str, str] | None = None) -> dict[str, Usage]:  # fmt: skip
    """The medians of each command over `runs` rounds, after one that is not counted."""
    seen: dict[str, list[Usage]] = {name: [] for name in commands}
    for number in range(runs + 1):
        for name, command in commands.items():
            usage = run(command, cwd=cwd, env=env)
            if number:
                seen[name].append(usage)
    return {
        name: Usage(*(statistics.median(getattr(u, part) for u in usages) for part in ("cpu", "wall", "peak")))
        for name, usages in seen.items()
    }


def table(used: Mapping[str, Usage], against: str) -> str:
    """A line per command, with its CPU as a ratio to that of `against`."""
    base = used[against].cpu
    width = max(map(len, used))
    return "\n".join(
        f"  {name:<{width}}  cpu {u.cpu:8.3f} s  wall {u.wall:8.3f} s  peak {u.peak:7.1f} MiB  cpu / {against}: {u.cpu / base:.2f}"
        for name, u in used.items()
    )
