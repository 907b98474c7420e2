"""Outcomes made while their file was still being checked: each row is then read once.

An evaluator that is `eager` asks nobody and leaves nothing behind, so its outcomes of the rows that are right may be
thrown away should a later row be wrong. They count, and are recorded, only once the whole file is known to be good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from yb_eval.work import BatchWork, Shard, States

#: Bytes of the outcome log that are held in memory; what is more goes to a file without a name.
_IN_MEMORY = 16 << 20


class OutcomesAhead:
    """Collects the shards of a run before it is known whether there will be a run; see `yb_eval.datasets.Ahead`.

    `folder` is where a file may be made. Close it when the run has ended.
    """

    def __init__(self, work: BatchWork, batch_size: int, folder: Path) -> None:
        self.work = work
        self.batch_size = batch_size
        self._folder = folder
        self._states: States = work.fold.start()
        self._parts: list[tuple[int, int, int]] = []  # of each shard: the size of its log, its outcomes, the wrong ones
        self._held: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self._failed = False

    @property
    def count(self) -> int | None:
        """How many outcomes there are; `None` if some are missing."""
        return None if self._failed else sum(count for _, count, _ in self._parts)

    def take(self, results: Sequence[Any] | None) -> None:
        """Takes the shards of the next batches; from the first `None` on none is wanted any more."""
        if self._failed or results is None:
            self._fail()
            return
        try:
            for shard in results:
                self._keep(shard)
        except OSError:
            self._fail()

    def shards(self) -> Iterator[Shard]:
        """The shards in order. The first has the states of all."""
        if self._file is not None:
            self._flush(self._file)
            self._file.seek(0)
        logs = iter(self._held)
        states = self._states
        for size, count, wrong in self._parts:
            yield Shard(next(logs) if self._file is None else self._file.read(size), states, count, wrong)
            states = self.work.fold.start()

    def close(self) -> None:
        self._held = []
        if self._file is not None:
            self._file.close()

    def _keep(self, shard: Shard) -> None:
        self._states = self.work.fold.merge(self._states, shard.states)
        self._parts.append((len(shard.log), shard.count, shard.wrong))
        self._held.append(shard.log)
        self._size += len(shard.log)
        if self._size > _IN_MEMORY:
            if self._file is None:
                self._file = self._open()
            self._flush(self._file)

    def _open(self) -> IO[bytes]:
        from tempfile import TemporaryFile  # not quick to import, and rarely needed

        self._folder.mkdir(parents=True, exist_ok=True)
        return TemporaryFile(dir=self._folder)

    def _flush(self, file: IO[bytes]) -> None:
        file.writelines(self._held)
        self._held = []

    def _fail(self) -> None:
        self._failed = True
        self.close()
