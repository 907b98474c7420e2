"""A text as the detectors read it, with the way back to the text that came in."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["ByteCursor", "View", "encode"]


def encode(text: str) -> bytes:
    """Return UTF-8 bytes for any `str`, lone surrogates included (they become bytes that match nothing)."""
    return text.encode("utf-8", "surrogatepass")


class View:
    """A text derived from the original, and for each of its characters the original span it came from.

    `starts[i]`, `ends[i]` are code point offsets into the original text; both None when the view has the original's
    offsets. `trail` names the steps that led here, for a finding's evidence. A view is never changed once made.
    """

    __slots__ = ("_data", "ends", "starts", "text", "trail")

    def __init__(
        self,
        text: str,
        *,
        starts: Sequence[int] | None = None,
        ends: Sequence[int] | None = None,
        trail: tuple[str, ...] = (),
        data: bytes | None = None,
    ) -> None:
        self.text = text
        self.starts = starts
        self.ends = ends
        self.trail = trail
        self._data = data

    @property
    def data(self) -> bytes:
        """The view's text as UTF-8, made once."""
        if self._data is None:
            self._data = encode(self.text)
        return self._data

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original span of the view's characters `start`..`end` (end exclusive, at least one character)."""
        if self.starts is None or self.ends is None:
            return start, end
        # A reversed view runs backwards through the original, so neither end is known to be the smaller one.
        return min(self.starts[start], self.starts[end - 1]), max(self.ends[start], self.ends[end - 1])

    def same_offsets(self, text: str, step: str) -> View:
        """Return a view of `text`, each of whose characters stands for this view's character at the same offset."""
        return View(text, starts=self.starts, ends=self.ends, trail=self._then(step))

    def derive(self, text: str, starts: Sequence[int], ends: Sequence[int], step: str) -> View:
        """Return a view of `text` whose character `i` came from this view's characters `starts[i]`..`ends[i]`."""
        if self.starts is not None and self.ends is not None:
            mine, other = self.starts, self.ends
            starts = [mine[index] for index in starts]
            ends = [other[index - 1] for index in ends]
        return View(text, starts=starts, ends=ends, trail=self._then(step))

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
