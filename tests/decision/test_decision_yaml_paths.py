"""Paths into a sample, and the state they fill."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval import UsageError
from yb_eval_decision.declarative.documents import Trail
from yb_eval_decision.declarative.paths import read_path
from yb_eval_decision.declarative.templates import fill, paths_in, read_template
from yb_eval_decision.sample import Sample

SAMPLE = Sample.of(
    {
        "messages": [
            {"role": "user", "content": "cancel order 5"},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "cancel", "arguments": '{"id": 5, "a b": [1, 2]}'}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
            {"role": "assistant", "content": "It is cancelled."},
        ],
        "ticket": {"id": 7, "items": ["x", "y"], "keys": None},
        "model": SimpleNamespace(secret=1),
        "город": "Казань",
    }
)  # fmt: skip
OWN = frozenset({"ticket", "город"})


def found(text: str) -> Any:
    return read_path(text, OWN).find(SAMPLE)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$.final_answer", "It is cancelled."),
        ("final_answer", "It is cancelled."),
        ("$final_answer", "It is cancelled."),
        ("$.user_messages[0]", "cancel order 5"),
        ("$.messages[-1].content", "It is cancelled."),
        ("$.messages[-1]", {"role": "assistant", "content": "It is cancelled."}),
        ("$.messages[-2:]", [{"role": "tool", "content": "done", "tool_call_id": "c1"},
                             {"role": "assistant", "content": "It is cancelled."}]),
        ("$.messages[:1][0].role", "user"),
        ("$.messages[ 1 : 2 ][0].tool_calls[0].name", "cancel"),
        ("$.tool_call.args.id", 5),
        ("$.tool_call.args[id]", 5),
        ('$.tool_call.args["a b"][1]', 2),
        ("$.tool_call['name']", "cancel"),
        ("$.final_answer[:5]", "It is"),
        ("$.ticket.items", ["x", "y"]),
        ("$.raw.ticket.id", 7),
        ("$.город", "Казань"),
        ('$.raw["город"]', "Казань"),
    ],
)  # fmt: skip
def test_a_path_leads_into_fields_records_and_json(path: str, value: Any) -> None:
    assert found(path) == value


@pytest.mark.parametrize(
    "path",
    [
        "$.messages[99]",
        "$.messages[-99].content",
        "$.messages.content",
        "$.tool_call.items",
        "$.tool_call.to_dict",
        "$.ticket.keys",
        "$.ticket.pop",
        "$.final_answer.upper",
        "$.final_answer.__class__",
        "$.messages[0].__class__.__mro__",
        "$.raw.model.__dict__",
        "$.raw.nothing.at[0].all",
        "$.expected",
        "$.ticket.id[0]",
    ],
)
def test_a_path_that_leads_nowhere_is_null_and_never_a_method(path: str) -> None:
    assert found(path) is None


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$.messages[::2]", r"\[::2\]"),
        ("$.messages[1:2:3]", "cannot be read"),
        ("$.messages[", "cannot be read"),
        ("$.messages[]", "cannot be read"),
        ("$.messages..content", "cannot be read"),
        ("$.messages.", "cannot be read"),
        ("$.messages()", "cannot be read"),
        ("$.messages[0]content", "cannot be read"),
        ("$.messages[*]", "cannot be read"),
        ("$.messages[?(@.role)]", "cannot be read"),
        ("$.messages[0", "cannot be read"),
        ("$..content", "no path"),
        ("$", "no path"),
        ("", "no path"),
        ("$.items", "no field 'items'"),
        ("$.tol_call.name", "did you mean 'tool_call'"),
        ("$.customer.name", r"\$.raw.customer, or needs fields: \[customer\]"),
        ("$.messages" + "[0]" * 40, "more than 32 steps"),
        ("$.messages[99999999999999999999]", "cannot be read"),
    ],
)
def test_what_is_no_path_is_refused(path: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        found(path)


def template(value: Any) -> Any:
    def refuse(fault: UsageError, trail: Trail) -> UsageError:
        return UsageError(fault.what, where=".".join(map(str, trail)), hint=fault.hint)

    return read_template(value, OWN, refuse)


def filled(value: Any) -> Any:
    return fill(template(value), SAMPLE)


@pytest.mark.parametrize(
    "literal",
    [
        "$5",
        "$5.00",
        "$.50 each",
        "$ 5",
        "$",
        "costs $USD 5",
        "$USD is money",
        "plain",
        "",
        " ",
        "}}",
        "{ a }",
        "a $.messages",
    ],
)
def test_a_text_that_is_no_path_stays_as_it_is(literal: str) -> None:
    assert filled(literal) == literal


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (" $.tool_call.name ", "cancel"),
        ("{{ tool_call.args.id }}", 5),
        ("  {{$.tool_call.args.id}}\n", 5),
        ("call {{ tool_call.name }}({{ tool_call.args.id }})", "call cancel(5)"),
        ("[{{ expected }}]", "[]"),
        ("as JSON: {{ ticket['items'] }} {{ город }}", 'as JSON: ["x", "y"] Казань'),
        ("{{ tool_call.name }}{{ tool_call.name }}", "cancelcancel"),
        ("{{'{{'}} name }}", "{{ name }}"),
        ("$$goal", "$goal"),
        ("$$", "$$"),
        ("$$5", "$$5"),
        ({"a": [1, None, "$.tool_call.name", {"b": True}]}, {"a": [1, None, "cancel", {"b": True}]}),
    ],
)
def test_texts_in_the_state_are_filled_from_the_sample(text: Any, value: Any) -> None:
    assert filled(text) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("$.mesages", "did you mean 'messages'"),
        ("$mesages", "did you mean 'messages'"),
        ("{{ mesages }}", "did you mean 'messages'"),
        ("say {{ mesages }}", "did you mean 'messages'"),
        ("{{ }}", "holds no path"),
        ("{{ messages", "is not closed"),
        ("{{ messages | length }}", "cannot be read"),
        ("$.messages are long", "cannot be read"),
    ],
)
def test_a_slip_in_a_path_does_not_go_out_as_text(value: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        template({"a": [value]})
    assert caught.value.where == "a.0"


def test_the_paths_of_a_state_are_known() -> None:
    paths = paths_in(template({"a": "$.goal", "b": ["x {{ input }} {{ plan }}"], "c": 5}))
    assert [path.text for path in paths] == ["$.goal", "input", "plan"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc_-é", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(deadline=None)
@given(json_values, st.data())
def test_a_path_finds_what_python_finds(value: Any, data: st.DataObject) -> None:
    path, at = "$.raw.x", value
    while isinstance(at, list | dict) and at and data.draw(st.booleans()):
        if isinstance(at, dict):
            key = data.draw(st.sampled_from(sorted(at)))
            path, at = path + f'["{key}"]', at[key]
        elif data.draw(st.booleans()):
            index = data.draw(st.integers(-len(at), len(at) - 1))
            path, at = path + f"[{index}]", at[index]
        else:
            start, stop = data.draw(st.none() | st.integers(-4, 4)), data.draw(st.none() | st.integers(-4, 4))
            path += f"[{'' if start is None else start}:{'' if stop is None else stop}]"
            at = at[start:stop]
    assert read_path(path).find(Sample.of({"x": value, "output": "o"})) == at


@settings(deadline=None)
@given(st.text("$.{}[]:'\"ab 05_-\\messages", max_size=30))
def test_any_text_is_a_literal_or_a_template_or_refused(text: str) -> None:
    try:
        made = template(text)
    except UsageError as error:
        assert "\n" not in str(error)
        return
    if not any(True for _ in paths_in(made)) and "{{" not in text and not text.strip().startswith("$$"):
        assert fill(made, SAMPLE) == text
