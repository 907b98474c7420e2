"""`--record FILE`: writes down what a target answers, to be replayed later."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import evolve
from filelock import FileLock, Timeout

from yb_eval.errors import StoreError, UsageError
from yb_eval.interfaces import Answer, Concurrency, Target
from yb_eval.targets import cassette
from yb_eval.targets.cassette import Key
from yb_eval.targets.secrets import Masker
from yb_eval.targets.wire import NotJson, encode


class RecordingTarget:
    """A target whose answers and failures are written to a cassette.

    Each answer is appended at once to `FILE.partial`, so that a run that is killed loses none; `close` sorts them
    into `FILE`, which is replaced in one step or not at all. With `resume` what either file holds is kept, otherwise
    the recording starts anew.

    A request that comes twice has one entry and, from then on, one answer: the recorded one. Secrets of the
    environment are masked before anything is written, and the masked answer is the one that is judged, so that a
    replay gives the same outcomes. Memory: some 300 bytes for each entry.
    """

    def __init__(
        self, target: Target, path: Path, *, resume: bool = False, private: frozenset[str] = frozenset()
    ) -> None:
        """Raises `UsageError` if another run is recording to `path`, `StoreError` if nothing can be written there."""
        self.spec = target.spec
        self.fingerprint = target.fingerprint
        self.batch_size = target.batch_size
        # The file is this process's.
        self.concurrency: Concurrency = "threads" if target.concurrency == "processes" else target.concurrency
        self.target = target
        self._path = path
        self._partial = path.with_name(path.name + ".partial")
        self._private = private
        self._masker = Masker.from_environment()
        self._lock = threading.Lock()
        self._entries: dict[Key, tuple[int, int]] = {}
        self._claim = FileLock(path.with_name(path.name + ".lock"), blocking=False)
        self._open = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._claim.acquire()
        except Timeout:
            raise UsageError("another run is recording to it", where=str(path)) from None
        except OSError as error:
            raise self._unwritable(error) from error
        try:
            self._start(self._kept() if resume else b"")
        except BaseException:
            self._release()
            raise

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        masked: list[Mapping[str, Any] | None] = []
        answers: list[Answer | None] = []
        for request in requests:
            try:
                encode(request)
            except NotJson as error:  # it cannot be written down, and no target could be asked
                masked.append(None)
                answers.append(Answer(failure=str(error)))
            else:
                masked.append(cassette.shown(self._masker.mask_value(request), self._private))
                answers.append(self._recorded(Key.of(masked[-1] or {}, repeat)))
        missing = [index for index, answer in enumerate(answers) if answer is None]
        if missing:
            asked = self.target.ask([requests[index] for index in missing], repeat=repeat)
            for index, answer in zip(missing, asked, strict=True):
                answers[index] = self._write(masked[index] or {}, repeat, answer)
        return [answer for answer in answers if answer is not None]

    def close(self) -> None:
        """Closes the target and puts the cassette in its place."""
        try:
            self.target.close()
        finally:
            with self._lock:
                if self._open:
                    self._open = False
                    try:
                        self._publish()
                    except OSError as error:
                        raise self._unwritable(error) from error
                    finally:
                        self._release()

    def _recorded(self, key: Key) -> Answer | None:
        with self._lock:
            place = self._entries.get(key)
            return None if place is None else self._at(place)

    def _at(self, place: tuple[int, int]) -> Answer:
        self._file.seek(place[0])
        return cassette.read_line(self._file.read(place[1]), str(self._partial))[1]

    def _write(self, request: Mapping[str, Any], repeat: int, answer: Answer) -> Answer:
        key = Key.of(request, repeat)
        shown = evolve(
            answer,
            value=self._masker.mask_value(answer.value),
            failure=None if answer.failure is None else self._masker.mask(answer.failure),
        )
        with self._lock:
            if not self._open:
                raise StoreError("an answer came after the recording was closed", where=str(self._path))
            if (place := self._entries.get(key)) is not None:  # another thread asked the same meanwhile
                return self._at(place)
            try:
                self._append(key, cassette.line(request, repeat, shown))
            except OSError as error:
                raise self._unwritable(error) from error
        return shown

    def _append(self, key: Key, text: bytes) -> None:
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(text)
        self._entries[key] = (start, len(text))

    def _kept(self) -> bytes:
        """What an interrupted recording left, or else what the last one finished."""
        for path in (self._partial, self._path):
            with suppress(FileNotFoundError):
                return path.read_bytes()
        return b""

    def _start(self, kept: bytes) -> None:
        try:
            # Unbuffered: each line is in the system's hands before its answer is used.
            self._file = self._partial.open("wb+", buffering=0)
            self._open = True
            # What follows the last line break was being written when the run was killed.
            complete = kept[: kept.rfind(b"\n") + 1]
            for number, start, end in cassette.spans(complete):
                key, _ = cassette.read_line(complete[start:end], f"{self._path}:{number}")
                if key not in self._entries:
                    self._append(key, complete[start:end] + b"\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def _publish(self) -> None:
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                for _, (start, size) in sorted(self._entries.items(), key=lambda entry: entry[0].order):
                    self._file.seek(start)
                    file.write(self._file.read(size))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(self._path.parent)
        self._partial.unlink(missing_ok=True)

    def _release(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()
        self._claim.release()
        with suppress(OSError):
            Path(self._claim.lock_file).unlink()

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(f"the recording cannot be written: {error.strerror or error}", where=str(self._path))


def _sync_folder(folder: Path) -> None:
    # The new name is only safe once the folder is; not every system lets a folder be opened.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
