"""`yb-eval agent-routing graduate`: the graduation rule from beginning to end, in as many runs as it needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from yb_eval import UsageError, run_suite
from yb_eval.cli.options import given, parameters
from yb_eval.cli.output import emit, note
from yb_eval.cli.store_option import store_option
from yb_eval.errors import ExitCode
from yb_eval.options import describe
from yb_eval.record import Store
from yb_eval.record.files import atomic
from yb_eval.runoptions import RunOptions
from yb_eval_agent_routing.graduation import Limits
from yb_eval_agent_routing.suite import Options

_HELP = """Say whether to stay with in-band routing or to move to a router.

Runs the in-band policy; where that is not good enough, the router policy on the same scenarios, and compares the two by
pairs. Takes the options of `yb-eval run agent-routing`. Exit codes: 0 a recommendation, 1 neither policy is good enough,
3 the data do not suffice.
"""

#: What the command itself decides.
_OURS = frozenset({"policy", "graduation", "against", "save", "force"})
_EXIT = {"pass": ExitCode.PASS, "fail": ExitCode.FAIL, "unmeasured": ExitCode.NOT_MEASURED}


@click.pass_context
def _graduate(ctx: click.Context, /, store: Store, **_: Any) -> int:
    sources = (ParameterSource.ENVIRONMENT, ParameterSource.COMMANDLINE)
    own = given(ctx, describe(Options), *sources)
    run = {name.replace("-", "_"): value for name, value in given(ctx, describe(RunOptions), *sources).items()}
    for name in sorted(_OURS & {*own, *run}):
        raise UsageError(f"--{name} is decided by the rule", hint="leave it out")
    run.setdefault("repeats", own.get("min-repeats", Limits().repeats))
    first = _run(store, {**own, "policy": "in-band"}, run)
    said = _rule(first)
    if said["verdict"] != "fail":
        return _end(said)
    note(f"in-band: {said['reason']}")
    second = _run(store, {**own, "policy": "router"}, {**_beside(run), "against": first["run_id"]})
    if "record" in run:
        _join(Path(run["record"]))
    return _end(_rule(second))


def _beside(run: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the second run: a recording starts anew with each run, so it has a file of its own."""
    return {**run, "record": _second(Path(run["record"]))} if "record" in run else dict(run)


def _second(record: Path) -> Path:
    return record.with_name(f"{record.name}.router")


def _join(record: Path) -> None:
    """Makes one recording of both. No request is in both of them: each says which policy it belongs to."""
    both = record.read_bytes() + _second(record).read_bytes()
    with atomic(record) as file:
        file.write(both)
    _second(record).unlink()


def _run(store: Store, options: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    report = run_suite("agent-routing", store=store.root, options={**options, "graduation": True}, **run)
    note(f"{options['policy']}: run {report['run_id']}")
    return report


def _rule(report: Mapping[str, Any]) -> dict[str, str]:
    """The rule's verdict in a run; a run with errors above the limit has measured nothing."""
    (suite,) = report["suites"]
    errors, (said,) = suite["gates"][0], [gate for gate in suite["gates"] if gate["gate"].startswith("graduation:")]
    if errors["verdict"] == "unmeasured":
        return {"verdict": "unmeasured", "reason": f"The data do not suffice: {errors['reason']}."}
    return dict(said)


def _end(said: Mapping[str, str]) -> int:
    emit([f"{said['reason']}\n"])
    return int(_EXIT[said["verdict"]])


command = store_option(
    click.Command(
        "graduate",
        help=_HELP,
        callback=_graduate,
        params=[*parameters(Options, prefix="YB_EVAL_agent-routing"), *parameters(RunOptions)],
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
)
