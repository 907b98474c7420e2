"""Commands that a suite brings: `yb-eval agent-routing capture`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click

from yb_eval.discovery import find
from yb_eval.errors import PluginError, nearest
from yb_eval.plugins import describe, load_suite


class SuiteGroup(click.Group):
    """Commands as `module:attribute` by name: imported when they are called, so that one that is broken breaks no other."""

    def __init__(self, name: str, references: Mapping[str, str], help: str) -> None:
        super().__init__(name, help=help)
        self.references = references

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.references)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        reference = self.references.get(cmd_name)
        if reference is None:
            return None
        module, _, attribute = reference.partition(":")
        try:
            command: click.Command = getattr(import_module(module), attribute)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise PluginError(f"the command {self.name} {cmd_name} cannot be imported: {describe(error)}") from error
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        if command is None:
            ctx.fail(f"no command {args[0]!r} ({nearest(args[0], self.references)})")
        return args[0], command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = []
        for word in self.references:
            try:
                command = self.get_command(ctx, word)
                rows.append((word, "" if command is None else command.get_short_help_str(100)))
            except PluginError as error:
                rows.append((word, f"broken: {error}"))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def suite_group(name: str) -> click.Group | None:
    """The commands of the installed suite called `name`; `None` if there is no such suite or it brings none."""
    if name not in find():
        return None
    suite, _ = load_suite(name)
    if not suite.commands:
        return None
    return SuiteGroup(name, suite.commands, f"{suite.summary}\n\nTo run the suite: yb-eval run {name}")
