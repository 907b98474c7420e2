"""Executors own concurrency: they call the work on several batches at once and give results back in order.

An executor is an ordered map with a bounded window: however slow the first batch, no more than a few batches per job
are held. `serial`, `threads` and `processes` are built in; the hook `yb_eval_executors` adds others.
"""

from yb_eval.executors.base import Executor, Work, choose
from yb_eval.executors.pools import ProcessExecutor, SerialExecutor, ThreadExecutor

__all__ = ["Executor", "ProcessExecutor", "SerialExecutor", "ThreadExecutor", "Work", "choose"]
