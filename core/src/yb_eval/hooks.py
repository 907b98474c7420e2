"""The hooks a plugin can implement. The functions are empty: their docstrings are the reference.

Mark an implementation with `@yb_eval.hookimpl`; a hook may leave out arguments it does not need.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from yb_eval.interfaces import Suite

PROJECT = "yb_eval"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def yb_eval_suite() -> Suite[Any]:  # type: ignore[empty-body]
    """The suite that the entry point in `yb_eval.suites` names."""


@hookspec
def yb_eval_dataset_formats() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
    """File suffix (`.avro`) -> a `yb_eval.datasets.Format`: reads such a file as rows."""


@hookspec
def yb_eval_targets() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
    """Scheme (`grpc`, of `--target grpc:...`) -> a function of (spec, `yb_eval.targets.Settings`) that returns a
    target."""


@hookspec
def yb_eval_metrics() -> Mapping[str, Callable[[], Any]]:  # type: ignore[empty-body]
    """Name (`--metric NAME`) -> a function without arguments that returns a metric to measure beside the suite's
    own."""


@hookspec
def yb_eval_gates() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
    """Scheme (`--gate 'scheme: text'`) -> a function of (text, severity) that returns a gate."""


@hookspec
def yb_eval_executors() -> Mapping[str, Callable[[int], Any]]:  # type: ignore[empty-body]
    """Name (`--executor NAME`) -> a function of the number of jobs that returns a `yb_eval.executors.Executor`."""


@hookspec
def yb_eval_reporters() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
    """Format (`--report FORMAT=PATH`) -> a function of a `yb_eval.reports.RunView` that yields the report's text."""


@hookspec
def yb_eval_detectors() -> Mapping[str, Callable[[str], Sequence[Mapping[str, Any]]]]:  # type: ignore[empty-body]
    """Name -> a detector of sensitive data: a thread-safe function of a text that returns what it found in it.

    A finding is `{"type", "start", "end", "confidence"}` and may have a `kind`, narrower than its type. Offsets are code
    points of the text, end exclusive; confidence is 0..1. The datum itself is in no finding. The function may have two
    attributes: `types`, all types that it looks for, and `fingerprint`, 64 hex characters that identify what decides its
    findings; it enters the ids of runs that use the detector.

    The entry point of such a plugin is in the group `yb_eval.detectors`. It is not loaded at each run, but when a suite asks
    for detectors: `load_extensions(DETECTORS).provide("yb_eval_detectors")`.
    """


@hookspec
def yb_eval_run_started(plan: Mapping[str, Any]) -> None:
    """A run's plan is fixed and its `plan_id` printed; nothing is evaluated yet. What this returns is ignored."""


@hookspec
def yb_eval_run_finished(report: Mapping[str, Any]) -> None:
    """A run has ended; `report` is the JSON report. A failure here is shown and changes neither verdict nor exit
    code."""


def manager(plugins: Iterable[Any]) -> pluggy.PluginManager:
    """A plugin manager that knows these hooks and `plugins`."""
    made = pluggy.PluginManager(PROJECT)
    made.add_hookspecs(sys.modules[__name__])
    for plugin in plugins:
        made.register(plugin)
    return made
