"""The outcome log of a run that has not ended: what `--resume` goes on from.

`.yb-eval/partial/PLAN_ID/` holds `plan.json` and one log for each attempt, `TOKEN.jsonl`, with a lock beside it that
is held while the attempt lives. Two runs of one plan write two logs; a killed run leaves a log that may end in half a
line."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import orjson
from attrs import define, field

from yb_eval.errors import UsageError
from yb_eval.record.files import atomic, cannot_write
from yb_eval.record.locking import Lock, acquire
from yb_eval.record.store import Store

_SYNC_SECONDS = 1.0


@define(slots=True)
class PartialLog:
    """An outcome log being written, hashed as it grows. Use it as a context manager: leaving without `finish` keeps
    it for `--resume`."""

    store: Store
    path: Path
    _lock: Lock
    _file: IO[bytes] = field(init=False)
    _digest: Any = field(init=False, factory=hashlib.sha256)
    _synced: float = field(init=False, factory=time.monotonic)
    size: int = field(init=False, default=0)
    count: int = field(init=False, default=0)

    def __enter__(self) -> PartialLog:
        try:
            self._file = self.path.open("ab")
        except OSError as error:
            raise cannot_write(self.path, error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._file.close()
        if self.count == 0:
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
        self._lock.release()

    def kept(self, repeats: int) -> Iterator[list[dict[str, Any]]]:
        """What an earlier attempt finished, in batches of decoded lines, each sample whole with its `repeats` lines.

        A half-written end, be it of a line or of a sample, is cut off.
        """
        whole = 0
        lines: list[bytes] = []
        batch: list[dict[str, Any]] = []
        with self.path.open("rb") as file:
            for line in file:
                try:
                    decoded = orjson.loads(line) if line.endswith(b"\n") else None
                except orjson.JSONDecodeError:
                    decoded = None
                if decoded is None:
                    break
                lines.append(line)
                batch.append(decoded)
                if len(lines) == 1_000 * repeats:
                    whole += self._count(lines)
                    yield batch
                    lines, batch = [], []
        complete = len(lines) // repeats * repeats
        whole += self._count(lines[:complete])
        self._file.truncate(whole)
        if complete:
            yield batch[:complete]

    def _count(self, lines: list[bytes]) -> int:
        """Takes lines that are in the file already into the digest; returns their size in bytes."""
        data = b"".join(lines)
        self._digest.update(data)
        self.size += len(data)
        self.count += len(lines)
        return len(data)

    def write(self, lines: bytes, count: int) -> None:
        """Appends whole lines. What is written is on the disk within a second or so."""
        try:
            self._file.write(lines)
            self._file.flush()
            now = time.monotonic()
            if now - self._synced > _SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = now
        except OSError as error:
            raise cannot_write(self.path, error) from error
        self._digest.update(lines)
        self.size += len(lines)
        self.count += count

    def finish(self) -> str:
        """Moves the finished log into the store's objects and returns its name."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        except OSError as error:
            raise cannot_write(self.path, error) from error
        name = str(self._digest.hexdigest())
        self.store.adopt(self.path, name)
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
    logs = sorted(folder.glob("*.jsonl"), key=lambda path: (-path.stat().st_size, path.name))
    for path in logs:
        log = _locked(store, path)
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
            with suppress(OSError):
                path.unlink()
            log._lock.release()
    for path in folder.glob("*.lock"):
        if not path.with_suffix("").exists():
            with suppress(OSError):
                path.unlink()
    with suppress(OSError):
        if not any(folder.glob("*.jsonl*")):
            (folder / "plan.json").unlink(missing_ok=True)
            folder.rmdir()


def _locked(store: Store, path: Path) -> PartialLog | None:
    try:
        lock = acquire(path.with_name(f"{path.name}.lock"))
    except OSError as error:
        raise cannot_write(path, error) from error
    return None if lock is None else PartialLog(store, path, lock)


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
