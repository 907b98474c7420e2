"""detect-secrets, with its default plugins and filters, a file for each row.

Its function for single lines looks eagerly and without most filters, so that it flags nearly every row; what people
run in a repository is the scan of files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from yb_eval import Target
from yb_eval.digest import identify
from yb_eval.targets import CallableTarget


def find(requests: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings in the text of each request."""
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    with tempfile.TemporaryDirectory(prefix="yb-eval-") as folder, default_settings():
        path = Path(folder, "row.txt")  # its filters look at names: this one means nothing to them
        answers = []
        for request in requests:
            path.write_bytes(request["text"].encode())
            answers.append({"findings": _placed(request["text"], scan_file(str(path)))})
        return answers


def _placed(text: str, secrets: Iterable[Any]) -> list[dict[str, Any]]:
    """What was found, at its first place on its line: detect-secrets tells the line and the value only."""
    lines = text.splitlines(keepends=True)
    found = set()
    for secret in secrets:
        before = sum(map(len, lines[: secret.line_number - 1]))
        start = text.find(secret.secret_value, before)
        start = start if start >= 0 else text.find(secret.secret_value)
        # A value that was unescaped on the way is not in the text as such: then its whole line is meant.
        line = len(lines[secret.line_number - 1]) if secret.line_number <= len(lines) else len(text) - before
        place = (start, start + len(secret.secret_value)) if start >= 0 else (before, before + line)
        found.add((*place, secret.type))
    return [{"type": "secret", "kind": kind, "start": start, "end": end} for start, end, kind in sorted(found)]


def open_target() -> Target:
    """detect-secrets as a target. Raises ImportError where it is not installed."""
    import detect_secrets  # noqa: F401  (found missing here rather than in the middle of a run)

    fingerprint = identify("target", {"peer": "detect-secrets", "version": version("detect-secrets")})
    return CallableTarget(
        find, fingerprint=fingerprint, spec="detect-secrets", batch=True, batch_size=200, concurrency="processes"
    )
