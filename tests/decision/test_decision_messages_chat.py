"""Chat messages of OpenAI, plain mappings, and what is refused."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionMessage

from yb_eval.errors import UsageError
from yb_eval_decision.messages import Message, ToolCall, normalise
from yb_eval_decision.messages.model import ROLES


def test_plain_messages_keep_role_and_text():
    given = [{"role": role, "content": f"I am {role}"} for role in ("system", "developer", "user", "assistant")]
    assert [(m.role, m.content) for m in normalise(given)] == [(m["role"], m["content"]) for m in given]


def test_tool_calls_have_their_arguments_parsed():
    [message] = normalise(
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"order": 5512}'}},
                    {"id": "c2", "type": "function", "function": {"name": "ping", "arguments": ""}},
                    {"id": "c3", "type": "custom", "custom": {"name": "sql", "input": "select 1"}},
                ],
            }
        ]
    )
    assert message == Message(
        "assistant",
        "",
        (
            ToolCall("c1", "lookup", {"order": 5512}),
            ToolCall("c2", "ping", {}),
            ToolCall("c3", "sql", {"raw": "select 1"}),
        ),
    )


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ("[1, 2]", {"value": [1, 2]}),
        ("7", {"value": 7}),
        ("{not json", {"raw": "{not json"}),
        (None, {}),
        ('{"account": 123456789012345678901234567890}', {"account": 123456789012345678901234567890}),
        ('{"x": NaN}', {"x": "nan"}),
        ("[" * 100_000, {"raw": "[" * 100_000}),
    ],
)
def test_arguments_are_always_an_object(given, args):
    [message] = normalise([{"role": "assistant", "tool_calls": [{"name": "f", "args": given}]}])
    assert message.tool_calls[0].args == args


def test_the_older_function_call_and_function_role():
    messages = normalise(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": '{"a": 1}'}},
            {"role": "function", "name": "f", "content": "done"},
        ]
    )
    assert messages == [
        Message("assistant", "", (ToolCall(None, "f", {"a": 1}),)),
        Message("tool", "done", (), None, "f"),
    ]


def test_a_refusal_is_what_the_assistant_said():
    [message] = normalise([{"role": "assistant", "content": None, "refusal": "I cannot help with that."}])
    assert message.content == "I cannot help with that."
    [message] = normalise([{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}])
    assert message.content == "No."


def test_parts_that_are_no_text_leave_a_placeholder():
    [message] = normalise(
        [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                    {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
                    {"type": "file", "file": {"filename": "report.pdf", "file_data": "AAAA"}},
                    {"type": "hologram", "data": "AAAA"},
                    "and this",
                ],
            }
        ]
    )
    assert message.content == "What is this?\n[image]\n[audio]\n[file: report.pdf]\n[hologram]\nand this"


def test_sdk_message_objects_are_read_by_their_fields():
    # Weakness 23: they became user messages with the object's repr as text.
    sdk = ChatCompletionMessage.model_validate(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
        }
    )
    assert normalise([sdk]) == [Message("assistant", "", (ToolCall("c1", "f", {"a": 1}),))]
    assert normalise([completion({"content": "Hello."}).choices[0].message]) == [Message("assistant", "Hello.")]


def completion(*messages):
    choices = [
        {"index": index, "finish_reason": "stop", "message": {"role": "assistant", **message}}
        for index, message in enumerate(messages)
    ]
    return ChatCompletion.model_validate(
        {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices}
    )


def test_a_whole_chat_completion_stands_for_its_message():
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    called, said = (
        completion({"content": None, "tool_calls": [call]}),
        completion({"content": "Hello."}, {"content": "Hi."}),
    )
    asked, result = {"role": "user", "content": "so?"}, {"role": "tool", "tool_call_id": "c1", "content": "r"}
    read = [
        Message("user", "so?"), Message("assistant", "", (ToolCall("c1", "f", {}),)), Message("tool", "r", (), "c1"),
        Message("assistant", "Hello."),
    ]  # fmt: skip
    assert normalise([asked, called, result, said]) == read
    assert normalise([asked, called.model_dump(), result, said.model_dump()]) == read


def test_a_chat_completion_that_says_nothing_is_refused_where_it_stands():
    for empty in (completion(), completion().model_dump()):
        with pytest.raises(UsageError, match=r"^messages\[1\]: a chat completion without a message"):
            normalise(["so?", empty])
    wrong = {"object": "chat.completion", "choices": [{"message": {"role": "wizard"}}]}
    with pytest.raises(UsageError, match=r"^messages\[0\]\.choices\[0\]\.message: unknown role 'wizard'"):
        normalise([wrong])


@dataclass
class Spoken:
    role: str
    content: str


def test_any_object_with_role_and_content_is_a_message():
    assert normalise([Spoken("user", "hi"), SimpleNamespace(role="assistant", content="ho")]) == [
        Message("user", "hi"),
        Message("assistant", "ho"),
    ]


def test_a_bare_text_is_a_users_message():
    assert normalise(["hi"]) == [Message("user", "hi")]


def test_messages_already_read_stay_as_they_are():
    message = Message("user", "hi")
    assert normalise([message]) == [message]


def test_structured_content_becomes_canonical_json():
    [message] = normalise([{"role": "tool", "tool_call_id": "c", "content": {"b": 1, "a": [2]}}])
    assert message.content == '{"a": [2], "b": 1}'


def test_text_of_an_assistant_cut_by_citations_runs_on():
    parts = [
        {"type": "text", "text": "The grass is "},
        {"type": "text", "text": "green"},
        {"type": "text", "text": "."},
    ]
    assert normalise([{"role": "assistant", "content": parts}])[0].content == "The grass is green."
    parts = [{"type": "text", "text": "Let me look."}, {"type": "text", "text": "It is green."}]
    assert normalise([{"role": "assistant", "content": parts}])[0].content == "Let me look.\nIt is green."


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"content": "hi"}, "messages[1]: no role in"),
        ({"role": "wizard", "content": "hi"}, "messages[1]: unknown role 'wizard'"),
        ({"role": "asistant", "content": "hi"}, "did you mean 'assistant'?"),
        ({"role": 5, "content": "hi"}, "messages[1]: a role is text, not 5"),
        ({"role": "user", "content": 5}, "messages[1].content: content is text or a list of parts, not 5"),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"x": 1}]},
            "messages[1].content[1]: a part without a type",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "a", "function": {"arguments": "{}"}}]},
            "messages[1].tool_calls[0]: a tool",
        ),
        ({"role": "assistant", "tool_calls": "f"}, "messages[1].tool_calls: a list of calls"),
        ({"type": "nonsense"}, "messages[1]: neither a role nor a known type"),
        (5, "messages[1]: not a message: 5"),
        (None, "messages[1]: not a message: None"),
        (object, "messages[1]: not a message"),
        ([1, 2], "messages[1]: not a message"),
    ],
)
def test_a_malformed_message_is_refused_with_its_place(bad, message):
    with pytest.raises(UsageError) as caught:
        normalise([{"role": "user", "content": "hi"}, bad])
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("bad", ["hello", {"role": "user", "content": "hi"}, 7])
def test_messages_that_are_no_list_are_refused(bad):
    with pytest.raises(UsageError, match=r"messages: a list of messages, not"):
        normalise(bad)


def test_control_characters_of_a_hostile_message_are_not_shown_raw():
    with pytest.raises(UsageError) as caught:
        normalise([{"role": "\x1b[31mroot", "content": "x"}])
    assert "\x1b" not in str(caught.value)


def test_deeply_nested_content_is_refused_and_no_traceback():
    content: object = "x"
    for _ in range(20_000):
        content = {"a": content}
    with pytest.raises(UsageError, match="nested"):
        normalise([{"role": "tool", "content": content}])


def test_lone_surrogates_cannot_reach_a_backend():
    [message] = normalise(
        [{"role": "assistant", "content": "a\ud800", "tool_calls": [{"name": "f", "args": '{"k\\ud800": "\\udfff"}'}]}]
    )
    json.dumps(message.to_dict(), ensure_ascii=False).encode("utf-8")


def test_records_read_by_item_and_turn_into_plain_json():
    call = ToolCall("c1", "f", {"a": 1}, "done")
    message = Message("assistant", "text", (call,))
    assert message["content"] == "text" and message["tool_calls"][0]["name"] == "f" and call["args"]["a"] == 1
    assert message.to_dict() == {
        "role": "assistant",
        "content": "text",
        "tool_calls": [{"name": "f", "args": {"a": 1}, "id": "c1", "result": "done"}],
    }
    assert dict(call) == {"id": "c1", "name": "f", "args": {"a": 1}, "result": "done"}
    with pytest.raises(KeyError):
        message["contents"]
    with pytest.raises(AttributeError):
        message.content = "other"  # type: ignore[misc]


_WORDS = [
    "text",
    "tool_use",
    "tool_result",
    "image",
    "tool_call",
    "human",
    "ai",
    "tool",
    "user",
    "reasoning",
    "function_call",
]
_KEYS = st.sampled_from(
    ["type", "text", "content", "name", "input", "id", "function", "arguments", "source", "file", "data"]
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "type",
                    "tool_calls",
                    "name",
                    "parts",
                    "tool_call_id",
                    "refusal",
                    "data",
                    "output",
                    "kwargs",
                    "invalid_tool_calls",
                ]
            ),
            st.sampled_from(["user", "assistant", "tool", "message", "ai", "function_call", "function_call_output"])
            | _JSON,
            max_size=6,
        ),
        max_size=4,
    )
)
def test_any_json_is_read_or_refused(messages):
    try:
        found = normalise(messages)
    except UsageError as error:
        assert "messages[" in str(error)
        return
    assert all(message.role in ROLES for message in found)
    for message in found:
        json.dumps(message.to_dict(), ensure_ascii=False, allow_nan=False).encode("utf-8")
