"""What is done to a block of lines, in whichever process: it is checked and, where somebody asks for it, worked on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from attrs import evolve, frozen

from yb_eval.batches import SampleBatch
from yb_eval.datasets.batch import RowDecoder, batches
from yb_eval.datasets.blocks import BlockCheck, CheckedBlock


class Ahead(Protocol):
    """Work on rows as soon as they are known to be right, while the rows behind them are still unread.

    What comes of it counts only if the whole file is good, so it must do nothing that cannot be thrown away.
    """

    @property
    def work(self) -> Callable[[SampleBatch], Any]:
        """What is done to each batch; picklable where the check is spread over processes."""

    @property
    def batch_size(self) -> int:
        """The most samples in a batch."""

    def take(self, results: Sequence[Any] | None) -> bool:
        """Told of the results of one block after another, in the file's order; `None` for a block that `work` was not
        done to, or failed on. Says whether those of the blocks behind it are still wanted."""


@frozen(slots=True)
class BlockWork:
    """Checks a block (number of the first line, lines), and does `work` to what is right in batches of `batch_size`."""

    check: BlockCheck
    decoder: RowDecoder
    work: Callable[[SampleBatch], Any] | None = None
    batch_size: int = 1
    keep: bool = False
    """Whether the columns of the block are wanted back."""

    def __call__(self, item: tuple[int, bytes]) -> tuple[CheckedBlock | None, list[Any] | None]:
        number, block = item
        wanted = self.decoder.wanted() if self.keep or self.work is not None else None
        taken = self.check(block, wanted)
        if taken is None or self.work is None:
            return taken, None
        parts = batches(self.decoder, number, block, taken.count, self.batch_size, taken.columns)
        try:
            results = list(map(self.work, parts))
        except Exception:  # the evaluation will meet it again, and there it belongs
            return evolve(taken, columns=None), None
        return evolve(taken, columns=None), results
