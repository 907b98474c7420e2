"""`yb-eval decision calibrate`: what a backend's scores mean, found out on labelled rows."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from yb_eval import UsageError
from yb_eval.cli.store_option import store_option
from yb_eval.errors import ExitCode, printable
from yb_eval.record import Store
from yb_eval_decision.commands.common import cached, open_for, timeout_option


@click.command("calibrate")
@click.option("--data", "-d", multiple=True, required=True, metavar="SET|FILE",
              help="Labelled rows: a file, or a set that ships. Repeat for several.")  # fmt: skip
@click.option("--evals", "-e", "names", multiple=True, metavar="EVAL",
              help="An eval by name, name:parameter=value, or as a YAML file. Repeat for several.  [default: all]")  # fmt: skip
@click.option("--backend", "spec", help="What answers.  [default: local]")
@click.option("--fit", type=click.Choice(["platt", "isotonic", "none"]), default="platt", show_default=True,
              help="The curve from scores to probabilities.")  # fmt: skip
@click.option("--split", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.5, show_default=True,
              help="The share of rows to fit on; all numbers are of the others.")  # fmt: skip
@click.option("--group-by", multiple=True, metavar="KEY",
              help="Rows with the same KEY: tag are never in both parts.  [default: dialogue, scenario]")  # fmt: skip
@click.option("--max-false-pass", type=click.FloatRange(0, 1), default=0.01, show_default=True,
              help="The share of samples that may pass wrongly, upper end of the 95 % interval.")  # fmt: skip
@click.option("--sure", type=click.FloatRange(0.5, 1, max_open=True), default=0.9, show_default=True,
              help="How probable a verdict must be to count as decided.")  # fmt: skip
@timeout_option
@click.option(
    "--cache", is_flag=True, help="Keep the backend's answers in the store, and use those that it or a run gave before."
)
@store_option
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Keep the calibration in this file.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def calibrate(
    ctx: click.Context,
    data: tuple[str, ...],
    names: tuple[str, ...],
    spec: str | None,
    fit: str,
    split: float,
    group_by: tuple[str, ...],
    max_false_pass: float,
    sure: float,
    timeout: float,
    cache: bool,
    store: Store,
    out: Path | None,
    as_json: bool,
) -> None:
    """Find out what a backend's scores mean: fit them to labels, and say which threshold to use.

    One part of the rows is fitted on and chooses the threshold; AUROC, Brier, ECE and the table of thresholds are of the other
    part. `yb-eval run decision --calibration FILE` then judges by what --out has kept. Exit code 3 if no eval could be
    calibrated: nothing is kept then.
    """
    from yb_eval_decision.backing import notes_of
    from yb_eval_decision.cache import CachedBackend
    from yb_eval_decision.calibration import Calibration, Report, Settings, observe
    from yb_eval_decision.calibration import calibrate as calibrated
    from yb_eval_decision.calibration.observing import GROUPED_BY
    from yb_eval_decision.calibration.tables import report_text
    from yb_eval_decision.dataset import RowLabels, decision_dataset
    from yb_eval_decision.registry import builtin_evals
    from yb_eval_decision.suite import asked_evals
    from yb_eval_decision.verdicts import options_of

    evals = asked_evals(names)
    labels = RowLabels({name: options_of(one) for name, one in evals.items()}, frozenset({*builtin_evals(), *evals}))
    snapshot = decision_dataset(data, labels, None).open()
    settings = Settings(fit=fit, split=split, max_false_pass=max_false_pass, sure=sure)  # type: ignore[arg-type]
    with cached(open_for(spec, timeout), store.root if cache else None) as backend:
        observed = observe(snapshot, evals, backend, split=split, group_by=group_by or GROUPED_BY)
        found = calibrated(observed, settings)
        # Of all evals, those that no row has a label for are not worth a line; one that was named is.
        shown = {name: one for name, one in found.items() if names or one.fit_n or one.report_n or one.left_out}
        report = Report(
            settings=settings,
            evals=shown,
            observed=observed,
            revision_id=snapshot.revision_id,
            backend=backend.spec,
            fingerprint=backend.fingerprint,
        )
        for note in notes_of(backend):
            click.echo(printable(note), err=True)
        if isinstance(backend, CachedBackend):
            click.echo(f"{backend.hits} of {backend.hits + backend.misses} answers came from the cache", err=True)
    if observed.unlabelled == observed.rows:
        raise UsageError(
            "no row has a label for these evals", where=", ".join(data), hint='"labels": {"grounded": true}'
        )
    kept = Calibration.of(report, evals)
    click.echo(orjson.dumps(report.to_dict(), option=orjson.OPT_INDENT_2).decode() if as_json else report_text(report))
    if not kept.evals:
        click.echo("no eval could be calibrated" + (": nothing is kept" if out else ""), err=True)
        ctx.exit(int(ExitCode.NOT_MEASURED))
    if out is not None:
        kept.save(out)
        click.echo(f"kept in {out}: {', '.join(kept.evals)}", err=True)
