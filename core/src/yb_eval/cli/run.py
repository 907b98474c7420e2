"""`yb-eval run`: suites in, verdict out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from yb_eval.cli.options import given, parameters
from yb_eval.cli.segments import COMMANDLINE, ENVIRONMENT, GroupedCommand, Segment, parse, separate
from yb_eval.configuration import FILE, Configuration, WholeOptions, find_configuration, read_configuration
from yb_eval.discovery import find
from yb_eval.errors import UsageError, nearest
from yb_eval.options import describe
from yb_eval.resolution import Layer, Resolved, ResolvedRequest, resolve_request, whole_of
from yb_eval.runoptions import RunOptions

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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        configuration = find_configuration(Path()) if "--save" in args else Configuration()
        return super().parse_args(ctx, separate(args, {*find(), *configuration.suites} if "--save" in args else set()))

    def invoke(self, ctx: click.Context) -> int:
        from yb_eval.cli.running import run_and_report

        configuration = chosen_configuration(ctx.params["config"])
        before = given(ctx, describe(WholeOptions), ENVIRONMENT, COMMANDLINE)
        before_suites = given(ctx, describe(RunOptions), COMMANDLINE)
        if ctx.args and ctx.get_parameter_source("only") is COMMANDLINE:
            raise _needless_only()
        profile = resolve_whole(configuration, before, []).options.profile
        if profile is not None:
            configuration = configuration.with_profile(profile)
        segments = parse(ctx.args or listed(configuration, resolve_whole(configuration, before, [])), configuration)
        _refuse_behind(segments)
        if len(segments) > 1 and "jobs" in before_suites and "suite-jobs" not in before:
            # Before several suites it is the suites that are done so many at once.
            before["suite-jobs"] = before_suites.pop("jobs")
        whole = resolve_whole(configuration, before, segments)
        environment = from_environment(given(ctx, describe(RunOptions), ENVIRONMENT))
        everywhere = from_command_line(before_suites)
        requests = [request_of(segment, configuration, [environment, everywhere]).request for segment in segments]
        return run_and_report(requests, whole.options)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage("yb-eval run", "[OPTIONS] [SUITE [OPTIONS] ...]")


command = RunCommand()


def chosen_configuration(path: str | None) -> Configuration:
    """The configuration file that `--config` names, or the one of the working folder."""
    if path is None:
        return find_configuration(Path())
    table = ("tool", "yb-eval") if Path(path).name == "pyproject.toml" else ()
    return read_configuration(Path(path), table)


def listed(configuration: Configuration, whole: Resolved) -> list[str]:
    """The suites that the configuration lists, or those of them that `only` names. Raises `UsageError` if there is none
    of that name."""
    if not configuration.suites:
        raise UsageError(
            f"no suite is named, and there is no {FILE} that lists any", hint="yb-eval run SUITE; see: yb-eval list"
        )
    only = whole.options.only or list(configuration.suites)
    from_file = whole.sources["only"] == str(configuration.path)
    for name in only:
        if name not in configuration.suites:
            where = configuration.where("run", "only") if from_file else "--only"
            raise UsageError(f"no suite {name!r}", where=where, hint=nearest(name, configuration.suites))
    return [name for name in configuration.suites if name in only]


def _needless_only() -> UsageError:
    return UsageError(
        "it chooses among the suites that the configuration lists, and here suites are named",
        where="--only",
        hint="leave out --only, or the names",
    )


def _refuse_behind(segments: Sequence[Segment]) -> None:
    """What decides which suites there are comes too late behind one of them."""
    for segment in segments:
        if "only" in segment.whole:
            raise _needless_only()
        if "profile" in segment.whole:
            name = segment.whole["profile"]
            raise UsageError(
                f"it is laid over the whole file, and here it stands behind the suite {segment.name!r}",
                where="--profile",
                hint=f"yb-eval run --profile {name} {segment.name}",
            )


def from_environment(values: Mapping[str, Any]) -> Layer:
    return Layer(source="environment", values=values, where=lambda key: f"YB_EVAL_{key.upper().replace('-', '_')}")


def from_command_line(values: Mapping[str, Any]) -> Layer:
    return Layer(source="command line", values=values, where=lambda key: f"--{key}")


def resolve_whole(
    configuration: Configuration,
    before: Mapping[str, Any],
    segments: Sequence[Segment],
    *,
    source: Callable[[Mapping[str, Any]], Layer] = from_command_line,
) -> Resolved:
    """The options of the whole run; they may stand before the first suite or behind any. `source` says where they are
    from."""
    behind = {key: value for segment in segments for key, value in segment.whole.items()}
    return whole_of(configuration, source({**before, **behind}))


def request_of(
    segment: Segment,
    configuration: Configuration,
    above: Sequence[Layer],
    *,
    source: Callable[[Mapping[str, Any]], Layer] = from_command_line,
) -> ResolvedRequest:
    """One suite's request: its table of the configuration, then the layers above it, then its own segment, whose values
    are from `source`."""
    return resolve_request(
        segment.name,
        segment.suite,
        segment.found.distribution,
        segment.found.version,
        configuration,
        own=[source(segment.own)],
        run=[*above, source(segment.run)],
    )
