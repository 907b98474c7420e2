"""`yb-eval completion SHELL`: the script that makes the shell complete commands and options."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the shell completion script.

    \b
      eval "$(yb-eval completion bash)"      in ~/.bashrc
      eval "$(yb-eval completion zsh)"       in ~/.zshrc
      yb-eval completion fish > ~/.config/fish/completions/yb-eval.fish
    """
    from click.shell_completion import get_completion_class

    from yb_eval.cli.group import cli

    kind = get_completion_class(shell)
    assert kind is not None, "click knows the three shells"
    emit([kind(cli, {}, "yb-eval", "_YB_EVAL_COMPLETE").source(), "\n"])
