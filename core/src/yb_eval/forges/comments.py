"""One comment on a pull or merge request: found by a hidden marker, updated, never duplicated.

Two jobs may write at once: both find nothing and both create. Therefore whoever has created looks again, and everybody
keeps the same one - the oldest - and deletes what else is theirs. A comment is only ever taken for ours if its author
is the one who writes: anybody can write the marker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal, Protocol

from attrs import frozen

from yb_eval.errors import UsageError, shorten
from yb_eval.forges.client import ForgeError, Gone, Rejected
from yb_eval.reports.markdown import COMMENT_LIMIT, MARKER

#: Somebody may delete the comment while it is being updated; not more often than this.
_ROUNDS = 4

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z")
_ORDER = re.compile(r"<!-- yb-eval run (\d{1,19}) (\d{1,19}) -->")

#: Which of two runs is the later one: the CI's number of the run, and of the attempt.
Order = tuple[int, int]


@frozen(slots=True)
class Comment:
    """A comment on the forge."""

    id: int
    body: str
    url: str = ""


@frozen(slots=True)
class Published:
    """What became of the comment. `superseded`: one of a later run is there, and stays."""

    action: Literal["created", "updated", "unchanged", "superseded"]
    url: str
    removed: int = 0


class Forge(Protocol):
    """A pull or merge request, and what can be done to the comments on it.

    `mine` lists the comments that start with `first_line` and are written by the token's owner, the oldest first.
    All raise `ForgeError`: `Forbidden`, `Gone` and `Rejected` where they are that.
    """

    @property
    def place(self) -> str: ...
    def mine(self, first_line: str) -> Sequence[Comment]: ...
    def create(self, body: str) -> Comment: ...
    def update(self, comment: Comment, body: str) -> Comment: ...
    def delete(self, comment: Comment) -> None: ...
    def close(self) -> None: ...


def marker(identity: str | None = None) -> str:
    """The hidden first line by which a comment is found again. `identity` tells several comments on one request apart."""
    if identity is None:
        return MARKER
    if not _ID.match(identity) or "--" in identity:
        raise UsageError(f"{shorten(identity)} cannot name a comment", where="--id", hint="letters, digits, . _ -")
    return f"<!-- yb-eval: {identity} -->"


def publish(
    forge: Forge, render: Callable[[int], str], *, identity: str | None = None, order: Order | None = None
) -> Published:
    """Sees to it that there is one comment, with this text.

    `render` makes the report in at most as many characters as it is given; its first line is the default marker. A
    forge that finds the text too long is given a shorter one, once.
    """
    first = marker(identity)
    head = f"{first}\n" + (f"<!-- yb-eval run {order[0]} {order[1]} -->\n" if order else "")

    def body(limit: int) -> str:
        return head + render(limit - len(head)).removeprefix(f"{MARKER}\n")

    try:
        return _settle(forge, first, body(COMMENT_LIMIT), order)
    except Rejected as error:
        try:
            return _settle(forge, first, body(COMMENT_LIMIT // 4), order)
        except Rejected:
            raise error from None


def _settle(forge: Forge, first: str, body: str, order: Order | None) -> Published:
    created = False
    for _ in range(_ROUNDS):
        found = forge.mine(first)
        if not found:
            made = forge.create(body)
            created = True
            # The list may not show it yet; then there is nothing to settle that we could see.
            found = forge.mine(first) or [made]
        keep, *others = found
        try:
            published = _bring_up_to_date(forge, keep, body, order)
        except Gone:
            continue
        for other in others:
            _remove(forge, other)
        action = "created" if created and published.action == "unchanged" else published.action
        return Published(action, published.url, len(others))
    raise ForgeError("the comment was deleted each time that it was written", where=forge.place)


def _bring_up_to_date(forge: Forge, comment: Comment, body: str, order: Order | None) -> Published:
    if _same(comment.body, body):
        return Published("unchanged", comment.url)
    theirs = order_of(comment.body)
    if order is not None and theirs is not None and theirs > order:
        return Published("superseded", comment.url)
    return Published("updated", forge.update(comment, body).url)


def _remove(forge: Forge, comment: Comment) -> None:
    with suppress(Gone):  # the other job was quicker
        forge.delete(comment)


def order_of(body: str) -> Order | None:
    """The run that a comment says it is of: its second line."""
    lines = body.split("\n", 2)
    found = _ORDER.match(lines[1].strip()) if len(lines) > 1 else None
    return (int(found[1]), int(found[2])) if found else None


def starts_with(body: str, first_line: str) -> bool:
    """Whether a comment's first line is the marker and nothing else."""
    return body.lstrip("\ufeff").partition("\n")[0].strip() == first_line


def _same(left: str, right: str) -> bool:
    # Forges store CRLF as it came, or not, and trim the ends.
    return left.replace("\r\n", "\n").strip() == right.strip()
