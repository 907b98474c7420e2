"""Executors own concurrency: they call the work on several batches at once and give results back in order.

An executor is an ordered map with a bounded window: however slow the first batch, no more than a few batches per job
are held. `serial`, `threads` and `processes` are built in; the hook `yb_eval_executors` adds others.
"""

from typing import TYPE_CHECKING

from yb_eval._lazy import lazily

if TYPE_CHECKING:
    from yb_eval.executors.base import Executor as Executor
    from yb_eval.executors.base import Work as Work
    from yb_eval.executors.base import choose as choose
    from yb_eval.executors.pools import ProcessExecutor as ProcessExecutor
    from yb_eval.executors.pools import ThreadExecutor as ThreadExecutor
    from yb_eval.executors.serial import SerialExecutor as SerialExecutor

__getattr__, __all__ = lazily(
    __name__,
    {
        "base": ["Executor", "Work", "choose"],
        "pools": ["ProcessExecutor", "ThreadExecutor"],
        "serial": ["SerialExecutor"],
    },
)
