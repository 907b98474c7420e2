"""The conformance kit: what keeps the promises passes, and each broken promise is named."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, field, frozen

from yb_eval.digest import identify, revision_id, sha256_hex
from yb_eval.errors import ExpressionError
from yb_eval.gates import read_gate
from yb_eval.interfaces import Answer, Context, Plan, Suite, Target
from yb_eval.metrics import Accuracy, Classification, JudgementMetric
from yb_eval.model import (
    Comparison,
    Declared,
    FileDigest,
    Judgement,
    Measurement,
    Measurements,
    Outcome,
    Sample,
    Verdict,
)
from yb_eval.options import option
from yb_eval.testing import check_dataset, check_evaluator, check_gate, check_metric, check_suite

OUTCOMES = [
    Outcome(str(i), correct=i % 3 > 0, expected="a", predicted="ab"[i % 2], score=0.1 * i, tags=("lang:ru",))
    for i in range(20)
]
SAMPLES = [Sample(str(i), {"n": i}, ("lang:ru",)) for i in range(20)]
HEX = "0" * 64


# Metrics


@frozen(slots=True, kw_only=True)
class Mean(JudgementMetric):
    """A correct fold whose parts the broken ones below replace."""

    declares: Sequence[Declared] = (Declared("mean", "The mean score.", high=10.0),)

    def start(self) -> Any:
        return [0, 0]

    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        tenths = [round(10 * outcome.score) for outcome in outcomes if outcome.score is not None]
        return [state[0] + sum(tenths), state[1] + len(tenths)]

    def merge(self, left: Any, right: Any) -> Any:
        return [left[0] + right[0], left[1] + right[1]]

    def finish(self, state: Any) -> Sequence[Measurement]:
        total, n = state
        if n == 0:
            return [Measurement("mean", None, reason="no scores")]
        return [Measurement("mean", total / 10 / n, n)]


class RoundedPerBatch(Mean):
    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        scores = [outcome.score for outcome in outcomes if outcome.score is not None]
        return [state[0] + round(sum(scores)) * 10, state[1] + len(scores)]


class FloatSums(Mean):
    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        for outcome in outcomes:
            state = [state[0] + (outcome.score or 0), state[1] + (outcome.score is not None)]
        return state


class LosesRight(Mean):
    def merge(self, left: Any, right: Any) -> Any:
        return left if left[1] else right


class LastWins(Mean):
    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        return [round(10 * (outcomes[-1].score or 0)), 1] if outcomes else state


class NotANumber(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [evolve(each, value=math.nan if each.n else None) for each in super().finish(state)]


class ZeroOverNothing(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [Measurement("mean", state[0] / 10 / max(1, state[1]), state[1])]


class NoReason(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return super().finish(state) if state[1] else [Measurement("mean", None)]


class OutOfRange(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [evolve(each, value=each.value and each.value + 100) for each in super().finish(state)]


class Undeclared(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [*super().finish(state), Measurement("other", 1.0, 1)]


class UndeclaredSlice(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [*super().finish(state), Measurement("mean[x]", 1.0, 1)]


class NotMeasured(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return []


class SpoilsState(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        made = super().finish(state)
        state[0] += 1
        return made


class SpoilsOutcomes(Mean):
    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        for outcome in outcomes:
            outcome.details["seen"] = True  # type: ignore[index]
        return super().add(state, outcomes)


class StateWithFunction(Mean):
    def start(self) -> Any:
        return [0, 0, lambda: None]

    def add(self, state: Any, outcomes: Sequence[Outcome]) -> Any:
        return [*super().add(state[:2], outcomes), state[2]]

    def merge(self, left: Any, right: Any) -> Any:
        return [*super().merge(left[:2], right[:2]), left[2]]

    def finish(self, state: Any) -> Sequence[Measurement]:
        return super().finish(state[:2])


class TupleDetails(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [evolve(each, details={"pair": (1, 2)}) for each in super().finish(state)]


class IntervalReversed(Mean):
    def finish(self, state: Any) -> Sequence[Measurement]:
        return [evolve(each, interval=(0.9, 0.1) if each.n else None) for each in super().finish(state)]


def test_metrics_that_keep_the_laws_pass() -> None:
    for metric in (Mean(), Accuracy(), Classification()):
        check_metric(metric, OUTCOMES)
        check_metric(metric, [])


@pytest.mark.parametrize(
    ("metric", "broken"),
    [
        (RoundedPerBatch, "batch size"),
        (FloatSums, "depends on"),
        (LosesRight, "merged"),
        (LastWins, "depends on"),
        (NotANumber, "not JSON"),
        (ZeroOverNothing, "over nothing"),
        (NoReason, "without a reason"),
        (OutOfRange, "outside the declared"),
        (Undeclared, "other is not declared"),
        (UndeclaredSlice, "not declared as sliced"),
        (NotMeasured, "does not measure it"),
        (SpoilsState, "finish"),
        (SpoilsOutcomes, "changes the outcomes"),
        (StateWithFunction, "does not pickle"),
        (TupleDetails, "a tuple comes back as a list"),
        (IntervalReversed, "interval"),
    ],
)
def test_a_broken_law_of_a_metric_is_named(metric: type[Mean], broken: str) -> None:
    outcomes = [Outcome(o.id, score=o.score, details={}) for o in OUTCOMES]
    with pytest.raises(AssertionError, match=broken):
        check_metric(metric(), outcomes)


# Evaluators


@define
class Evens:
    """Says whether a number is even."""

    fingerprint: str = HEX
    batch_size: int = 4
    concurrency: Any = "threads"

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        return [self.judge(sample) for sample in samples]

    def judge(self, sample: Sample) -> Outcome:
        even = sample.data["n"] % 2 == 0
        return Outcome(sample.id, correct=even, predicted=even, confidence=0.5, tags=sample.tags, repeat=sample.repeat)


class Changed(Evens):
    """Every outcome with some fields replaced."""

    changes: Mapping[str, Any] = {}

    def judge(self, sample: Sample) -> Outcome:
        return evolve(super().judge(sample), **self.changes)


def changed(**changes: Any) -> Evens:
    made = Changed(concurrency="serial")
    made.changes = changes
    return made


class Reversed(Evens):
    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        return super().evaluate(samples)[::-1]


class Short(Evens):
    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        return super().evaluate(samples)[1:]


@define
class Counting(Evens):
    """Answers by how often it was asked."""

    asked: Counter[str] = field(factory=Counter)

    def judge(self, sample: Sample) -> Outcome:
        self.asked[sample.id] += 1
        return evolve(super().judge(sample), predicted=self.asked[sample.id])


class ByPosition(Evens):
    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        return [evolve(outcome, predicted=i) for i, outcome in enumerate(super().evaluate(samples))]


def test_an_evaluator_that_keeps_its_contract_passes() -> None:
    check_evaluator(Evens(), SAMPLES)
    check_evaluator(Evens(concurrency="processes"), SAMPLES)
    check_evaluator(changed(status="error", correct=None, reason="timeout"), SAMPLES)
    check_evaluator(Counting(), SAMPLES, deterministic=False)


@pytest.mark.parametrize(
    ("evaluator", "broken"),
    [
        (Evens(fingerprint="abc"), "fingerprint"),
        (Evens(batch_size=0), "batch_size"),
        (Evens(concurrency="asyncio"), "concurrency"),
        (Reversed(), "order"),
        (Short(), "19 outcomes for 20 samples"),
        (Counting(), "another outcome"),
        (ByPosition(), "one by one"),
        (changed(tags=()), "tags"),
        (changed(repeat=1), "repeat"),
        (changed(status="failed"), "not a status"),
        (changed(status="error", correct=None), "no reason"),
        (changed(status="error", reason="timeout"), "right or wrong"),
        (changed(correct="yes"), "correct"),
        (changed(confidence=1.5), "0..1"),
        (changed(confidence=math.nan), "0..1"),
        (changed(score=math.inf), "score is not JSON"),
        (changed(predicted={1}), "predicted is not JSON"),
        (changed(details={"a": (1,)}), "tuple"),
        (changed(judgements={"label": Judgement(status="skipped")}), "judgement 'label'.*no reason"),
    ],
)
def test_a_broken_contract_of_an_evaluator_is_named(evaluator: Evens, broken: str) -> None:
    with pytest.raises(AssertionError, match=broken):
        check_evaluator(evaluator, SAMPLES)


def test_an_evaluator_is_not_checked_over_nothing() -> None:
    with pytest.raises(AssertionError, match="at least one"):
        check_evaluator(Evens(), [])


# Datasets


@define
class Numbers:
    """A dataset in memory, and its own snapshot."""

    rows: list[Sample]
    count: int = 20
    id: str = "numbers"
    revision_id: str = sha256_hex(b"numbers")
    files: Sequence[FileDigest] = (FileDigest("rows", 7, sha256_hex(b"numbers")),)
    notes: Sequence[str] = ()

    def open(self) -> Numbers:
        return self

    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        for start in range(0, len(self.rows), batch_size):
            yield self.rows[start : start + batch_size]


class Once(Numbers):
    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        rows, self.rows = self.rows, []
        yield from Numbers(rows).samples(batch_size)


class Overfull(Numbers):
    def samples(self, batch_size: int) -> Iterator[Sequence[Sample]]:
        yield from super().samples(batch_size + 1)


class Drifting(Numbers):
    def open(self) -> Numbers:
        self.id += "x"
        return evolve(self)


def test_a_dataset_that_keeps_its_contract_passes() -> None:
    check_dataset(Numbers(SAMPLES))


@pytest.mark.parametrize(
    ("dataset", "broken"),
    [
        (Numbers([], count=0), "empty"),
        (Numbers(SAMPLES, count=21), "counts 21"),
        (Numbers([*SAMPLES[:-1], SAMPLES[0]]), "two samples with the id '0'"),
        (Numbers([Sample("", {})], count=1), "not an id"),
        (Numbers([Sample("a", {}, ["x"])], count=1), "tags"),  # type: ignore[arg-type]
        (Numbers([Sample("a", {}, repeat=1)], count=1), "repeat"),
        (Numbers(SAMPLES, revision_id="abc"), "64 lowercase hex"),
        (Numbers(SAMPLES, revision_id=HEX), "not that of its files"),
        (Once(list(SAMPLES)), "yields other samples"),
        (Overfull(SAMPLES), "larger"),
        (Drifting(SAMPLES), "another revision"),
        (Numbers([Sample("a", lambda: None)], count=1), "does not pickle"),
    ],
)
def test_a_broken_contract_of_a_dataset_is_named(dataset: Numbers, broken: str) -> None:
    with pytest.raises(AssertionError, match=broken):
        check_dataset(dataset)


# Gates

DECLARED = {"accuracy": Declared("accuracy", "", pairing="correct"), "mae": Declared("mae", "", high=None)}


@define
class Floor:
    """`accuracy >= 0.5`, by hand."""

    text: str = "floor"
    severity: Any = "block"

    def bind(self, declared: Mapping[str, Declared]) -> None:
        if "accuracy" not in declared:
            raise ExpressionError("no accuracy")

    def check(
        self, measured: Measurements, baseline: Measurements | None, comparison: Comparison | None = None
    ) -> Verdict:
        found = measured.get("accuracy")
        if found is None or found.value is None:
            return Verdict(self.text, "unmeasured", "null", self.severity)
        return Verdict(self.text, "pass" if found.value >= 0.5 else "fail", f"{found.value}", self.severity)


class PassesNull(Floor):
    def check(self, measured: Measurements, baseline: Any, comparison: Any = None) -> Verdict:
        values = [each.value for each in measured.values() if each.value is not None]
        return Verdict(self.text, "pass" if all(v >= 0.5 for v in values) else "fail", "all", self.severity)


class BindsAnything(Floor):
    def bind(self, declared: Mapping[str, Declared]) -> None:
        pass


class Silent(Floor):
    def check(self, measured: Measurements, baseline: Any, comparison: Any = None) -> Verdict:
        return evolve(super().check(measured, baseline), reason="")


class Softens(Floor):
    def check(self, measured: Measurements, baseline: Any, comparison: Any = None) -> Verdict:
        return evolve(super().check(measured, baseline), severity="warn")


@pytest.mark.parametrize(
    "text",
    [
        "accuracy >= 0.9",
        "warn: lower(accuracy) > 0.5",
        "accuracy - baseline.accuracy >= -0.01 or mae < 2",
        "no_worse(accuracy)",
    ],
)
def test_gates_of_the_expression_language_keep_their_contract(text: str) -> None:
    check_gate(read_gate(text, {}), DECLARED)


def test_a_gate_of_a_plugin_may_be_any_code() -> None:
    check_gate(Floor(), DECLARED.values())


@pytest.mark.parametrize(
    ("gate", "broken"),
    [
        (PassesNull(), "'pass' where its measurements are missing"),
        (BindsAnything(), "nothing is declared"),
        (Silent(), "no reason"),
        (Softens(), "severity"),
        (Floor(severity="fatal"), "severity"),
    ],
)
def test_a_broken_contract_of_a_gate_is_named(gate: Floor, broken: str) -> None:
    with pytest.raises(AssertionError, match=broken):
        check_gate(gate, DECLARED)


# Suites


@frozen(kw_only=True)
class Options:
    least: float = option(0.4, help="The lowest accuracy that passes.", minimum=0, maximum=1)


@frozen(kw_only=True)
class Required:
    file: Path = option(help="There is no default.")


@define
class Parity:
    """The reference system: says whether a number is even."""

    closed: list[bool]
    spec: str = "builtin"
    fingerprint: str = HEX
    batch_size: int = 8
    concurrency: Any = "serial"

    def ask(self, requests: Sequence[Mapping[str, Any]], *, repeat: int = 0) -> Sequence[Answer]:
        return [Answer(request["n"] % 2 == 0) for request in requests]

    def close(self) -> None:
        self.closed.append(True)


@define
class Asking(Evens):
    """Evaluates a target."""

    target: Any = None

    def judge(self, sample: Sample) -> Outcome:
        (answer,) = self.target.ask([sample.data])
        return Outcome(sample.id, correct=answer.value, predicted=answer.value, tags=sample.tags)


def suite_of(closed: list[bool] | None = None, **changes: Any) -> Suite[Any]:
    def build(options: Options, context: Context) -> Plan:
        def reference() -> Target:
            return Parity(closed if closed is not None else [])

        target = context.open_target({"builtin": reference})
        metrics = [Accuracy()]
        plan = Plan(
            dataset=Numbers(SAMPLES),
            evaluator=Asking(concurrency="serial", target=target),
            metrics=metrics,
            gates=[read_gate(f"accuracy >= {options.least}", {})],
            details=lambda measured, comparison: {"accuracy": measured["accuracy"].value},
        )
        return evolve(plan, **changes.pop("plan", {}))

    fields = {"name": "parity", "summary": "Even or odd.", "options": Options, "build": build} | changes
    return Suite(**{key: value for key, value in fields.items() if key != "plan"})


def test_a_suite_that_keeps_its_promises_passes_and_its_targets_are_closed() -> None:
    closed: list[bool] = []
    check_suite(suite_of(closed))
    assert closed == [True, True]
    check_suite(suite_of(), Options(least=1.0), limit=3)


@pytest.mark.parametrize(
    ("changes", "broken"),
    [
        ({"name": "Parity Suite"}, "kebab-case"),
        ({"summary": " "}, "summary"),
        ({"options": Required}, "cannot be built: .*'file' is required"),
        ({"request": {"maximum": math.inf}}, "request schema"),
        ({"plan": {"gates": []}}, "no gate"),
        ({"plan": {"dataset": Numbers([], count=0)}}, "empty"),
        ({"plan": {"metrics": [OutOfRange()]}}, "OutOfRange"),
        ({"plan": {"evaluator": Short()}}, "Short"),
        ({"plan": {"details": lambda measured, comparison: {"x": math.nan}}}, "details"),
    ],
)
def test_a_broken_promise_of_a_suite_is_named(changes: dict[str, Any], broken: str) -> None:
    outcomes_have_scores = changes.get("plan", {}).get("metrics")
    if outcomes_have_scores:
        changes = {"plan": {**changes["plan"], "evaluator": changed(score=0.5)}}
    with pytest.raises(AssertionError, match=broken):
        check_suite(suite_of(**changes))


def test_the_fingerprints_of_this_test_are_what_core_would_make() -> None:
    assert revision_id(Numbers(SAMPLES).files) == sha256_hex(b"numbers")
    assert len(identify("target", {"spec": "builtin"})) == 64
    assert pickle.loads(pickle.dumps(SAMPLES)) == SAMPLES
