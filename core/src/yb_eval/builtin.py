"""Core's own dataset formats, executors and reporters, brought in by the same door as anybody's: the entry-point
group `yb_eval.plugins`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from yb_eval.datasets import Format, formats
from yb_eval.executors import Executor, ProcessExecutor, SerialExecutor, ThreadExecutor
from yb_eval.hooks import hookimpl
from yb_eval.reports import REPORTERS, Reporter

YB_EVAL_API = 1


@hookimpl
def yb_eval_dataset_formats() -> Mapping[str, Format]:
    return formats()


@hookimpl
def yb_eval_executors() -> Mapping[str, Callable[[int], Executor]]:
    return {"serial": lambda jobs: SerialExecutor(), "threads": ThreadExecutor, "processes": ProcessExecutor}


@hookimpl
def yb_eval_reporters() -> Mapping[str, Reporter]:
    return REPORTERS
