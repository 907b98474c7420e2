"""The conformance kit for plugin authors: does a suite, or a part of one, keep the promises of the interfaces?

```python
from yb_eval.testing import check_suite

def test_my_suite_keeps_the_promises():
    check_suite(my_suite)
```

Each function returns nothing, or raises `AssertionError` with one line that says which promise is broken and by what.
They need no test framework. What is checked is what `docs/architecture.md` promises: datasets that read the same
twice, outcomes in order and of the same length, metrics that any split and merge leaves alone, gates that refuse
null, values that survive JSON.
"""

from __future__ import annotations

import pickle
import random
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import reduce
from itertools import chain, groupby, islice
from typing import Any

import attrs
import orjson

from yb_eval.batches import OutcomeBatch
from yb_eval.digest import HEX_ID, finite_json, revision_id
from yb_eval.errors import ExpressionError, YbEvalError, shorten
from yb_eval.interfaces import Context, Dataset, Evaluator, Gate, Metric, Plan, Suite, Target
from yb_eval.metrics import Counts, declarations
from yb_eval.model import Declared, Judged, Measurement, Measurements, Outcome, Sample, Verdict
from yb_eval.options import describe, structure

_BATCH_SIZES = (1, 2, 3, 7, 64)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\Z")


def check_metric(metric: Metric[Any], outcomes: Sequence[Outcome], *, seed: int = 0) -> None:
    """The laws of a metric over `outcomes` (those of one sample stand together, as in a run).

    Whatever the split into batches, the tree of merges, the order of samples, a pickling of the states or of the
    metric: the measurements are the same to the last bit. They are finite, declared, within the declared range, and
    null with a reason where there is nothing to measure. Outcomes and states are left as they were.
    """
    outcomes = list(outcomes)
    before = deepcopy(outcomes)
    label = f"metric {type(metric).__name__}"
    declared = {each.name: each for each in metric.declares}
    _require(len(declared) == len(list(metric.declares)), f"{label} declares a name twice")

    def measure(batches: Iterable[Sequence[Outcome]], by: Metric[Any] = metric) -> bytes:
        return _said(by.finish(_fold(by, batches)))

    failed = [Outcome.error(Sample(f"error-{i}", None), "the target broke off") for i in range(3)]
    left_out = [Outcome.skipped(Sample(f"skipped-{i}", None), "left out") for i in range(2)]
    for sort, batch in (("no", []), ("these", outcomes), ("failed and skipped", [*outcomes, *failed, *left_out])):
        _check_measurements(metric.finish(_fold(metric, [batch])), declared, f"{label} over {sort} outcomes")
    whole = measure([outcomes])
    _require(measure([outcomes]) == whole, f"{label} measures the same outcomes differently the second time")
    for size in _BATCH_SIZES:
        batches = _batches(outcomes, size)
        _require(measure(batches) == whole, f"{label} depends on the batch size: {size} differs from one batch")
        _require(measure([[], *batches, []]) == whole, f"{label} is changed by an empty batch")
    for shape, merge in (("left", _merge_left), ("right", _merge_right), ("balanced", _merge_balanced)):
        for size in {1, max(1, len(outcomes) // 5)}:
            states = [_fold(metric, [batch]) for batch in _batches(outcomes, size)]
            states = [metric.start(), *(_pickled(state, f"{label}'s state") for state in states), metric.start()]
            said = _said(metric.finish(merge(metric, states)))
            _require(
                said == whole, f"{label} depends on how states are merged: the {shape} tree differs from one batch"
            )
    samples = [list(group) for _, group in groupby(outcomes, key=lambda outcome: outcome.id)]
    random.Random(seed).shuffle(samples)
    _require(measure([list(chain.from_iterable(samples))]) == whole, f"{label} depends on the order of samples")
    half = len(outcomes) // 2
    state = metric.add(metric.start(), outcomes[:half])
    first = _said(metric.finish(state))
    _require(_said(metric.finish(state)) == first, f"{label}: finish() changes the state")
    _require(_said(metric.finish(metric.add(state, outcomes[half:]))) == whole, f"{label}: finish() spoils the state")
    together = _alike(outcomes)
    _require(measure([together]) == whole, f"{label} measures alike outcomes differently as an OutcomeBatch")
    _require(measure([outcomes], _pickled(metric, label)) == whole, f"{label} measures differently once pickled")
    _require(outcomes == before, f"{label} changes the outcomes it is given")


def check_evaluator(evaluator: Evaluator, samples: Sequence[Sample], *, deterministic: bool = True) -> None:
    """The contract of an evaluator over `samples`: one outcome each, in order, usable and written as JSON; the same
    when asked again, one by one, in another order and from several threads (unless not `deterministic`)."""
    samples = list(samples)
    label = f"evaluator {type(evaluator).__name__}"
    _require(bool(samples), "an evaluator is checked over at least one sample")
    _require(bool(HEX_ID.match(evaluator.fingerprint)), f"{label}: the fingerprint is not 64 lowercase hex characters")
    size = evaluator.batch_size
    _require(type(size) is int and size >= 1, f"{label}: batch_size is {size!r}, not a positive integer")
    words = ("threads", "processes", "serial")
    _require(evaluator.concurrency in words, f"{label}: concurrency is {evaluator.concurrency!r}, none of {words}")
    outcomes = list(evaluator.evaluate(samples))
    _check_outcomes(outcomes, samples, label)
    _require(list(evaluator.evaluate([])) == [], f"{label} gives outcomes for no samples")
    if evaluator.concurrency == "processes":
        _pickled(evaluator, label)
    again = {
        "asked again": evaluator.evaluate(samples),
        "asked one by one": [outcome for sample in samples for outcome in evaluator.evaluate([sample])],
        "asked in reverse order": list(evaluator.evaluate(samples[::-1]))[::-1],
    }
    if evaluator.concurrency == "threads":
        with ThreadPoolExecutor(4) as pool:
            parts = list(pool.map(evaluator.evaluate, _batches(samples, max(1, len(samples) // 8))))
        again["asked from several threads"] = list(chain.from_iterable(parts))
    for how, others in again.items():
        _check_outcomes(list(others), samples, f"{label}, {how},")
        if deterministic:
            changed = next((o.id for o, other in zip(outcomes, others, strict=True) if o != other), None)
            _require(changed is None, f"{label} gives another outcome for sample {changed!r} when {how}")


def check_dataset(dataset: Dataset) -> None:
    """The contract of a dataset: it opens twice as the same revision, yields `count` samples with distinct ids, the
    same ones in any batch size and as often as asked, in batches that pickle."""
    snapshot, again = dataset.open(), dataset.open()
    label = f"dataset {snapshot.id!r}"
    revision = snapshot.revision_id
    _require(bool(HEX_ID.match(revision)), f"{label}: the revision is not 64 lowercase hex characters")
    _require(revision == revision_id(snapshot.files), f"{label}: the revision is not that of its files")
    _require(
        (snapshot.id, revision) == (again.id, again.revision_id), f"{label} opens as another revision the next time"
    )
    samples = list(chain.from_iterable(snapshot.samples(100)))
    _require(bool(samples), f"{label} is empty, which it must refuse when opened")
    _require(snapshot.count == len(samples), f"{label} counts {snapshot.count} samples and yields {len(samples)}")
    seen: set[str] = set()
    for sample in samples:
        _require(isinstance(sample.id, str) and sample.id != "", f"{label}: {sample.id!r} is not an id")
        _require(sample.id not in seen, f"{label} has two samples with the id {sample.id!r}")
        _require(sample.repeat == 0, f"{label}: sample {sample.id!r} is a repeat; repeats are the runner's")
        tagged = isinstance(sample.tags, tuple) and all(isinstance(tag, str) for tag in sample.tags)
        _require(tagged, f"{label}: the tags of {sample.id!r} are not a tuple of strings")
        seen.add(sample.id)
    for source, size in ((snapshot, 100), (snapshot, 7), (again, 100)):
        batches = [list(_pickled(batch, f"a batch of {label}")) for batch in source.samples(size)]
        _require(all(1 <= len(batch) <= size for batch in batches), f"{label}: a batch of {size} is empty or larger")
        _require(list(chain.from_iterable(batches)) == samples, f"{label} yields other samples in batches of {size}")


def check_gate(gate: Gate, declared: Mapping[str, Declared] | Iterable[Declared]) -> None:
    """The contract of a gate bound to `declared`: it refuses names that nothing measures, is unmeasured where they are
    null or missing, and says the same twice with a reason."""
    by_name = dict(declared) if isinstance(declared, Mapping) else {each.name: each for each in declared}
    label = f"gate {gate.text!r}"
    _require(gate.severity in ("block", "warn"), f"{label}: the severity is {gate.severity!r}")
    try:
        gate.bind({})
    except ExpressionError:
        pass
    else:
        raise AssertionError(f"{label} binds where nothing is declared: it must refuse names that are not measured")
    gate.bind(by_name)
    nothing = Measurements()
    nulls = Measurements(Measurement(name, None, reason="not measured") for name in by_name)
    for sort, measured in (("missing", nothing), ("null", nulls)):
        for baseline in (None, nothing, nulls):
            word = _verdict(gate, measured, baseline, label).verdict
            _require(word == "unmeasured", f"{label} says {word!r} where its measurements are {sort}")
    for end in (0, 1):
        values = (_end(each, end) for each in by_name.values())
        full = Measurements(Measurement(name, v, 100, (v, v)) for name, v in zip(by_name, values, strict=True))
        for baseline in (None, nulls, full):
            _verdict(gate, full, baseline, label)


def check_suite(suite: Suite[Any], options: Any = None, *, limit: int = 200) -> None:
    """A whole suite with `options` (its defaults where `None`) and its built-in target: every part by its own check,
    the evaluator over the first `limit` samples, and all of them together."""
    label = f"suite {suite.name!r}"
    _require(bool(_NAME.match(suite.name)), f"{label}: a suite's name is kebab-case")
    _require(bool(suite.summary.strip()), f"{label} has no summary")
    described = describe(suite.options)
    undocumented = [info.name for info in described if not info.help.strip()]
    _require(not undocumented, f"{label}: the options {undocumented} have no help")
    for name, schema in (("request", suite.request), ("answer", suite.answer)):
        _json(schema, f"{label}: the {name} schema")
    opened: list[Target] = []
    try:
        plan, twin = _build(suite, options, opened), _build(suite, options, opened)
        check_dataset(plan.dataset)
        snapshot = plan.dataset.open()
        samples = list(islice(chain.from_iterable(snapshot.samples(min(limit, 100))), limit))
        check_evaluator(plan.evaluator, samples, deterministic=suite.deterministic)
        _require(plan.evaluator.fingerprint == twin.evaluator.fingerprint, f"{label} has another fingerprint next time")
        _require(snapshot.revision_id == twin.dataset.open().revision_id, f"{label} has another dataset next time")
        outcomes = plan.evaluator.evaluate(samples)
        metrics: list[Metric[Any]] = [Counts(), *plan.metrics]
        for metric in metrics:
            check_metric(metric, outcomes)
        measured = Measurements(each for metric in metrics for each in metric.finish(_fold(metric, [outcomes])))
        declared = declarations(metrics)
        for gate in plan.gates:
            check_gate(gate, declared)
            _verdict(gate, measured, None, f"gate {gate.text!r}")
        if plan.details is not None:
            _json(plan.details(measured, None), f"{label}: details")
            nulls = Measurements(Measurement(name, None, reason="not measured") for name in measured)
            _json(plan.details(nulls, None), f"{label}: details of null measurements")
    finally:
        for target in opened:
            target.close()


def _build(suite: Suite[Any], options: Any, opened: list[Target]) -> Plan:
    def open_target(builtins: Mapping[str, Callable[..., Target]], *, private: Collection[str] = ()) -> Target:
        _require("builtin" in builtins, f"suite {suite.name!r} offers no reference system named 'builtin'")
        opened.append(builtins["builtin"]())
        return opened[-1]

    try:
        chosen = structure(suite.options, {}) if options is None else options
        plan = suite.build(chosen, Context(target="builtin", open_target=open_target))
    except YbEvalError as error:
        raise AssertionError(f"suite {suite.name!r} cannot be built: {error}") from error
    _require(isinstance(plan, Plan), f"suite {suite.name!r} builds {shorten(plan)}, not a Plan")
    _require(bool(plan.gates), f"suite {suite.name!r} has no gate: nothing could fail")
    return plan


def _check_outcomes(outcomes: Sequence[Outcome], samples: Sequence[Sample], label: str) -> None:
    _require(len(outcomes) == len(samples), f"{label} gives {len(outcomes)} outcomes for {len(samples)} samples")
    for outcome, sample in zip(outcomes, samples, strict=True):
        where = f"{label} sample {sample.id!r}"
        _require(isinstance(outcome, Outcome), f"{where}: {shorten(outcome)} is not an Outcome")
        _require(
            outcome.id == sample.id, f"{where}: the outcome is of {outcome.id!r}: outcomes follow the samples' order"
        )
        _require(outcome.repeat == sample.repeat, f"{where}: repeat {outcome.repeat}, not {sample.repeat}")
        _require(outcome.tags == sample.tags, f"{where}: the tags are not the sample's")
        _check_judged(outcome, where)
        for name, judgement in outcome.judgements.items():
            _check_judged(judgement, f"{where}, judgement {name!r}")


def _check_judged(judged: Judged, where: str) -> None:
    _require(judged.status in ("scored", "error", "skipped"), f"{where}: {judged.status!r} is not a status")
    if judged.status != "scored":
        _require(bool(judged.reason), f"{where}: the status is {judged.status!r} and there is no reason")
        _require(
            judged.correct is None, f"{where}: the status is {judged.status!r} and it is right or wrong all the same"
        )
    _require(judged.correct in (None, True, False), f"{where}: correct is {judged.correct!r}")
    confidence = judged.confidence
    _require(confidence is None or 0 <= confidence <= 1, f"{where}: the confidence {confidence!r} is outside 0..1")
    for name in ("expected", "predicted", "score", "details"):
        _json(getattr(judged, name), f"{where}: {name}")


def _check_measurements(measurements: Sequence[Measurement], declared: Mapping[str, Declared], label: str) -> None:
    measured = Measurements(measurements)
    missing = [name for name, each in declared.items() if not each.sliced and name not in measured]
    _require(not missing, f"{label} declares {missing} and does not measure it")
    for name, measurement in measured.items():
        base, bracket, _ = name.partition("[")
        known = declared.get(base)
        where = f"{label}: {name}"
        if known is None:
            raise AssertionError(f"{where} is not declared")
        _require(not bracket or known.sliced, f"{where} is a slice of what is not declared as sliced")
        _json(measurement.details, f"{where}: details")
        _require(type(measurement.n) is int and measurement.n >= 0, f"{where}: n is {measurement.n!r}")
        value = measurement.value
        if value is None:
            _require(bool(measurement.reason), f"{where} is null without a reason")
            _require(measurement.interval is None, f"{where} is null and has an interval")
            continue
        _require(measurement.n > 0 or known.high is None, f"{where} is {value!r} over nothing: it must be null")
        numbers = (value, *(measurement.interval or ()))
        for number in numbers:
            _require(type(number) in (int, float), f"{where}: {shorten(number)} is not an int or a float")
            _json(number, where)
            inside = (known.low is None or number >= known.low) and (known.high is None or number <= known.high)
            _require(inside, f"{where}: {number!r} is outside the declared {known.low}..{known.high}")
        _require(len(numbers) in (1, 3) and list(numbers[1:]) == sorted(numbers[1:]), f"{where}: the interval is none")


def _verdict(gate: Gate, measured: Measurements, baseline: Measurements | None, label: str) -> Verdict:
    verdict = gate.check(measured, baseline)
    _require(isinstance(verdict, Verdict), f"{label} gives {shorten(verdict)}, not a Verdict")
    _require(verdict.verdict in ("pass", "fail", "unmeasured"), f"{label} says {verdict.verdict!r}")
    _require(bool(verdict.reason), f"{label} gives no reason")
    _require(verdict.severity == gate.severity, f"{label} changes its severity")
    _require(gate.check(measured, baseline) == verdict, f"{label} says something else when asked again")
    return verdict


def _end(declared: Declared, end: int) -> float:
    """A value at the lower (0) or upper (1) end of what is declared."""
    low = declared.low if declared.low is not None else -1e6
    high = declared.high if declared.high is not None else 1e6
    return (low, high)[end]


def _fold(metric: Metric[Any], batches: Iterable[Sequence[Outcome]]) -> Any:
    return reduce(metric.add, batches, metric.start())


def _merge_left(metric: Metric[Any], states: Sequence[Any]) -> Any:
    return reduce(metric.merge, states)


def _merge_right(metric: Metric[Any], states: Sequence[Any]) -> Any:
    return reduce(lambda merged, state: metric.merge(state, merged), states[::-1])


def _merge_balanced(metric: Metric[Any], states: Sequence[Any]) -> Any:
    if len(states) == 1:
        return states[0]
    half = len(states) // 2
    return metric.merge(_merge_balanced(metric, states[:half]), _merge_balanced(metric, states[half:]))


def _batches(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _alike(outcomes: Sequence[Outcome]) -> OutcomeBatch:
    """The outcomes as a batch, those that differ in their id alone of one kind."""
    kinds: dict[bytes, tuple[int, Outcome]] = {}
    which = []
    for outcome in outcomes:
        kind = attrs.evolve(outcome, id="")
        which.append(kinds.setdefault(pickle.dumps(kind), (len(kinds), kind))[0])
    return OutcomeBatch([outcome.id for outcome in outcomes], [kind for _, kind in kinds.values()], which)


def _said(measurements: Sequence[Measurement]) -> bytes:
    """Measurements as bytes that differ where a number differs in its last bit, or 1 from 1.0."""
    return orjson.dumps([attrs.asdict(each) for each in measurements])


def _pickled(value: Any, what: str) -> Any:
    try:
        return pickle.loads(pickle.dumps(value))  # noqa: S301 - what was written in this very line
    except Exception as error:
        raise AssertionError(f"{what} does not pickle: {error}") from error


def _json(value: Any, where: str) -> None:
    try:
        finite_json(value)
        back = orjson.loads(orjson.dumps(value))
    except (ValueError, TypeError) as error:
        raise AssertionError(f"{where} is not JSON: {error}") from error
    _require(back == value, f"{where} does not come back from JSON as it was (a tuple comes back as a list)")


def _require(holds: bool, message: str) -> None:
    # Not an assert statement: these must hold under `python -O` as well.
    if not holds:
        raise AssertionError(message)
