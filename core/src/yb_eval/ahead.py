"""Outcomes made while their file was still being checked: each row is then read once.

An evaluator that is `eager` asks nobody and leaves nothing behind, so its outcomes of the rows that are right may be
thrown away should a later row be wrong. They count, and are recorded, only once the whole file is known to be good.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from yb_eval.work import BatchWork, Shard, States

#: Bytes of the outcome log that are held in memory; what is more goes to a file without a name.
_IN_MEMORY = 16 << 20


class OutcomesAhead:
    """Collects the shards of a run before it is known whether there will be a run; see `datasets/block_work.py`.

    `folder` is where a file may be made; `told` hears how many samples are done. Close it when the run has ended.
    """

    def __init__(self, work: BatchWork, batch_size: int, folder: Path, told: Callable[[int], None]) -> None:
        self.work = work
        self._told = told
        self.batch_size = batch_size
        self._folder = folder
        self._states: States = work.fold.start()
        self._parts: list[tuple[int, int, int]] = []  # of each block: the size of its log, its outcomes, the wrong ones
        self._done = 0
        self._held: list[bytes] = []
        self._size = 0
        self._file: IO[bytes] | None = None
        self._failed = False

    @property
    def count(self) -> int | None:
        """How many outcomes there are; `None` if some are missing."""
        return None if self._failed else self._done

    def take(self, results: Sequence[Any] | None) -> bool:
        """Takes the shards of the next block, and says whether more are wanted: none is from the first `None` on."""
        if self._failed or results is None:
            self._fail()
            return False
        try:
            self._keep(results)
        except Exception:  # a full disk, a metric that fails: the evaluation will meet it again, and there it belongs
            self._fail()
        else:
            self._told(self._done // self.work.fold.repeats)
        return not self._failed

    def shards(self) -> Iterator[Shard]:
        """The shards in order, those of a block as one. The first has the states of all."""
        if self._file is not None:
            self._file.seek(0)
        logs = iter(self._held)
        states = self._states
        for size, count, wrong in self._parts:
            yield Shard(next(logs) if self._file is None else self._file.read(size), states, count, wrong)
            states = self.work.fold.start()

    def close(self) -> None:
        self._held = []
        if self._file is not None:
            with suppress(OSError):  # what a full disk did not take is tried again, and not wanted any more
                self._file.close()

    def _keep(self, shards: Sequence[Shard]) -> None:
        # Together: batches of one sample must not be remembered one by one.
        log = b"".join(shard.log for shard in shards)
        for shard in shards:
            self._states = self.work.fold.merge(self._states, shard.states)
        count = sum(shard.count for shard in shards)
        self._parts.append((len(log), count, sum(shard.wrong for shard in shards)))
        self._done += count
        self._held.append(log)
        self._size += len(log)
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
        file.flush()  # now, while the evaluation can still be done in the ordinary way
        self._held = []

    def _fail(self) -> None:
        self._failed = True
        self.close()
