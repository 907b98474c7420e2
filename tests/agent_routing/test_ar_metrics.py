"""The measurements, each by its definition: worked by hand on small sets of outcomes."""

from __future__ import annotations

from math import isclose

import pytest

from yb_eval import Measurements
from yb_eval.metrics import Repeats
from yb_eval.testing import check_metric
from yb_eval_agent_routing.metrics import agent_metrics
from yb_eval_agent_routing.scoring import Match


def measure(outcomes, **options):
    metrics = agent_metrics(**{"token_weight": 0.1, **options})
    return Measurements(m for metric in metrics for m in metric.finish(metric.add(metric.start(), outcomes)))


@pytest.fixture
def cases(world, says):
    """Eight outcomes, one of a kind."""
    judge, scenario = world.judge, world.scenario
    return {
        "exact": judge(scenario(id="exact", expected=["jira"]), [says.load("jira"), says.text()]),
        "over": judge(scenario(id="over", expected=["jira"]), [says.load("jira", "wiki", "metrics"), says.text()]),
        "part": judge(scenario(id="part", expected=["jira", "wiki"]), [says.load("jira", "metrics"), says.text()]),
        "skip": judge(scenario(id="skip", expected=["jira"]), [says.text(), says.text()]),
        "rescued": judge(scenario(id="rescued", expected=["jira"]), [says.text(), says.load("jira"), says.text()]),
        "idle": judge(scenario(id="idle"), [says.text(), says.text()]),
        "false": judge(scenario(id="false", kind="no_suitable_group"), [says.load("wiki"), says.text()]),
        "error": judge(scenario(id="error", expected=["jira"]), [{"error": "down"}]),
    }


@pytest.fixture
def measured(cases):
    return measure(list(cases.values()))


def test_upstreams_three_numbers_by_upstreams_rules(measured):
    # Hits: exact, over, rescued and idle, of seven that were scored.
    assert measured["top1"].value == 4 / 7
    assert measured["exact"].value == 3 / 7
    # One of the five that need a group was never loaded for; correct skips are not in the denominator.
    assert (measured["skip_rate"].value, measured["skip_rate"].n) == (1 / 5, 5)


def test_recall_precision_and_f1(measured):
    assert isclose(measured["recall"].value, (1 + 1 + 0.5 + 0 + 1) / 5)
    # skip delivered nothing: undefined, left out.
    assert isclose(measured["precision"].value, (1 + 1 / 3 + 1 / 2 + 1) / 4)
    assert isclose(measured["f1"].value, (1 + 0.5 + 0.5 + 0 + 1 + 1 + 0) / 7)


def test_skipping_before_the_reminder_is_told_apart_from_skipping_after_it(measured):
    assert measured["raw_skip_rate"].value == 2 / 5
    assert (measured["nudge_rescue_rate"].value, measured["nudge_rescue_rate"].n) == (1 / 2, 2)
    assert measured["misroute_rate"].value == 1 / 5


def test_should_skip_cases_are_scored_apart(measured):
    assert (measured["specificity"].value, measured["specificity"].n) == (1 / 2, 2)
    assert measured["false_load_rate"].value == 1 / 2
    assert (measured["abstain_rate"].value, measured["abstain_rate"].n) == (0.0, 1)
    assert isclose(measured["decision_accuracy"].value, (4 / 5 + 1 / 2) / 2)


def test_over_loading_is_counted_in_groups_and_cases(measured):
    # over: 2, part: 1, false: 1
    assert measured["over_load_total"].value == 4 and measured["over_load_rate"].value == 3 / 7


def test_first_choice_is_the_first_load_call_and_nothing_after_it(world, says):
    later = world.judge(world.scenario(expected=["jira"]), [says.load("wiki"), says.load("jira"), says.text()])
    wide = world.judge(world.scenario(id="w", expected=["jira"]), [says.load("jira", "wiki"), says.text()])
    unknown = world.judge(world.scenario(id="u", expected=["jira"]), [says.load("x"), says.load("jira"), says.text()])
    found = measure([later, wide, unknown])
    assert found["first_hit_rate"].value == 2 / 3 and found["first_exact_rate"].value == 1 / 3


def test_errors_are_in_the_error_rate_and_in_no_other_denominator(measured, cases):
    assert (measured["error_rate"].value, measured["error_rate"].n) == (1 / 8, 8)
    without = measure([outcome for name, outcome in cases.items() if name != "error"])
    for name in measured:
        if name not in ("error_rate", "listed_scenarios"):
            assert measured[name] == without[name], name


def test_only_errors_leave_nothing_measured_but_the_errors(cases):
    found = measure([cases["error"]])
    assert found["error_rate"].value == 1.0
    for name in ("top1", "exact", "skip_rate", "recall", "specificity", "token_saving", "baseline_top1[none]"):
        assert found[name].value is None and found[name].reason


def test_every_rate_has_an_interval_around_it(measured):
    for name, found in measured.items():
        if name.endswith("_rate") and found.value is not None:
            low, high = found.interval
            assert 0 <= low <= found.value <= high <= 1 and low < high, name


def test_confusion_weighs_a_missed_group_over_what_came_instead(world, says):
    scenario = world.scenario
    outcomes = [
        world.judge(scenario(id="a", expected=["jira"]), [says.load("wiki", "metrics"), says.text()]),
        world.judge(scenario(id="b", expected=["jira"]), [says.load("wiki"), says.text()]),
        world.judge(scenario(id="c", expected=["wiki", "jira"]), [says.load("wiki"), says.text()]),
    ]
    found = measure(outcomes)["missed_groups"]
    assert found.value == 3
    assert found.details["pairs"] == [["jira", "wiki", 1.5], ["jira", "(nothing)", 1.0], ["jira", "metrics", 0.5]]
    groups = {entry["group"]: entry for entry in found.details["groups"]}
    assert groups["jira"] == {"group": "jira", "support": 3, "recall": 0.0, "precision": None}
    assert groups["wiki"] == {"group": "wiki", "support": 1, "recall": 1.0, "precision": 1 / 3}


def test_of_equivalent_groups_one_is_enough_and_two_are_one_too_many(world, says):
    scenario = world.scenario(any_of=[("jira", "wiki")], expected=["metrics"])
    one = world.judge(scenario, [says.load("wiki", "metrics"), says.text()])
    both = world.judge(scenario, [says.load("wiki", "metrics", "jira"), says.text()])
    none = world.judge(scenario, [says.load("metrics"), says.text()])
    assert one.details["verdict"] == "EXACT" and one.expected == ["metrics", "wiki"]
    assert both.details["verdict"] == "HIT" and both.details["over_load"] == 1
    assert none.details["verdict"] == "MISS" and none.expected == ["jira", "metrics"]


def test_acceptable_groups_are_never_too_many_and_never_enough(world, says):
    scenario = world.scenario(expected=["jira"], acceptable=["wiki"])
    assert world.judge(scenario, [says.load("jira", "wiki"), says.text()]).details["verdict"] == "EXACT"
    assert world.judge(scenario, [says.load("jira"), says.text()]).details["verdict"] == "EXACT"
    assert world.judge(scenario, [says.load("wiki"), says.text()]).details["verdict"] == "MISS"


def test_a_group_that_is_always_on_counts_where_it_is_needed_and_is_no_false_load_elsewhere(world, says):
    there = world.with_groups(wiki={"always_on": True})
    needed = there.judge(there.scenario(expected=["wiki"]), [says.text()])
    idle = there.judge(there.scenario(), [says.text()])
    assert needed.details["verdict"] == "EXACT" and needed.details["skipped"] is False
    assert needed.details["first_hit"] is None
    assert idle.details["verdict"] == "EXACT" and idle.details["false_load"] is False


def test_the_right_group_by_the_wrong_tool_is_exact_for_groups_and_wrong_for_tools(world, says):
    scenario = world.scenario(expected=["metrics"], expected_tools=["metrics/metrics_volumes"])
    wrong = world.judge(scenario, [says.load(tools=["metrics_disks"]), says.text()], threshold=3)
    right = world.judge(scenario, [says.load(tools=["metrics_volumes"]), says.text()], threshold=3)
    whole = world.judge(scenario, [says.load("metrics"), says.text()])
    assert wrong.details["exact"] is True and wrong.details["tool_hit"] is False
    assert wrong.details["missed_tools"] == ["metrics/metrics_volumes"]
    assert right.details["tool_exact"] is True
    assert whole.details["tool_hit"] is True and whole.details["tool_precision"] == 1 / 4
    found = measure([wrong, right, whole])
    assert found["tool_recall"].value == 2 / 3 and found["tool_hit_rate"].n == 3


def test_tools_of_equivalent_groups_are_equivalent(world, says):
    tools = ("jira/jira_search", "wiki/wiki_search")
    scenario = world.scenario(any_of=[("jira", "wiki")], any_of_tools=[tools])
    outcome = world.judge(scenario, [says.load(tools=["wiki_search"]), says.text()], threshold=1)
    assert outcome.details["tool_exact"] is True


def test_scenarios_without_tools_are_not_in_the_tool_level(measured):
    assert measured["tool_recall"].value is None and "which tools" in measured["tool_recall"].reason


def test_tokens_are_summed_over_the_model_calls_and_held_against_all_tools(world, says):
    from yb_eval_agent_routing.agent import Offers
    from yb_eval_agent_routing.agent.loop import OWN_TOKENS

    scenario = world.scenario(expected=["jira"])
    offer, menu = Offers().of(scenario)
    outcome = world.judge(scenario, [says.load("jira"), says.call("jira_get"), says.text()])
    details = outcome.details
    jira = sum(tool.tokens for tool in offer.tools_of("jira"))
    assert details["menu_tokens"] == 3 * menu.tokens
    assert details["own_tokens"] == 3 * OWN_TOKENS["load_tools"]
    assert details["schema_tokens"] == 2 * jira
    # Two of the three calls did something; an agent with all tools would have needed no other.
    assert details["all_tokens"] == 2 * offer.all_tokens
    routed = details["menu_tokens"] + details["own_tokens"] + details["schema_tokens"]
    found = measure([outcome])
    assert isclose(found["token_saving"].value, 1 - routed / details["all_tokens"])
    assert details["costs_more"] is (routed > details["all_tokens"])


def test_what_needless_groups_cost_is_weighed_against_the_hit(world, says):
    from yb_eval_agent_routing.agent import Offers

    scenario = world.scenario(expected=["jira"])
    offer, _ = Offers().of(scenario)
    wide = world.judge(scenario, [says.load("jira", "wiki"), says.text()])
    extra = sum(tool.tokens for tool in offer.tools_of("wiki")) / offer.all_tokens
    found = measure([wide], token_weight=0.5)["cost_weighted_score"]
    assert isclose(found.value, 1 - 0.5 * extra) and found.details == {"weight": 0.5}


def test_baselines_are_what_they_say(world, says):
    jira = world.judge(world.scenario("issues and tickets", id="a", expected=["jira"]), [says.text(), says.text()])
    idle = world.judge(world.scenario("Bonjour", id="b"), [says.text(), says.text()])
    found = measure([jira, idle])
    assert found["baseline_top1[none]"].value == 1 / 2 and found["baseline_exact[none]"].value == 1 / 2
    assert found["baseline_top1[all]"].value == 1 / 2 and found["baseline_exact[all]"].value == 0
    assert found["baseline_recall[all]"].value == 1 and found["baseline_precision[all]"].value == 1 / 4
    assert found["baseline_top1[bm25:1]"].value == found["baseline_exact[bm25:1]"].value == 1
    assert found["baseline_precision[none]"].value is None


def test_word_overlap_is_the_share_of_the_request_that_stands_in_the_menu(world, says):
    scenario = world.scenario("open tickets please", expected=["jira"])
    outcome = world.judge(scenario, [says.text(), says.text()])
    assert outcome.details["overlap"] == 1 / 3
    assert world.judge(world.scenario("open tickets"), [says.text(), says.text()]).details["overlap"] is None


def test_slices_follow_the_tags(world, says):
    outcomes = [
        world.judge(
            world.scenario(id="a", expected=["jira"], tags=["wording:exact"]), [says.load("jira"), says.text()]
        ),
        world.judge(world.scenario(id="b", expected=["jira"], tags=["wording:unnamed"]), [says.text(), says.text()]),
    ]
    found = measure(outcomes)
    assert found["top1[wording:exact]"].value == 1 and found["skip_rate[wording:unnamed]"].value == 1


@pytest.mark.parametrize("place", range(len(agent_metrics(token_weight=0.1))))
def test_every_metric_keeps_the_laws_of_a_fold(cases, place):
    check_metric(agent_metrics(token_weight=0.1)[place], list(cases.values()) * 2)


def test_pass_hat_of_a_flaky_scenario(world, says):
    scenario = world.scenario(expected=["jira"])
    right = world.judge(scenario, [says.load("jira"), says.text()])
    wrong = world.judge(scenario, [says.text(), says.text()])
    from attrs import evolve

    metric = Repeats(repeats=3, ks=(1, 3))
    repeats = [evolve(outcome, repeat=i) for i, outcome in enumerate([right, wrong, right])]
    found = Measurements(metric.finish(metric.add(metric.start(), repeats)))
    assert found["pass_at[3]"].value == 1 and found["pass_hat[3]"].value == 0
    assert found["flaky_rate"].details == {"ids": ["case"]}


@pytest.mark.parametrize(
    ("expected", "got", "hit", "exact", "f1"),
    [
        ((), (), True, True, 1.0),
        ((), ("a",), False, False, 0.0),
        (("a",), (), False, False, 0.0),
        (("a",), ("a", "b"), True, False, 2 / 3),
        (("a", "b"), ("b", "a"), True, True, 1.0),
        (("a", "b"), ("b", "c"), False, False, 0.5),
    ],
)
def test_a_match(expected, got, hit, exact, f1):
    match = Match.of(got, expected=expected)
    assert (match.hit, match.exact, match.f1) == (hit, exact, f1)


def test_a_load_that_the_mode_or_the_budget_held_back_is_a_false_load_all_the_same(world, says):
    writes = world.judge(world.scenario(), [says.load(tools=["jira_create"]), says.text()])
    too_big = world.judge(world.scenario(), [says.load("metrics"), says.text()], tools=1)
    last = world.judge(world.scenario(), [says.load("wiki")], max_calls=1)
    for outcome, group in ((writes, "jira"), (too_big, "metrics"), (last, "wiki")):
        assert outcome.details["delivered"] == [] and outcome.predicted == [group]
        assert outcome.details["false_load"] is True and outcome.details["verdict"] == "MISS"
    needed = world.judge(world.scenario(expected=["metrics"]), [says.load("metrics"), says.text()], tools=1)
    assert needed.predicted == [] and needed.details["undelivered"] == ["metrics"]


def test_the_wrong_group_after_the_reminder_is_a_misroute_too(world, says):
    late = world.judge(world.scenario(expected=["jira"]), [says.text(), says.load("wiki"), says.text()])
    never = world.judge(world.scenario(expected=["jira"]), [says.text(), says.text()])
    assert late.details["raw_skipped"] is True and late.details["misrouted"] is True
    assert never.details["raw_skipped"] is True and never.details["misrouted"] is False
