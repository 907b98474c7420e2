"""Batches as wholes: alike outcomes are the outcomes they stand for, in the log and in every metric."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import Outcome, Sample
from yb_eval.batches import OutcomeBatch, alike, chosen
from yb_eval.errors import EvaluationError
from yb_eval.metrics import Accuracy, Counts, Detection, Sliced
from yb_eval.record.outcomes import encode, encode_all
from yb_eval.testing import check_metric
from yb_eval.work import BatchWork, Fold

KINDS = [
    Outcome("", "scored", True, "clean", "clean", tags=("lang:ru", "kind:x"), details={"type": "clean"}),
    Outcome("", "scored", False, "clean", "detect", tags=("lang:en",), details={"findings": [{"at": 1, "p": 0.5}]}),
    Outcome("", "error", None, "detect", None, reason='it "failed" \u0434', tags=()),
    Outcome("", "skipped", None, None, None, reason="too long"),
    Outcome("", "scored", True, "detect", "detect", score=0.25, confidence=0.75),
]
IDS = st.lists(st.text(max_size=6), unique=True, max_size=12)


@st.composite
def batches(draw: st.DrawFn) -> OutcomeBatch:
    ids = draw(IDS)
    kinds = list(range(len(KINDS)))
    often = draw(st.sampled_from([0, 30]))  # evenly mixed, or mostly of one kind
    which = draw(st.lists(st.sampled_from([*kinds, *[1] * often]), min_size=len(ids), max_size=len(ids)))
    return OutcomeBatch(ids, KINDS, which)


def expanded(batch: OutcomeBatch) -> list[Outcome]:
    return [evolve(KINDS[kind], id=name) for name, kind in zip(batch.ids, batch.which, strict=True)]


@settings(deadline=None)
@given(batches())
def test_a_batch_is_the_sequence_of_its_outcomes(batch: OutcomeBatch) -> None:
    outcomes = expanded(batch)
    assert batch == outcomes
    assert len(batch) == len(outcomes)
    assert batch[1:5:2] == outcomes[1:5:2]
    assert [batch[index] for index in range(len(batch))] == outcomes
    assert batch.part({0, 2}) == [o for o, kind in zip(outcomes, batch.which, strict=True) if kind in (0, 2)]
    assert chosen(batch, lambda o: o.correct is False) == chosen(outcomes, lambda o: o.correct is False)
    assert sum(times for _, times in batch.counted()) == len(outcomes)
    assert sum(times * len(part) for part, times in alike(batch)) == len(outcomes)
    assert [*alike(outcomes)] == [(outcomes, 1)]


@settings(deadline=None)
@given(batches())
def test_the_log_has_the_same_bytes(batch: OutcomeBatch) -> None:
    try:
        expected = b"".join(map(encode, expanded(batch)))
    except EvaluationError as error:  # an id with half a surrogate pair
        with pytest.raises(EvaluationError) as caught:
            encode_all(batch)
        assert str(caught.value) == str(error)
        return
    assert encode_all(batch) == expected == encode_all(expanded(batch))


@settings(deadline=None)
@given(batches())
def test_metrics_measure_the_same(batch: OutcomeBatch) -> None:
    for metric in (Counts(), Detection(), Accuracy(), Sliced(metric=Detection()), Sliced(metric=Counts(), by="type")):
        alone, together = metric.add(metric.start(), expanded(batch)), metric.add(metric.start(), batch)
        assert metric.finish(together) == metric.finish(alone)


def test_a_function_of_the_whole_outcome_may_slice_by_its_id() -> None:
    batch = OutcomeBatch(["a-1", "b-1", "a-2"], KINDS, [0, 0, 1])
    metric = Sliced(metric=Counts(), by=lambda outcome: [outcome.id[0]])
    assert metric.finish(metric.add(metric.start(), batch)) == metric.finish(metric.add(metric.start(), list(batch)))


def test_a_kind_that_breaks_the_contract_is_reported_with_the_sample() -> None:
    bad = Outcome("", "scored", True, float("nan"), "x")
    with pytest.raises(EvaluationError, match="'second'"):
        encode_all(OutcomeBatch(["first", "second"], [KINDS[0], bad], [0, 1]))
    assert encode_all(OutcomeBatch(["first"], [KINDS[0], bad], [0])) == encode(evolve(KINDS[0], id="first"))


def test_ids_and_kinds_must_be_as_many() -> None:
    with pytest.raises(ValueError, match="2 ids for 1 outcomes"):
        OutcomeBatch(["a", "b"], KINDS, [0])


class Swapping:
    """An evaluator that answers for the wrong samples."""

    fingerprint = "0" * 64
    batch_size = 10
    concurrency = "serial"

    def __init__(self, ids: Sequence[str], repeat: int = 0) -> None:
        self.ids, self.kind = ids, evolve(KINDS[0], repeat=repeat)

    def evaluate(self, samples: Sequence[Sample]) -> Sequence[Outcome]:
        return OutcomeBatch(self.ids, [self.kind], [0] * len(self.ids))


@pytest.mark.parametrize(("ids", "repeat", "what"), [
    (["b", "a"], 0, "belongs"), (["a", "b"], 1, "belongs"), (["a"], 0, "1 outcomes for 2 samples"),
])  # fmt: skip
def test_outcomes_of_other_samples_are_refused(ids: list[str], repeat: int, what: str) -> None:
    work = BatchWork(Swapping(ids, repeat), Fold(each=(Counts(),), across=()))  # type: ignore[arg-type]
    with pytest.raises(EvaluationError, match=what):
        work([Sample("a", None), Sample("b", None)])
    assert BatchWork(Swapping(["a", "b"]), work.fold)([Sample("a", None), Sample("b", None)]).count == 2  # type: ignore[arg-type]


class OnlyOne(Accuracy):
    """Counts a kind once, however many outcomes are of it."""

    def add(self, state, outcomes):  # type: ignore[no-untyped-def, override]
        if isinstance(outcomes, OutcomeBatch):
            outcomes = [kind for kind, _ in outcomes.counted()]
        return super().add(state, outcomes)


def test_the_kit_finds_a_metric_that_miscounts_alike_outcomes() -> None:
    outcomes = [Outcome(str(n), "scored", n % 3 == 0, "a", "a" if n % 3 == 0 else "b") for n in range(12)]
    check_metric(Accuracy(), outcomes)
    with pytest.raises(AssertionError, match="alike"):
        check_metric(OnlyOne(), outcomes)


def test_an_id_that_is_no_text_is_told_of_by_its_sample() -> None:
    with pytest.raises(EvaluationError, match=r"sample .*udc00"):
        encode_all(OutcomeBatch(["first", "\udc00"], [KINDS[0]], [0, 0]))


def test_a_kind_that_no_outcome_is_of_is_not_asked_about() -> None:
    asked: list[Outcome] = []
    batch = OutcomeBatch(["a", "b"], [KINDS[0], evolve(KINDS[0], correct=False)], [0, 0])
    assert batch.chosen(lambda kind: bool(asked.append(kind))) == [] and asked == [KINDS[0]]
