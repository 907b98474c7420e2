"""`yb-eval run routing-quality`, through the installed command."""

import json
import random

import pytest

from yb_eval_datasets import path

ROUTER = """
import json


def by_words(request):
    return {"score": len(request["prompt"].split())}


def by_tier(request):
    return {"tier": "reasoning" if len(request["prompt"]) > 300 else "simple"}


def always_simple(request):
    return {"tier": "simple"}


def contrary(request):
    return {"score": -len(request["prompt"])}


def nosy(request):
    leaked = {"weak", "strong", "tags"} & set(request) or set(request.get("metadata", {})) - {"input_tokens"}
    if leaked:
        raise ValueError(f"the request gives away {sorted(leaked)}")
    return {"score": len(request.get("prompt", "")) or request["metadata"]["input_tokens"]}


def broken(request):
    return {"score": "NaN"} if request["id"].endswith("7") else {"score": 1}
"""


@pytest.fixture
def routed(project):
    project.write("router.py", ROUTER)
    return project


def suite_of(report):
    (suite,) = report["suites"]
    return suite


def values(report):
    return {name: entry["value"] for name, entry in suite_of(report)["measurements"].items()}


def verdicts(report):
    return {gate["gate"]: (gate["severity"], gate["verdict"]) for gate in suite_of(report)["gates"]}


def one_line(done):
    lines = [line for line in done.stderr.splitlines() if line.startswith("yb-eval: ")]
    assert len(lines) == 1 and not done.stdout, (done.stdout, done.stderr)
    return lines[0]


def shipped_rows(name):
    return [json.loads(line) for line in path(f"routing/{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def test_default_run_passes_and_says_that_the_prompts_length_ranks_better(project):
    report = project.report("routing-quality")
    measured = values(report)
    assert report["verdict"] == "pass"
    assert verdicts(report)["apgr > 0.5"] == ("block", "pass")
    assert verdicts(report)["apgr >= length_apgr"] == ("warn", "fail")
    assert suite_of(report)["details"]["beats"] == {"random": True, "length": False, "best_constant": False}
    assert measured["apgr"] == pytest.approx(0.531, abs=5e-3)
    assert measured["length_apgr"] == pytest.approx(0.600, abs=1e-3)
    assert measured["oracle_apgr"] == pytest.approx(1.118, abs=5e-4)
    assert measured["random_apgr"] == pytest.approx(0.5, abs=0.06)
    assert (measured["samples"], measured["errors"]) == (1_319, 0)
    assert suite_of(report)["measurements"]["random_apgr"]["details"] == {"expected": 0.5}
    assert "apgr >= length_apgr" in project("run", "routing-quality").stdout


def test_the_reference_router_ranks_mmlu_no_better_than_chance_and_fails(project):
    report = project.report("routing-quality", "--data", "mmlu", code=1)
    measured = values(report)
    assert measured["apgr"] < 0.5 < measured["length_apgr"]
    assert measured["length_apgr"] == pytest.approx(0.583, abs=5e-3)
    assert measured["oracle_apgr"] == pytest.approx(1.268, abs=5e-3)
    assert measured["accuracy[domain:high_school_mathematics]"] is not None
    assert project.report("routing-quality", "--data", "mmlu", "--min-apgr", 0.4)["verdict"] == "pass"


def test_routerarena_has_costs_and_needs_a_router_that_reads_no_prompt(routed):
    assert "no prompts" in one_line(routed("run", "routing-quality", "--data", "routerarena", code=2))
    arguments = ("routing-quality", "--data", "routerarena", "--target", "length", "--threshold")
    everything, nothing = values(routed.report(*arguments, 0)), values(routed.report(*arguments, 1e9))
    assert (everything["strong_share"], nothing["strong_share"]) == (1.0, 0.0)
    assert everything["arena_score"] == pytest.approx(0.697, abs=1e-3)
    assert nothing["arena_score"] == pytest.approx(0.533, abs=1e-3)
    assert everything["accuracy"] == everything["best_constant_accuracy"] == pytest.approx(0.690, abs=1e-3)
    assert everything["oracle_accuracy"] == pytest.approx(0.741, abs=1e-3)
    assert 1000 * everything["cost_usd_mean"] == pytest.approx(0.0475, abs=1e-4)
    assert everything["optimal_cost"] == pytest.approx(1.0, abs=2e-3)


@pytest.mark.parametrize("data", ["gsm8k", "routerarena"])
def test_a_router_is_not_shown_the_outcomes(routed, data):
    report = routed.report("routing-quality", "--data", data, "--target", "python:router:nosy")
    assert values(report)["errors"] == 0


def test_the_length_target_is_the_length_router_of_every_run(project):
    measured = values(project.report("routing-quality", "--target", "length"))
    assert measured["apgr"] == measured["length_apgr"] and measured["apgr_over_length"] == 0
    assert measured["aiq"] == measured["length_aiq"]


def test_a_random_target_depends_on_the_seed_only(project):
    arguments = ("routing-quality", "--target", "random", "--min-apgr", 0.3)
    first, again, other = (project.report(*arguments, "--seed", seed) for seed in (1, 1, 2))
    assert first["run_id"] == again["run_id"]
    assert values(first)["apgr"] != values(other)["apgr"]
    assert all(abs(values(report)["apgr"] - 0.5) < 0.08 for report in (first, other))


def test_a_constant_router_is_no_better_than_chance_and_fails(routed):
    report = routed.report("routing-quality", "--target", "python:router:always_simple", code=1)
    assert values(report)["apgr"] == 0.5 and values(report)["pgr"] == 0.0
    assert suite_of(report)["details"]["near_constant"] is True


def test_tiers_give_an_operating_point_and_a_threshold_overrides_it(routed):
    tiers = values(routed.report("routing-quality", "--target", "python:router:by_tier"))
    share = sum(len(row["prompt"]) > 300 for row in shipped_rows("gsm8k")) / 1_319
    assert tiers["strong_share"] == pytest.approx(share)
    assert tiers["weak_accuracy"] < tiers["accuracy"] < tiers["strong_accuracy"]
    assert tiers["pgr"] > tiers["strong_share"], "better than chance at that share"
    scores = ("routing-quality", "--target", "python:router:by_words")
    assert values(routed.report(*scores))["pgr"] is None
    assert 0 < values(routed.report(*scores, "--threshold", 50))["strong_share"] < 1
    assert one_line(routed("run", "routing-quality", "--strong-tier", "huge", code=2)).count("huge") == 1


def test_wrong_answers_are_errors_and_the_run_is_not_measured(routed):
    report = routed.report("routing-quality", "--target", "python:router:broken", code=3)
    counts = suite_of(report)["counts"]
    assert counts["error"] == sum(row["id"].endswith("7") for row in shipped_rows("gsm8k"))
    assert (report["verdict"], counts["scored"]) == ("unmeasured", 1_319 - counts["error"])


def test_row_order_and_concurrency_change_no_measurement(routed):
    rows = shipped_rows("gsm8k")
    routed.rows(rows)
    arguments = ("routing-quality", "--data", "rows.jsonl", "--target", "python:router:by_tier")
    first = routed.report(*arguments)
    for more in (("--jobs", 4), ("--batch-size", 1), ("--jobs", 2, "--executor", "processes")):
        assert routed.report(*arguments, *more)["run_id"] == first["run_id"]
    random.Random(3).shuffle(rows)
    routed.rows(rows)
    assert suite_of(routed.report(*arguments))["measurements"] == suite_of(first)["measurements"]


def test_a_fall_against_the_baseline_fails(routed):
    arguments = ("routing-quality", "--target", "python:router:by_words")
    routed.report(*arguments, "--save", "base.json")
    assert verdicts(routed.report(*arguments, "--against", "base.json"))["apgr - baseline.apgr >= -0.01"][1] == "pass"
    worse = ("routing-quality", "--against", "base.json", "--min-apgr", 0.4)
    report = routed.report(*worse, code=1)
    assert verdicts(report)["apgr - baseline.apgr >= -0.01"] == ("block", "fail")
    assert routed.report(*worse, "--max-drop", 0.2)["verdict"] == "pass"


def test_a_ranking_upside_down_is_worse_than_chance(routed):
    report = routed.report("routing-quality", "--target", "python:router:contrary", code=1)
    assert values(report)["apgr"] == pytest.approx(1 - values(report)["length_apgr"], abs=1e-9)


def test_prompts_that_routellm_leaves_out_can_be_left_out(project):
    report = project.report("routing-quality", "--filter", '"contaminated:routellm" not in tags')
    assert values(report)["samples"] == 1_307
    assert values(report)["length_apgr"] == pytest.approx(0.597, abs=1e-3)


def test_a_file_of_the_users_with_prices_and_messages(project):
    served = {"model": "small-1", "input_tokens": 10, "output_tokens": 100}
    large = {"model": "large-1", "input_tokens": 10, "output_tokens": 100}
    project.rows(
        {"messages": [{"role": "user", "content": "word " * n}], "weak": {"score": int(n % 3 == 0), **served},
         "strong": {"score": 1, **large}}
        for n in range(1, 21)
    )  # fmt: skip
    price = {"input_token_price_per_million": 0.0, "output_token_price_per_million": 10.0}
    dear = {**price, "output_token_price_per_million": 100.0}
    arguments = ("routing-quality", "--data", "rows.jsonl", "--target", "length", "--threshold", 52)
    project.write("prices.json", json.dumps({"small-1": price}))
    line = one_line(project("run", *arguments, "--prices", "prices.json", code=2))
    assert "rows.jsonl:1" in line and "no price for the model 'large-1'" in line
    project.write("prices.json", json.dumps({"small-1": price, "large-1": dear}))
    report = project.report(*arguments, "--prices", "prices.json", "--min-apgr", 0)
    assert values(report)["cost_usd_total"] == pytest.approx(10 * 0.001 + 10 * 0.01)
    project.write("prices.json", json.dumps({"small-1": price, "large-1": price}))
    cheaper = project.report(*arguments, "--prices", "prices.json", "--min-apgr", 0)
    assert cheaper["plan_id"] != report["plan_id"], "prices are part of the dataset's revision"
    assert values(cheaper)["aiq"] is None, "both models cost the same: there is no range of cost"


def test_describe_shows_targets_measurements_and_gates(project):
    said = project("describe", "routing-quality").stdout
    for word in (
        "--data",
        "--threshold",
        "--target length",
        "apgr_over_length",
        "optimal_selection",
        "block: apgr > 0.5",
    ):
        assert word in said
