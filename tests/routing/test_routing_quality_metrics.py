"""The metrics of `routing-quality` on outcomes made by hand, and the laws that every metric keeps."""

import itertools
import random
import statistics

import pytest

from yb_eval import Measurements, Outcome, Sample, UsageError
from yb_eval.options import structure
from yb_eval.targets import AnswerError
from yb_eval.testing import check_metric, check_suite
from yb_eval_routing.quality.dataset import OutcomeRow, Served
from yb_eval_routing.quality.evaluator import Judge
from yb_eval_routing.quality.metrics import details, quality_metrics
from yb_eval_routing.quality.suite import Options, yb_eval_suite

TIERS = ("simple", "medium", "complex", "reasoning")
JUDGE = Judge(tiers=TIERS, strong_from=2)


def row(weak, strong, *, costs=None, prompt="What is it?"):
    weak_cost, strong_cost = costs or (None, None)
    return OutcomeRow(
        prompt=prompt, weak=Served(score=weak, cost_usd=weak_cost), strong=Served(score=strong, cost_usd=strong_cost)
    )


def judged(rows, answers, judge=JUDGE):
    return [
        judge(Sample(f"s{place}", each), answer) for place, (each, answer) in enumerate(zip(rows, answers, strict=True))
    ]


def measure(outcomes, bins=10):
    made = []
    for metric in quality_metrics(bins=bins):
        made += metric.finish(metric.add(metric.start(), outcomes))
    return Measurements(made)


def many(n, seed=0, *, costs=False, answer=lambda draw: {"score": draw.random()}):
    """Outcomes of a strong model that is mostly better, and of a router."""
    draw = random.Random(seed)
    rows, answers = [], []
    for i in range(n):
        weak, strong = float(draw.random() < 0.5), float(draw.random() < 0.8)
        paid = (draw.uniform(0.001, 0.01), draw.uniform(0.005, 0.05)) if costs else None
        rows.append(row(weak, strong, costs=paid, prompt="x" * (1 + i % 50)))
        answers.append(answer(draw))
    return judged(rows, answers)


def by_tier(draw):
    return {"tier": draw.choice(TIERS)}


# ---------------------------------------------------------------------------------------------------------------- laws


def test_suite_keeps_the_promises():
    check_suite(yb_eval_suite(), limit=60)


@pytest.mark.parametrize("costs", [False, True])
@pytest.mark.parametrize("answer", [by_tier, lambda draw: {"score": draw.random()}], ids=["tier", "score"])
@pytest.mark.parametrize("metric", quality_metrics(bins=4), ids=lambda metric: type(metric).__name__)
def test_metrics_keep_the_laws(metric, answer, costs):
    check_metric(metric, many(40, costs=costs, answer=answer))


def test_metrics_keep_the_laws_where_the_strong_model_is_worse_and_where_answers_are_mixed():
    worse = judged([row(1, 0), row(1, 0.5), row(0, 0)], [{"score": 1}, {"tier": "simple"}, {"score": 2}])
    for metric in quality_metrics(bins=3):
        check_metric(metric, worse)


# -------------------------------------------------------------------------------------------------------------- values


def test_choices_by_tier():
    rows = [row(0, 1), row(1, 1), row(1, 0), row(0, 0)]
    measured = measure(
        judged(rows, [{"tier": "complex"}, {"tier": "medium"}, {"tier": "reasoning"}, {"tier": "simple"}])
    )
    assert measured["strong_share"].value == 0.5
    assert measured["accuracy"].value == 0.5
    assert measured["weak_accuracy"].value == measured["strong_accuracy"].value == 0.5
    assert measured["oracle_accuracy"].value == 0.75
    assert measured["optimal_accuracy"].value == pytest.approx(0.5 / 0.75)
    # Of the three rows that some model gets right: the strong one needed and taken, the weak one needed and taken, and
    # a miss. RouterArena's own count would leave the miss out and say 1.0.
    assert (measured["optimal_selection"].value, measured["optimal_selection"].n) == (pytest.approx(2 / 3), 3)
    assert measured["pgr"].value is None and measured["apgr"].value is None
    assert "no gap" in measured["apgr"].reason


def test_a_router_that_is_wrong_wherever_it_matters_does_not_look_optimal():
    rows = [row(1, 1)] * 6 + [row(0, 1)] * 4
    measured = measure(judged(rows, [{"tier": "simple"}] * 10))
    assert measured["optimal_selection"].value == 0.6
    assert measured["optimal_accuracy"].value == 0.6
    assert measured["pgr"].value == 0.0


@pytest.mark.parametrize(("tier", "pgr"), [("simple", 0.0), ("reasoning", 1.0)])
def test_a_constant_router_has_apgr_a_half_exactly_and_is_flagged(tier, pgr):
    measured = measure(many(200, answer=lambda draw: {"tier": tier}))
    assert (measured["apgr"].value, measured["pgr"].value) == (0.5, pgr)
    said = details(measured, None)
    assert said["near_constant"] is True
    assert said["beats"]["random"] is False


def test_a_perfect_router_reaches_the_oracle():
    rows = [row(0, 1)] * 3 + [row(1, 1)] * 5 + [row(1, 0)] * 1 + [row(0, 0)] * 1
    needed = [each.strong.score - each.weak.score for each in rows]
    answers = [{"score": gain, "tier": "complex" if gain > 0 else "simple"} for gain in needed]
    measured = measure(judged(rows, answers))
    assert measured["accuracy"].value == measured["oracle_accuracy"].value == 0.9
    assert measured["apgr"].value == measured["oracle_apgr"].value > 1
    assert measured["optimal_selection"].value == measured["optimal_accuracy"].value == 1.0
    assert measured["oracle_strong_share"].value == measured["strong_share"].value == 0.3
    assert measured["pgr"].value == pytest.approx(1.5), (
        "more than the strong model, which is wrong once where weak is not"
    )


def test_costs_choose_among_the_right_models_and_are_compared_where_the_router_is_right():
    rows = [row(1, 1, costs=(0.004, 0.001)), row(1, 1, costs=(0.001, 0.004)), row(0, 1, costs=(0.001, 0.004))]
    measured = measure(judged(rows, [{"tier": "simple"}] * 3))
    assert measured["optimal_selection"].value == pytest.approx(1 / 3)
    assert measured["optimal_cost"].value == pytest.approx((0.001 + 0.001) / (0.004 + 0.001))
    assert measured["optimal_cost"].n == 2
    assert measured["cost_usd_total"].value == pytest.approx(0.006)
    assert 0 < measured["arena_score"].value < 1


def test_without_costs_nothing_is_said_of_them():
    measured = measure(many(20, answer=by_tier))
    for name in ("optimal_cost", "cost_usd_total", "cost_usd_mean", "arena_score"):
        assert measured[name].value is None and measured[name].reason
    assert measured["aiq"].details == {"cost": "share of strong calls"}


def test_prices_change_no_area_where_every_call_of_a_model_costs_the_same():
    plain = many(100)
    paid = [
        Outcome(**{**{f: getattr(o, f) for f in ("id", "expected", "predicted", "correct", "score", "tags")},
                   "details": {**o.details, "weak_cost_usd": 0.002, "strong_cost_usd": 0.05}})
        for o in plain
    ]  # fmt: skip
    for name in ("aiq", "length_aiq", "random_aiq", "oracle_aiq", "zero_aiq"):
        assert measure(paid)[name].value == pytest.approx(measure(plain)[name].value, abs=1e-12)
    assert measure(paid)["aiq"].details == {"cost": "usd"}


def test_a_score_alone_ranks_and_chooses_nothing():
    measured = measure(many(30))
    assert measured["apgr"].value is not None
    for name in ("pgr", "accuracy", "strong_share", "optimal_selection", "optimal_accuracy", "length_pgr"):
        assert measured[name].value is None and measured[name].reason


def test_a_threshold_makes_choices_of_scores():
    judge = Judge(tiers=TIERS, strong_from=2, threshold=0.5)
    outcomes = judged([row(0, 1)] * 3, [{"score": 0.5}, {"score": 0.49}, {"score": 3, "tier": "simple"}], judge)
    assert [outcome.predicted for outcome in outcomes] == ["strong", "weak", "strong"]
    with pytest.raises(AnswerError, match="no score"):
        judge(Sample("s", row(0, 1)), {"tier": "simple"})


def test_scores_and_tiers_are_not_ranked_together():
    measured = measure(judged([row(0, 1)] * 4, [{"score": 0.9}, {"tier": "simple"}] * 2))
    assert measured["apgr"].value is None and "ranked together" in measured["apgr"].reason
    assert measured["length_apgr"].value is not None


def test_the_ranking_by_tier_is_the_policys_order():
    rows = [row(0, 1), row(0, 1), row(1, 1), row(1, 1)]
    good = measure(judged(rows, [{"tier": tier} for tier in reversed(TIERS)]), bins=4)
    bad = measure(judged(rows, [{"tier": tier} for tier in TIERS]), bins=4)
    assert good["apgr"].value == good["oracle_apgr"].value
    assert bad["apgr"].value == pytest.approx(1 - good["apgr"].value)


def test_pgr_at_a_share_and_calls_to_a_level_agree():
    measured = measure(many(400))
    assert [measured[f"pgr_at_{share}"].value for share in (20, 50, 80)] == sorted(
        measured[f"pgr_at_{share}"].value for share in (20, 50, 80)
    )
    assert measured["pgr_at_50"].value == measured["apgr"].details["points"][5][1]
    assert all(measured[f"cpt_{level}"].interval is None for level in (20, 50, 80))


@pytest.mark.parametrize("name", ["pgr", "optimal_accuracy", "optimal_cost"])
def test_the_interval_of_a_ratio_is_as_wide_as_the_bootstraps(name):
    outcomes = many(500, seed=3, costs=True, answer=by_tier)
    (metric,) = (each for each in quality_metrics(bins=10) if getattr(each, "name", None) == name)

    def value(chosen):
        return metric.finish(metric.add(metric.start(), chosen))[0]

    low, high = value(outcomes).interval
    draw = random.Random(5)
    values = [value(draw.choices(outcomes, k=len(outcomes))).value for _ in range(300)]
    assert (high - low) / (2 * 1.96) == pytest.approx(statistics.stdev(values), rel=0.15)


def test_an_interval_is_left_out_where_the_gap_may_be_nothing():
    rows = [row(0, 1), row(1, 0), row(0, 1), row(1, 1), row(0, 0)]
    measured = measure(judged(rows, [{"tier": "complex"}] * 5))
    assert measured["apgr"].value is not None and measured["apgr"].interval is None
    assert measured["pgr"].value is not None and measured["pgr"].interval is None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "neither a score nor a tier"),
        ({"score": "high"}, "score"),
        ({"score": True}, "score"),
        ({"score": float("nan")}, "score"),
        ({"tier": "huge"}, "huge"),
        ({"tier": 2}, "tier"),
        ([], "object"),
    ],
)
def test_answers_of_another_shape_are_refused(answer, said):
    with pytest.raises(AnswerError, match=said):
        JUDGE(Sample("s", row(0, 1)), answer)


def test_outcomes_and_requests_are_kept_apart():
    """What the models answered is the label: a router must not see it."""
    request = row(0, 1, costs=(0.1, 0.2)).request("s")
    assert set(request) == {"id", "prompt", "metadata"} and request["metadata"] == {}


def test_default_strong_tiers_are_the_upper_half():
    suite = yb_eval_suite()
    for options, expected in (({}, 2), ({"strong-tier": "reasoning"}, 3), ({"strong-tier": "medium"}, 1)):
        found = structure(Options, options)
        plan = suite.build(found, context())
        assert plan.evaluator._judge.strong_from == expected
    with pytest.raises(UsageError, match="strong-tier"):
        suite.build(structure(Options, {"strong-tier": "huge"}), context())


def context():
    from yb_eval import Context

    return Context(target="builtin", open_target=lambda builtins: builtins["builtin"]())


def test_every_measurement_has_a_help_text_and_a_name_of_its_own():
    declared = list(itertools.chain.from_iterable(metric.declares for metric in quality_metrics(bins=10)))
    assert all(entry.help for entry in declared)
    whole = [entry.name for entry in declared if not entry.sliced]
    assert len(whole) == len(set(whole))
