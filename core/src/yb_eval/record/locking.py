"""A lock on a file that the operating system takes back when its holder dies, however it dies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, Any

from attrs import define


@define(slots=True)
class Lock:
    """A held lock. `release` gives it back; so does the end of the process."""

    _held: Any

    def release(self) -> None:
        if sys.platform == "win32":
            self._held.release()
        else:
            self._held.close()


def acquire(path: Path) -> Lock | None:
    """The lock on `path`, which is made if it is not there; `None` if another process, or this one, holds it.

    Raises `OSError` where the file cannot be made.
    """
    if sys.platform == "win32":
        from filelock import FileLock, Timeout

        lock = FileLock(path, timeout=0, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            return None
        return Lock(lock)
    # filelock does the same here; importing it would be a tenth of a short run.
    import fcntl

    file: IO[bytes] = path.open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    except BaseException:
        file.close()
        raise
    return Lock(file)
