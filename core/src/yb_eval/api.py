"""Running a suite from Python: what `yb-eval run SUITE` does, as one function."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from yb_eval.composition import run
from yb_eval.interfaces import Suite
from yb_eval.options import structure
from yb_eval.plugins import Extensions, load_extensions, load_suite
from yb_eval.preparation import Environment
from yb_eval.record import Store
from yb_eval.runoptions import RunOptions, SuiteRequest


def run_suite(
    suite: str | Suite[Any],
    *,
    store: str | Path = ".yb-eval",
    options: Mapping[str, Any] | None = None,
    extensions: Extensions | None = None,
    **run_options: Any,
) -> dict[str, Any]:
    """Runs one suite and returns the JSON report (schema `yb-eval/report/1`).

    `suite` is the name of an installed suite or a `Suite`; `options` are the suite's own, by option name;
    `run_options` are core's, as keywords (`target=`, `limit=`, `gate=[...]`, `against=`). Raises a `YbEvalError`
    whose `exit_code` is 2 if the run is refused. A failed gate is no exception: look at `report["verdict"]`."""
    if isinstance(suite, str):
        found, loaded = load_suite(suite)
        distribution, version = loaded.found.distribution, loaded.found.version
    else:
        found, distribution, version = suite, "(not installed)", "0"
    request = SuiteRequest(
        suite=found,
        options=structure(found.options, options or {}, where=found.name),
        run=structure(RunOptions, {key.replace("_", "-"): value for key, value in run_options.items()}),
        name=found.name,
        distribution=distribution,
        version=version,
    )
    environment = Environment.of(Store(Path(store)), load_extensions() if extensions is None else extensions)
    return run([request], environment).report
