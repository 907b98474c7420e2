"""What others have reported of tools like this one, each with its whole kind.

1. A dead model endpoint whose run nevertheless had passes and partial points.
2. Models that skip the load step and call a tool that was never loaded, or end the turn with nothing.
3. A search that misses a tool whose exact name stands in the request.
4. A loader that is advertised, or said to be on, while nothing is deferred.
"""

from __future__ import annotations

import json
import sys

import pytest

BROKEN = """
import sys

def raises(request):
    raise ValueError("model not available")

def exits(request):
    sys.exit(0)

def silent(request):
    return None

def prose(request):
    return "I cannot do that."

def wrong(request):
    return {"error": {"message": "model not found", "code": 400}}

def nested(request):
    return {"tool_calls": [{"name": None}]}

def infinite(request):
    return {"text": "x", "usage": {"input_tokens": float("inf")}}

def dies_later(request):
    if request["call"] == 0 and request["tools"]:
        return {"tool_calls": [{"name": "load_tools", "arguments": {"groups": ["jira"]}}]}
    raise ConnectionError("reset by peer")
"""


@pytest.fixture
def broken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken_models.py").write_text(BROKEN, encoding="utf-8")
    yield lambda name: f"python:broken_models:{name}"
    sys.modules.pop("broken_models", None)


def is_dead(report):
    found = report["measurements"]
    assert report["verdict"] == "unmeasured"
    counts = report["counts"]
    assert (counts["samples"], counts["scored"], counts["error"], counts["skipped"]) == (9, 0, 9, 0)
    assert found["error_rate"]["value"] == 1.0
    for name in ("top1", "exact", "skip_rate", "specificity", "recall", "raw_skip_rate"):
        assert found[name]["value"] is None
    assert all(gate["verdict"] == "unmeasured" for gate in report["gates"])
    assert {row["verdict"] for row in found["listed_scenarios"]["details"]["rows"]} == {"ERROR"}
    assert report["details"]["headline"] == "scenarios=9  top1=-  exact=-  skip=-  errors=9"


@pytest.mark.parametrize("policy", ["in-band", "router", "search", "all", "none"])
def test_a_dead_provider_scores_nothing_under_any_policy(suite, broken, policy):
    is_dead(suite(code=3, scenarios=["default"], provider=broken("raises"), policy=policy))


@pytest.mark.parametrize("how", ["raises", "exits", "silent", "prose", "wrong", "nested", "infinite", "dies_later"])
def test_a_provider_can_be_dead_in_many_ways(suite, broken, how):
    is_dead(suite(code=3, scenarios=["default"], provider=broken(how)))


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_a_server_that_refuses_every_request_scores_nothing(suite, model_server, monkeypatch, kind, stream, status):
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # what the SDKs do between attempts
    model_server.default = {"status": status}
    endpoint = model_server.url + ("/v1" if kind == "openai" else "")
    is_dead(
        suite(code=3, scenarios=["default"], provider=f"{kind}:m", endpoint=endpoint,
              stream=stream)
    )  # fmt: skip


def test_one_failure_among_many_successes_is_not_forgiven_by_default_and_is_in_no_rate(suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    script = {"answers": {"default/greeting_skip": [{"error": "HTTP 400"}]}, "default": [{"text": "x"}, {"text": "x"}]}
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    strict = suite(code=3, scenarios=["default"], min_top1=0.0, provider="mock:script.json")
    assert strict["measurements"]["top1"]["n"] == 8 and strict["measurements"]["specificity"]["value"] is None
    lenient = suite(code=0, scenarios=["default"], min_top1=0.0, provider="mock:script.json", max_errors=1)
    assert lenient["measurements"]["error_rate"]["value"] == pytest.approx(1 / 9)


UNLOADED = [
    ["call jira_search", "text"],
    ["call jira/jira_search", "text"],
    ["call jira_search", "call jira_search", "call jira_get", "text"],
    ["text", "call jira_search", "text"],
]


@pytest.mark.parametrize("steps", UNLOADED)
def test_a_tool_called_without_being_loaded_is_seen_and_is_no_hit(world, says, steps):
    answers = [says.text() if step == "text" else says.call(step.removeprefix("call ")) for step in steps]
    outcome = world.judge(world.scenario(expected=["jira"]), answers)
    assert outcome.status == "scored" and outcome.correct is False
    assert outcome.details["unloaded_call"] is True and "jira/jira_search" in outcome.details["unloaded_calls"]
    assert outcome.details["skipped"] is True and outcome.details["called"] == []


def test_a_tool_called_first_and_loaded_after_is_a_hit_with_the_mistake_kept(world, says):
    answers = [says.call("jira_search"), says.load("jira"), says.call("jira_search"), says.text()]
    outcome = world.judge(world.scenario(expected=["jira"]), answers)
    assert outcome.correct is True and outcome.details["unloaded_call"] is True
    assert outcome.details["called"] == ["jira/jira_search"]


def test_a_search_that_is_followed_by_nothing_leaves_a_turn_without_a_call_and_is_seen(world, says):
    searched = world.judge(
        world.scenario(expected=["metrics"]),
        [says.call("search_tools", query="volumes"), says.text("")],
        policy="search",
    )
    assert searched.details["load_calls"] == 1 and searched.details["called"] == []
    silent = world.judge(world.scenario(expected=["metrics"]), [says.text("")], policy="search")
    assert silent.details["verdict"] == "SKIP" and silent.details["raw_skipped"] is True


def test_the_loader_called_where_there_is_none_is_an_unknown_tool(world, says):
    outcome = world.judge(world.scenario(expected=["jira"]), [says.load("jira"), says.text()], policy="search")
    assert outcome.details["unknown"] == ["load_tools"] and outcome.details["load_calls"] == 0


CATALOGUE = """
environments:
  - id: code
    capabilities:
      - {id: graph, name: Graph, description: code intelligence}
      - {id: noise, name: Noise, description: everything else}
    tools:
      - {name: search_graph, capability: graph, read_only: true, description: one}
      - {name: find_symbol, capability: graph, read_only: true, description: two}
NOISE
defaults: {environment: code}
scenarios:
  - {id: exact_graph, message: please use search_graph, expected: [graph], expected_tools: [search_graph], tags: ["wording:exact-name"]}
  - {id: exact_symbol, message: please use find_symbol, expected: [graph], expected_tools: [find_symbol], tags: ["wording:exact-name"]}
  - {id: words, message: two things, expected: [graph], expected_tools: [find_symbol], tags: ["wording:description"]}
"""


def catalogue(noise):
    """A catalogue in which so many other tools repeat the words of the exact names."""
    tools = "\n".join(
        f"      - {{name: please_use_{n}, capability: noise, read_only: true, description: search graph search graph}}"
        for n in range(noise)
    )
    return CATALOGUE.replace("NOISE", tools)


def test_a_search_that_finds_the_exact_name_is_a_hit(suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exact.yaml").write_text(catalogue(1), encoding="utf-8")
    report = suite(scenarios=["exact.yaml"], policy="search", top_k=3, min_top1=1.0)
    assert report["measurements"]["tool_hit_rate"]["value"] == 1.0


def test_a_search_that_misses_an_exact_name_is_a_miss_by_case_and_by_slice(suite, outcomes_of, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exact.yaml").write_text(catalogue(9), encoding="utf-8")
    report = suite(code=1, scenarios=["exact.yaml"], policy="search", top_k=1, min_top1=1.0)
    found = {line["id"]: line for line in outcomes_of(report)}
    missed = found["exact_graph"]
    assert missed["correct"] is False and missed["details"]["verdict"] == "MISS"
    assert missed["details"]["missed_tools"] == ["graph/search_graph"]
    assert report["measurements"]["top1[wording:exact-name]"]["value"] < 1
    assert report["measurements"]["top1[wording:description]"]["value"] == 1
    assert "exact_graph" in "\n".join(report["details"]["table"])


def test_an_agent_that_concludes_the_tool_is_unavailable_is_a_miss_and_not_an_abstention(world, says):
    answers = [says.call("search_tools", query="xyzzy"), says.text("The tool is not available.")]
    outcome = world.judge(world.scenario(expected=["metrics"]), answers, policy="search")
    assert outcome.details["verdict"] == "MISS" and outcome.details["misrouted"] is True


ALWAYS = """
environments:
  - id: small
    capabilities: [{id: jira, name: Jira, always_on: true}, {id: wiki, name: Wiki, always_on: ALL}]
    tools:
      - {name: jira_search, capability: jira, read_only: true}
      - {name: wiki_search, capability: wiki, read_only: true}
scenarios:
  - {id: a, environment: small, message: my issues, expected: [jira]}
"""


@pytest.mark.parametrize("policy", ["in-band", "router", "search"])
def test_routing_with_everything_always_on_is_told_to_be_inactive_and_saves_nothing(
    suite, tmp_path, monkeypatch, policy
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "always.yaml").write_text(ALWAYS.replace("ALL", "true"), encoding="utf-8")
    report = suite(scenarios=["always.yaml"], policy=policy)
    found = report["measurements"]
    assert found["routing_inactive_rate"]["value"] == 1.0
    assert found["token_saving"]["value"] == 0.0 and found["costs_more_rate"]["value"] == 0.0
    assert any(warning.startswith("routing inactive") for warning in report["details"]["warnings"])
    assert any(line.startswith("routing inactive") for line in report["details"]["summary"])


def test_routing_with_something_to_load_is_active(suite, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "always.yaml").write_text(ALWAYS.replace("ALL", "false"), encoding="utf-8")
    report = suite(scenarios=["always.yaml"])
    assert report["measurements"]["routing_inactive_rate"]["value"] == 0.0


@pytest.mark.parametrize("policy", ["in-band", "search", "router"])
def test_no_loader_is_advertised_where_nothing_is_deferred_so_no_model_can_loop_on_it(world, recorded, says, policy):
    everything = world.with_groups(**{name: {"always_on": True} for name in ("calendar", "jira", "metrics", "wiki")})
    model = recorded(*[says.load("jira")] * 3, says.text())
    outcome = everything.judge(everything.scenario(expected=["jira"]), model, policy=policy)
    for request in model.requests:
        assert not {"load_tools", "search_tools"} & {tool["name"] for tool in request["tools"]}
        assert "load_tools" not in request["system"] and "search_tools" not in request["system"]
    assert outcome.details["load_calls"] == 0 and outcome.details["unknown"] == ["load_tools"]
    assert outcome.details["routing_active"] is False


def test_tools_called_directly_while_routing_is_on_are_no_loads(world, says):
    outcome = world.judge(world.scenario(expected=["jira"]), [says.call("jira_search"), says.text()], nudge=False)
    assert outcome.details["load_calls"] == 0 and outcome.details["routing_active"] is True
    assert outcome.details["verdict"] == "SKIP"
