"""`yb-eval config check | show | schema`: what is wrong with the configuration, and where each value comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from yb_eval.cli.options import given, parameters
from yb_eval.cli.output import emit, note
from yb_eval.cli.run import chosen_configuration, from_environment, request_of, resolve_whole
from yb_eval.cli.segments import ENVIRONMENT, parse
from yb_eval.configuration import Configuration, WholeOptions
from yb_eval.errors import ExitCode, UsageError, YbEvalError, nearest
from yb_eval.options import describe
from yb_eval.resolution import Resolved
from yb_eval.runoptions import RunOptions, SuiteRequest

if TYPE_CHECKING:
    from yb_eval.interfaces import Plan
    from yb_eval.preparation import Environment


@click.group("config")
def command() -> None:
    """Check the configuration file, or show where each value comes from."""


_FILE = click.option("--config", "path", metavar="PATH", help="The configuration file.  [default: yb-eval.toml]")


@command.command("check")
@_FILE
def check(path: str | None) -> int:
    """Explain everything that is wrong with the configuration file, each with file:line and the nearest known key.

    Checks every profile too. Ends with 2 if anything is wrong. Datasets are not read: `yb-eval run` does that before
    anything is evaluated.
    """
    configuration = chosen_configuration(path)
    if configuration.path is None:
        raise UsageError("there is no configuration file here", hint="see docs/configuration.md")
    laid_over = [configuration.with_profile(name) for name in configuration.profiles]
    faults = list(dict.fromkeys(fault for each in (configuration, *laid_over) for fault in _faults(each)))
    for fault in faults:
        note(f"yb-eval: {fault}")
    if faults:
        return int(ExitCode.REFUSED)
    emit(
        [
            f"{configuration.path}: {len(configuration.suites)} suites, {len(configuration.profiles)} profiles, all well\n"
        ]
    )
    return 0


def _faults(configuration: Configuration) -> Iterator[str]:
    from yb_eval.plugins import load_extensions
    from yb_eval.preparation import Environment
    from yb_eval.record import Store

    extensions = load_extensions()
    whole = WholeOptions()
    try:
        whole = resolve_whole(configuration, {}, []).options
    except YbEvalError as error:
        yield str(error)
    environment = Environment.of(Store(whole.store), extensions)
    reporters = extensions.provide("yb_eval_reporters")
    for kind in (text.partition("=")[0] for text in whole.report):
        if kind not in reporters:
            where, hint = configuration.where("run", "report"), nearest(kind, reporters)
            yield str(UsageError(f"unknown report format {kind!r}", where=where, hint=hint))
    for name in configuration.suites:
        try:
            (segment,) = parse([name], configuration)
            request = request_of(segment, configuration, []).request
            attempts = list(_attempts(request, environment))
        except YbEvalError as error:
            yield _placed(error, configuration, name)
            continue
        for key, attempt in attempts:
            try:
                attempt()
            except YbEvalError as error:
                yield _placed(error, configuration, name, key)


def _placed(error: YbEvalError, configuration: Configuration, *keys: str) -> str:
    placed = error.where or configuration.where("suites", *keys)
    return str(type(error)(error.what, where=placed, hint=error.hint))


def _attempts(request: SuiteRequest, environment: Environment) -> Iterator[tuple[str, Callable[[], object]]]:
    """What can be tried of a suite's options without its target and its dataset, by the key that it is about."""
    from yb_eval.cli.describe import plan_of
    from yb_eval.executors import choose
    from yb_eval.expressions import Expression
    from yb_eval.preparation import fold_of
    from yb_eval.record import read_baseline

    run = request.run
    plan = plan_of(request.suite, request.options)
    if run.filter is not None:
        yield "filter", partial(Expression.parse, run.filter)
    if run.against is not None and Path(run.against).suffix:  # else it may be a run that is yet to be made
        yield "against", partial(read_baseline, run.against, environment.store, request.suite.name)
    yield "executor", partial(choose, run.executor, run.jobs, plan.evaluator.concurrency, environment.executors)
    if not environment.metrics.keys() >= set(run.metric):
        yield "metric", partial(fold_of, plan, request, environment)
        return  # the gates may look at it
    for text in run.gate:
        yield "gate", partial(_bind, text, plan, request, environment)


def _bind(text: str, plan: Plan, request: SuiteRequest, environment: Environment) -> None:
    from yb_eval.gates import read_gate
    from yb_eval.preparation import declare, fold_of

    read_gate(text, environment.gates).bind(declare(fold_of(plan, request, environment)))


@command.command("show")
@_FILE
@click.option("--profile", help="Lay this profile over the file.")
@click.option("--all", "whole", is_flag=True, help="Show defaults too.")
@click.argument("suites", nargs=-1)
@click.pass_context
def show(ctx: click.Context, path: str | None, profile: str | None, whole: bool, suites: tuple[str, ...]) -> None:
    """Show each option's value and where it is from: the file, the environment, or the default."""
    configuration = chosen_configuration(path)
    profile = profile or _environment(WholeOptions).get("profile") or configuration.run.get("profile")
    if profile is not None:
        configuration = configuration.with_profile(profile)
    above = from_environment(_environment(RunOptions))
    emit(_shown("run", resolve_whole(configuration, _environment(WholeOptions), [], source=from_environment), whole))
    for segment in parse(suites or list(configuration.suites), configuration):
        resolved = request_of(segment, configuration, [above], source=from_environment)
        emit(_shown(f"suites.{segment.name}", resolved.own, whole))
        emit(_shown("", resolved.run, whole))


def _environment(options: type) -> dict[str, Any]:
    """The values of these options that YB_EVAL_... variables give."""
    command = click.Command("environment", params=list(parameters(options)))
    return given(command.make_context("environment", []), describe(options), ENVIRONMENT)


def _shown(title: str, resolved: Resolved, whole: bool) -> Iterator[str]:
    if title:
        yield f"[{title}]\n"
    for name, source in resolved.sources.items():
        if whole or source != "default":
            value = getattr(resolved.options, name.replace("-", "_"))
            yield f"{name} = {_toml(value)}  # {source}\n"


def _toml(value: Any) -> str:
    import orjson

    if isinstance(value, tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return orjson.dumps(str(value) if isinstance(value, Path) else value).decode()


@command.command("schema")
def schema() -> None:
    """Print the JSON Schema of the configuration file, for editors; it knows the suites that are installed."""
    import orjson

    from yb_eval.schema import configuration_schema

    emit([orjson.dumps(configuration_schema(), option=orjson.OPT_INDENT_2).decode(), "\n"])
