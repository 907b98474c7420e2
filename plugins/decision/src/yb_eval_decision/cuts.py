"""Texts that are long: cut, where beginning and end tell what they are about, or divided, where nothing may be missed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from yb_eval_decision.messages.content import canonical_text

#: Characters a text in the state may have before its middle is left out.
TEXT = 8_000
#: Characters of one tool result, of a call's arguments, of a message in a conversation; of all in one list together.
RESULT = 4_000
LIST = 12_000
#: Characters of a part of a divided text, and how many of them the next part repeats: what stands on a border is seen whole.
WINDOW, OVERLAP = 6_000, 400


def cut(text: str, limit: int = TEXT) -> str:
    """`text`, the middle left out where it is longer than `limit` characters, with how much that was: beginning and end
    are where a text says what it is about."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"


def share(sizes: Iterable[int], total: int = LIST, most: int = RESULT) -> int:
    """The characters that each item of a list may have, so that all together have at most `total`: short ones leave their
    part to the long ones. At most `most`."""
    ordered = sorted(sizes)
    left = total
    if sum(ordered) <= left:
        return most
    for index, size in enumerate(ordered):
        even = left // (len(ordered) - index)
        if size > even:
            return min(most, even)
        left -= size
    return most


def windows(text: str, size: int = WINDOW, overlap: int = OVERLAP) -> dict[str, str]:
    """`text` in overlapping parts of at most `size` characters, by id `part_0`, `part_1`, ...; nothing is left out."""
    if len(text) <= size:
        return {"part_0": text}
    step = size - overlap
    return {f"part_{index}": text[start : start + size]
            for index, start in enumerate(range(0, max(1, len(text) - overlap), step))}  # fmt: skip


def bounded(value: Any, limit: int = RESULT, text: str | None = None) -> Any:
    """A JSON value as it is where it takes at most `limit` characters, else its text (JSON, keys sorted), cut. `text` is
    that text, where it is known."""
    text = as_text(value) if text is None else text
    return value if len(text) <= limit else cut(text, limit)


def divided(items: Iterable[tuple[str, str]], size: int = WINDOW) -> dict[str, Any]:
    """Texts by id: all together where they have at most `size` characters, else in parts `part_0`, `part_1`, ... of at most
    `size` characters, each with the texts, or overlapping pieces of texts, that it holds. Nothing is left out."""
    pairs = list(items)
    if sum(len(text) for _, text in pairs) <= size:
        return dict(pairs)
    parts: list[dict[str, str]] = [{}]
    used = 0
    for id, text in pairs:
        for piece in windows(text, size).values():
            if parts[-1] and used + len(piece) > size:
                parts.append({})
                used = 0
            parts[-1][id] = piece
            used += len(piece)
    return {f"part_{index}": part for index, part in enumerate(parts)}


def parts_of(name: str, value: Mapping[str, Any]) -> list[str]:
    """The dotted paths of the parts of the field `name`, whose `value` is `divided`: of the whole field where it is one."""
    return [f"{name}.{part}" for part in value] if isinstance(value.get("part_0"), Mapping) else [name]


def as_text(value: Any) -> str:
    """A JSON value as text: a text as it is, anything else as JSON with sorted keys."""
    return value if isinstance(value, str) else canonical_text(value)
