"""The command line: click commands, one file each; errors become one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code; `yb-eval` on the command line ends with it."""
    import click

    from yb_eval.cli.group import cli
    from yb_eval.cli.logs import log
    from yb_eval.errors import NOTHING_KEPT, ExitCode, YbEvalError

    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    try:
        rest = log.take([a for a in arguments if a != "--debug"])
        code = cli.main(rest, prog_name="yb-eval", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except BrokenPipeError:
        # Whoever read our output has seen enough. What is left is not ours to complain about, nor the interpreter's.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.PASS)
    except click.exceptions.Exit as error:
        return int(error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt) as error:
        notes = getattr(error.__cause__ or error, "__notes__", [])  # click makes an Abort of Ctrl-C
        kept = NOTHING_KEPT if NOTHING_KEPT in notes else "what was finished is kept for --resume"
        log.write(f"yb-eval: interrupted; {kept}")
        return int(ExitCode.INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        # Somebody who names no command is shown the commands, on as many lines as they take.
        click.echo(error.format_message(), err=True)
        return int(ExitCode.REFUSED)
    except click.ClickException as error:
        _name_variable(error)
        context = getattr(error, "ctx", None)
        help_hint = f" (try: {context.command_path} --help)" if context is not None else ""
        log.write(f"yb-eval: {' '.join(error.format_message().split())}{help_hint}")
        return int(ExitCode.REFUSED)
    except YbEvalError as error:
        if debug:
            raise
        log.write(f"yb-eval: {error}")
        return int(error.exit_code)
    except OSError as error:
        if debug:
            raise
        place = f"{error.filename}: " if error.filename else ""
        log.write(f"yb-eval: {place}{error.strerror or error}")
        return int(ExitCode.NOT_MEASURED)
    except Exception as error:
        if debug:
            raise
        log.write(f"yb-eval: internal error: {type(error).__name__}: {error} (--debug shows more)")
        return int(ExitCode.NOT_MEASURED)


def _name_variable(error: click.ClickException) -> None:
    """Has a bad value from the environment blamed on its variable, not on an option that nobody gave."""
    import click
    from click.core import ParameterSource

    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return
    if error.ctx.get_parameter_source(error.param.name or "") is ParameterSource.ENVIRONMENT:
        error.param_hint = str(error.param.envvar)


def entry() -> None:
    """The console script."""
    # Imports and runs make many objects and hardly a cycle: looking for cycles often is a tenth of the time.
    gc.set_threshold(100_000, 20, 100)
    _open_streams()
    code = main()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ValueError:
        pass  # a plugin closed it
    sys.exit(code)


def _open_streams() -> None:
    """Opens what the caller closed (`>&-`): the next file opened would take the descriptor of stdout. A closed stdout
    refuses to be written, as a full one does; a closed stderr swallows."""
    for descriptor, name, flags in ((1, "stdout", os.O_RDONLY), (2, "stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, open(descriptor, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
