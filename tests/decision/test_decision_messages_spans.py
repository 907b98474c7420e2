"""OpenTelemetry GenAI and OpenInference traces as samples."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval.errors import UsageError
from yb_eval_decision.messages import Message, ToolCall
from yb_eval_decision.messages.spans import nested, read_spans
from yb_eval_decision.sample import Sample

CALL = {"type": "tool_call", "id": "c1", "name": "weather", "arguments": {"city.name": "Paris"}}
ASKED = {"role": "user", "parts": [{"type": "text", "content": "Weather in Paris?"}]}
CALLED = {"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"}, CALL], "finish_reason": "tool_call"}
HEARD = {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": {"sky": "rainy"}}]}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "It rains."}], "finish_reason": "stop"}
INSTRUCTIONS = [{"type": "text", "content": "Be kind."}]
TOOLS = [{"type": "function", "name": "weather", "description": "d", "parameters": {"type": "object"}}]
EXPECTED = [
    Message("system", "Be kind."),
    Message("user", "Weather in Paris?"),
    Message("assistant", "", (ToolCall("c1", "weather", {"city.name": "Paris"}),)),
    Message("tool", '{"sky": "rainy"}', (), "c1"),
    Message("assistant", "It rains."),
]


def span(
    number: int, attributes: dict[str, Any], *, parent: str = "", trace: str = "t1", **more: Any
) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": f"s{number}",
        "parentSpanId": parent,
        "name": f"span {number}",
        "startTimeUnixNano": str(number),
        "attributes": attributes,
        **more,
    }


def chat(number: int, heard: list[Any], said: list[Any], *, as_text: bool = True, **more: Any) -> dict[str, Any]:
    dump = json.dumps if as_text else lambda value: value
    return span(
        number,
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system_instructions": dump(INSTRUCTIONS),
            "gen_ai.tool.definitions": dump(TOOLS),
            "gen_ai.input.messages": dump(heard),
            "gen_ai.output.messages": dump(said),
        },
        **more,
    )


def typed(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(item) for item in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": typed(item)} for key, item in value.items()]}}
    return {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}


def otlp(spans: list[dict[str, Any]]) -> dict[str, Any]:
    listed = [
        {**one, "attributes": [{"key": k, "value": typed(v)} for k, v in one["attributes"].items()]} for one in spans
    ]
    return {"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize("shape", ["otlp", "list", "row", "shuffled"])
def test_a_trace_of_model_spans_is_one_conversation(as_text, shape):
    spans = [chat(1, [ASKED], [CALLED], as_text=as_text), chat(3, [ASKED, CALLED, HEARD], [SAID], as_text=as_text)]
    given = {"otlp": otlp(spans), "list": spans, "row": {"spans": spans, "label": 1}, "shuffled": spans[::-1]}[shape]
    sample = Sample.of(given)
    assert sample.messages == EXPECTED
    assert sample.tool_names == ["weather"]
    assert sample.input == "Weather in Paris?" and sample.final_answer == "It rains."
    assert sample.tool_calls[0].result == '{"sky": "rainy"}'
    assert sample.id == "t1"
    assert sample.get("label") == (1 if shape == "row" else None)


def test_the_attributes_of_one_span_alone():
    sample = Sample.of(chat(1, [ASKED, CALLED, HEARD], [SAID])["attributes"])
    assert sample.messages == EXPECTED and sample.id is None


def test_sdk_spans_and_the_details_event():
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with provider.get_tracer("t").start_as_current_span("chat") as one:
        one.set_attribute("gen_ai.operation.name", "chat")
        details = {"gen_ai.input.messages": json.dumps([ASKED]), "gen_ai.output.messages": json.dumps([SAID])}
        one.add_event("gen_ai.client.inference.operation.details", details)
    finished = exporter.get_finished_spans()
    for export in (list(finished), [json.loads(one.to_json()) for one in finished], finished[0]):
        sample = Sample.of(export)
        assert [m.content for m in sample.messages] == ["Weather in Paris?", "It rains."]
        assert len(sample.id or "") == 32


def test_an_id_with_zeros_in_front_is_the_same_in_an_sdk_object_and_in_its_export():
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps([SAID])}
    context = {"trace_id": 0xAB << 100, "span_id": 7}
    sdk = SimpleNamespace(name="chat", context=SimpleNamespace(**context), attributes=attributes, start_time=1)
    export = {
        "name": "chat", "context": {"trace_id": f"0x{0xAB << 100:032x}", "span_id": "0x0000000000000007"},
        "attributes": attributes, "start_time": 1,
    }  # fmt: skip
    assert Sample.of(sdk).id == Sample.of(export).id == "00000" + "ab" + "0" * 25


def test_the_older_events_for_each_message():
    call = [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city.name": "Paris"}'}}]
    events = [
        {"name": "gen_ai.system.message", "attributes": {"content": "Be kind."}},
        {"name": "gen_ai.user.message", "attributes": {"content": "Weather in Paris?"}},
        {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps(call)}},
        {"name": "gen_ai.tool.message", "attributes": {"id": "c1", "content": '{"sky": "rainy"}'}},
        {"name": "gen_ai.choice", "attributes": {"index": 0, "message": json.dumps({"content": "It rains."})}},
        {"name": "gen_ai.choice", "attributes": {"index": 1, "message": json.dumps({"content": "It snows."})}},
    ]
    assert Sample.of([span(1, {"gen_ai.system": "openai"}, events=events)]).messages == EXPECTED


def test_indexed_prompts_and_completions():
    attributes = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Weather in Paris?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "It rains.",
    }
    assert [m.role for m in Sample.of([span(1, attributes)]).messages] == ["user", "assistant"]


def test_a_tool_span_brings_the_result_that_no_message_holds():
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "weather",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": '{"city.name": "Paris"}',
        "gen_ai.tool.call.result": '{"sky": "rainy"}',
    }
    spans = [chat(1, [ASKED], [CALLED]), span(2, tool)]
    assert Sample.of(spans).messages == [*EXPECTED[:3], Message("tool", '{"sky": "rainy"}', (), "c1", "weather")]
    # And nothing is added where a message does.
    assert Sample.of([*spans, chat(3, [ASKED, CALLED, HEARD], [SAID])]).messages == EXPECTED


def test_what_happens_inside_a_tool_is_left_out():
    inner = {"role": "user", "parts": [{"type": "text", "content": "inner question"}]}
    spans = [
        chat(1, [ASKED], [CALLED]),
        span(2, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "weather", "gen_ai.tool.call.id": "c1"}),
        span(3, {"gen_ai.operation.name": "invoke_agent"}, parent="s2"),
        chat(4, [inner], [SAID], parent="s3"),
        chat(5, [ASKED, CALLED, HEARD], [SAID]),
    ]
    assert Sample.of(spans).messages == EXPECTED


def test_spans_that_hold_only_what_is_new_are_joined():
    again = {"role": "user", "parts": [{"type": "text", "content": "And in Rome?"}]}
    sample = Sample.of([chat(1, [ASKED], [SAID]), chat(2, [again], [SAID])])
    assert [m.content for m in sample.messages] == [
        "Be kind.",
        "Weather in Paris?",
        "It rains.",
        "And in Rome?",
        "It rains.",
    ]


def test_media_parts_leave_a_placeholder():
    parts = [
        {"type": "text", "content": "Look:"},
        {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "AAAA"},
        {"type": "uri", "modality": "video", "uri": "gs://b/v"},
        {"type": "file", "file_id": "f"},
    ]
    assert Sample.of([chat(1, [{"role": "user", "parts": parts}], [SAID])]).input == "Look:\n[image]\n[video]\n[file]"


def test_retrieved_documents_with_text_are_contexts():
    documents = [{"id": "a", "score": 0.9, "content": "Rain is wet."}, {"id": "b", "score": 0.1}]
    spans = [span(1, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": json.dumps(documents)})]
    assert Sample.of([*spans, chat(2, [ASKED], [SAID])]).contexts == ["Rain is wet."]


OPENINFERENCE = {
    "openinference.span.kind": "LLM",
    "llm.input_messages.0.message.role": "system",
    "llm.input_messages.0.message.content": "Be kind.",
    "llm.input_messages.1.message.role": "user",
    "llm.input_messages.1.message.contents.0.message_content.type": "text",
    "llm.input_messages.1.message.contents.0.message_content.text": "Weather?",
    "llm.input_messages.1.message.contents.1.message_content.type": "image",
    "llm.input_messages.1.message.contents.1.message_content.image.image.url": "x",
    "llm.input_messages.2.message.role": "assistant",
    "llm.input_messages.2.message.tool_calls.0.tool_call.id": "c1",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "weather",
    "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": '{"city": "Paris"}',
    "llm.input_messages.2.message.tool_calls.1.tool_call.function.name": "time",
    "llm.input_messages.2.message.tool_calls.1.tool_call.function.arguments": "{}",
    "llm.input_messages.3.message.role": "tool",
    "llm.input_messages.3.message.tool_call_id": "c1",
    "llm.input_messages.3.message.content": "rainy",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "It rains.",
    "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "weather", "description": "d"}}',
    "session.id": "chat-1",
}
OPENINFERENCE_READ = [
    Message("system", "Be kind."),
    Message("user", "Weather?\n[image]"),
    Message("assistant", "", (ToolCall("c1", "weather", {"city": "Paris"}), ToolCall(None, "time", {}))),
    Message("tool", "rainy", (), "c1"),
    Message("assistant", "It rains."),
]


@pytest.mark.parametrize("shape", ["flat", "nested", "otlp", "bare", "columns"])
def test_an_openinference_span(shape):
    given: Any = {
        "flat": [span(1, OPENINFERENCE)],
        "nested": [span(1, nested(OPENINFERENCE))],
        "otlp": otlp([span(1, OPENINFERENCE)]),
        "bare": OPENINFERENCE,
        "columns": [
            {"context.trace_id": "t1", "name": "llm"}
            | {f"attributes.{key}": value for key, value in OPENINFERENCE.items()}
        ],
    }[shape]
    sample = Sample.of({"spans": given} if shape == "columns" else given)
    assert sample.messages == OPENINFERENCE_READ
    assert sample.tool_names == ["weather"]
    assert sample.conversation_id == "chat-1"


def test_openinference_retrieval_tool_and_chain_spans():
    chain = {"openinference.span.kind": "CHAIN", "input.value": "What is wet?", "output.value": "Rain is."}
    retriever = {
        "openinference.span.kind": "RETRIEVER",
        "retrieval.documents.0.document.content": "Rain is wet.",
        "retrieval.documents.1.document.content": "Sun is dry.",
        "retrieval.documents.0.document.score": 0.5,
    }
    reranker = {"openinference.span.kind": "RERANKER", "reranker.output_documents.0.document.content": "Rain is wet."}
    sample = Sample.of([span(1, chain), span(2, retriever, parent="s1")])
    assert (sample.input, sample.output, sample.contexts) == (
        "What is wet?",
        "Rain is.",
        ["Rain is wet.", "Sun is dry."],
    )
    assert Sample.of([span(1, chain), span(2, retriever), span(3, reranker)]).contexts == ["Rain is wet."]
    tool = {"openinference.span.kind": "TOOL", "tool.name": "time", "input.value": "{}", "output.value": "noon"}
    sample = Sample.of([span(1, OPENINFERENCE), span(2, tool)])
    assert sample.tool_results == ["rainy", "noon"]
    assert [call.result for call in sample.tool_calls] == ["rainy", "noon"]


def test_several_traces_are_several_samples():
    spans = [chat(1, [ASKED], [SAID], trace="a"), chat(2, [ASKED], [CALLED], trace="b")]
    with pytest.raises(UsageError, match="2 traces in one sample"):
        Sample.of(spans)
    assert [(s.id, s.final_answer) for s in Sample.of_traces(spans)] == [("a", "It rains."), ("b", None)]


def test_spans_without_content_are_refused_with_the_reason():
    with pytest.raises(UsageError, match=r"no span holds a message.*is the content of messages recorded"):
        Sample.of([span(1, {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"})])


def test_a_malformed_span_is_refused_with_its_place():
    bad = span(1, {"gen_ai.input.messages": json.dumps([{"role": "user", "parts": [{"content": "x"}]}])})
    with pytest.raises(
        UsageError, match=r"spans\[0\]\.gen_ai\.input\.messages\[0\]\.parts\[0\]: a part without a type"
    ):
        Sample.of([bad])
    with pytest.raises(UsageError, match=r"spans\[1\]: not a span: 7"):
        read_spans([bad, 7])


def test_dotted_keys_become_objects_and_lists():
    assert nested({"a.0.b": 1, "a.1.b": 2, "a.10.b": 3, "c.d": {"e.f": 4}, "g": 5, "g.h": 6}) == {
        "a": [{"b": 1}, {"b": 2}, {"b": 3}],
        "c": {"d": {"e": {"f": 4}}},
        "g": {"": 5, "h": 6},
    }


def test_a_plain_sample_with_telemetry_beside_it_stays_itself():
    sample = Sample.of({"input": "a", "output": "b", "llm.model_name": "m"})
    assert sample.input == "a" and sample["llm.model_name"] == "m"


_VALUE = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(['[{"role":"user","parts":[]}]', "[", "LLM", "chat"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "parts", "type", "content", "0", "a.b"]), inner)
    ),
    max_leaves=6,
)
_KEYS = st.sampled_from(
    [
        *OPENINFERENCE,
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.tool.name",
        "gen_ai",
        "llm",
        "tool",
        "a",
    ]
)


@given(st.lists(st.dictionaries(_KEYS, _VALUE, max_size=6), min_size=1, max_size=3))
def test_any_attributes_are_read_or_refused(listed):
    try:
        sample = Sample.of({"spans": [span(index, attributes) for index, attributes in enumerate(listed)]})
        messages = sample.messages
    except UsageError:
        return
    for message in messages:
        json.dumps(message.to_dict(), allow_nan=False)
