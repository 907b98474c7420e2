"""What varies from run to run and is no part of any id: when, where, on what, from which commit."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from yb_eval.discovery import core_version

_CI = {
    "GITHUB_ACTIONS": ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_SHA", "GITHUB_REF"),
    "GITLAB_CI": ("CI_PROJECT_URL", "CI_PIPELINE_ID", "CI_JOB_ID", "CI_COMMIT_SHA", "CI_COMMIT_REF_NAME"),
}


def observe(started: datetime, seconds: float) -> dict[str, Any]:
    """The envelope of a run that began at `started` (aware) and took `seconds`."""
    return {
        "started": started.astimezone(UTC).isoformat(timespec="milliseconds"),
        "seconds": round(seconds, 3),
        "host": platform.node(),
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "yb_eval": core_version(),
        "git": git_state(),
        "ci": {
            name: os.environ[name]
            for mark, names in _CI.items()
            for name in names
            if mark in os.environ and name in os.environ
        },
    }


def git_state() -> dict[str, Any] | None:
    """The commit of the folder we run in and whether it has uncommitted changes; `None` outside a checkout."""
    if not any((folder / ".git").exists() for folder in (Path.cwd(), *Path.cwd().parents)):
        return None
    commit = _git("rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": bool(_git("status", "--porcelain", "--untracked-files=no"))}


def _git(*arguments: str) -> str | None:
    import subprocess

    try:
        done = subprocess.run(["git", *arguments], capture_output=True, text=True, timeout=5, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()
