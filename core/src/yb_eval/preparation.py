"""From a request to a plan that is fixed: everything is opened, read and checked, and the `plan_id` is known.

Nothing is evaluated here, and whatever can be refused is refused here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attrs import asdict, define, field, frozen

from yb_eval.ahead import OutcomesAhead
from yb_eval.datasets import RowDataset
from yb_eval.digest import HEX_ID, sha256_hex
from yb_eval.discovery import core_version
from yb_eval.errors import PluginError, UsageError, nearest
from yb_eval.executors import Executor, ProcessExecutor, SerialExecutor, choose
from yb_eval.gates import ErrorLimit, read_gate
from yb_eval.interfaces import Context, Dataset, Gate, Metric, Plan, Snapshot, Target
from yb_eval.metrics import Counts, declarations
from yb_eval.model import Declared
from yb_eval.options import describe as describe_options
from yb_eval.plugins import Extensions
from yb_eval.record import Store, compared, plan_id
from yb_eval.runoptions import RunOptions, SuiteRequest
from yb_eval.targets import Settings, open_target
from yb_eval.work import BatchWork, Fold

if TYPE_CHECKING:
    from yb_eval.record import Baseline

PLAN_SCHEMA = "yb-eval/plan/1"


@frozen(slots=True)
class Environment:
    """What all suites of a run share: the store, and what cross-cutting plugins offer."""

    store: Store
    extensions: Extensions = field(factory=Extensions)
    formats: Mapping[str, Any] = field(factory=dict)
    targets: Mapping[str, Callable[..., Any]] = field(factory=dict)
    metrics: Mapping[str, Callable[[], Metric[Any]]] = field(factory=dict)
    gates: Mapping[str, Callable[..., Any]] = field(factory=dict)
    executors: Mapping[str, Callable[[int], Executor]] = field(factory=dict)

    @classmethod
    def of(cls, store: Store, extensions: Extensions) -> Environment:
        return cls(
            store,
            extensions,
            formats=extensions.provide("yb_eval_dataset_formats"),
            targets=extensions.provide("yb_eval_targets"),
            metrics=extensions.provide("yb_eval_metrics"),
            gates=extensions.provide("yb_eval_gates"),
            executors=extensions.provide("yb_eval_executors"),
        )


@define(slots=True)
class Prepared:
    """A plan that is fixed. `content` is what `plan_id` identifies; close it when the run has ended."""

    request: SuiteRequest
    plan: Plan
    snapshot: Snapshot
    fold: Fold
    gates: tuple[Gate, ...]
    declared: Mapping[str, Declared]
    baseline: Baseline | None
    executor: Executor
    content: Mapping[str, Any]
    plan_id: str
    target: Target | None
    ahead: OutcomesAhead | None = None
    """All outcomes, where they were made while the dataset was checked."""
    _open: bool = True

    @property
    def batch_size(self) -> int:
        return self.request.run.batch_size or self.plan.evaluator.batch_size

    def close(self) -> None:
        """Closes the target, once."""
        if self.ahead is not None:
            self.ahead.close()
        if self.target is not None and self._open:
            self._open = False
            self.target.close()


def prepare(request: SuiteRequest, environment: Environment, *, ahead: Callable[[int], None] | None = None) -> Prepared:
    """Builds, opens and checks everything. Raises a `Refused` error for whatever does not hold. With `ahead`, an eager
    evaluator is asked about rows as soon as they are known to be right, and `ahead` is told how many samples are done."""
    run = request.run
    check_saving(run)
    baseline = None
    if run.against is not None:
        from yb_eval.record import read_baseline

        baseline = read_baseline(
            run.against, environment.store, request.suite.name, name=request.name, base=request.base
        )
    opener = _Opener(request, environment)
    try:
        return _prepare(request, environment, opener, baseline, ahead)
    except BaseException:
        if opener.opened is not None:
            opener.opened.close()
        raise


def check_saving(run: RunOptions) -> None:
    """Raises `UsageError` for a baseline that would not be saved whatever came out of the run."""
    if run.force is not None and not run.force.strip():
        raise UsageError("--force needs a reason: it is kept in the baseline", hint="--force 'why this is right'")
    if run.save is not None and run.force is None and (run.filter or run.limit):
        raise UsageError("a baseline is not saved from a part of the dataset", hint="leave out --filter and --limit")


def _prepare(
    request: SuiteRequest,
    environment: Environment,
    opener: _Opener,
    baseline: Baseline | None,
    ahead: Callable[[int], None] | None,
) -> Prepared:
    run = request.run
    plan = request.suite.build(
        request.options,
        Context(
            target=opener.spec,
            open_target=opener,
            formats=environment.formats,
            settings=opener.settings,
            against=baseline is not None,
            seed=run.seed,
            store=environment.store.root / "plugins" / request.suite.name,
            repeats=run.repeats,
        ),
    )
    if opener.opened is None and opener.spec != "builtin":
        raise takes_no_target(request)
    if not HEX_ID.match(str(plan.evaluator.fingerprint)):
        raise PluginError(f"the evaluator of {request.suite.name!r} has no fingerprint of 64 hex characters")
    fold = fold_of(plan, request, environment)
    declared = declare(fold)
    gates = (
        ErrorLimit(run.max_errors),
        *plan.gates,
        *(read_gate(text, environment.gates) for text in run.gate),
    )
    if len(gates) == 1:
        raise UsageError(f"{request.suite.name!r} has no gate, so it cannot fail", hint="add one with --gate 'EXPR'")
    for gate in gates:
        gate.bind(declared)
    executor = choose(run.executor, run.jobs, plan.evaluator.concurrency, environment.executors)
    dataset = plan.dataset
    if run.filter or run.limit:
        from yb_eval.datasets import Selected
        from yb_eval.expressions import Expression

        dataset = Selected(dataset, filter=Expression.parse(run.filter) if run.filter else None, limit=run.limit)
    early = _ahead(plan, dataset, run, fold, executor, environment.store, ahead) if ahead is not None else None
    try:
        snapshot = dataset.open(early) if early is not None and isinstance(dataset, RowDataset) else dataset.open()
        content = _content(request, plan, snapshot, gates, baseline, opener.opened)
    except BaseException:
        if early is not None:
            early.close()
        raise
    if early is not None and early.count != snapshot.count * fold.repeats:
        early.close()
        early = None
    return Prepared(
        request,
        plan,
        snapshot,
        fold,
        gates,
        declared,
        baseline,
        executor,
        content,
        plan_id(content),
        opener.opened,
        early,
    )


def _ahead(
    plan: Plan,
    dataset: Dataset,
    run: RunOptions,
    fold: Fold,
    executor: Executor,
    store: Store,
    told: Callable[[int], None],
) -> OutcomesAhead | None:
    """Who takes outcomes before the dataset has been checked, where that may be done and does not change who does it."""
    if run.resume or type(dataset) is not RowDataset or not getattr(plan.evaluator, "eager", False):
        return None
    spread = dataset.executor
    checking = SerialExecutor() if spread is None or spread.jobs == 1 else spread
    if type(executor) not in (SerialExecutor, ProcessExecutor) or checking != executor:
        return None
    size = run.batch_size or plan.evaluator.batch_size
    return OutcomesAhead(BatchWork(plan.evaluator, fold), size, store.root / "partial", told)


def takes_no_target(request: SuiteRequest) -> UsageError:
    return UsageError(f"the suite {request.suite.name!r} takes no --target")


def fold_of(plan: Plan, request: SuiteRequest, environment: Environment) -> Fold:
    """All that a run of this plan measures: the suite's metrics, core's own, and those that the user asked for."""
    run = request.run
    return Fold(
        each=(*plan.metrics, *_extra(run.metric, environment)),
        across=(Counts(), *_over_repeats(run.repeats), *plan.across),
        repeats=run.repeats,
    )


def declare(fold: Fold) -> dict[str, Declared]:
    """Every measurement that a run can make, by name: those of its metrics, and those of a comparison.

    Raises `PluginError` for a name that two metrics claim.
    """
    declared = declarations((*fold.across, *fold.each))
    judgements = sorted({entry.judgement for entry in declared.values() if entry.judgement})
    return {**{entry.name: entry for entry in compared(judgements)}, **declared}


def _over_repeats(repeats: int) -> list[Metric[Any]]:
    """The metrics that see all repeats of a sample together."""
    if repeats == 1:
        return []
    from yb_eval.metrics import Repeats

    return [Repeats(repeats=repeats)]


def _extra(names: tuple[str, ...], environment: Environment) -> list[Metric[Any]]:
    for name in names:
        if name not in environment.metrics:
            raise UsageError(f"unknown metric {name!r}", hint=nearest(name, environment.metrics))
    return [environment.metrics[name]() for name in names]


def target_spec(run: RunOptions) -> str:
    """The target that a request names, `--replay FILE` being `replay:FILE`. Raises `UsageError` if it names two."""
    if run.replay is None:
        return run.target
    if run.target != "builtin":
        raise UsageError("--replay and --target name two targets", hint="use one of them")
    return f"replay:{run.replay}"


def target_settings(request: SuiteRequest, environment: Environment) -> Settings:
    """What a request lets its target do."""
    run = request.run
    return Settings(
        timeout=run.timeout,
        retries=run.retries,
        jobs=run.jobs,
        cache=environment.store.root / "cache" if run.cache else None,
        record=run.record,
        resume=run.resume,
        base=request.base,
    )


@define(slots=True)
class _Opener:
    """Opens the target that the user named, and remembers it: the run shows it and closes it."""

    request: SuiteRequest
    environment: Environment
    opened: Target | None = None

    @property
    def spec(self) -> str:
        return target_spec(self.request.run)

    @property
    def settings(self) -> Settings:
        return target_settings(self.request, self.environment)

    def __call__(self, builtins: Mapping[str, Callable[..., Target]], *, private: Collection[str] = ()) -> Target:
        self.opened = open_target(
            self.spec, builtins=builtins, schemes=self.environment.targets, settings=self.settings, private=private
        )
        return self.opened


def _content(
    request: SuiteRequest,
    plan: Plan,
    snapshot: Snapshot,
    gates: tuple[Gate, ...],
    baseline: Baseline | None,
    target: Target | None,
) -> dict[str, Any]:
    """What the plan's id identifies. Paths are in it by the bytes of their files, never by their names."""
    run = request.run
    return {
        "schema": PLAN_SCHEMA,
        "suite": request.suite.name,
        "plugin": {"distribution": request.distribution, "version": request.version},
        "core": core_version(),
        "datasets": [{"id": snapshot.id, "revision_id": snapshot.revision_id, "count": snapshot.count}],
        "target": target.fingerprint if target is not None else plan.evaluator.fingerprint,
        "evaluator": plan.evaluator.fingerprint,
        "options": option_identity(request.options),
        "metrics": list(run.metric),
        "gates": [{"gate": gate.text, "severity": gate.severity} for gate in gates],
        "seed": run.seed,
        "repeats": run.repeats,
        "limit": run.limit,
        "filter": run.filter,
        "baseline": None if baseline is None else {"run_id": baseline.run_id, "digest": baseline.digest},
    }


def option_identity(options: Any) -> dict[str, Any]:
    """The options that enter the plan's id, by name; a file stands for its bytes."""
    values = asdict(options, recurse=False)
    return {
        info.name: _identity_of(values[info.attribute]) for info in describe_options(type(options)) if info.identity
    }


def _identity_of(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_identity_of(item) for item in value]
    if isinstance(value, Path):
        try:
            return f"sha256:{sha256_hex(value.read_bytes())}"
        except OSError as error:
            raise UsageError(f"cannot be read: {error.strerror}", where=str(value)) from error
    return value
