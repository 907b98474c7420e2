"""The root command. Its subcommands are imported when they are called: `--help` and `list` import no plugin."""

from __future__ import annotations

from importlib import import_module

import click

#: Name -> (module, help). The help stands here so that `--help` needs no import.
COMMANDS = {
    "run": ("run", "Run suites and say whether the change may ship."),
    "list": ("list_suites", "List the suites that are installed."),
    "describe": ("describe", "Show a suite's options, metrics, gates and request and answer schemas."),
    "show": ("show", "Show a stored run."),
    "history": ("history", "List the stored runs of a suite."),
    "compare": ("compare", "Compare two runs sample by sample."),
    "view": ("view", "Look at the stored runs in a browser."),
    "verify": ("verify", "Recompute every digest of a stored run."),
    "comment": ("comment", "Write a run's report as one comment on a pull or merge request."),
    "annotate": ("annotate", "Print a run's broken samples as annotations of a GitHub job."),
    "attest": ("attest", "Print a stored run as an in-toto attestation."),
    "config": ("config", "Check the configuration file, or show where each value comes from."),
    "dataset": ("dataset", "Check a dataset file, or print its revision id."),
    "plugin": ("plugin", "Start a new plugin, or check the installed ones."),
    "completion": ("completion", "Print the shell completion script for bash, zsh or fish."),
}


class LazyGroup(click.Group):
    """A group that knows the names of its commands and imports the one that is called.

    The name of an installed suite that brings commands of its own is a command too: `yb-eval SUITE COMMAND`.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            command: click.Command = import_module(f"yb_eval.cli.{COMMANDS[cmd_name][0]}").command
            return command
        from yb_eval.cli.suite_commands import suite_group

        return suite_group(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        command = self.get_command(ctx, args[0])
        if command is None:
            from yb_eval.discovery import find
            from yb_eval.errors import nearest

            hint = f"to run that suite: yb-eval run {args[0]}" if args[0] in find() else nearest(args[0], COMMANDS)
            if args[0] in ("report", "reports"):
                hint = "the report of a stored run: yb-eval show RUN --format FORMAT"
            ctx.fail(f"no command {args[0]!r} ({hint})")
        return args[0], command, args[1:]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help) for name, (_, help) in COMMANDS.items()])


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from yb_eval.discovery import core_version

        click.echo(f"yb-eval {core_version()}")
        ctx.exit()


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def cli() -> None:
    """Decide whether a change to an AI system may ship.

    Measures your router, guard, triager, agent or decision model on labelled data, offline and deterministically,
    against thresholds and against a baseline. Start with:

    \b
      yb-eval list                 what can be measured
      yb-eval run routing          measure the reference router on the shipped data
      yb-eval describe routing     how to measure your own

    Exit codes: 0 pass, 1 a gate failed, 2 refused, 3 not measured, 130 interrupted. Any command takes
    --debug, to show a traceback instead of one line, and --log-format json, to write stderr as JSON lines.
    """
