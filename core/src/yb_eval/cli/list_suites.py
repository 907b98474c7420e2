"""`yb-eval list`: what is installed, from package metadata alone."""

from __future__ import annotations

import click

from yb_eval.cli.output import emit
from yb_eval.discovery import Found, allowed, clash, find


@click.command("list")
@click.option("--check", is_flag=True, help="Import each plugin too, and say which are broken and why.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(check: bool, as_json: bool) -> int:
    """List the suites that are installed.

    Reads package metadata only: no plugin is imported, so a broken one cannot break the list. With --check each is
    imported, and the command ends with 2 if any is broken.
    """
    rows = [_row(name, claims, check) for name, claims in find().items()]
    broken = [row for row in rows if row["problem"] and row["problem"] != _NOT_ALLOWED]
    if as_json:
        import orjson

        emit([orjson.dumps(rows, option=orjson.OPT_INDENT_2).decode(), "\n"])
    elif not rows:
        emit(["No suite is installed. Try: pip install yb-eval\n"])
    else:
        width = max(len(row["suite"]) for row in rows)
        for row in rows:
            said = f"NOT USABLE: {row['problem']}" if row["problem"] else row["summary"]
            emit([f"{row['suite']:<{width}}  {row['distribution']} {row['version']}  {said}\n"])
    return 2 if broken else 0


_NOT_ALLOWED = "not allowed by YB_EVAL_PLUGINS or YB_EVAL_DISABLE_PLUGINS"


def _row(name: str, claims: list[Found], check: bool) -> dict[str, str]:
    problem, summary = "", claims[0].summary
    if len(claims) > 1:
        problem = clash(claims)
    elif not allowed(claims[0]):
        problem = _NOT_ALLOWED
    elif check:
        from yb_eval.errors import PluginError
        from yb_eval.plugins import load_suite

        try:
            summary = load_suite(name)[0].summary
        except PluginError as error:
            problem = str(error)
    found = claims[0]
    return {
        "suite": name,
        "distribution": found.distribution,
        "version": found.version,
        "summary": summary,
        "problem": problem,
    }
