"""`yb-eval decision validate` and `schema`: evals written as YAML or JSON."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from yb_eval.errors import ExitCode, YbEvalError, printable


@click.command("validate")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.pass_context
def validate(ctx: click.Context, paths: tuple[Path, ...]) -> None:
    """Check evals in YAML or JSON: files, or folders of them. One line each; exit code 2 if any is not right."""
    from yb_eval_decision.registry import load_eval, load_evals

    wrong = False
    for path in paths:
        try:
            for file in _files(path):
                try:
                    click.echo(f"ok    {printable(str(file))}: {load_eval(file).name}")
                except YbEvalError as error:
                    wrong = True
                    click.echo(f"wrong {error}")
            if not wrong and path.is_dir():
                load_evals(path)  # what is wrong with them together
        except YbEvalError as error:
            wrong = True
            click.echo(f"wrong {error}")
    ctx.exit(int(ExitCode.REFUSED if wrong else ExitCode.PASS))


def _files(path: Path) -> list[Path]:
    from yb_eval_decision.declarative.documents import SUFFIXES

    if not path.is_dir():
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)


@click.command("schema")
def schema() -> None:
    """Print the JSON Schema of evals in YAML or JSON."""
    from yb_eval_decision.registry import eval_schema

    click.echo(orjson.dumps(eval_schema(), option=orjson.OPT_INDENT_2).decode())
