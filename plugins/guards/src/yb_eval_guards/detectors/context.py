"""What the words around a number say it is."""

from __future__ import annotations

import re
from functools import cache, lru_cache

import attrs

from ..tables import load_table
from .layouts import layout_of

__all__ = ["HEX_LETTERS", "Label", "Labels", "load_labels"]

# How far a label may stand from its number. A word against a number must be close: "order 12, card ..." is about a card.
BEFORE = 48
BEFORE_AGAINST = 20
AFTER = 28
_HEADER = 512
# Words whose labels are remembered.
_REMEMBERED = 4096

_WORD = re.compile("[A-ZА-ЯЁ]+(?![a-zа-яё])|[A-ZА-ЯЁ]?[a-zа-яё]+|[\u4e00-\u9fff]+")
# The same words, read backwards: the nearest come first, and most of the others need not be looked for.
_DROW = re.compile("[a-zа-яё]+[A-ZА-ЯЁ]?|[A-ZА-ЯЁ]+|[\u4e00-\u9fff]+")
_SENTENCE_END = re.compile(r"[.;!?\n\"{}\[\]]")
_DIGIT = re.compile("[0-9]")
_STEM = 4
# A word of these letters alone that follows a digit is a part of a hexadecimal id, or "12cc", and labels nothing.
HEX_LETTERS = frozenset("abcdef")


@attrs.frozen(slots=True)
class Label:
    """A kind of number: `name`, whether a detector of that name looks for it, and the digit counts it may claim."""

    name: str
    detects: bool
    lengths: frozenset[int]


class Labels:
    """Looks up words; see `data/labels.toml`."""

    def __init__(self, table: dict[str, dict[str, object]]) -> None:
        # The same words stand before many numbers: in a log, in a table, in a corpus made from templates. No digit of a
        # text is remembered: see `around`.
        self.of = lru_cache(maxsize=_REMEMBERED)(self._of)
        self._before = lru_cache(maxsize=_REMEMBERED)(self._find_before)
        self._words: dict[str, list[Label]] = {}
        self._stems: dict[str, list[tuple[str, Label]]] = {}
        self.neutral: Label | None = None
        for name, entry in table.items():
            lengths, words = entry["lengths"], entry["words"]
            assert isinstance(lengths, list) and isinstance(words, list)
            label = Label(name, bool(entry["detects"]), frozenset(lengths))
            if name == "neutral":
                self.neutral = label
            for word in words:
                if word.endswith("*"):
                    self._stems.setdefault(word[: min(_STEM, len(word) - 1)], []).append((word[:-1], label))
                else:
                    self._words.setdefault(word, []).append(label)

    def words(self, *names: str) -> list[str]:
        """Return the words and stems of the named labels, sorted."""
        found = {word for word, labels in self._words.items() if any(label.name in names for label in labels)}
        for stems in self._stems.values():
            found |= {stem for stem, label in stems if label.name in names}
        return sorted(found)

    def _of(self, word: str, digits: int) -> Label | None:
        """Return the label that `word` (lower case) gives a number of `digits` digits, or None."""
        for label in self._words.get(word, ()):
            if digits in label.lengths or label is self.neutral:
                return label
        if len(word) >= 3:
            for size in range(min(_STEM, len(word)), 2, -1):
                for stem, label in self._stems.get(word[:size], ()):
                    if word.startswith(stem) and digits in label.lengths:
                        return label
        return None

    def _read(self, word: str, before: str, digits: int) -> Label | None:
        """Return the label that `word` gives, where the character before it is `before` ("" at the start)."""
        word = word.lower()
        if before.isdigit() and HEX_LETTERS.issuperset(word):
            return None
        return self.of(word, digits)

    def around(self, text: str, start: int, end: int, digits: int) -> Label | None:
        """Return the label of the number at `start`..`end` of `text`, or None when nothing says what it is."""
        # Which digits stand there tells nothing, and they may be somebody's.
        window = text[start - BEFORE : start] if start > BEFORE else text[:start]
        before = self._before(layout_of(window), digits)
        if before is not None and before is not self.neutral:
            return before
        return self._after(text, end, digits) or self._column(text, start, digits) or before

    def _find_before(self, window: str, digits: int) -> Label | None:
        """Return the label that the text before a number gives it; the neutral one where such a word stands right before
        it and no other label is found."""
        backwards = window[::-1]
        neutral_near = False
        for match in _DROW.finditer(backwards):
            far = match.end()
            label = self._read(match.group()[::-1], backwards[far : far + 1], digits)
            if label is None:
                continue
            near = match.start()
            if label is self.neutral:
                neutral_near = neutral_near or near <= 3
                continue
            if label.detects or (near <= BEFORE_AGAINST and not _DIGIT.search(backwards, 0, near)):
                return label
            break
        return self.neutral if neutral_near else None

    def _after(self, text: str, end: int, digits: int) -> Label | None:
        window = text[end : end + AFTER]
        for stop in (_SENTENCE_END, _DIGIT):
            if found := stop.search(window):
                window = window[: found.start()]
        for match in _WORD.finditer(window):
            at = match.start()
            label = self._read(match.group(), window[at - 1 : at], digits)
            if label is not None and label.detects:
                return label
        return None

    def _column(self, text: str, start: int, digits: int) -> Label | None:
        """Read the heading of the number's column when the text is a table with one heading line."""
        line = text.rfind("\n", max(0, start - _HEADER), start)
        if line < 0:
            return None
        header = text[: text.find("\n", 0, _HEADER) + 1].rstrip("\r\n")
        delimiter = next((char for char in "|\t;," if char in header), None)
        if not header or delimiter is None:
            return None
        cells = header.split(delimiter)
        column = text.count(delimiter, line + 1, start)
        if column >= len(cells):
            return None
        cell = cells[column]
        for match in _WORD.finditer(cell):
            at = match.start()
            label = self._read(match.group(), cell[at - 1 : at], digits)
            if label is not None and label is not self.neutral:
                return label
        return None


@cache
def load_labels() -> Labels:
    """Return the labels that ship with the package."""
    return Labels(load_table("labels.toml"))
