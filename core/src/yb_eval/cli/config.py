"""`yb-eval config check | show | schema`: what is wrong with the configuration, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from yb_eval.cli.options import given, parameters
from yb_eval.cli.output import emit, note
from yb_eval.cli.run import chosen_configuration, from_environment, request_of, resolve_whole
from yb_eval.cli.segments import ENVIRONMENT, parse
from yb_eval.configuration import Configuration
from yb_eval.errors import ExitCode, UsageError, YbEvalError
from yb_eval.options import describe
from yb_eval.resolution import Resolved
from yb_eval.runoptions import RunOptions


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
    try:
        resolve_whole(configuration, {}, [])
    except YbEvalError as error:
        yield str(error)
    for name in configuration.suites:
        try:
            (segment,) = parse([name], configuration)
            resolved = request_of(segment, configuration, [])
            _build(resolved.request)
        except YbEvalError as error:
            placed = error.where or configuration.where("suites", name)
            yield str(type(error)(error.what, where=placed, hint=error.hint))


def _build(request: Any) -> None:
    """Reads the gates against what the suite measures; nothing is opened but the built-in target."""
    from yb_eval.cli.describe import plan_of
    from yb_eval.gates import read_gate
    from yb_eval.preparation import declare
    from yb_eval.work import Fold

    plan = plan_of(request.suite, request.options)
    declared = declare(Fold(tuple(plan.metrics), ()))
    for text in request.run.gate:
        gate = read_gate(text, {})
        if hasattr(gate, "tested"):
            gate.bind(declared)


@command.command("show")
@_FILE
@click.option("--profile", help="Lay this profile over the file.")
@click.option("--all", "whole", is_flag=True, help="Show defaults too.")
@click.argument("suites", nargs=-1)
@click.pass_context
def show(ctx: click.Context, path: str | None, profile: str | None, whole: bool, suites: tuple[str, ...]) -> None:
    """Show each option's value and where it is from: the file, the environment, or the default."""
    configuration = chosen_configuration(path)
    if profile is not None:
        configuration = configuration.with_profile(profile)
    emit(_shown("run", resolve_whole(configuration, {}, []), whole))
    environment = click.Command("environment", params=list(parameters(RunOptions)))
    above = from_environment(given(environment.make_context("environment", []), describe(RunOptions), ENVIRONMENT))
    for segment in parse(suites or list(configuration.suites), configuration):
        resolved = request_of(segment, configuration, [above])
        emit(_shown(f"suites.{segment.name}", resolved.own, whole))
        emit(_shown("", resolved.run, whole))


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
