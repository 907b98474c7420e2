"""Every metric, over random outcomes: no split, merge tree, order of samples or pickling changes a single bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from yb_eval.digest import finite_json
from yb_eval.interfaces import Metric
from yb_eval.metrics import (
    Accuracy,
    Amount,
    BestConstant,
    Calibration,
    Classification,
    Counts,
    Detection,
    Distribution,
    ExpectedCost,
    MeanScore,
    Ordinal,
    Rate,
    Repeats,
    Selective,
    Sets,
    Sliced,
    acceptable,
    linear_costs,
    wrong,
)
from yb_eval.model import Judgement, Outcome
from yb_eval.testing import check_metric

LABELS = ["bug", "feature", "question", "вопрос", "a][b", ""]
LEVELS = 5


def by_first_letter(outcome: Outcome) -> list[str]:
    return [str(outcome.expected)[:1]]


def metrics(judgement: str | None) -> list[Metric[Any]]:
    level = "severity" if judgement else None
    return [
        Counts(judgement=judgement),
        Accuracy(judgement=judgement),
        MeanScore(judgement=judgement),
        Rate(judgement=judgement, name="mismatch_rate", count="mismatches", numerator=wrong, better="lower"),
        Rate(judgement=judgement, name="acceptable_rate", numerator=acceptable),
        Rate(judgement=judgement, name="flagged_rate", numerator="flag", denominator=wrong),
        Detection(judgement=judgement, positive="bug"),
        Classification(judgement=judgement),
        Classification(judgement=judgement, labels=("bug", "feature", "unused"), acceptable=True, per_class=False),
        BestConstant(judgement=judgement),
        BestConstant(judgement=judgement, acceptable=True),
        Distribution(judgement=judgement, labels=("bug", "unused")),
        Calibration(judgement=judgement, bins=15),
        Selective(judgement=judgement, coverages=(0.1, 0.8, 1.0), risks=(0.0, 0.2)),
        Amount(judgement=judgement, detail="cost_usd"),
        Repeats(judgement=judgement, repeats=3),
        Ordinal(judgement=level, levels=LEVELS, critical=3) if level else Accuracy(prefix="other"),
        ExpectedCost(judgement=level, levels=LEVELS, matrix=linear_costs(LEVELS, under=3.1), no_answer=0.7)
        if level
        else Accuracy(prefix="more"),
        Sets(judgement="tools" if judgement else "none"),
        Sliced(metric=Classification(judgement=judgement), keys="lang:"),
        Sliced(metric=Calibration(judgement=judgement), by="kind"),
        Sliced(metric=Accuracy(judgement=judgement), by=by_first_letter),
        Sliced(metric=Repeats(judgement=judgement, repeats=3)),
    ]


numbers = st.floats(allow_nan=False, allow_infinity=False)
amounts = st.none() | st.floats(0, 1e300) | st.sampled_from([0.1, 0.2, 0.3, 1e-320]) | st.integers(0, 2**70)
probabilities = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0])


@st.composite
def judgements(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> dict[str, Any]:
    status = draw(st.sampled_from(["scored", "scored", "scored", "error", "skipped"]))
    expected, predicted = draw(st.none() | values), draw(st.none() | values)
    details = {
        "acceptable": draw(st.none() | st.lists(st.sampled_from(LABELS), max_size=2)),
        "flag": draw(st.sampled_from([None, True, False])),
        "cost_usd": draw(amounts),
        "kind": draw(st.sampled_from([None, "x", ["x", "y"]])),
    }
    if status != "scored":
        return {"status": status, "reason": "because", "expected": expected, "details": details}
    return {
        "correct": draw(st.sampled_from([True, False, None])),
        "expected": expected,
        "predicted": predicted,
        "score": draw(st.none() | numbers),
        "confidence": draw(probabilities),
        "details": details,
    }


@st.composite
def outcome_lists(draw: st.DrawFn, named: bool) -> list[Outcome]:
    labels = st.sampled_from(LABELS)
    made = []
    for index in range(draw(st.integers(0, 6))):
        tags = tuple(draw(st.lists(st.sampled_from(["lang:ru", "lang:en", "kind:decoy"]), max_size=3)))
        for repeat in range(draw(st.integers(1, 3))):
            if named:
                parts = {
                    "label": Judgement(**draw(judgements(labels))),
                    "severity": Judgement(**draw(judgements(st.integers(0, LEVELS - 1)))),
                    "tools": Judgement(**draw(judgements(st.lists(labels, max_size=3)))),
                }
                present = {name: parts[name] for name in draw(st.sets(st.sampled_from(sorted(parts))))}
                made.append(Outcome(str(index), tags=tags, judgements=dict(sorted(present.items())), repeat=repeat))
            else:
                made.append(Outcome(str(index), tags=tags, repeat=repeat, **draw(judgements(labels))))
    return made


slow = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


@slow
@given(outcome_lists(named=False))
def test_metrics_of_the_outcome_itself_keep_the_laws(outcomes: list[Outcome]) -> None:
    for metric in metrics(None):
        check_metric(metric, outcomes)


@slow
@given(outcome_lists(named=True))
def test_metrics_of_a_named_judgement_keep_the_laws(outcomes: list[Outcome]) -> None:
    for metric in metrics("label"):
        check_metric(metric, outcomes)


def said(metric: Metric[Any], state: Any) -> bytes:
    measured = [attrs.asdict(each) for each in metric.finish(state)]
    finite_json(measured)
    return orjson.dumps(measured)


@slow
@given(outcome_lists(named=False), st.data())
def test_any_split_and_any_merge_tree_give_identical_measurements(outcomes: list[Outcome], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(outcomes)), max_size=5)))
    parts = [outcomes[a:b] for a, b in zip([0, *cuts], [*cuts, len(outcomes)], strict=True)]
    order = data.draw(st.lists(st.integers(0, 10), min_size=len(parts), max_size=len(parts)))

    def tree(metric: Metric[Any], states: Sequence[Any]) -> Any:
        states = list(states)
        for at in order:
            if len(states) > 1:
                index = at % (len(states) - 1)
                states[index : index + 2] = [metric.merge(states[index], states[index + 1])]
        return states[0] if len(states) == 1 else tree(metric, states)

    for metric in metrics(None):
        states = [metric.add(metric.start(), part) for part in parts]
        assert said(metric, tree(metric, states)) == said(metric, metric.add(metric.start(), outcomes))


@pytest.mark.parametrize("metric", metrics("label"), ids=lambda metric: type(metric).__name__)
def test_an_outcome_that_failed_as_a_whole_is_an_error_of_each_judgement(metric: Metric[Any]) -> None:
    """It counts among the errors, and no measurement takes it for an answer."""
    failed = [Outcome(str(i), status="error", reason="timeout", tags=("lang:ru",)) for i in range(3)]
    measured = {each.name: each for each in metric.finish(metric.add(metric.start(), failed))}
    for name, each in measured.items():
        if name == "label.errors":
            assert each.value == 3
        elif name not in ("label.samples", "label.scored", "label.skipped", "label.coverage"):
            assert each.value is None and each.reason, name
