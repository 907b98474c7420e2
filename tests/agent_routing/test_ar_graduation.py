"""The graduation rule: stay, move, neither, or not enough data - as a gate, in a run and as a command."""

from __future__ import annotations

import pytest

from yb_eval import Comparison, Declared, ExpressionError, Measurement, Measurements, UsageError
from yb_eval.model import Paired
from yb_eval.statistics import mcnemar_exact, wilson
from yb_eval.testing import check_gate
from yb_eval_agent_routing.graduation import GraduationGate, Limits, compare_router, stay_or_compare

LIMITS = Limits()


def measured(*, n=90, skips=0, misroutes=0, top1=80, repeats=3, pass_hat=0.8, tokens=1000.0):
    """The measurements of a run over n scenarios that need a group."""
    rates = {"raw_skip_rate": skips, "misroute_rate": misroutes, "top1": top1}
    details = {"repeats": [0.5] * repeats} if repeats > 1 else {}
    return Measurements(
        [
            *(Measurement(name, k / n, n, wilson(k, n), details=details) for name, k in rates.items()),
            Measurement(f"pass_hat[{repeats}]", pass_hat, n),
            Measurement("routed_tokens_total", tokens, n),
        ]
    )


def compared(*, broken=0, fixed=0, lost=0, n=90, **changes):
    pair = Paired(n, broken, fixed, 0, lost, mcnemar_exact(broken, fixed), None)
    said = {
        "comparable": True, "reason": None, "baseline_run_id": "0" * 64, "same_revision": True, "shared": n,
        "added": (), "removed": (), "judgements": {"": pair}, "flips": (),
    }  # fmt: skip
    return Comparison(**{**said, **changes})


def test_stay_while_both_upper_bounds_are_under_their_limits():
    said = stay_or_compare(measured(skips=3, misroutes=2), LIMITS)
    assert said.advice == "stay" and said.verdict == "pass"
    assert said.sentence.startswith("Stay with in-band routing") and "90 scenarios x 3 repeats" in said.sentence


@pytest.mark.parametrize("wrong", [{"skips": 8}, {"misroutes": 8}])
def test_a_rate_under_its_limit_with_a_bound_over_it_is_not_good_enough(wrong):
    said = stay_or_compare(measured(**wrong), LIMITS)  # 8.9 %, at most 16.6 %
    assert said.advice == "compare" and said.verdict == "fail" and "--policy router" in said.sentence


@pytest.mark.parametrize("few", [{"n": 59, "top1": 50}, {"repeats": 2}, {"repeats": 1}])
def test_too_few_scenarios_or_repeats_do_not_suffice_however_good(few):
    said = stay_or_compare(measured(**few), LIMITS)
    assert said.advice == "insufficient" and said.verdict == "unmeasured"
    assert "60 x 3" in said.sentence


def test_exactly_enough_suffices():
    assert stay_or_compare(measured(n=60, top1=60), LIMITS).advice == "stay"


@pytest.mark.parametrize("name", ["raw_skip_rate", "misroute_rate"])
def test_what_is_not_measured_does_not_suffice(name):
    whole = measured()
    nulled = Measurements(
        Measurement(name, None, reason="nothing was scored") if m == name else whole[m] for m in whole
    )
    said = stay_or_compare(nulled, LIMITS)
    assert said.verdict == "unmeasured" and "nothing was scored" in said.sentence


def test_the_router_is_recommended_only_when_the_paired_test_finds_it_better_and_its_cost_is_told():
    before, now = measured(misroutes=30), measured(pass_hat=0.95, tokens=1200.0)
    said = compare_router(now, before, compared(fixed=20, broken=2), LIMITS)
    assert said.advice == "router" and said.verdict == "pass"
    assert "20 scenarios fixed and 2 broken of 90" in said.sentence and "+20.0% tokens" in said.sentence
    assert "pass_hat[3] 95.0% against 80.0%" in said.sentence


@pytest.mark.parametrize(
    ("pair", "pass_hat"),
    [
        ({"fixed": 5, "broken": 2}, 0.95),  # p = 0.45
        ({"fixed": 2, "broken": 20}, 0.95),  # worse
        ({"fixed": 20, "broken": 2}, 0.8),  # no more reliable
    ],
)
def test_otherwise_it_is_not(pair, pass_hat):
    said = compare_router(measured(pass_hat=pass_hat), measured(misroutes=30), compared(**pair), LIMITS)
    assert said.advice == "not-router" and said.verdict == "fail"


def test_where_in_band_is_good_enough_there_is_no_reason_to_move():
    said = compare_router(measured(pass_hat=1.0), measured(), compared(fixed=20), LIMITS)
    assert said.advice == "not-router" and "no reason to move" in said.sentence


@pytest.mark.parametrize(
    "comparison",
    [
        None,
        compared(fixed=20, comparable=False, reason="another suite"),
        compared(fixed=20, same_revision=False),
        compared(fixed=20, added=("x",)),
        compared(fixed=20, removed=("x",)),
        compared(fixed=20, lost=1),
    ],
)
def test_runs_that_cannot_be_compared_recommend_nothing(comparison):
    said = compare_router(measured(pass_hat=0.95), measured(misroutes=30), comparison, LIMITS)
    assert said.verdict == "unmeasured"


def test_an_in_band_run_with_other_repeats_cannot_be_compared():
    said = compare_router(measured(pass_hat=0.95), measured(misroutes=30, repeats=5), compared(fixed=20), LIMITS)
    assert said.verdict == "unmeasured" and "pass_hat[3]" in said.sentence


@pytest.mark.parametrize("router", [False, True])
def test_the_gate_keeps_the_contract(router):
    declared = [
        Declared(name, "x", high=None if name.endswith("total") else 1.0)
        for name in ("raw_skip_rate", "misroute_rate", "top1", "routed_tokens_total")
    ]
    check_gate(GraduationGate(LIMITS, router), declared)


def test_the_gate_refuses_to_be_bound_where_its_rates_are_not_measured():
    with pytest.raises(ExpressionError, match="raw_skip_rate"):
        GraduationGate(LIMITS).bind({})


PERFECT = '''
import json, pathlib
WANTED = json.loads(pathlib.Path("wanted.json").read_text())
def right(request):
    """Loads what the script of the tests says is right; in-band it forgets to for every third scenario."""
    wanted = WANTED[request["scenario"]]
    if request["purpose"] == "route":
        return {"text": json.dumps({"groups": wanted, "tools": []})}
    loader = any(tool["name"] == "load_tools" for tool in request["tools"])
    if not loader or request["messages"][-1]["role"] == "tool" or not wanted:
        return {"text": "Done."}
    if FORGETS and sum(map(ord, request["scenario"])) %% 3 == 0:
        return {"text": "I do not know."}
    return {"tool_calls": [{"name": "load_tools", "arguments": {"groups": wanted}}]}
FORGETS = %s
'''


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a model that routes perfectly, or forgets to load in-band."""
    import json
    import sys

    from yb_eval_agent_routing.scenarios import load_scenarios

    monkeypatch.chdir(tmp_path)
    scenarios = load_scenarios(["livemcpbench"]).scenarios
    wanted = {s.id: [*s.expected, *(names[0] for names in s.any_of)] for s in scenarios}
    (tmp_path / "wanted.json").write_text(json.dumps(wanted), encoding="utf-8")

    def make(forgets):
        (tmp_path / "graduating.py").write_text(PERFECT % forgets, encoding="utf-8")
        sys.modules.pop("graduating", None)
        return "python:graduating:right"

    yield make
    sys.modules.pop("graduating", None)


COMMON = {"scenarios": ["livemcpbench"], "graduation": True}


def graduation_gate(report):
    (gate,) = [gate for gate in report["gates"] if gate["gate"].startswith("graduation:")]
    return gate


def test_a_run_that_routes_well_says_to_stay_in_a_sentence(suite, project):
    report = suite(**COMMON, provider=project(False), repeats=3)
    assert report["details"]["recommendation"].startswith("Stay with in-band routing")
    assert report["details"]["recommendation"] in report["details"]["summary"]
    assert graduation_gate(report)["verdict"] == "pass"


def test_a_run_without_repeats_is_not_measured(suite, project):
    report = suite(code=3, **COMMON, provider=project(False))
    assert graduation_gate(report)["verdict"] == "unmeasured"
    assert "do not suffice" in report["details"]["recommendation"]


def test_a_model_that_skips_fails_in_band_and_graduates_to_the_router(suite, project):
    provider = project(True)
    in_band = suite(code=1, **COMMON, provider=provider, repeats=3)
    assert graduation_gate(in_band)["verdict"] == "fail"
    router = suite(**COMMON, provider=provider, repeats=3, policy="router", against=in_band["run_id"])
    gate = graduation_gate(router)
    assert gate["verdict"] == "pass" and gate["reason"].startswith("Move to the router")
    assert "tokens" in gate["reason"]


@pytest.mark.parametrize("policy", ["search", "all", "none"])
def test_the_rule_says_nothing_about_other_policies(suite, policy):
    with pytest.raises(UsageError, match="--graduation"):
        suite(graduation=True, policy=policy)


def command(*arguments):
    from yb_eval.cli import main

    return main(["agent-routing", "graduate", "--scenarios", "livemcpbench", *arguments])


def test_the_command_recommends_staying_after_one_run(project, capsys):
    assert command("--provider", project(False)) == 0
    assert capsys.readouterr().out.startswith("Stay with in-band routing")


def test_the_command_runs_the_router_only_where_in_band_is_not_good_enough(project, capsys):
    assert command("--provider", project(True)) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Move to the router") and "router: run" in said.err


def test_the_command_ends_with_1_where_neither_is_good_enough_and_with_3_without_data(project, capsys):
    assert command("--provider", "bm25:1") == 1
    assert capsys.readouterr().out.startswith("The router is not shown to be better")
    assert command("--provider", "bm25:1", "--repeats", "1") == 3
    assert command("--provider", "bm25:1", "--min-scenarios", "1000") == 3


def test_the_command_does_not_take_errors_for_data(project, capsys, tmp_path):
    (tmp_path / "dead.yaml").write_text("default: [{error: HTTP 400}]", encoding="utf-8")
    assert command("--provider", "mock:dead.yaml") == 3
    assert "errors" in capsys.readouterr().out


@pytest.mark.parametrize("option", [("--policy", "all"), ("--graduation",), ("--against", "x")])
def test_the_command_refuses_what_it_decides_itself(project, option, capsys):
    assert command(*option) == 2
    assert "decided by the rule" in capsys.readouterr().err


def test_both_runs_of_the_command_can_be_recorded_and_replayed(project, capsys):
    assert command("--provider", project(True), "--record", "both.jsonl") == 0
    live = capsys.readouterr().out
    assert command("--provider", "replay:both.jsonl") == 0
    assert capsys.readouterr().out == live
