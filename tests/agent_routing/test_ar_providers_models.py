"""`openai:` and `anthropic:` on their official SDKs, against a loopback server that speaks their wire formats."""

from __future__ import annotations

import pytest

from yb_eval import UsageError
from yb_eval_agent_routing.providers import ModelOptions
from yb_eval_agent_routing.providers.anthropic_messages import anthropic_target
from yb_eval_agent_routing.providers.openai_chat import openai_target

pytest.importorskip("openai")
pytest.importorskip("anthropic")

KEY = "sk-not-a-real-key-0123456789"
OPEN = {"openai": openai_target, "anthropic": anthropic_target}
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}

REQUEST = {
    "scenario": "s",
    "environment": "e",
    "policy": "in-band",
    "purpose": "chat",
    "call": 2,
    "system": "You help.",
    "messages": [
        {"role": "user", "content": "Which issues are open?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "name": "load_tools", "arguments": {"groups": ["x"]}}]},
        {"role": "tool", "id": "call_1", "name": "load_tools", "content": "Error: no.", "failed": True},
        {"role": "assistant", "content": ""},
        {"role": "system", "content": "Load now."},
    ],
    "tools": [{"name": "load_tools", "description": "loads", "input_schema": {"type": "object", "properties": {}}}],
}  # fmt: skip

LOADS = {"text": "Let me see.", "tool_calls": [{"name": "load_tools", "arguments": {"groups": ["jira", "wiki"]}}]}


@pytest.fixture(params=[("openai", False), ("openai", True), ("anthropic", False), ("anthropic", True)],
                ids=["openai", "openai-streaming", "anthropic", "anthropic-streaming"])  # fmt: skip
def provider(request, model_server, monkeypatch):
    """Opens a provider of this kind on the server: `provider(timeout=...)`."""
    kind, stream = request.param
    monkeypatch.setenv(f"{kind.upper()}_API_KEY", KEY)
    opened = []

    def make(**options):
        endpoint = model_server.url + ("/v1" if kind == "openai" else "")
        target = OPEN[kind](
            "some-model", ModelOptions(**{"endpoint": endpoint, "stream": stream, "retries": 0, **options})
        )
        opened.append(target)
        return target

    make.kind, make.stream = kind, stream
    yield make
    for target in opened:
        target.close()


def ask(target, request=REQUEST):
    (answer,) = target.ask([request])
    return answer


def read(answer):
    """The reply an answer is read as."""
    from yb_eval_agent_routing.agent.replies import read_reply

    assert answer.failure is None, answer.failure
    return read_reply(answer.value)


def test_a_tool_call_and_its_text_come_through_with_the_usage(provider, model_server):
    model_server.answers = [LOADS]
    reply = read(ask(provider()))
    assert reply.text == "Let me see." and reply.usage == (11, 7)
    (call,) = reply.calls
    assert call.name == "load_tools" and call.arguments == {"groups": ["jira", "wiki"]}


def test_several_calls_of_one_answer_come_in_order(provider, model_server):
    names = ["load_tools", "search_tools", "load_tools"]
    model_server.answers = [{"tool_calls": [{"name": name, "arguments": {"n": i}} for i, name in enumerate(names)]}]
    calls = read(ask(provider())).calls
    assert [(call.name, call.arguments) for call in calls] == [(name, {"n": i}) for i, name in enumerate(names)]


def test_the_request_is_what_the_provider_documents(provider, model_server):
    ask(provider(max_output_tokens=77, temperature=0.5))
    ((path, headers, body),) = model_server.seen
    assert path == PATHS[provider.kind] and body["model"] == "some-model"
    assert body["max_tokens"] == 77 and body["temperature"] == 0.5 and bool(body.get("stream")) is provider.stream
    assert KEY in (headers.get("authorization", "") + headers.get("x-api-key", ""))
    if provider.kind == "openai":
        assert [message["role"] for message in body["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
            "system",
        ]
        assert body["messages"][2]["tool_calls"][0]["function"] == {
            "name": "load_tools",
            "arguments": '{"groups":["x"]}',
        }
        assert body["messages"][3] == {"role": "tool", "tool_call_id": "call_1", "content": "Error: no."}
        assert body["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    else:
        assert body["system"] == "You help."
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
        assert body["messages"][2]["content"][0] == {
            "type": "tool_result", "tool_use_id": "call_1", "content": "Error: no.", "is_error": True,
        }  # fmt: skip
        assert all(message["content"] for message in body["messages"])  # the API refuses an empty one
        assert body["tools"][0]["input_schema"] == {"type": "object", "properties": {}}


def test_a_request_without_tools_sends_none(provider, model_server):
    ask(provider(), {**REQUEST, "tools": []})
    assert "tools" not in model_server.seen[0][2]


def test_no_scenario_reaches_the_model(provider, model_server):
    ask(provider())
    assert not {"scenario", "environment", "policy", "purpose", "call"} & set(model_server.seen[0][2])


@pytest.mark.parametrize("status", [429, 500, 503, 529])
def test_a_passing_failure_is_tried_again_and_a_lasting_one_is_a_failure(provider, model_server, status, monkeypatch):
    monkeypatch.setattr("random.random", lambda: 1.0)  # the SDKs' pause, as short as it gets
    model_server.answers = [{"status": status}, LOADS]
    assert read(ask(provider(retries=1))).calls
    model_server.answers = [{"status": status}] * 2
    answer = ask(provider(retries=1))
    assert answer.failure is not None and str(status) in answer.failure
    assert len(model_server.seen) == 4


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_a_failure_at_once(provider, model_server, status):
    model_server.default = {"status": status}
    answer = ask(provider(retries=2))
    assert answer.failure is not None and str(status) in answer.failure and len(model_server.seen) == 1


def test_a_model_that_does_not_answer_in_time_is_a_failure(provider, model_server):
    model_server.default = {"hang": 1.0}
    answer = ask(provider(timeout=0.1))
    assert answer.failure is not None and "timed out" in answer.failure.lower()


def test_nobody_listening_is_a_failure(provider):
    answer = ask(provider(endpoint="http://127.0.0.1:9/v1"))
    assert answer.failure is not None and "Connection" in answer.failure


def test_a_stream_that_ends_early_is_a_failure(provider, model_server):
    if not provider.stream:
        pytest.skip("only streams end early")
    model_server.answers = [{**LOADS, "cut": True}]
    answer = ask(provider())
    assert answer.failure is not None and "ended before" in answer.failure


@pytest.mark.parametrize("raw", ["{}", '{"choices": []}', "[]", "not json", "", '"x"', "null", '{"choices": [{}]}'])
def test_a_body_that_is_no_answer_is_a_failure(provider, model_server, raw):
    model_server.answers = [{"raw": raw}]
    assert ask(provider()).failure is not None


def test_malformed_arguments_are_the_models_mistake_and_not_a_failure(provider, model_server):
    model_server.answers = [{"tool_calls": [{"name": "load_tools", "arguments": '{"groups": ["jira"'}]}]
    (call,) = read(ask(provider())).calls
    assert call.arguments is None and call.malformed == '{"groups": ["jira"'


def test_a_call_written_as_text_stays_text(provider, model_server):
    model_server.answers = [{"text": 'load_tools({"groups": ["jira"]})'}]
    reply = read(ask(provider()))
    assert reply.calls == () and reply.text == 'load_tools({"groups": ["jira"]})'


def test_a_key_in_what_the_provider_says_is_masked(provider, model_server):
    model_server.answers = [{"raw": "no json: " + KEY}, {"text": "x"}]
    answer = ask(provider())
    assert KEY not in str(answer.failure)


def test_without_a_key_a_provider_is_refused_and_a_server_of_ones_own_is_not(provider, model_server, monkeypatch):
    monkeypatch.delenv(f"{provider.kind.upper()}_API_KEY")
    monkeypatch.delenv(f"{provider.kind.upper()}_BASE_URL", raising=False)
    with pytest.raises(UsageError, match=r"no API key.*_API_KEY"):
        OPEN[provider.kind]("m", ModelOptions())
    assert ask(provider()).failure is None


@pytest.mark.parametrize("endpoint", ["ftp://host", "host:80", "http://", "nonsense"])
def test_an_endpoint_that_is_no_address_is_refused(provider, endpoint):
    with pytest.raises(UsageError, match="no http address"):
        provider(endpoint=endpoint)


def test_a_provider_needs_a_model(provider, model_server):
    with pytest.raises(UsageError, match="names no model"):
        OPEN[provider.kind]("", ModelOptions(endpoint=model_server.url))


def test_the_fingerprint_is_the_models_and_the_questions_never_the_keys(provider, monkeypatch):
    first = provider().fingerprint
    monkeypatch.setenv(f"{provider.kind.upper()}_API_KEY", "sk-another-key-9876543210")
    assert provider(stream=not provider.stream, timeout=5, retries=4).fingerprint == first
    assert provider(temperature=0.7).fingerprint != first
    assert provider(max_output_tokens=5).fingerprint != first
    assert provider(endpoint="http://127.0.0.1:1/other").fingerprint != first
    assert (
        provider(endpoint="http://user:secret@127.0.0.1:1/other").fingerprint
        == provider(endpoint="http://127.0.0.1:1/other").fingerprint
    )


def test_several_threads_may_ask_at_once(provider, model_server):
    from concurrent.futures import ThreadPoolExecutor

    target = provider()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(target), range(24)))
    assert all(answer.failure is None for answer in answers) and len(model_server.seen) == 24


def test_a_base_url_of_the_environment_is_used_and_identified(provider, model_server, monkeypatch):
    named = provider()
    monkeypatch.setenv(
        f"{provider.kind.upper()}_BASE_URL", model_server.url + ("/v1" if provider.kind == "openai" else "")
    )
    other = provider(endpoint=None)
    assert ask(other).failure is None and other.fingerprint == named.fingerprint


def test_openais_own_servers_are_asked_with_the_parameter_they_take():
    from yb_eval_agent_routing.providers.openai_chat import Chat

    class Client:
        """Notes the arguments it is called with."""

        class chat:
            class completions:
                @staticmethod
                def create(**arguments):
                    asked.update(arguments)
                    raise RuntimeError("enough seen")

    for official, name in ((True, "max_completion_tokens"), (False, "max_tokens")):
        asked = {}
        with pytest.raises(RuntimeError, match="enough seen"):
            Chat(Client, "m", ModelOptions(max_output_tokens=9), official)(REQUEST)
        assert asked[name] == 9
