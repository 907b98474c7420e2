"""Other people's guards as targets of the suite, to be measured on the same rows: each is an extra."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from attrs import frozen

from yb_eval import Target


@frozen(slots=True)
class Peer:
    """A guard that can be named with `--target`."""

    summary: str
    open: Callable[[], Target]


PEERS: Mapping[str, Peer] = {}


def open_peer(name: str) -> Target:
    return PEERS[name].open()
