"""Other people's guards as targets of the suite, to be measured on the same rows: each is an extra of this package.

`--target presidio`, `--target detect-secrets`, `--target gitleaks`. What a peer needs is imported when it is named. A
peer's findings come back under our types where it means the same thing (`CREDIT_CARD` is `pan`); its own name for
what it found is the finding's `kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module

from attrs import frozen

from yb_eval import Target, UsageError

__all__ = ["PEERS", "Peer", "open_peer"]


@frozen(slots=True, kw_only=True)
class Peer:
    """A guard that can be named with `--target`: `module` has a function `open_target`."""

    summary: str
    extra: str
    module: str


PEERS: Mapping[str, Peer] = {
    "presidio": Peer(
        summary="Presidio's recognisers of card numbers and IBANs, without a language model",
        extra="presidio",
        module="presidio",
    ),
    "detect-secrets": Peer(
        summary="detect-secrets with its default plugins and filters; one process-wide setting, so one job at a time",
        extra="detect-secrets",
        module="detect_secrets",
    ),
    "gitleaks": Peer(
        summary="gitleaks with its default rules, many rows to a process", extra="gitleaks", module="gitleaks"
    ),
}


def open_peer(name: str) -> Target:
    """The peer `name` as a target. Raises `UsageError`, saying what to install, where it is not there."""
    peer = PEERS[name]
    open_target: Callable[[], Target] = import_module(f"{__name__}.{peer.module}").open_target
    try:
        return open_target()
    except ImportError as error:
        missing = error.name or str(error)
        raise UsageError(
            f"the target {name!r} cannot be used: {missing} is missing",
            hint=f'pip install "yb-eval-guards[{peer.extra}]"',
        ) from error
