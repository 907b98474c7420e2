"""A file of answers: SQLite, so that threads and processes share it and a crash loses nothing that was kept."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from attrs import frozen

from yb_eval import UsageError

#: Says that an SQLite file is one of ours ("ybdc"), and which form it has.
_APPLICATION, _VERSION = 0x79626463, 1
#: Seconds to wait for another process that writes.
_PATIENCE = 30.0
#: Keys in one look-up.
_AT_ONCE = 500


@frozen(slots=True)
class Kept:
    """An answer as it is kept: JSON, the model that gave it, and who decided, where that was not the backend alone."""

    answer: bytes
    model: str | None
    decided_by: str | None


class ResponseCache:
    """A file of answers. Safe for threads, and for several processes at once.

    Raises `UsageError` for a file that is damaged or not a cache of answers.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._connection: tuple[int, sqlite3.Connection] | None = None
        with self._lock:
            self._open()

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._connection[0] == os.getpid():
            return self._connection[1]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise UsageError(f"the cache cannot be opened: {error}", where=str(self.path)) from None
        try:
            self._prepare(connection)
        except sqlite3.Error as error:
            connection.close()
            raise self._damaged(error) from None
        except UsageError:
            connection.close()
            raise
        self._connection = (os.getpid(), connection)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if tables and (application, version) != (_APPLICATION, _VERSION):
            raise UsageError("this is not a cache of answers", where=str(self.path), hint="name another file")
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        if not tables:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS answers "
                "(key BLOB PRIMARY KEY, answer BLOB NOT NULL, model TEXT, decided_by TEXT) WITHOUT ROWID"
            )
            connection.execute(f"PRAGMA application_id={_APPLICATION}")
            connection.execute(f"PRAGMA user_version={_VERSION}")
            connection.execute("COMMIT")

    def _damaged(self, error: sqlite3.Error) -> UsageError:
        return UsageError(
            f"the cache is damaged: {error}", where=str(self.path), hint="delete it, or name another file"
        )

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Kept]:
        """What is kept of `keys`. Raises `UsageError` where the file is damaged."""
        wanted = list(keys)
        found: dict[bytes, Kept] = {}
        with self._lock:
            try:
                connection = self._open()
                for start in range(0, len(wanted), _AT_ONCE):
                    some = wanted[start : start + _AT_ONCE]
                    marks = ",".join("?" * len(some))
                    query = f"SELECT key, answer, model, decided_by FROM answers WHERE key IN ({marks})"  # noqa: S608
                    for key, answer, model, decided_by in connection.execute(query, some):
                        found[key] = Kept(answer, model, decided_by)
            except sqlite3.Error as error:
                raise self._damaged(error) from None
        return found

    def keep(self, entries: Mapping[bytes, Kept]) -> None:
        """Keeps all of `entries`, or nothing. Raises `UsageError` where they cannot be written."""
        if not entries:
            return
        rows = [(key, kept.answer, kept.model, kept.decided_by) for key, kept in entries.items()]
        with self._lock:
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
                    connection.execute("COMMIT")
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise UsageError(f"the cache cannot be written: {error}", where=str(self.path)) from None

    def __len__(self) -> int:
        with self._lock:
            return int(self._open().execute("SELECT count(*) FROM answers").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            if self._connection is not None and self._connection[0] == os.getpid():
                self._connection[1].close()
            self._connection = None

    def __reduce__(self) -> tuple[Any, ...]:
        return (ResponseCache, (self.path,))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
