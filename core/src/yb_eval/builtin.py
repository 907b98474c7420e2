"""Core's own dataset formats, executors and reporters, brought in by the same door as anybody's: the entry-point
group `yb_eval.plugins`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from yb_eval import executors
from yb_eval.datasets import Format, formats
from yb_eval.hooks import hookimpl
from yb_eval.reports import REPORTERS, Reporter

YB_EVAL_API = 1


@hookimpl
def yb_eval_dataset_formats() -> Mapping[str, Format]:
    return formats()


@hookimpl
def yb_eval_executors() -> Mapping[str, Callable[[int], executors.Executor]]:
    return {
        # By attribute, so that a pool is imported when it is used.
        "serial": lambda jobs: executors.SerialExecutor(),
        "threads": lambda jobs: executors.ThreadExecutor(jobs),
        "processes": lambda jobs: executors.ProcessExecutor(jobs),
    }


@hookimpl
def yb_eval_reporters() -> Mapping[str, Reporter]:
    return REPORTERS
