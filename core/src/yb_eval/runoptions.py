"""The options that core gives every suite, and the request that a run is made of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import field, frozen

from yb_eval.interfaces import Suite
from yb_eval.options import option


@frozen(kw_only=True)
class RunOptions:
    """How a suite is run. None of these is part of what is asked, except as the plan itself says (see
    `preparation`)."""

    target: str = option(
        "builtin", help="What is evaluated: builtin, python:MODULE:NAME, exec:COMMAND, http(s)://..., replay:FILE."
    )
    gate: tuple[str, ...] = option(
        (), help="A condition that must hold, as 'lower(recall) >= 0.9'; 'warn: ...' only warns."
    )
    against: str | None = option(None, help="Compare with a baseline: a file written by --save, or a run id.")
    save: str | None = option(None, help="Write this run as the baseline file, if it passed without an error.")
    force: str | None = option(None, help="Save a baseline from a run that would be refused; the reason is kept in it.")
    outcomes: Path | None = option(None, help="Write one JSON line per sample to this file.")
    limit: int | None = option(None, help="Evaluate the first N samples only.", minimum=1)
    filter: str | None = option(None, help="Evaluate the samples for which this holds, as '\"lang:ru\" in tags'.")
    repeats: int = option(1, help="Evaluate each sample this many times.", minimum=1, maximum=1000)
    seed: int = option(0, help="The seed of everything that is drawn.", minimum=0, maximum=2**53 - 1)
    jobs: int = option(1, help="How many batches are evaluated at once.", minimum=1, maximum=1024)
    executor: str | None = option(None, help="How they are: serial, threads, processes or a plugin's.")
    batch_size: int | None = option(None, help="Samples per batch, instead of the evaluator's own choice.", minimum=1)
    metric: tuple[str, ...] = option((), help="A metric of a plugin to measure beside the suite's own.")
    max_errors: int = option(0, help="How many outcomes may be errors before nothing counts as measured.", minimum=0)
    cache: bool = option(False, help="Keep the target's answers, and use those it gave before.")
    record: Path | None = option(None, help="Record the target's answers in this file, for replay:FILE.")
    replay: Path | None = option(None, help="The same as --target replay:FILE.")
    timeout: float = option(60.0, help="Seconds the target has for one request.", minimum=0.001, maximum=86_400)
    retries: int = option(3, help="How often a request that failed in transport is tried again.", minimum=0, maximum=20)
    resume: bool = option(False, help="Go on with an interrupted run of the same plan.")


@frozen(slots=True, kw_only=True)
class SuiteRequest:
    """One suite of a run. `name` tells two uses of the same suite apart; `base` is where relative paths start."""

    suite: Suite[Any]
    options: Any
    run: RunOptions = field(factory=RunOptions)
    name: str
    distribution: str
    version: str
    base: Path = field(factory=Path)
