"""The four interfaces of yb-eval - Dataset, Evaluator, Metric, Gate - and the Suite that brings them together.

Everything else in core is an implementation of these or a caller of them. A plugin provides a `Suite`; a suite builds
a `Plan`; the runner does the rest. See `docs/architecture.md` for the flow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

from attrs import field, frozen

from yb_eval.model import (
    Comparison,
    Declared,
    FileDigest,
    Measurement,
    Measurements,
    Outcome,
    Sample,
    Severity,
    Verdict,
)

State = TypeVar("State")
Options = TypeVar("Options")

#: The version of these interfaces. A plugin states the one it was written for as `YB_EVAL_API`.
API_VERSION = 1

#: Where an evaluator's work gains from concurrency: waiting (`threads`), computing (`processes`), or nowhere.
Concurrency = Literal["threads", "processes", "serial"]


class Snapshot(Protocol):
    """The bytes of a dataset as they were when it was opened, checked from end to end.

    `revision_id` identifies exactly the bytes that `samples` yields from. `notes` are things to tell the user (a
    byte-order mark that was skipped).
    """

    @property
    def id(self) -> str: ...
    @property
    def revision_id(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def files(self) -> Sequence[FileDigest]: ...
    @property
    def notes(self) -> Sequence[str]: ...

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        """The samples in the dataset's order, in batches of at most `batch_size`; may be called again.

        A batch may decode its rows only when it is looked into, so that the work can be done by the worker it is sent
        to. Raises `DatasetError` if the bytes turn out not to be those that were hashed."""


class Dataset(Protocol):
    """Where labelled samples come from."""

    def open(self) -> Snapshot:
        """Reads and checks everything. Raises `DatasetError` before any sample is evaluated."""


class Evaluator(Protocol):
    """Asks the system under test and judges its answers.

    `fingerprint` identifies what is evaluated and how it is judged (64 hex characters); it enters the manifest.
    `batch_size` is the preferred number of samples per call: thousands for a scan, 1 for a model call.
    `concurrency` says what the work gains from. `evaluate` is called from several threads or processes at once (an
    evaluator that asks for `processes` can be pickled) and keeps no pool of its own.

    An evaluator that asks nobody and leaves nothing behind may say so with an attribute `eager = True`: it may then be
    asked about rows that are known to be right before the rows behind them are, and its outcomes be thrown away.
    """

    @property
    def fingerprint(self) -> str: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def concurrency(self) -> Concurrency: ...

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        """One outcome for each sample, in the same order. A failure on one sample is an `error` outcome, not an
        exception: an exception ends the run as not measured."""


class Metric(Protocol[State]):
    """A mergeable fold over outcomes: the same code serves one process and a cluster.

    Laws, checked by `yb_eval.testing`: `merge` is associative with `start()` as its neutral element, and neither the
    split into batches nor their size changes what `finish` says. `add` and `merge` may change and return their first
    argument. States can be pickled. Outcomes with status `error` or `skipped` are seen too: a metric says in its
    docstring what its denominator counts.
    """

    @property
    def declares(self) -> Sequence[Declared]: ...

    def start(self) -> State: ...
    def add(self, state: State, outcomes: Sequence[Outcome]) -> State: ...
    def merge(self, left: State, right: State) -> State: ...
    def finish(self, state: State) -> Sequence[Measurement]: ...


class Gate(Protocol):
    """A policy over measurements, and over a baseline where there is one."""

    @property
    def text(self) -> str: ...
    @property
    def severity(self) -> Severity: ...

    def bind(self, declared: Mapping[str, Declared]) -> None:
        """Checks, before the run, every name and threshold against what the metrics declare. Raises
        `ExpressionError`."""

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        """The verdict. `comparison` holds the paired view of the two runs' samples where there is a baseline.

        What cannot be decided (a null measurement, no baseline) is `unmeasured`, never a pass.
        """


@frozen(slots=True, kw_only=True)
class Plan:
    """What a suite wants run: everything that decides the result.

    `metrics` are folded for each repeat by itself and averaged; `across` see all repeats of a sample together.
    `estimate`, where given, says for `--dry-run` what asking will take (requests, tokens, cost), as a JSON object.
    `details`, where given, makes the suite's own part of the report (a JSON object) from the finished measurements and
    the comparison; its `summary`, a list of sentences, is printed with the report.
    """

    dataset: Dataset
    evaluator: Evaluator
    metrics: Sequence[Metric[Any]]
    gates: Sequence[Gate]
    across: Sequence[Metric[Any]] = ()
    details: Callable[[Measurements, Comparison | None], Mapping[str, Any]] | None = None
    estimate: Callable[[Snapshot], Mapping[str, Any]] | None = None


@frozen(slots=True)
class Answer:
    """What a target said to one request: a JSON `value`, or the `failure` that came instead of one.

    `seconds` (how long it took) and `cached` are observations, kept outside every id.
    """

    value: Any = None
    failure: str | None = None
    seconds: float | None = None
    cached: bool = False


class Target(Protocol):
    """A system under test: answers JSON requests with JSON answers.

    `spec` is what the user wrote, safe to show (no credentials). `fingerprint` (64 hex characters) identifies what
    answers, as far as can be told from here. `ask` may be called from several threads at once.
    """

    @property
    def spec(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...
    @property
    def batch_size(self) -> int: ...
    @property
    def concurrency(self) -> Concurrency: ...

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        """One answer for each request, in order. A request that could not be answered has a `failure`; never raises
        for what the system under test does."""

    def close(self) -> None: ...


class OpenTarget(Protocol):
    """Turns the spec the user gave into a target; `private` are fields of a request that no recording may hold."""

    def __call__(self, builtins: Mapping[str, Callable[..., Target]], *, private: Collection[str] = ()) -> Target: ...


@frozen(slots=True, kw_only=True)
class Context:
    """What a suite may know of the run it builds a plan for, beyond its own options.

    `target` is the spec the user gave (`builtin` by default). `open_target` turns it into a target, with the run's
    cache, recording and time limits applied: a suite hands over its reference systems by name,
    `context.open_target({"builtin": make_reference})`. `formats` are the dataset formats that are installed, by
    suffix, for `RowDataset(path, formats=context.formats)`. `settings` (`yb_eval.targets.Settings`) holds the run's
    time limits, retries and jobs, for a suite that opens connections of its own. `against` says whether there is a
    baseline. `store` is a folder where a plugin may keep content-addressed files of its own (a fitted model).
    `seed` is the run's, `repeats` how often each sample is evaluated.
    """

    target: str
    open_target: OpenTarget
    formats: Mapping[str, Any] | None = None
    settings: Any = None
    against: bool = False
    seed: int = 0
    store: Path | None = None
    repeats: int = 1


@frozen(slots=True, kw_only=True)
class Suite(Generic[Options]):
    """An evaluation that can be installed and run by name.

    `options` is an attrs class made with `yb_eval.option`; the command line, the configuration file and the
    documentation come from it. `build` turns options into a plan and raises `UsageError` or `DatasetError` for what
    is wrong. `request` and `answer` are the JSON Schemas of what a target is asked and what it answers.
    `deterministic` is whether the same plan must give the same outcomes when the target is the built-in one.
    `baseline` is the default path of `--save`. `commands` are extra click commands, `yb-eval NAME COMMAND`, given as
    `module:attribute` so that nothing is imported before it is called."""

    name: str
    summary: str
    options: type[Options]
    build: Callable[[Options, Context], Plan]
    request: Mapping[str, Any] = field(factory=dict)
    answer: Mapping[str, Any] = field(factory=dict)
    targets: Mapping[str, str] = field(factory=dict)
    deterministic: bool = True
    baseline: Path | None = None
    commands: Mapping[str, str] = field(factory=dict)
