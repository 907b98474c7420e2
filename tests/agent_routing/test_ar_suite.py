"""The suite as a whole: its default run, its options, its reports and its command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from yb_eval import UsageError
from yb_eval.plugins import load_suite
from yb_eval.testing import check_suite
from yb_eval_agent_routing.report import COLUMNS, fit, headline, table
from yb_eval_agent_routing.suite import Options

COMMAND = Path(sys.executable).with_name("yb-eval")

#: BM25 over the servers of LiveMCPBench (k1 1.2, b 0.75): all needed groups among the k best, percent of 90 tasks.
TABLE = {1: 24.4, 2: 31.1, 3: 36.7, 5: 50.0, 10: 61.1}


@pytest.mark.parametrize("policy", ["in-band", "router", "search", "all", "none"])
def test_the_suite_keeps_the_contracts_of_core(policy):
    suite, _ = load_suite("agent-routing")
    check_suite(suite, Options(scenarios=("default",), policy=policy), limit=20)


def test_the_default_run_passes_on_the_shipped_scenarios(suite):
    report = suite()
    assert report["verdict"] == "pass" and report["target"]["spec"] == "bm25:1"
    assert report["counts"]["samples"] > 150 and report["counts"]["error"] == 0
    assert report["details"]["beats"]["none"] is True


@pytest.mark.parametrize("k", sorted(TABLE))
def test_bm25_on_livemcpbench_agrees_with_the_published_formula(suite, k):
    report = suite(scenarios=["livemcpbench"], provider=f"bm25:{k}", min_top1=0.0, max_tool_bytes=10**9)
    assert report["counts"]["samples"] == 90
    found = report["measurements"]
    assert round(100 * found[f"baseline_top1[bm25:{k}]"]["value"], 1) == TABLE[k]
    if k <= 5:  # ten servers can have more tools than a provider takes
        assert round(100 * found["top1"]["value"], 1) == TABLE[k]
    else:
        assert found["top1"]["value"] <= found[f"baseline_top1[bm25:{k}]"]["value"]
        assert found["undelivered_rate"]["value"] > 0


@pytest.mark.parametrize(("k", "groups", "tools"), [(5, 36.7, 29.0), (20, 61.1, 45.3)])
def test_bm25_over_tools_agrees_too(suite, k, groups, tools):
    found = suite(scenarios=["livemcpbench"], policy="search", top_k=k, min_top1=0.0)["measurements"]
    assert round(100 * found["top1"]["value"], 1) == groups
    assert round(100 * found["tool_recall"]["value"], 1) == tools


@pytest.mark.parametrize("policy", ["in-band", "router", "search"])
def test_the_outcome_log_is_the_same_for_any_number_of_jobs_and_any_batch(suite, policy):
    runs = [suite(min_top1=0.0, policy=policy, **how) for how in ({}, {"jobs": 8}, {"batch_size": 7, "jobs": 3})]
    assert len({run["run_id"] for run in runs}) == 1


def test_the_same_run_has_the_same_id_in_another_process_with_another_hash_seed(tmp_path):
    ids = set()
    for seed in ("0", "1"):
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("CHAT_EVAL", "YB_EVAL"))}
        done = subprocess.run(
            [COMMAND, "run", "agent-routing", "--scenarios", "default", "--json"],
            cwd=tmp_path, env={**environment, "PYTHONHASHSEED": seed}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        ids.add(json.loads(done.stdout)["run_id"])
    assert len(ids) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"policy": "router"}, {"policy": "all"}, {"nudge": False}, {"max_tools": 5}, {"expand_threshold": 2}, {"sticky": True},
        {"top_k": 2}, {"max_calls": 3}, {"max_tool_bytes": 1000}, {"provider": "bm25:2"}, {"scale": [5]},
        {"ablation": ["shuffled"]}, {"token_weight": 0.2}, {"min_top1": 0.1},
    ],
)  # fmt: skip
def test_whatever_decides_the_result_is_part_of_the_plan(suite, options):
    assert suite(scenarios=["default"])["plan_id"] != suite(code=None, scenarios=["default"], **options)["plan_id"]


def test_a_scenario_file_is_known_by_its_bytes_and_not_by_its_name(suite, tmp_path):
    text = """
environments:
  - id: e
    capabilities: [{id: jira, name: Jira, description: issues}]
    tools: [{name: jira_search, capability: jira, read_only: true}]
defaults: {environment: e}
scenarios: [{id: a, message: my issues, expected: [jira]}]
"""
    (tmp_path / "one.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "two.yaml").write_text(text + "# a comment\n", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "one.yaml").write_text(text, encoding="utf-8")
    runs = [suite(scenarios=[name]) for name in ("one.yaml", "sub/one.yaml", "two.yaml")]
    revisions = [run["datasets"][0]["revision_id"] for run in runs]
    assert revisions[0] == revisions[1] != revisions[2]
    assert runs[0]["plan_id"] == runs[1]["plan_id"]


def test_scenarios_can_be_filtered_by_their_fields(suite):
    report = suite(min_top1=0.0, filter='kind == "no_suitable_group"')
    assert report["counts"]["samples"] == report["measurements"]["abstain_rate"]["n"] > 5


def test_a_scale_sweep_is_sliced_by_size(suite):
    found = suite(scenarios=["default"], scale=[5, 20, 70, 200], min_top1=0.0)["measurements"]
    values = [found[f"top1[size:{size}]"]["value"] for size in (5, 20, 70, 200)]
    assert values == sorted(values, reverse=True)
    assert {found[f"top1[size:{size}]"]["n"] for size in (5, 20, 70, 200)} == {9}


def test_menu_ablations_are_sliced_by_what_was_altered(suite):
    found = suite(scenarios=["default"], ablation=["no-descriptions", "shuffled", "anonymised"])["measurements"]
    assert found["top1[menu:full]"]["n"] == found["top1[menu:anonymised]"]["n"] == 9


def test_a_model_is_compared_with_an_earlier_run_by_pairs(suite):
    before = suite(scenarios=["livemcpbench"], provider="bm25:5", min_top1=0.0)
    now = suite(code=1, scenarios=["livemcpbench"], provider="bm25:1", min_top1=0.0, against=before["run_id"])
    (gate,) = [gate for gate in now["gates"] if gate["gate"] == "no_worse(top1)"]
    assert gate["verdict"] == "fail" and "broken" in gate["reason"]


def test_a_gate_in_the_noise_is_warned_about(suite):
    report = suite(scenarios=["default"], provider="bm25:1", min_top1=0.6)
    assert any("within the noise" in warning for warning in report["details"]["warnings"])


@pytest.mark.parametrize(
    "options",
    [{"policy": "inband"}, {"scenarios": ["nowhere"]}, {"scale": [0]}, {"ablation": ["x"]}, {"top_k": 0}, {"endpoint": "x", "provider": "openai:m"}],
)  # fmt: skip
def test_an_option_that_means_nothing_is_refused(suite, options, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with pytest.raises(UsageError):
        suite(**options)


def test_the_text_report_of_the_command_tells_what_broke(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("CHAT_EVAL", "YB_EVAL"))}

    def command(*arguments):
        return subprocess.run([COMMAND, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert command("run", "agent-routing", "--scenarios", "default").returncode == 0
    shown = command("agent-routing", "table")
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].split() == ["SCENARIO", "RESULT", "EXPECTED", "ASKED", "LOADED", "DELIVERED"]
    assert len([line for line in lines if line.startswith("default/")]) == 9
    assert "scenarios=9  top1=67%  exact=67%  skip=0%  errors=0" in lines
    wrong = command("agent-routing", "table", "--wrong").stdout
    assert "default/jira_confluen…" in wrong and "default/jira_single" not in wrong
    transcript = command("agent-routing", "table", "--transcript", "default/jira_single").stdout
    assert "| jira | Jira |" in transcript
    assert command("agent-routing", "table", "--transcript", "nothing").returncode == 2


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short     "),
        ("exactly_10", "exactly_10"),
        ("more than ten", "more than…"),
        ("数据库管理系统", "数据库管… "),
        ("e\u0301" * 12, "e\u0301" * 9 + "…"),
        ("a\x1b[31m", "a\\x1b[31m "),
    ],
)
def test_cells_are_cut_by_what_is_shown_not_by_bytes(text, shown):
    assert fit(text, 10) == shown


def row(**fields):
    listed = {
        "asked": [],
        "loaded": [],
        "delivered": [],
        "unknown": [],
        "unloaded_calls": [],
        "load_calls": 1,
        "nudged": False,
    }
    return {"id": "x", "verdict": "EXACT", "expected": [], **listed, **fields}


def test_a_row_says_what_else_happened():
    (_, said) = table([row(id="a", nudged=True, load_calls=3, unknown=["nowhere"], unloaded_calls=["jira/jira_get"])])
    assert said.endswith("nudged, 3 load calls, unknown: nowhere, called unloaded: jira/jira_get")
    assert said.startswith("a ") and len(said) > sum(width for _, width in COLUMNS)


def test_a_failed_scenario_is_a_row_of_its_own_kind():
    (_, said) = table([{"id": "a", "verdict": "ERROR", "expected": ["jira"], "reason": "HTTP 400\n"}])
    assert said.split()[:3] == ["a", "ERROR", "jira"] and said.endswith("HTTP 400\\n")


def test_a_headline_without_numbers_shows_dashes():
    assert headline({}) == "scenarios=0  top1=-  exact=-  skip=-  errors=0"


def test_every_option_and_every_measurement_is_documented():
    from yb_eval.metrics import declarations
    from yb_eval.options import describe
    from yb_eval_agent_routing.metrics import agent_metrics

    page = (Path(__file__).parents[2] / "docs" / "agent-routing.md").read_text(encoding="utf-8")
    assert [
        info.name for info in describe(Options) if f"--{info.name}" not in page and f"--no-{info.name}" not in page
    ] == []
    ours = declarations(agent_metrics(token_weight=0.1))
    amounts = {name.removesuffix("_total").removesuffix("_mean") for name in ours}
    assert [name for name in sorted(amounts) if name not in page and name != "listed_scenarios"] == []
