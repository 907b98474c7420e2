"""Which code answers: the digest of the sources that decide it."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

#: The modules that make and read a model. One that other rows would need another model for belongs here.
MODEL = ("features", "model", "operating", "training")
BUILTIN = (*MODEL, "builtin", "rules")
RULES = ("features", "rules")


@cache
def source_digest(modules: tuple[str, ...]) -> str:
    """sha256 over the named modules of this package, by name and source: nobody needs to remember to raise a version."""
    folder = files("yb_eval_triage.triagers")
    digest = hashlib.sha256()
    for name in sorted(modules):
        source = (folder / f"{name}.py").read_bytes()
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()
