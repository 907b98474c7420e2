"""`yb-eval config check | show | schema`: what is wrong with the configuration, and where each value comes from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from yb_eval.cli.checking import faults
from yb_eval.cli.options import given, parameters
from yb_eval.cli.output import emit, note
from yb_eval.cli.run import chosen_configuration, from_environment, listed, request_of, resolve_whole
from yb_eval.cli.segments import ENVIRONMENT, parse
from yb_eval.configuration import Configuration, WholeOptions
from yb_eval.errors import ExitCode, UsageError, YbEvalError, nearest
from yb_eval.options import describe
from yb_eval.reports.wording import plural
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

    Checks every profile too. Ends with 2 if anything is wrong. Nothing is run: files are looked for, a target is checked
    by its form. What is in a dataset, and whether a target answers, `yb-eval run` finds out.
    """
    configuration = chosen_configuration(path)
    if configuration.path is None:
        raise UsageError("there is no configuration file here", hint="see docs/configuration.md")
    laid_over = [configuration.with_profile(name) for name in configuration.profiles]
    found = list(dict.fromkeys(fault for each in (configuration, *laid_over) for fault in _faults(each)))
    for fault in found:
        note(f"yb-eval: {fault}")
    if found:
        return int(ExitCode.REFUSED)
    counts = f"{plural(len(configuration.suites), 'suite')}, {plural(len(configuration.profiles), 'profile')}"
    emit([f"{configuration.path}: {counts}, all well\n"])
    return 0


def _faults(configuration: Configuration) -> Iterator[str]:
    from yb_eval.plugins import load_extensions
    from yb_eval.preparation import Environment
    from yb_eval.record import Store

    extensions = load_extensions()
    whole = WholeOptions()
    try:
        resolved = resolve_whole(configuration, {}, [])
    except YbEvalError as error:
        yield str(error)
    else:
        whole = resolved.options
        yield from _unknown_names(configuration, resolved)
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
        except YbEvalError as error:
            yield _placed(error, configuration, name)
            continue
        for key, fault in faults(request, environment):
            yield _placed(fault, configuration, name, key)


def _unknown_names(configuration: Configuration, whole: Resolved) -> Iterator[str]:
    """The suites and the profile that `[run]` names and the file does not have."""
    try:
        if whole.options.only:
            listed(configuration, whole)
    except YbEvalError as error:
        yield str(error)
    try:
        if whole.options.profile is not None:
            configuration.with_profile(whole.options.profile)
    except YbEvalError as error:
        yield str(error)


def _placed(error: YbEvalError, configuration: Configuration, *keys: str) -> str:
    """The fault at its line of the file; where it is in another file too, or in a part of the value, that follows."""
    line = configuration.where("suites", *filter(None, keys))
    said = error.where or line
    where = said if said.startswith(str(configuration.path)) else f"{line}: {said}"
    return str(type(error)(error.what, where=where, hint=error.hint))


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
