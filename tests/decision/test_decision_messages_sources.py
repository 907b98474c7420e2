"""Responses items, Anthropic messages and LangChain messages, as mappings and as SDK objects."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from anthropic.types import Message as AnthropicMessage
from openai.types.responses import Response

from yb_eval.errors import UsageError
from yb_eval_decision.messages import Message, ToolCall, normalise
from yb_eval_decision.sample import Sample

ITEMS = [
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "Where is it?"}, {"type": "input_image", "image_url": "x"}],
    },
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "secret thought"}]},
    {
        "type": "message",
        "id": "m1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
    },
    {"type": "function_call", "id": "f1", "call_id": "c1", "name": "lookup", "arguments": '{"order": 1}'},
    {"type": "function_call", "id": "f2", "call_id": "c2", "name": "lookup", "arguments": '{"order": 2}'},
    {"type": "function_call_output", "call_id": "c2", "output": "lost"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "shipped"}]},
    {
        "type": "message",
        "id": "m2",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "One is lost.", "annotations": []}],
    },
]
READ = [
    Message("user", "Where is it?\n[image]"),
    Message(
        "assistant", "Let me look.", (ToolCall("c1", "lookup", {"order": 1}), ToolCall("c2", "lookup", {"order": 2}))
    ),
    Message("tool", "lost", (), "c2"),
    Message("tool", "shipped", (), "c1"),
    Message("assistant", "One is lost."),
]


def test_responses_items_become_messages_with_their_calls():
    # Weakness 23: they became empty user messages.
    assert normalise(ITEMS) == READ


def response() -> Response:
    return Response.model_validate(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": "m",
            "instructions": "Be kind.",
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [
                {"type": "function", "name": "lookup", "parameters": {"type": "object"}, "strict": True},
                {"type": "web_search"},
            ],
            "output": [item for item in ITEMS if "type" in item and not item["type"].endswith("_output")],
        }
    )


def test_response_objects_and_their_items():
    made = response()
    assert normalise(made.output) == [READ[1], READ[4]]
    for sample in (Sample.of(made), Sample.of(made.model_dump())):
        assert sample.id == "resp_1"
        assert sample.system_prompt == "Be kind."
        assert sample.final_answer == "One is lost."
        assert sample.tool_names == ["lookup", "web_search"]


def test_a_logged_request_of_the_responses_api():
    sample = Sample.of({"id": 7, "instructions": "Be kind.", "input": ITEMS[:1], "output": ITEMS[1:]})
    assert sample.messages == [Message("system", "Be kind."), *READ]
    assert sample.input == "Where is it?\n[image]" and sample.output == "One is lost." and sample.id == "7"


def test_custom_mcp_and_platform_calls():
    messages = normalise(
        [
            {"type": "custom_tool_call", "call_id": "a", "name": "sql", "input": "select 1"},
            {"type": "custom_tool_call_output", "call_id": "a", "output": "1"},
            {
                "type": "mcp_call",
                "id": "b",
                "name": "read",
                "arguments": "{}",
                "output": None,
                "error": "down",
                "server_label": "s",
            },
            {"type": "web_search_call", "id": "c", "status": "completed", "action": {"type": "search", "query": "x"}},
            {"type": "file_search_call", "id": "d", "queries": ["q"], "results": [{"text": "found"}]},
            {
                "type": "computer_call_output",
                "call_id": "e",
                "output": {"type": "computer_screenshot", "image_url": "x"},
            },
        ]
    )
    assert [(m.role, m.content, [c.name for c in m.tool_calls]) for m in messages] == [
        ("assistant", "", ["sql"]),
        ("tool", "1", []),
        ("assistant", "", ["read"]),
        ("tool", "[error] down", []),
        ("assistant", "", ["web_search", "file_search"]),
        ("tool", '[{"text": "found"}]', []),
        ("tool", "[image]", []),
    ]
    assert messages[0].tool_calls[0].args == {"raw": "select 1"}
    assert messages[4].tool_calls[0].args == {"type": "search", "query": "x"}


def test_an_item_without_a_name_is_refused():
    with pytest.raises(UsageError, match=r"messages\[0\]: a function_call without a name"):
        normalise([{"type": "function_call", "call_id": "a", "arguments": "{}"}])


BLOCKS = [
    {"type": "thinking", "thinking": "secret", "signature": "s"},
    {"type": "text", "text": "Let me look."},
    {"type": "tool_use", "id": "t1", "name": "lookup", "input": {"order": 1}},
    {"type": "tool_use", "id": "t2", "name": "lookup", "input": {"order": 2}},
]
RESULTS = [
    {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "shipped"}, {"type": "image", "source": {}}],
    },
    {"type": "tool_result", "tool_use_id": "t2", "content": "timed out", "is_error": True},
    {"type": "text", "text": "Be quick."},
]
ANTHROPIC = [
    Message(
        "assistant", "Let me look.", (ToolCall("t1", "lookup", {"order": 1}), ToolCall("t2", "lookup", {"order": 2}))
    ),
    Message("tool", "shipped\n[image]", (), "t1"),
    Message("tool", "[error] timed out", (), "t2"),
    Message("user", "Be quick."),
]


def test_anthropic_blocks_keep_calls_results_and_their_order():
    assert normalise([{"role": "assistant", "content": BLOCKS}, {"role": "user", "content": RESULTS}]) == ANTHROPIC


def anthropic_message(content: list[dict]) -> AnthropicMessage:
    return AnthropicMessage.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "stop_reason": "tool_use",
            "content": content,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


def test_anthropic_sdk_objects():
    # Weakness 23: block objects lost their tool calls.
    message = anthropic_message(BLOCKS)
    assert normalise([message]) == ANTHROPIC[:1]
    assert normalise([{"role": "assistant", "content": message.content}]) == ANTHROPIC[:1]
    sample = Sample.of(message)
    assert sample.id == "msg_1" and sample.tool_calls == list(ANTHROPIC[0].tool_calls)


def test_the_system_key_beside_anthropic_messages():
    for system in ("Be kind.", [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}]):
        sample = Sample.of({"system": system, "messages": [{"role": "user", "content": "hi"}]})
        assert sample.system_prompt == "Be kind."
        assert sample.messages[0] == Message("system", "Be kind.")


def test_server_tools_stand_where_they_ran():
    content = [
        {"type": "text", "text": "I will search."},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": [{"type": "web_search_result", "url": "u", "title": "t"}],
        },
        {"type": "text", "text": "It is so."},
    ]
    messages = normalise([{"role": "assistant", "content": content}])
    assert [m.role for m in messages] == ["assistant", "tool", "assistant"]
    assert messages[0].tool_calls == (ToolCall("s1", "web_search", {"query": "x"}),)
    assert '"url": "u"' in messages[1].content and messages[2].content == "It is so."


def test_a_malformed_block_is_refused_with_its_place():
    with pytest.raises(UsageError, match=r"messages\[0\]\.content\[1\]: a tool_use without a name"):
        normalise([{"role": "assistant", "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "x"}]}])


def duck(kind: str, content: object, **more: object) -> SimpleNamespace:
    return SimpleNamespace(type=kind, content=content, **more)


LANGCHAIN = [
    Message("system", "Be kind."),
    Message("user", "hi"),
    Message(
        "assistant", "Let me look.", (ToolCall("c1", "lookup", {"order": 1}), ToolCall("c2", "sum", {"raw": "{bad"}))
    ),
    Message("tool", "shipped", (), "c1", "lookup"),
    Message("tool", "[error] bad", (), "c2"),
]


def test_langchain_messages_by_their_shape():
    calls = [{"name": "lookup", "args": {"order": 1}, "id": "c1", "type": "tool_call"}]
    invalid = [{"name": "sum", "args": "{bad", "id": "c2", "error": "no JSON", "type": "invalid_tool_call"}]
    content = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "c1", "name": "lookup", "input": {}},
    ]
    messages = [
        duck("system", "Be kind."),
        duck("human", "hi"),
        duck("ai", content, tool_calls=calls, invalid_tool_calls=invalid),
        duck("tool", "shipped", tool_call_id="c1", name="lookup", status="success"),
        duck("tool", "bad", tool_call_id="c2", status="error"),
    ]
    assert normalise(messages) == LANGCHAIN
    dumped = [{"type": m.type, "data": {k: v for k, v in vars(m).items() if k != "type"}} for m in messages]
    assert normalise(dumped) == LANGCHAIN
    assert (
        normalise([{"lc": 1, "type": "constructor", "id": ["x"], "kwargs": dict(vars(m))} for m in messages])
        == LANGCHAIN
    )
    assert normalise([dict(vars(m)) for m in messages]) == LANGCHAIN


def dump(kind, /, **fields):
    return {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", kind], "kwargs": fields}


DUMPED = [
    dump("SystemMessage", content="Be kind.", additional_kwargs={}),
    dump("HumanMessage", content="hi"),
    dump(
        "AIMessageChunk", content="Let me look.", additional_kwargs={},
        tool_calls=[{"name": "lookup", "args": {"order": 1}, "id": "c1"}],
        invalid_tool_calls=[{"name": "sum", "args": "{bad", "id": "c2"}],
    ),
    dump("ToolMessage", content="shipped", tool_call_id="c1", name="lookup"),
    dump("ToolMessage", content="bad", tool_call_id="c2", status="error"),
]  # fmt: skip


def test_dumped_langchain_messages_are_told_by_their_class_where_they_have_no_type():
    # As LangChain.js dumps them; langchain-core writes the type too.
    assert normalise(DUMPED) == LANGCHAIN
    typed = [{**one, "kwargs": {"type": kind, **one["kwargs"]}} for kind, one in zip(
        ["system", "human", "AIMessageChunk", "tool", "tool"], DUMPED, strict=True)]  # fmt: skip
    assert normalise(typed) == LANGCHAIN
    assert normalise([dump("ChatMessage", content="x", role="user")]) == [Message("user", "x")]


def test_a_dump_may_be_a_whole_sample():
    assert Sample.of(DUMPED[1]).messages == [Message("user", "hi")]
    assert Sample.of(DUMPED).messages == Sample.of({"messages": DUMPED}).messages == LANGCHAIN
    assert Sample.of(dump("ChatPromptValue", messages=DUMPED)).messages == LANGCHAIN


@pytest.mark.parametrize("one", [dump("RemoveMessage", id="x"), dump("PromptTemplate", content="x"), dump("", content="x"),
                                 {**dump("x", content="x"), "id": None}, {**dump("x", content="x"), "id": [5]}])  # fmt: skip
def test_a_dump_that_is_no_message_is_refused_in_one_line(one):
    with pytest.raises(UsageError, match=r"^messages\[0\]: a LangChain message of unknown type"):
        normalise([one])


def test_real_langchain_messages_where_it_is_installed():
    core = pytest.importorskip("langchain_core.messages")
    load = pytest.importorskip("langchain_core.load")
    messages = [
        core.SystemMessage("Be kind."),
        core.HumanMessage("hi"),
        core.AIMessage(
            content=[
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "c1", "name": "lookup", "input": {}},
            ],
            tool_calls=[{"name": "lookup", "args": {"order": 1}, "id": "c1"}],
            invalid_tool_calls=[{"name": "sum", "args": "{bad", "id": "c2", "error": "no JSON"}],
        ),
        core.ToolMessage("shipped", tool_call_id="c1", name="lookup"),
        core.ToolMessage("bad", tool_call_id="c2", status="error"),
    ]
    assert normalise(messages) == LANGCHAIN
    assert normalise(core.messages_to_dict(messages)) == LANGCHAIN
    assert normalise([load.dumpd(message) for message in messages]) == LANGCHAIN
    assert normalise([core.AIMessageChunk(content="a"), core.ChatMessage(role="user", content="b")]) == [
        Message("assistant", "a"),
        Message("user", "b"),
    ]
    assert Sample.of(messages).messages == LANGCHAIN


def test_pairs_and_chat_messages():
    assert normalise([("human", "hi"), ["ai", "ho"], duck("chat", "x", role="user")]) == [
        Message("user", "hi"),
        Message("assistant", "ho"),
        Message("user", "x"),
    ]


@pytest.mark.parametrize("kind", ["remove", "chat"])
def test_a_langchain_message_of_no_known_role_is_refused(kind):
    with pytest.raises(UsageError, match=r"messages\[0\]: "):
        normalise([duck(kind, "x", role="wizard")])


def test_openai_agents_run_items():
    from openai.types.responses import ResponseFunctionToolCall

    run = SimpleNamespace(
        to_input_list=lambda: ITEMS,
        last_agent=SimpleNamespace(
            instructions="Be kind.", tools=[SimpleNamespace(name="lookup", description="d", params_json_schema={})]
        ),
    )
    sample = Sample.of(run)
    assert (
        sample.system_prompt == "Be kind." and sample.tool_names == ["lookup"] and sample.final_answer == "One is lost."
    )
    item = ResponseFunctionToolCall(call_id="c1", name="lookup", arguments='{"order": 1}', type="function_call")
    assert normalise([item]) == [Message("assistant", "", (ToolCall("c1", "lookup", {"order": 1}),))]
