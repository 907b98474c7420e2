"""Providers as the user names them: bm25, mock, python, replay with record, cache, and the environment's."""

from __future__ import annotations

import json
import sys

import pytest

from yb_eval import DatasetError, UsageError
from yb_eval_agent_routing.agent import Offers
from yb_eval_agent_routing.providers import ModelOptions, builtins, from_environment
from yb_eval_agent_routing.providers.bm25 import bm25_target
from yb_eval_agent_routing.providers.mock import mock_target

SCRIPT = """
answers:
  default/jira_single:
    - tool_calls: [{name: load_tools, arguments: {groups: [jira]}}]
    - text: Two are open.
  default/confluence_single: [{error: HTTP 400}]
default: [{text: Hello.}, {text: Hello.}]
"""


@pytest.mark.parametrize("k", ["0", "-1", "", "x", "1.5", "9" * 30, "²"])
def test_bm25_loads_a_number_of_groups(k):
    with pytest.raises(UsageError, match="bm25:"):
        bm25_target(k, Offers())


def test_bm25_of_another_depth_is_another_provider():
    assert bm25_target("1", Offers()).fingerprint != bm25_target("2", Offers()).fingerprint


def test_a_script_answers_by_scenario_and_fails_where_it_says_so(suite, outcomes_of, tmp_path):
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    report = suite(code=3, scenarios=["default"], provider="mock:script.yaml")
    found = {line["id"]: line for line in outcomes_of(report)}
    assert found["default/jira_single"]["details"]["verdict"] == "EXACT"
    assert found["default/confluence_single"]["status"] == "error"
    assert "HTTP 400" in found["default/confluence_single"]["reason"]
    assert found["default/zoom_single"]["details"]["verdict"] == "SKIP"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[1]", "a script is an object"),
        ("answer: {}", "did you mean 'answers'"),
        ("answers: [1]", "must be an object"),
        ("answers: {a: 5}", "no list of objects"),
        ("default: [text]", "no list of objects"),
    ],
)
def test_a_file_that_is_no_script_is_refused(tmp_path, content, told):
    (tmp_path / "script.yaml").write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=told):
        mock_target(str(tmp_path / "script.yaml"))


def test_a_script_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DatasetError, match="script"):
        mock_target(str(tmp_path / "script.yaml"))


def test_a_script_that_has_run_out_says_nothing(world, says):
    outcome = world.judge(world.scenario(expected=["jira"]), [])
    assert outcome.status == "scored" and outcome.details["verdict"] == "SKIP"


MODEL = '''
def answer(request):
    """Loads jira whenever the request says so, and echoes the repeat of nothing."""
    loader = [tool for tool in request["tools"] if tool["name"] == "load_tools"]
    if loader and request["messages"][-1]["role"] == "user" and "Jira" in request["messages"][-1]["content"]:
        return {"tool_calls": [{"name": "load_tools", "arguments": {"groups": ["jira"]}}]}
    return {"text": "Done."}
'''


@pytest.fixture
def python_model(tmp_path):
    (tmp_path / "my_model.py").write_text(MODEL, encoding="utf-8")
    yield "python:my_model:answer"
    sys.modules.pop("my_model", None)


@pytest.mark.parametrize("word", ["provider", "target"])
def test_a_python_function_is_a_provider_by_either_word(suite, outcomes_of, python_model, word):
    report = suite(scenarios=["default"], min_top1=0.0, **{word: python_model})
    verdicts = {line["id"]: line["details"]["verdict"] for line in outcomes_of(report)}
    assert verdicts["default/jira_single"] == "EXACT" and verdicts["default/greeting_skip"] == "EXACT"
    assert verdicts["default/jira_confluence"] == "MISS" and verdicts["default/zoom_single"] == "SKIP"


def test_a_process_is_a_provider_too(suite, outcomes_of, python_model, tmp_path):
    (tmp_path / "served.py").write_text(
        "import json, sys\nfrom my_model import answer\n"
        "for line in sys.stdin:\n    print(json.dumps(answer(json.loads(line))), flush=True)\n",
        encoding="utf-8",
    )
    served = suite(scenarios=["default"], min_top1=0.0, provider=f"exec:{sys.executable} served.py")
    called = suite(scenarios=["default"], min_top1=0.0, provider=python_model)
    assert outcomes_of(served) == outcomes_of(called)


def test_two_names_for_the_provider_are_refused(suite):
    with pytest.raises(UsageError, match="two providers"):
        suite(provider="bm25:1", target="bm25:2")


@pytest.mark.parametrize("spec", ["bm26:1", "openai", "gpt-4", "bm25"])
def test_a_provider_that_means_nothing_is_refused(suite, spec):
    with pytest.raises(UsageError):
        suite(provider=spec)


def test_what_was_recorded_replays_to_the_same_outcomes(suite, outcomes_of, python_model):
    live = suite(scenarios=["default"], min_top1=0.0, provider=python_model, record="calls.jsonl")
    replayed = suite(scenarios=["default"], min_top1=0.0, provider="replay:calls.jsonl")
    assert outcomes_of(live) == outcomes_of(replayed)
    by_option = suite(scenarios=["default"], min_top1=0.0, replay="calls.jsonl")
    assert outcomes_of(by_option) == outcomes_of(live)


def test_a_call_that_was_not_recorded_is_an_error_and_no_skip(suite, python_model):
    suite(scenarios=["default"], min_top1=0.0, provider=python_model, record="calls.jsonl")
    report = suite(code=3, scenarios=["default"], min_top1=0.0, provider="replay:calls.jsonl", policy="router")
    assert report["counts"]["error"] == 9
    assert report["measurements"]["error_rate"]["value"] == 1.0


def test_a_recording_is_the_same_file_whatever_the_number_of_jobs(suite, python_model, tmp_path):
    for jobs in (1, 8):
        suite(
            scenarios=["default", "negatives"], min_top1=0.0, provider=python_model, record=f"{jobs}.jsonl", jobs=jobs
        )
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "8.jsonl").read_bytes()


def test_cached_calls_are_not_made_again_and_another_provider_does_not_see_them(suite, tmp_path):
    (tmp_path / "counting.py").write_text(
        "calls = []\ndef answer(request):\n    calls.append(1)\n    return {'text': 'x'}\n"
        "def other(request):\n    calls.append(1)\n    return {'text': 'y'}\n",
        encoding="utf-8",
    )
    suite(scenarios=["default"], min_top1=0.0, provider="python:counting:answer", cache=True)
    made = len(sys.modules["counting"].calls)
    suite(scenarios=["default"], min_top1=0.0, provider="python:counting:answer", cache=True)
    assert len(sys.modules["counting"].calls) == made > 0
    suite(scenarios=["default"], min_top1=0.0, provider="python:counting:other", cache=True)
    assert len(sys.modules["counting"].calls) == 2 * made
    sys.modules.pop("counting")


@pytest.mark.parametrize("name", ["openai", "custom", "llm-proxy"])
def test_the_environment_names_a_provider_as_upstream_does(suite, model_server, monkeypatch, name):
    monkeypatch.setenv("CHAT_EVAL_PROVIDER", name)
    monkeypatch.setenv("CHAT_EVAL_ENDPOINT", f"{model_server.url}/v1")
    monkeypatch.setenv("CHAT_EVAL_MODEL", "tiny")
    monkeypatch.setenv("CHAT_EVAL_API_KEY", "sk-from-the-environment")
    report = suite(scenarios=["default"], min_top1=0.0)
    assert report["target"]["spec"] == "openai:tiny"
    _, headers, body = model_server.seen[0]
    assert headers["authorization"] == "Bearer sk-from-the-environment" and body["model"] == "tiny"
    assert "sk-from-the-environment" not in json.dumps(report)


def test_the_environment_may_name_anthropic(suite, model_server, monkeypatch):
    monkeypatch.setenv("CHAT_EVAL_PROVIDER", "anthropic")
    monkeypatch.setenv("CHAT_EVAL_ENDPOINT", model_server.url)
    monkeypatch.setenv("CHAT_EVAL_MODEL", "tiny")
    monkeypatch.setenv("CHAT_EVAL_API_KEY", "sk-from-the-environment")
    assert suite(scenarios=["default"], min_top1=0.0)["target"]["spec"] == "anthropic:tiny"
    assert model_server.seen[0][0] == "/v1/messages"


def test_what_is_named_in_the_command_comes_before_the_environment(suite, monkeypatch):
    monkeypatch.setenv("CHAT_EVAL_PROVIDER", "openai")
    monkeypatch.setenv("CHAT_EVAL_MODEL", "tiny")
    assert suite(scenarios=["default"], provider="bm25:2")["target"]["spec"] == "bm25:2"
    assert suite(scenarios=["default"], target="bm25:3")["target"]["spec"] == "bm25:3"


def test_nothing_in_the_environment_is_no_provider():
    assert from_environment(ModelOptions(), {}) is None
    assert from_environment(ModelOptions(), {"CHAT_EVAL_MODEL": "x"}) is None


@pytest.mark.parametrize("environment", [
    {"CHAT_EVAL_PROVIDER": "openai"},
    {"CHAT_EVAL_PROVIDER": "bedrock", "CHAT_EVAL_MODEL": "x"},
    {"CHAT_EVAL_PROVIDER": "opanai", "CHAT_EVAL_MODEL": "x"},
])  # fmt: skip
def test_an_environment_that_names_half_a_provider_is_refused(environment):
    with pytest.raises(UsageError, match="CHAT_EVAL_PROVIDER"):
        from_environment(ModelOptions(), environment)


def test_sdks_are_imported_when_they_are_used_and_their_absence_is_told(monkeypatch):
    made = builtins(Offers(), ModelOptions())
    for name in ("openai", "anthropic"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(UsageError, match=rf"pip install 'yb-eval-agent-routing\[{name}\]'"):
            made[name]("some-model")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_a_whole_run_over_the_wire(suite, outcomes_of, model_server, kind, stream):
    def choose(body):
        said = json.dumps(body["messages"])
        if "Jira" in said and "Loaded groups" not in said:
            return {"tool_calls": [{"name": "load_tools", "arguments": {"groups": ["jira"]}}]}
        return {"text": "Done."}

    model_server.choose = choose
    endpoint = model_server.url + ("/v1" if kind == "openai" else "")
    reports = [
        suite(scenarios=["default"], min_top1=0.0, provider=f"{kind}:m", endpoint=endpoint, stream=stream, jobs=jobs)
        for jobs in (1, 8)
    ]
    assert outcomes_of(reports[0]) == outcomes_of(reports[1])
    found = {line["id"]: line["details"] for line in outcomes_of(reports[0])}
    assert found["default/jira_single"]["verdict"] == "EXACT"
    assert found["default/jira_single"]["input_tokens"] == 22
    assert reports[0]["measurements"]["output_tokens_total"]["value"] > 0


def test_a_named_provider_is_recorded_and_cached_once(suite, outcomes_of, model_server, monkeypatch):
    how = {"scenarios": ["default"], "min_top1": 0.0}
    first = suite(provider="openai:m", endpoint=f"{model_server.url}/v1", record="calls.jsonl", cache=True, **how)
    asked = len(model_server.seen)
    assert asked and first["target"]["spec"] == "openai:m"
    again = suite(provider="openai:m", endpoint=f"{model_server.url}/v1", cache=True, **how)
    replayed = suite(provider="replay:calls.jsonl", **how)
    assert outcomes_of(again) == outcomes_of(replayed) == outcomes_of(first)
    assert len(model_server.seen) == asked
    monkeypatch.setenv("CHAT_EVAL_PROVIDER", "custom")
    monkeypatch.setenv("CHAT_EVAL_MODEL", "m")
    monkeypatch.setenv("CHAT_EVAL_ENDPOINT", f"{model_server.url}/v1")
    assert outcomes_of(suite(record="more.jsonl", **how)) == outcomes_of(first)
