"""`yb-eval comment RUN`: one comment on the pull or merge request, kept up to date."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from yb_eval.cli.output import emit, note
from yb_eval.cli.store_option import store_option
from yb_eval.errors import ExitCode, StoreError, UsageError, printable
from yb_eval.record import Store
from yb_eval.reports.markdown import COMMENT_LIMIT, MARKER, code, markdown

if TYPE_CHECKING:
    from yb_eval.forges import ForgeError, Published
    from yb_eval.forges.detection import Name


@click.command("comment")
@click.argument("run", required=False, metavar="[RUN|REPORT.json]")
@click.option(
    "--forge", type=click.Choice(["github", "gitlab"]), help="Which one.  [default: the one whose CI runs this]"
)
@click.option("--repository", metavar="NAME", help="OWNER/NAME, on GitLab the project.  [default: the CI's]")
@click.option("--number", type=click.IntRange(1), metavar="N", help="The request's number.  [default: the CI's]")
@click.option("--id", "identity", metavar="TEXT", help="Tells this comment from others of yb-eval on one request.")
@click.option(
    "--refused",
    metavar="FILE",
    help="Instead of a report: say that the run was refused, with the last line of this file.",
)
@click.option("--dry-run", is_flag=True, help="Print the comment, and send nothing.")
@click.option("--in-summary", is_flag=True, help="The job's summary shows the report already; do not repeat it there.")
@click.option(
    "--attempts", type=click.IntRange(1, 20), default=5, show_default=True, help="How often a request is tried."
)
@click.option(
    "--wait", type=click.FloatRange(0, 60), default=1.0, show_default=True, envvar="YB_EVAL_COMMENT_WAIT",
    help="Seconds before the second try; they double with each further one.",
)  # fmt: skip
@store_option
def command(
    run: str | None,
    forge: Name | None,
    repository: str | None,
    number: int | None,
    identity: str | None,
    refused: str | None,
    dry_run: bool,
    in_summary: bool,
    attempts: int,
    wait: float,
    store: Store,
) -> int:
    """Write a run's report as the one comment on a pull or merge request, or bring that comment up to date.

    RUN is `latest` (by default), a run id, or a JSON report. In GitHub Actions and GitLab CI the request is found by itself. The
    token comes from GITHUB_TOKEN (or GH_TOKEN) or GITLAB_TOKEN.

    \b
    Ends with 0  the comment is there; or this is no pull request; or the token may not comment (a pull
                 request from a fork) and the report stands in the job's summary instead
              2  nothing was tried: no token, no such run
              3  the forge could not be brought to it; the report stands in the job's summary, if there is one
    """
    from yb_eval.forges import ForgeError, NoRequest, Patience, marker, open_forge, publish
    from yb_eval.forges.detection import run_order

    if refused is not None and run is not None:
        raise UsageError("a run that was refused has no report", hint="--refused FILE, or RUN")
    marker(identity)
    render = _report(run or "latest", store) if refused is None else _refusal(Path(refused))
    report = render(COMMENT_LIMIT)
    if dry_run:
        emit([report])
        return 0
    patience = Patience(attempts=attempts, wait=wait)
    try:
        place = open_forge(os.environ, forge=forge, repository=repository, number=number, patience=patience)
    except NoRequest as reason:
        note(f"no comment: {reason}")
        return 0
    except ForgeError as error:
        return _instead(error, report, in_summary)
    try:
        done = publish(place, render, identity=identity, order=run_order(os.environ))
    except ForgeError as error:
        return _instead(error, report, in_summary)
    finally:
        place.close()
    _tell(done, place.place)
    return 0


def _report(run: str, store: Store) -> Callable[[int], str]:
    from yb_eval.cli.reported import read_run, shown

    view = read_run(run, store)
    return lambda limit: shown(run, lambda: "".join(markdown(view, limit=limit)))


def _refusal(log: Path) -> Callable[[int], str]:
    """What is said of a run that has no report. An old comment must not go on saying that all is well."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(log)) from error
    last = next((line for line in reversed(lines) if line.strip()), "")
    text = f"{MARKER}\n## yb-eval: no verdict\n\nThe run has no report. Its last words:\n\n{code(last, 1_000)}\n"
    return lambda limit: text


def _tell(done: Published, place: str) -> None:
    said = {"superseded": "a later run has commented already: left as it is"}.get(done.action, done.action)
    removed = f", {done.removed} duplicate(s) removed" if done.removed else ""
    note(f"comment on {place}: {said}{removed}{' ' + done.url if done.url else ''}")


def _instead(error: ForgeError, report: str, in_summary: bool) -> int:
    """Puts the report into the job's summary, since it cannot be a comment, and says why."""
    from yb_eval.forges import Forbidden

    forbidden = isinstance(error, Forbidden)
    why = "the token may not comment, as on a pull request from a fork" if forbidden else "it could not be written"
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        note(f"warning: no comment, {why}: {error}")
        return int(ExitCode.NOT_MEASURED)
    said = f"_No comment on the pull request: {why}._ {code(printable(str(error)), 300)}\n\n"
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as summary:
            summary.write(said if in_summary else f"{said}{report}\n")
    except OSError as failure:
        raise StoreError(f"the summary cannot be written: {failure.strerror}", where=path) from failure
    note(f"warning: no comment, {why}: {error}; the report is in the job's summary")
    return 0 if forbidden else int(ExitCode.NOT_MEASURED)
