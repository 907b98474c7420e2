"""A text as the detectors read it, with the way back to the text that came in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

__all__ = ["ByteCursor", "Offsets", "View", "encode"]


def encode(text: str) -> bytes:
    """Return UTF-8 bytes for any `str`, lone surrogates included (they become bytes that match nothing)."""
    return text.encode("utf-8", "surrogatepass")


Offsets = tuple[Sequence[int], Sequence[int]]


class View:
    """A text derived from the original, and for each of its characters the original span it came from.

    `trail` names the steps that led here, for a finding's evidence. What a view says never changes; its bytes and its
    offsets are worked out when first asked for, since most views hold nothing and are never asked.
    """

    __slots__ = ("_data", "_find_offsets", "_offsets", "text", "trail")

    def __init__(
        self,
        text: str,
        *,
        offsets: Callable[[], Offsets] | None = None,
        trail: tuple[str, ...] = (),
        data: bytes | None = None,
    ) -> None:
        """`offsets` returns, for each character of `text`, where its original span starts and where it ends."""
        self.text = text
        self.trail = trail
        self._find_offsets = offsets
        self._offsets: Offsets | None = None
        self._data = data

    @property
    def data(self) -> bytes:
        """The view's text as UTF-8."""
        if self._data is None:
            self._data = encode(self.text)
        return self._data

    def offsets(self) -> Offsets | None:
        """Return the starts and ends of the characters in the original; None when they are their own offsets."""
        if self._offsets is None and self._find_offsets is not None:
            self._offsets = self._find_offsets()
        return self._offsets

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span of the view's characters `start`..`end` (end exclusive, at least one character)."""
        if self._find_offsets is None:
            return start, end
        starts, ends = self._known_offsets()
        # A reversed view runs backwards through the original, so neither end is known to be the smaller one.
        return min(starts[start], starts[end - 1]), max(ends[start], ends[end - 1])

    def same_offsets(self, text: str, step: str) -> View:
        """Return a view of `text`, each of whose characters stands for this view's character at the same offset."""
        return View(text, offsets=self._find_offsets and self._known_offsets, trail=self._then(step))

    def derive(self, text: str, offsets: Callable[[], Offsets], step: str) -> View:
        """Return a view of `text`; `offsets` returns the starts and ends of its characters in this view."""

        def original() -> Offsets:
            starts, ends = offsets()
            mine = self.offsets()
            if mine is None:
                return starts, ends
            return [mine[0][index] for index in starts], [mine[1][index - 1] for index in ends]

        return View(text, offsets=original, trail=self._then(step))

    def _known_offsets(self) -> Offsets:
        offsets = self.offsets()
        assert offsets is not None
        return offsets

    def _then(self, step: str) -> tuple[str, ...]:
        return self.trail if step in self.trail else (*self.trail, step)


class ByteCursor:
    """Turns rising byte offsets of a view's UTF-8 into character offsets, reading the bytes once.

    An offset below the last one asked for is answered as well, by starting over.
    """

    __slots__ = ("_ascii", "_byte", "_char", "_data")

    def __init__(self, view: View) -> None:
        self._data = view.data
        self._ascii = len(view.data) == len(view.text)
        self._byte = self._char = 0

    def chars(self, offset: int) -> int:
        """Return the character offset of the byte offset `offset`, which must not be inside a character."""
        if self._ascii:
            return offset
        if offset < self._byte:
            self._byte = self._char = 0
        self._char += len(self._data[self._byte : offset].decode("utf-8", "surrogatepass"))
        self._byte = offset
        return self._char
