"""Reading `run SUITE [options] [SUITE [options] ...]`: one segment per suite, each with options of its own.

Options before the first suite are meant for all suites.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from attrs import frozen
from click.core import ParameterSource

from yb_eval.cli.options import OPTIONAL_VALUE, given, parameters
from yb_eval.cli.output import beside
from yb_eval.configuration import Configuration, WholeOptions
from yb_eval.discovery import Found, find
from yb_eval.errors import PluginError, UsageError
from yb_eval.interfaces import Suite
from yb_eval.options import describe
from yb_eval.plugins import Loaded, load_suite
from yb_eval.runoptions import RunOptions

COMMANDLINE, ENVIRONMENT = ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT


@frozen(slots=True)
class Segment:
    """A suite as the command line names it (`name` may be a table of the configuration), with the options given for it.

    `own` are the suite's options, `run` and `whole` core's. `own` holds what the environment says too.
    """

    name: str
    suite: Suite[Any]
    found: Found
    own: dict[str, Any]
    run: dict[str, Any]
    whole: dict[str, Any]


def parse(arguments: Sequence[str], configuration: Configuration) -> list[Segment]:
    """Reads `SUITE [options] [SUITE [options] ...]`. Imports the plugins of the suites that are named, and no other."""
    names = {*find(), *configuration.suites}
    rest = separate(list(arguments), names)
    segments = []
    while rest:
        name, rest = rest[0], rest[1:]
        if name.startswith("-"):
            raise click.UsageError(f"{name!r} stands where a suite's name belongs")
        with beside():
            suite, loaded = _load(name, configuration)
        command = suite_command(name, suite)
        try:
            ctx = command.make_context(command.name, rest, allow_extra_args=True, allow_interspersed_args=False)
        except click.NoSuchOption as error:
            if error.option_name != "--config":
                raise
            hint = f"yb-eval run --config PATH {name}"
            raise UsageError("it stands before the first suite", where="--config", hint=hint) from error
        segments.append(
            Segment(
                name,
                suite,
                loaded.found,
                own=given(ctx, describe(suite.options), ENVIRONMENT, COMMANDLINE),
                run=given(ctx, describe(RunOptions), COMMANDLINE),
                whole=given(ctx, describe(WholeOptions), COMMANDLINE),
            )
        )
        rest = list(ctx.args)
    return segments


def _load(name: str, configuration: Configuration) -> tuple[Suite[Any], Loaded]:
    """The suite of that name, or of the configuration's table of that name; what is wrong with a table has its line."""
    if name not in configuration.suites:
        return load_suite(name)
    try:
        return load_suite(configuration.suite_of(name))
    except PluginError as error:
        where = error.where or configuration.where("suites", name, "suite")
        raise PluginError(error.what, where=where, hint=error.hint) from error


def separate(arguments: list[str], names: set[str]) -> list[str]:
    """Keeps `--save` from taking a suite's name for its path."""
    return [
        f"{word}={OPTIONAL_VALUE[word[2:]]}" if word[2:] in OPTIONAL_VALUE and after in names else word
        for word, after in zip(arguments, [*arguments[1:], None], strict=False)
    ]


def suite_command(name: str, suite: Suite[Any]) -> click.Command:
    """The command whose options and `--help` are those of one suite."""
    own = parameters(suite.options, prefix=f"YB_EVAL_{suite.name}")
    general, whole = parameters(RunOptions), parameters(WholeOptions)
    taken = {option.name for option in (*general, *whole)}
    for option in own:
        if option.name in taken:
            raise PluginError(f"the suite {suite.name!r} has an option --{option.name} of its own; core has it already")
    groups = {"Options of the suite": own, "Options of every suite": general, "Options of the whole run": whole}
    return GroupedCommand(f"yb-eval run {name}", suite.summary, groups)


class GroupedCommand(click.Command):
    """A command whose help shows its options in groups."""

    def __init__(self, name: str, help: str, groups: dict[str, list[click.Option]]) -> None:
        super().__init__(
            name,
            help=help,
            params=[option for options in groups.values() for option in options],
            context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        )
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, options in self.groups.items():
            records = [record for option in options if (record := option.get_help_record(ctx)) is not None]
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(self.name or "", "[OPTIONS] [SUITE [OPTIONS] ...]")
