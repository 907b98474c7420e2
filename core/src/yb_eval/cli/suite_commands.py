"""Commands that a suite brings: `yb-eval agent-routing capture`."""

from __future__ import annotations

from importlib import import_module

import click

from yb_eval.discovery import find
from yb_eval.plugins import describe, load_suite


def suite_group(name: str) -> click.Group | None:
    """The commands of the installed suite called `name`; `None` if there is no such suite or it brings none."""
    if name not in find():
        return None
    suite, _ = load_suite(name)
    if not suite.commands:
        return None
    group = click.Group(name, help=f"{suite.summary}\n\nTo run the suite: yb-eval run {name}")
    for word, reference in suite.commands.items():
        module, _, attribute = reference.partition(":")
        try:
            command: click.Command = getattr(import_module(module), attribute)
        except Exception as error:
            raise click.ClickException(f"the command {name} {word} cannot be imported: {describe(error)}") from error
        group.add_command(command, word)
    return group
