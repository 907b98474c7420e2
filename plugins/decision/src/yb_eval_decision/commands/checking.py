"""`yb-eval decision check`: evals on a sample at hand, and an exit code that says what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import orjson

from yb_eval import UsageError
from yb_eval.errors import ExitCode, printable
from yb_eval_decision.commands.common import open_for, timeout_option

#: The largest sample document that is read whole.
_LIMIT = 64 << 20


@click.command("check")
@click.argument("path")
@click.option("--evals", "-e", "names", multiple=True, required=True, metavar="EVAL",
              help="An eval by name, name:parameter=value, or as a YAML file. Repeat for several.")  # fmt: skip
@click.option("--backend", "spec", help="What answers.  [default: local]")
@click.option("--isolate", is_flag=True, help="Ask each eval in a request of its own.")
@timeout_option
@click.option("--json", "as_json", is_flag=True, help="A JSON object a sample, one a line.")
@click.pass_context
def check(
    ctx: click.Context,
    path: str,
    names: tuple[str, ...],
    spec: str | None,
    isolate: bool,
    timeout: float,
    as_json: bool,
) -> None:
    """Run evals on the samples in PATH (a JSON object, a JSON list of messages, or JSONL; - for standard input).

    The exit code is 0 if all passed, 1 if one failed, and 3 if nothing failed but something was not measured: the backend
    is down, it abstained, or no eval applies. A row of labelled data counts as its sample.
    """
    from yb_eval_decision.asking import EvalSet
    from yb_eval_decision.assessing import assess
    from yb_eval_decision.registry import resolve_evals

    evals = EvalSet(resolve_evals(list(names)))
    samples = list(_samples(path))  # all of them are read before anything is asked
    worst: list[bool | None] = []
    with open_for(spec, timeout) as backend:
        for where, value in samples:
            (report,) = assess([value], evals, backend, isolate=isolate)
            worst.append(report.passed)
            if as_json:
                click.echo(orjson.dumps({"sample": where, **report.to_dict()}).decode())
                continue
            if len(samples) > 1:
                click.echo(printable(where))
            click.echo(report.table())
    ctx.exit(int(ExitCode.FAIL if False in worst else ExitCode.NOT_MEASURED if None in worst else ExitCode.PASS))


def _samples(path: str) -> Iterator[tuple[str, Any]]:
    """The samples of a file with their place: one JSON document, or one a line."""
    data = _read(path)
    if not data.strip():
        raise UsageError("no sample: it is empty", where=path)
    try:
        whole = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        lines = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
        if len(lines) < 2:
            raise UsageError(f"no JSON: {error}", where=path) from None
        for number, line in lines:
            try:
                yield f"{path}:{number}", _sample(orjson.loads(line))
            except orjson.JSONDecodeError as fault:
                raise UsageError(f"no JSON: {fault}", where=f"{printable(path)}:{number}") from None
        return
    yield path, _sample(whole)


def _sample(value: Any) -> Any:
    return value["sample"] if isinstance(value, dict) and isinstance(value.get("sample"), dict) else value


def _read(path: str) -> bytes:
    try:
        if path == "-":
            data = sys.stdin.buffer.read(_LIMIT + 1)
        else:
            with Path(path).open("rb") as file:
                data = file.read(_LIMIT + 1)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=path) from error
    if len(data) > _LIMIT:
        raise UsageError("over 64 MiB", where=path, hint="yb-eval run decision --data reads files of any size")
    return data
