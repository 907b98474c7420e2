"""`yb-eval run`: suites in, verdict out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from yb_eval.cli.options import given, parameters
from yb_eval.cli.segments import COMMANDLINE, ENVIRONMENT, GroupedCommand, Segment, parse
from yb_eval.configuration import FILE, Configuration, WholeOptions, find_configuration, read_configuration
from yb_eval.errors import UsageError
from yb_eval.options import describe, structure
from yb_eval.runoptions import RunOptions, SuiteRequest

_HELP = """Run suites and say whether the change may ship.

\b
  yb-eval run routing                        one suite, the reference system, the shipped data
  yb-eval run routing --target python:my_router:route
  yb-eval run routing --max-mismatch 0 guards --min-recall 0.95
  yb-eval run                                what yb-eval.toml composes

Options before the first suite are meant for all suites. `yb-eval run SUITE --help` shows the options of one suite.
"""


class RunCommand(GroupedCommand):
    """`run` reads its arguments itself: the options it knows depend on the suites that are named."""

    def __init__(self) -> None:
        super().__init__(
            "run",
            _HELP,
            {"Options of the whole run": parameters(WholeOptions), "Options of every suite": parameters(RunOptions)},
        )
        config = click.Option(
            ["--config", "config"], metavar="PATH", help=f"The configuration file.  [default: {FILE}]"
        )
        self.groups["Options of the whole run"].append(config)
        self.params.append(config)
        self.allow_interspersed_args = False
        self.allow_extra_args = True

    def invoke(self, ctx: click.Context) -> int:
        from yb_eval.cli.running import run_and_report

        configuration = _configuration(ctx.params["config"])
        if not ctx.args and not configuration.suites:
            raise UsageError(
                f"no suite is named, and there is no {FILE} that lists any", hint="yb-eval run SUITE; see: yb-eval list"
            )
        segments = parse(ctx.args or list(configuration.suites), configuration)
        # Command line before environment before configuration before defaults.
        whole = {**configuration.run, **given(ctx, describe(WholeOptions), ENVIRONMENT, COMMANDLINE)}
        for segment in segments:
            whole |= segment.whole
        environment = given(ctx, describe(RunOptions), ENVIRONMENT)
        everywhere = given(ctx, describe(RunOptions), COMMANDLINE)
        requests = [_request(segment, configuration, {**environment, **everywhere}) for segment in segments]
        where = configuration.where("run") if configuration.run else "options"
        return run_and_report(requests, structure(WholeOptions, whole, where=where))

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("yb-eval run", "[OPTIONS] [SUITE [OPTIONS] ...]")


command = RunCommand()


def _configuration(path: str | None) -> Configuration:
    if path is None:
        return find_configuration(Path())
    table = ("tool", "yb-eval") if Path(path).name == "pyproject.toml" else ()
    return read_configuration(Path(path), table)


def _request(segment: Segment, configuration: Configuration, everywhere: Mapping[str, Any]) -> SuiteRequest:
    """One suite's request. Gates of the configuration and of the command line add up: leaving one out must not be
    easy."""
    table = {key: value for key, value in configuration.suites.get(segment.name, {}).items() if key != "suite"}
    general = {info.name for info in describe(RunOptions)}
    where = configuration.where("suites", segment.name) if table else segment.name
    own = {key: value for key, value in table.items() if key not in general}
    run = {key: value for key, value in table.items() if key in general}
    given_run = {**everywhere, **segment.run}
    if "gate" in run and "gate" in given_run:
        given_run["gate"] = [*run["gate"], *given_run["gate"]]
    base = configuration.base if table else Path()
    for key in ("against", "save"):
        # A baseline may be a run's id; as a file it lies where the configuration does.
        if isinstance(run.get(key), str) and run[key] and (key == "save" or (base / run[key]).is_file()):
            run[key] = str(base / run[key])
    from_file = structure(RunOptions, run, where=where, base=base)
    merged = structure(RunOptions, {**_values(from_file, run), **given_run}, where=segment.name)
    options = structure(segment.suite.options, own, where=where, base=base) if own else None
    kept = _values(options, own) if options is not None else {}
    return SuiteRequest(
        suite=segment.suite,
        options=structure(segment.suite.options, {**kept, **segment.own}, where=segment.name),
        run=merged,
        name=segment.name,
        distribution=segment.found.distribution,
        version=segment.found.version,
    )


def _values(options: Any, keys: Mapping[str, Any]) -> dict[str, Any]:
    """The structured values of the given keys: paths are absolute to the configuration's folder by now."""
    return {key: getattr(options, key.replace("-", "_")) for key in keys}
