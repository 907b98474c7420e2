"""What can be told of a suite's request without running anything: its files, its target, its gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from yb_eval.errors import YbEvalError
from yb_eval.options import describe
from yb_eval.runoptions import SuiteRequest

if TYPE_CHECKING:
    from yb_eval.interfaces import Plan
    from yb_eval.preparation import Environment

#: The option that something is about, `""` for the suite as a whole, and what tells whether it holds.
_Attempt = tuple[str, Callable[[], object]]


def faults(request: SuiteRequest, environment: Environment) -> Iterator[tuple[str, YbEvalError]]:
    """What is wrong with a request, each with the option that it is about (`""` where it is about none).

    Files are looked for and not read, but for baselines and recordings; no process is started, no connection made, and
    no module imported for a target.
    """
    from yb_eval.cli.describe import plan_of
    from yb_eval.targets import SCHEMES

    missing = list(_failing(_files(request)))
    yield from missing
    yield from _failing(_alone(request, environment))
    offered: dict[str, Any] = {}
    try:
        plan = plan_of(request.suite, request.options, offered=offered.update)
    except YbEvalError as error:
        if not missing:  # else it is about that file
            yield "", error
        if request.run.replay is not None or request.run.target.partition(":")[0] in SCHEMES:
            yield from _failing(_targeted(offered or {"builtin": None}, request, environment))
        return
    yield from _failing(_planned(plan, offered, request, environment))


def _failing(attempts: Iterator[_Attempt]) -> Iterator[tuple[str, YbEvalError]]:
    for key, attempt in attempts:
        try:
            attempt()
        except YbEvalError as error:
            yield key, error


def _files(request: SuiteRequest) -> Iterator[_Attempt]:
    """The files that stand for their bytes in the plan's id: no run can be without them."""
    for info in describe(type(request.options)):
        for value in _values(request.options, info.attribute):
            if isinstance(value, Path) and info.identity:
                yield info.name, partial(_look, value)


def _alone(request: SuiteRequest, environment: Environment) -> Iterator[_Attempt]:
    """What asks nothing of the plan."""
    from yb_eval.expressions import Expression
    from yb_eval.preparation import check_saving
    from yb_eval.record import read_baseline

    run = request.run
    yield "save" if run.force is None else "force", partial(check_saving, run)
    if run.filter is not None:
        yield "filter", partial(Expression.parse, run.filter)
    if run.against is not None and Path(run.against).suffix:  # else it may be a run that is yet to be made
        yield "against", partial(read_baseline, run.against, environment.store, request.suite.name)


def _planned(
    plan: Plan, offered: Mapping[str, Any], request: SuiteRequest, environment: Environment
) -> Iterator[_Attempt]:
    from yb_eval.executors import choose
    from yb_eval.preparation import fold_of

    run = request.run
    yield from _targeted(offered, request, environment)
    for path in _read_by(plan.dataset):
        yield _named(request.options, path), partial(_look, path)
    yield "executor", partial(choose, run.executor, run.jobs, plan.evaluator.concurrency, environment.executors)
    if not environment.metrics.keys() >= set(run.metric):
        yield "metric", partial(fold_of, plan, request, environment)
        return  # the gates may look at it
    for text in run.gate:
        yield "gate", partial(_bind, text, plan, request, environment)


def _targeted(offered: Mapping[str, Any], request: SuiteRequest, environment: Environment) -> Iterator[_Attempt]:
    key = "replay" if request.run.replay is not None else "target"
    yield key, partial(_check_target, offered, request, environment)


def _check_target(offered: Mapping[str, Any], request: SuiteRequest, environment: Environment) -> None:
    from yb_eval.preparation import takes_no_target, target_settings, target_spec
    from yb_eval.targets import check_target

    spec = target_spec(request.run)
    if not offered:
        if spec != "builtin":
            raise takes_no_target(request)
        return
    settings = target_settings(request, environment)
    check_target(spec, builtins=offered, schemes=environment.targets, settings=settings)


def _read_by(dataset: Any) -> Iterator[Path]:
    """The files that a dataset reads its rows from, as far as it is made of core's own parts."""
    from yb_eval.datasets import RowDataset

    if isinstance(dataset, RowDataset):
        if isinstance(dataset.path, str | Path) and str(dataset.path) != "-":
            yield Path(dataset.path)
    elif isinstance(dataset, Mapping):
        for part in dataset.values():
            yield from _read_by(part)
    elif isinstance(dataset, tuple | list):
        for part in dataset:
            yield from _read_by(part)
    elif attrs.has(type(dataset)) and hasattr(dataset, "open"):
        for attribute in attrs.fields(type(dataset)):
            yield from _read_by(getattr(dataset, attribute.name))


def _look(path: Path) -> None:
    """Raises `DatasetError` for what is not a readable file, without reading it."""
    from yb_eval.datasets import Source

    Source.open(path, memory_limit=-1)


def _named(options: Any, path: Path) -> str:
    """The option that names this file; `""` if it is the suite's own choice."""
    for info in describe(type(options)):
        if any(isinstance(value, str | Path) and Path(value) == path for value in _values(options, info.attribute)):
            return info.name
    return ""


def _values(options: Any, attribute: str) -> tuple[Any, ...]:
    value = getattr(options, attribute)
    return value if isinstance(value, tuple) else (value,)


def _bind(text: str, plan: Plan, request: SuiteRequest, environment: Environment) -> None:
    from yb_eval.gates import read_gate
    from yb_eval.preparation import declare, fold_of

    read_gate(text, environment.gates).bind(declare(fold_of(plan, request, environment)))
