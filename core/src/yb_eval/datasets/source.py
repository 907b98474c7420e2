"""Where bytes come from: a file, a package's resource or standard input, opened once.

The bytes that are hashed are the bytes that are evaluated. A file of up to `MEMORY_LIMIT` is read once and kept. A
larger one stays open, so that replacing it changes nothing; it is read again for the evaluation, and the bytes up to the
end of each piece of `CHUNK` bytes must have the digest they had the first time before anything of it is used.
"""

from __future__ import annotations

import hashlib
import io
import os
import stat
import sys
import threading
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from yb_eval.errors import DatasetError
from yb_eval.model import FileDigest

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

MEMORY_LIMIT = 32 * 2**20
CHUNK = 2**20

#: Decompressed bytes for each byte on disk, beyond `MEMORY_LIMIT`. deflate can reach 1032; honest rows stay far below.
MAX_INFLATION = 500

_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Source:
    """The bytes of one file. Make it with `Source.open` or `Source.of`; iterate over `content()` as often as you like.

    Several iterations may run at once, in several threads. `name` is what the user called the file. A file whose name
    ends in `.gz` is decompressed on the way: digests are of the bytes on disk, `content()` gives the text inside.
    """

    __slots__ = ("__weakref__", "_data", "_digest", "_fd", "_inflated", "_lock", "_own", "_pieces", "name")

    def __init__(self, name: str, *, data: bytes | None = None, fd: int | None = None) -> None:
        self.name = name
        self._data = data
        self._fd = fd
        self._lock = threading.Lock()
        self._inflated = name.endswith(".gz")
        # Of each chunk, once all were read, its size and the digest of everything up to its end.
        self._pieces: list[tuple[int, bytes]] | None = None
        self._own: list[bytes] | None = None  # the digest of each chunk by itself, for those who skip some
        self._digest: tuple[int, str] | None = None
        if fd is not None:
            weakref.finalize(self, os.close, fd)

    @classmethod
    def open(cls, path: str | Path | Traversable, *, memory_limit: int = MEMORY_LIMIT) -> Source:
        """Opens `path` (`-`: standard input, read to its end now). Raises `DatasetError` for what is not a readable
        regular file."""
        if isinstance(path, str):
            path = Path(path)
        if not isinstance(path, Path):
            # A resource inside a zip file, or wherever else a package may live.
            try:
                return cls.of(path.read_bytes(), str(path))
            except (OSError, KeyError) as error:
                raise DatasetError(f"cannot be opened: {_reason(error)}", where=str(path)) from None
        if str(path) == "-":
            return cls._spooled(sys.stdin.buffer, "<stdin>", memory_limit)
        name = str(path)
        try:
            fd = os.open(path, _OPEN_FLAGS)
        except FileNotFoundError:
            raise DatasetError("no such file", where=name) from None
        except (OSError, ValueError) as error:
            raise DatasetError(f"cannot be opened: {_reason(error)}", where=name) from None
        source = cls(name, fd=fd)
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise DatasetError(f"{what}, where a file is needed", where=name, hint="to read from a pipe, give -")
        if status.st_size > memory_limit:
            return source
        data = source._read(0, status.st_size + 1)
        # One byte more than there should be: somebody is writing to it, so every byte will be checked when it is used.
        return source if len(data) > status.st_size else cls.of(data, name)

    @classmethod
    def of(cls, data: bytes, name: str) -> Source:
        """A source of bytes that are already in memory."""
        return cls(name, data=data)

    @classmethod
    def _spooled(cls, stream: BinaryIO, name: str, memory_limit: int) -> Source:
        import tempfile  # not quick to import, and rarely needed

        with tempfile.SpooledTemporaryFile(max_size=memory_limit) as spool:
            while block := stream.read(CHUNK):
                spool.write(block)
            if spool.tell() <= memory_limit:
                spool.seek(0)
                return cls.of(spool.read(), name)
            spool.flush()
            # The temporary file has no name any more (POSIX); its duplicate keeps the bytes alive.
            return cls(name, fd=os.dup(spool.fileno()))

    @property
    def large(self) -> bool:
        """Whether it is read from the disk each time, since it is more than is kept in memory."""
        return self._data is None

    def digest(self, role: str) -> FileDigest:
        """Size and sha256 of the bytes on disk; reads them through if nothing has yet."""
        if self._digest is None:
            for _ in self.raw():
                pass
        assert self._digest is not None
        size, sha256 = self._digest
        return FileDigest(role, size, sha256)

    def raw(self) -> Iterator[bytes]:
        """The bytes on disk, in pieces. Raises `DatasetError` where they are no longer what they were."""
        if self._pieces is None:
            yield from self._first_reading()
            return
        whole = hashlib.sha256()
        place = 0
        for size, digest in self._pieces:
            piece = self._read(place, size)
            if self._data is None:
                whole.update(piece)
                if whole.digest() != digest:
                    raise self.changed()
            place += size
            yield piece
        self._check_end()

    def content(self) -> Iterator[bytes]:
        """The bytes on disk, decompressed where the name says so, in pieces of no particular size."""
        return self._inflate() if self._inflated else self.raw()

    def read(self, limit: int) -> bytes:
        """The whole content. Raises `DatasetError` if it is more than `limit` bytes."""
        parts = []
        size = 0
        for part in self.content():
            size += len(part)
            if size > limit:
                raise DatasetError(f"larger than the limit of {limit:,} bytes", where=self.name)
            parts.append(part)
        return b"".join(parts)

    def file(self) -> BinaryIO:
        """The bytes on disk as a seekable file, for formats with an index; every read is checked like `raw()`."""
        if self._own is None:
            self.digest("")
            self._own = [_piece_digest(piece) for piece in self.raw()] if self._data is None else []
        return io.BufferedReader(_Pieces(self), CHUNK)

    def _first_reading(self) -> Iterator[bytes]:
        whole = hashlib.sha256()
        pieces: list[tuple[int, bytes]] = []
        size = 0
        while piece := self._read(size, CHUNK):
            whole.update(piece)
            pieces.append((len(piece), b"" if self._data is not None else whole.digest()))
            size += len(piece)
            yield piece
        self._digest = (size, whole.hexdigest())
        self._pieces = pieces

    def _piece(self, index: int) -> bytes:
        assert self._pieces is not None and self._own is not None
        piece = self._read(index * CHUNK, self._pieces[index][0])
        if self._data is None and _piece_digest(piece) != self._own[index]:
            raise self.changed()
        return piece

    def _check_end(self) -> None:
        assert self._digest is not None
        if self._data is None and self._read(self._digest[0], 1):
            raise self.changed()

    def changed(self) -> DatasetError:
        """What to raise where the bytes are no longer what they were."""
        return DatasetError("changed while it was read", where=self.name, hint="evaluate a copy that nothing writes to")

    def _read(self, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset`; fewer only at the end of the file."""
        if self._data is not None:
            return self._data[offset : offset + size]
        assert self._fd is not None
        parts = []
        try:
            with self._lock:
                os.lseek(self._fd, offset, os.SEEK_SET)
                while size and (part := os.read(self._fd, size)):
                    parts.append(part)
                    size -= len(part)
        except OSError as error:
            raise DatasetError(f"cannot be read: {_reason(error)}", where=self.name) from None
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _inflate(self) -> Iterator[bytes]:
        # 31: a gzip header and trailer, whose checksum zlib verifies. A file may hold several members in a row.
        stream = zlib.decompressobj(31)
        size_in = size_out = 0
        started = False
        try:
            for piece in self.raw():
                size_in += len(piece)
                while piece:
                    if stream.eof:
                        stream = zlib.decompressobj(31)
                    started = True
                    part = stream.decompress(piece, CHUNK)
                    piece = stream.unused_data if stream.eof else stream.unconsumed_tail
                    size_out += len(part)
                    if size_out > MEMORY_LIMIT and size_out > MAX_INFLATION * size_in:
                        raise DatasetError(
                            f"grows more than {MAX_INFLATION} times when decompressed", where=self.name,
                            hint="decompress it yourself if that is right",
                        )  # fmt: skip
                    if part:
                        yield part
        except zlib.error as error:
            raise DatasetError(f"cannot be decompressed: {error}", where=self.name) from None
        if started and not stream.eof:
            raise DatasetError("the gzip data end in the middle: cut off?", where=self.name)


class _Pieces(io.RawIOBase):
    """A seekable view of a source that has been read through once."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0
        self._size = source.digest("").size
        self._last: tuple[int, bytes] = (-1, b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        self._at = max(0, start + offset)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if self._at >= self._size:
            return 0
        index, start = divmod(self._at, CHUNK)
        if self._last[0] != index:
            self._last = (index, self._source._piece(index))
        part = self._last[1][start : start + len(buffer)]
        buffer[: len(part)] = part
        self._at += len(part)
        return len(part)


def normalised(pieces: Iterator[bytes], role: str) -> FileDigest:
    """Size and sha256 of the bytes with every CRLF as LF: equal for two files that differ in line ends only."""
    digest = hashlib.sha256()
    size = 0
    held = b""
    for piece in pieces:
        piece = held + piece
        # A CR at the end of a piece may be half of a CRLF.
        held = b"\r" if piece.endswith(b"\r") else b""
        part = piece[: len(piece) - len(held)].replace(b"\r\n", b"\n")
        digest.update(part)
        size += len(part)
    digest.update(held)
    return FileDigest(role, size + len(held), digest.hexdigest())


def _piece_digest(piece: bytes) -> bytes:
    return hashlib.blake2b(piece, digest_size=16).digest()


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
