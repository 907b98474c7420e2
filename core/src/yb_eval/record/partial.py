"""The outcome log of a run that has not ended: what `--resume` goes on from.

`.yb-eval/partial/PLAN_ID/` holds `plan.json` and one log for each attempt, `TOKEN.jsonl`, with a lock beside it that
is held while the attempt lives, and `TOKEN.jsonl.digests`: after each write a line `SIZE SHA256`, the size of the log
so far and the digest of all of it up to there. Two runs of one plan write two logs; a killed run leaves a log that may
end in half a line, or in lines whose digest was not written any more. Only what a digest vouches for is kept."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import orjson
from attrs import define, field

from yb_eval.errors import StoreError, UsageError
from yb_eval.record.files import atomic, cannot_write
from yb_eval.record.locking import Lock, acquire
from yb_eval.record.store import Store

_SYNC_SECONDS = 1.0
_DIGESTS = ".digests"
_RECORDED = re.compile(rb"([0-9]{1,18}) ([0-9a-f]{64})\n")


@define(slots=True)
class PartialLog:
    """An outcome log being written, hashed as it grows. Use it as a context manager: leaving without `finish` keeps
    it for `--resume`."""

    store: Store
    path: Path
    _lock: Lock
    #: Whether an earlier attempt's lines are still to be read: until then they are not this one's to remove.
    _unread: bool = False
    _file: IO[bytes] = field(init=False)
    _digests: IO[bytes] = field(init=False)
    _digest: Any = field(init=False, factory=hashlib.sha256)
    _synced: float = field(init=False, factory=time.monotonic)
    size: int = field(init=False, default=0)
    count: int = field(init=False, default=0)

    def __enter__(self) -> PartialLog:
        try:
            # The log first: digests without a log are what a killed run left.
            self._file = self.path.open("ab")
            self._digests = _digests_of(self.path).open("ab")
        except OSError as error:
            self._lock.release()
            raise cannot_write(self.path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (self._file, self._digests):
            with suppress(OSError):
                file.close()
        if self.count == 0 and not self._unread:
            _remove(self.path)
        self._lock.release()

    def kept(self, repeats: int) -> Iterator[list[bytes]]:
        """What an earlier attempt finished, in batches of lines, each sample whole with its `repeats` lines.

        It ends at the last digest that holds; what is behind is cut off, to be evaluated again. Raises `StoreError`
        where none holds, or where one does not that stands before one which does; batches may have come before that.
        """
        batch: list[bytes] = []
        lines: list[bytes] = []
        read = place = 0
        try:
            for data, digest, end in self._matching():
                lines += data.split(b"\n")[:-1]
                read += len(data)
                if len(lines) % repeats:
                    continue  # in the midst of a sample
                self._digest, self.size, place = digest, read, end
                self.count += len(lines)
                batch += lines
                lines = []
                if len(batch) >= 1_000 * repeats:
                    yield batch
                    batch = []
        except OSError as error:
            raise StoreError(f"cannot be read: {error.strerror or error}", where=str(self.path)) from error
        try:
            # The digests first: one that outlives its lines would speak of those that are written next.
            self._digests.truncate(place)
            self._file.truncate(self.size)
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._unread = False
        if batch:
            yield batch

    def _matching(self) -> Iterator[tuple[bytes, Any, int]]:
        """The log in pieces, from one digest that holds to the next, each with the hash of all up to there and the
        place where its line among the digests ends. Sizes beyond the log's end are ignored."""
        digest, read, place = hashlib.sha256(), 0, 0
        held = doubted = False
        with self.path.open("rb") as log, _digests_of(self.path).open("rb") as recorded:
            length = os.fstat(log.fileno()).st_size
            for line in recorded:
                place += len(line)
                if not line.endswith(b"\n"):
                    break  # the run was killed as it wrote this
                match = _RECORDED.fullmatch(line)
                size = int(match[1]) if match else 0
                if size > length:
                    break
                data = log.read(max(size - read, 0))
                digest.update(data)
                read += len(data)
                if match is None or not data.endswith(b"\n") or digest.hexdigest().encode() != match[2]:
                    doubted = True
                elif doubted:
                    raise self._changed()
                else:
                    held = True
                    yield data, digest.copy(), place
        if doubted and not held:
            raise self._changed()

    def _changed(self) -> StoreError:
        what = "the interrupted run's log, or its digests, were changed after they were written"
        return StoreError(what, where=str(self.path), hint="run it anew")

    def write(self, lines: bytes, count: int) -> None:
        """Appends whole lines. What is written is on the disk within a second or so."""
        self._digest.update(lines)
        self.size += len(lines)
        try:
            self._file.write(lines)
            self._file.flush()
            self._digests.write(b"%d %b\n" % (self.size, self._digest.hexdigest().encode()))
            self._digests.flush()
            now = time.monotonic()
            if now - self._synced > _SYNC_SECONDS:
                os.fsync(self._file.fileno())
                os.fsync(self._digests.fileno())
                self._synced = now
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self.count += count

    def finish(self) -> str:
        """Moves the finished log into the store's objects and returns its name."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._digests.close()
        except OSError as error:
            raise cannot_write(self.path, error) from error
        name = str(self._digest.hexdigest())
        self.store.adopt(self.path, name)
        _remove(self.path)  # its digests, that is
        return name


def begin(store: Store, plan_id: str, plan: Mapping[str, Any]) -> PartialLog:
    """A new log for this plan."""
    folder = store.root / "partial" / plan_id
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    with atomic(folder / "plan.json") as file:
        file.write(orjson.dumps(plan))
    log = _locked(store, folder / f"{os.urandom(16).hex()}.jsonl")
    assert log is not None, "a new name cannot be locked by another"
    return log


def resume(store: Store, plan_id: str, plan: Mapping[str, Any]) -> PartialLog:
    """The longest log of this plan that no living run writes.

    Raises `UsageError`, saying what changed, if there is none of this very plan.
    """
    folder = store.root / "partial" / plan_id
    logs = sorted(folder.glob("*.jsonl"), key=lambda path: (-_size(path), path.name))
    for path in logs:
        log = _locked(store, path, unread=True)
        if log is not None:
            return log
    if logs:
        raise UsageError("the run to resume is still going on", where=str(folder))
    raise UsageError(_why_not(store, plan), hint="run it without --resume")


def interrupted(store: Store, plan_id: str) -> bool:
    """Whether an attempt at this plan has left a log."""
    return any((store.root / "partial" / plan_id).glob("*.jsonl"))


def discard(store: Store, plan_id: str) -> None:
    """Removes what is left of finished or abandoned attempts at this plan."""
    folder = store.root / "partial" / plan_id
    for path in folder.glob("*.jsonl"):
        log = _locked(store, path)
        if log is not None:
            _remove(path)
            log._lock.release()
    for path in (*folder.glob("*.lock"), *folder.glob(f"*{_DIGESTS}")):
        if not path.with_suffix("").exists():
            with suppress(OSError):
                path.unlink()
    with suppress(OSError):
        if not any(folder.glob("*.jsonl*")):
            (folder / "plan.json").unlink(missing_ok=True)
            folder.rmdir()


def _digests_of(path: Path) -> Path:
    # No name that ends in .jsonl, which every log's does.
    return path.with_name(f"{path.name}{_DIGESTS}")


def _remove(path: Path) -> None:
    """Removes a log and its digests, in this order: where the second step is missed, `discard` knows them by it."""
    for file in (path, _digests_of(path)):
        with suppress(OSError):
            file.unlink(missing_ok=True)


def _size(path: Path) -> int:
    """The size of a log in bytes; 0 if the run that wrote it has ended meanwhile."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _locked(store: Store, path: Path, *, unread: bool = False) -> PartialLog | None:
    try:
        lock = acquire(path.with_name(f"{path.name}.lock"))
    except OSError as error:
        raise cannot_write(path, error) from error
    return None if lock is None else PartialLog(store, path, lock, unread)


def _why_not(store: Store, plan: Mapping[str, Any]) -> str:
    """Says how the plan differs from the interrupted one of the same suite that is nearest to it."""
    nearest: list[str] | None = None
    for path in sorted((store.root / "partial").glob("*/plan.json")):
        with suppress(OSError, ValueError):
            other = orjson.loads(path.read_bytes())
            if other.get("suite") == plan["suite"] and any(path.parent.glob("*.jsonl")):
                changed = [key for key in plan if orjson.loads(orjson.dumps(plan[key])) != other.get(key)]
                nearest = changed if nearest is None or len(changed) < len(nearest) else nearest
    if nearest is None:
        return f"there is no interrupted run of {plan['suite']} to resume"
    return f"the interrupted run of {plan['suite']} was another: changed since then: {', '.join(nearest)}"
