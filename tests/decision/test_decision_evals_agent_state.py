"""The fields that evals share: one form for each, pairs by turn, and nothing hidden by its length."""

import importlib.util
import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import yb_eval_decision.agent as agent
import yb_eval_decision.quality as quality
from yb_eval_decision.cuts import bounded, cut, divided, parts_of, share, windows
from yb_eval_decision.declining import declines
from yb_eval_decision.packing import Asked
from yb_eval_decision.questions import wire_question
from yb_eval_decision.sample import Sample
from yb_eval_decision.state import FIELDS, fields, results_shown_whole


def _kit():
    spec = importlib.util.spec_from_file_location(
        "decision_evals_kit", Path(__file__).with_name("decision_evals_kit.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kit = _kit()


def call(id, name, **args):
    return {"role": "assistant", "content": "", "tool_calls": [{"id": id, "name": name, "args": args}]}


def came(id, content):
    return {"role": "tool", "tool_call_id": id, "content": content}


def said(role, content):
    return {"role": role, "content": content}


TWO_TURNS = [
    said("system", "You help a shop's customers."),
    said("user", "Где мой заказ 71?"),
    said("assistant", "Сейчас посмотрю."),
    call("1", "find_order", number=71),
    came("1", '{"status": "в пути"}'),
    said("assistant", "Заказ 71 в пути."),
    said("user", "А когда он придёт?"),
    call("2", "find_date", number=71),
    came("2", "14 мая"),
    said("assistant", "Он придёт 14 мая."),
]
TOOLS = [{"name": "find_order", "description": "Finds an order", "parameters": {"type": "object"}}, "find_date"]
#: One sample to which every built-in eval of these two groups applies.
FULL = {
    "messages": TWO_TURNS,
    "tools": TOOLS,
    "contexts": ["Заказ 71 придёт 14 мая.", "Доставка бесплатна."],
    "expected": "Заказ 71 придёт 14 мая.",
    "expected_tool_calls": ["find_order", "find_date"],
    "plan": "Найти заказ, назвать дату.",
}


def every_eval():
    made = []
    for module in (agent, quality):
        for name in module.__all__:
            more = (
                {"instructions": "How polite is output?", "levels": ["rude", "polite"]}
                if name == "CustomRubric"
                else {}
            )
            made.append(getattr(module, name)(**more))
    return made


def test_the_two_modules_export_the_13_and_the_11():
    assert (len(agent.__all__), len(quality.__all__)) == (13, 11)
    assert all(each.category == "agent" for each in every_eval()[:13])
    assert all(each.category == "quality" for each in every_eval()[13:])
    assert [each.name for each in every_eval()].count("quality") == 1


@pytest.mark.parametrize("one", every_eval(), ids=lambda one: one.name)
def test_every_eval_says_in_one_line_what_it_asks(one):
    first = one.describe()["description"]
    assert first.endswith("?")
    assert len(first) < 100
    assert any(word in inspect.getdoc(type(one)) for word in ("passes", "SupportEval"))


def test_issue_25_all_evals_agree_on_the_state_and_so_fit_one_request():
    merged = {}
    for one in every_eval():
        asked = kit.ask(one, FULL)
        if isinstance(asked, Asked):
            for name, value in asked.state.items():
                assert merged.setdefault(name, value) == value, (one.name, name)
    assert {"request", "final_answer", "actions", "tool_results", "claims", "contexts"} <= merged.keys()


def test_fields_are_made_once_for_a_sample():
    s = Sample.of(FULL)
    for name in FIELDS:
        assert fields(s, name)[name] is fields(s, name)[name]


@pytest.mark.parametrize("one", every_eval(), ids=lambda one: one.name)
def test_no_question_holds_text_of_the_sample(one):
    mark = "xq7zk"
    sample = {
        "messages": [
            said("user", f"{mark} please"),
            said("assistant", f"{mark} plan"),
            call("1", f"{mark}_tool", **{mark: mark}),
            came("1", f"{mark} came back."),
            call("2", f"{mark}_tool", **{mark: mark}),
            came("2", f"{mark} came back."),
            said("assistant", f"The {mark} is here. It costs {mark} euros."),
        ],
        "tools": [{"name": f"{mark}_tool", "description": mark}],
        "contexts": [mark, mark * 3000],
        "expected": f"The {mark} is here.",
        "expected_tool_calls": [],
        "plan": mark,
        "goal": mark,
        "system_prompt": f"You are {mark}.",
    }
    asked = kit.ask(one, sample)
    if isinstance(asked, Asked):
        assert mark not in str([wire_question(question) for question in asked.questions.values()])
        assert mark not in str(list(asked.questions))
        assert mark in str(asked.state)


def test_issue_22_the_request_is_that_of_the_turn_which_the_answer_belongs_to():
    state = fields(Sample.of(FULL), "request", "final_answer", "earlier_turns", "actions", "tool_results")
    assert (state["request"], state["final_answer"]) == ("А когда он придёт?", "Он придёт 14 мая.")
    assert state["earlier_turns"] == [{"user": "Где мой заказ 71?", "answer": "Заказ 71 в пути."}]
    assert state["actions"] == [
        {"tool": "find_order", "args": {"number": 71}, "turn": "earlier", "result": "r0"},
        {"tool": "find_date", "args": {"number": 71}, "result": "r1"},
    ]
    assert state["tool_results"] == {
        "r0": {"tool": "find_order", "args": {"number": 71}, "result": '{"status": "в пути"}', "turn": "earlier"},
        "r1": {"tool": "find_date", "args": {"number": 71}, "result": "14 мая"},
    }


def test_where_an_argument_is_traced_the_arguments_of_other_calls_are_no_source():
    state = fields(Sample.of(FULL), "tool_results", "prior_results")
    assert state["prior_results"] == {
        name: {key: value for key, value in record.items() if key != "args"}
        for name, record in state["tool_results"].items()
    }


def test_long_evidence_has_the_arguments_of_each_call_before_its_result():
    call = {"id": "1", "function": {"name": "find", "arguments": '{"number": 4711}'}}
    s = Sample.of(
        {
            "messages": [
                {"role": "user", "content": "Where is it?"},
                {"role": "assistant", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "1", "content": "in Lisbon. " * 2_000},
                {"role": "assistant", "content": "It is in Lisbon."},
            ]
        }
    )
    assert not results_shown_whole(s)
    first = next(iter(fields(s, "evidence")["evidence"].values()))
    assert "4711" in str(first)[:200]


def test_a_question_that_is_still_open_does_not_take_the_place_of_the_answered_one():
    state = fields(Sample.of({"messages": [*TWO_TURNS, said("user", "Спасибо"), call("3", "log")]}), *FIELDS)
    assert (state["request"], state["final_answer"]) == ("А когда он придёт?", "Он придёт 14 мая.")
    assert state["actions"][-1] == {"tool": "log", "args": {}, "turn": "later"}
    assert state["conversation"][-1] == {"role": "user", "content": "Спасибо"}


def test_where_a_user_asks_the_same_twice_the_answer_tells_which_turn_is_judged():
    again = [
        said("user", "Где заказ?"),
        said("assistant", "В пути."),
        said("user", "Где заказ?"),
        said("assistant", "Тут."),
    ]
    assert len(fields(Sample.of({"messages": again}), "earlier_turns")["earlier_turns"]) == 1
    first = Sample.of({"messages": again, "output": "В пути.", "input": "Где заказ?"})
    assert fields(first, "earlier_turns")["earlier_turns"] == []


def test_a_given_input_names_the_turn_even_with_another_answer():
    s = Sample.of({"messages": TWO_TURNS, "input": "А когда он придёт?", "output": "Не скоро."})
    assert [turn["user"] for turn in fields(s, "earlier_turns")["earlier_turns"]] == ["Где мой заказ 71?"]
    unknown = Sample.of({"messages": TWO_TURNS, "input": "Что?", "output": "Не скоро."})
    state = fields(unknown, "earlier_turns", "actions")
    assert state["earlier_turns"] == []
    assert not any("turn" in action for action in state["actions"])


def test_one_turn_has_no_marks():
    state = fields(Sample.of({"messages": TWO_TURNS[:6]}), "actions", "tool_results", "earlier_turns")
    assert "turn" not in str(state["actions"]) + str(state["tool_results"])
    assert state["earlier_turns"] == []


def test_results_without_a_known_call_are_not_lost():
    messages = [said("user", "hi"), came("gone", "orphan result"), call("1", "find"), came("1", "found")]
    state = fields(Sample.of({"messages": messages, "tool_result": "the newest"}), "tool_results")
    assert state["tool_results"]["r0"] == {"tool": "find", "result": "found"}
    assert {"result": "orphan result"} in state["tool_results"].values()
    assert {"result": "the newest"} in state["tool_results"].values()


def test_bare_tool_results_have_ids_too():
    state = fields(Sample.of({"output": "ok", "tool_results": ["one", {"n": 2}]}), "tool_results")
    assert state["tool_results"] == {"r0": {"result": "one"}, "r1": {"result": {"n": 2}}}


def test_what_is_left_out_of_a_list_is_counted():
    messages = [said("user", "go")]
    for n in range(40):
        messages += [call(str(n), "step", n=n), came(str(n), f"did {n}")]
    state = fields(Sample.of({"messages": messages}), "actions", "tool_results", "steps")
    assert state["actions"][0] == "[24 earlier calls left out]"
    assert [each["args"]["n"] for each in state["actions"][1:]] == list(range(24, 40))
    assert state["tool_results"]["left_out"] == "24 earlier results"
    assert list(state["tool_results"])[1] == "r24"
    assert state["steps"][0] == "[64 earlier steps left out]"


def test_issue_26_no_field_grows_with_the_size_of_its_parts():
    huge = "word " * 40_000
    rows = [{"n": n, "text": "x" * 20} for n in range(5_000)]
    messages = [said("user", huge), call("1", "find", query=huge), came("1", huge), said("assistant", "ok")]
    sample = {"messages": messages, "tool_result": rows, "plan": huge, "expected": huge, "system_prompt": huge}
    state = fields(Sample.of(sample), *(name for name in FIELDS if name not in ("evidence", "reference_claims")))
    for name, value in state.items():
        assert len(str(value)) < 20_000, name


def test_issue_26_no_list_grows_with_the_number_and_size_of_its_items():
    messages = []
    for n in range(60):
        messages += [said("user", "ask " * 3_000), said("assistant", "say " * 3_000)]
        messages += [
            call(str(n), "find", query="args " * 3_000),
            came(str(n), "result " * 3_000),
            said("assistant", "ok"),
        ]
    tools = [{"name": f"tool_{n}", "description": "does " * 500} for n in range(300)]
    state = fields(Sample.of({"messages": messages, "tools": tools}), *(name for name in FIELDS if name != "evidence"))
    for name, value in state.items():
        assert len(str(value)) < 30_000, name
    assert [tool["name"] for tool in state["available_tools"]] == [f"tool_{n}" for n in range(300)]


@given(st.lists(st.integers(0, 500), max_size=12), st.integers(0, 2_000))
def test_shares_are_as_large_as_they_can_be(sizes, total):
    limit = share(sizes, total, most=400)
    assert sum(min(size, limit) for size in sizes) <= total
    if limit < 400:
        assert sum(min(size, limit + 1) for size in sizes) > total


def test_a_cut_says_how_much_it_left_out():
    assert cut("a" * 10, 10) == "a" * 10
    assert cut("a" * 5 + "b" * 20 + "c" * 5, 10) == "aaaaa\n[20 characters left out]\nccccc"


def test_a_value_within_its_limit_stays_as_it_is():
    assert bounded({"a": [1, 2]}) == {"a": [1, 2]}
    assert "characters left out" in bounded({"a": "x" * 5_000})


@given(st.text(alphabet="abc ", max_size=400), st.integers(10, 60), st.integers(0, 9))
def test_windows_leave_nothing_out(text, size, overlap):
    parts = list(windows(text, size, overlap).values())
    assert all(len(part) <= size for part in parts)
    joined = parts[0] + "".join(part[overlap:] for part in parts[1:])
    assert joined == text


@given(st.lists(st.text(alphabet="abc", max_size=150), max_size=8))
def test_divided_texts_are_all_there(texts):
    items = [(f"i{n}", text) for n, text in enumerate(texts)]
    found = divided(items, size=450)
    parts = [found] if parts_of("f", found) == ["f"] else list(found.values())
    assert all(sum(map(len, part.values())) <= 450 for part in parts)
    for id, text in items:
        assert any(part.get(id) == text for part in parts)


def test_a_text_longer_than_a_window_is_in_several_parts():
    found = divided([("a", "x" * 100), ("b", "y" * 20_000)])
    assert parts_of("f", found) == ["f.part_0", "f.part_1", "f.part_2", "f.part_3", "f.part_4"]
    assert found["part_0"] == {"a": "x" * 100}
    assert [set(part) for part in found.values()][1:] == [{"b"}] * 4


@pytest.mark.parametrize(
    "sentence",
    [
        "I don't know.", "I'm sorry, but I can't help with that request.",
        "Unfortunately, I do not have enough information to answer this question.",
        "I am unable to answer your question based on the provided context.", "I’m sorry.",
        "Не знаю.", "К сожалению, я не могу ответить на этот вопрос на основе предоставленных документов.",
        "У меня недостаточно информации, чтобы ответить на этот вопрос.",
        "As an AI, I cannot help with that.", "As an AI language model, I'm sorry, but I can't assist with that request.",
        "I'm sorry, but as a large language model, I cannot answer that.", "I can't help with that as an AI.",
        "Being a virtual assistant, I don't know.", "Sorry, I can't.", "Как ИИ, я не могу помочь с этим.",
        "Извините, но как языковая модель я не могу ответить на этот вопрос.",
    ],
)  # fmt: skip
def test_a_sentence_that_only_declines_claims_nothing(sentence):
    assert declines(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I cannot refund orders older than 30 days.", "We do not have the blue one in stock.",
        "I don't know the price, but it is above 5 euros.", "I can't find an order 123.", "It depends.", "12.", "",
        "As an AI model released in 2024, it scored 81 %.", "As an AI, I cannot refund orders older than 30 days.",
        "As an AI made by Acme, I cannot help with that.", "As an AI.", "As an agent I cannot sell.",
        "As a language model, I scored 81 %.", "Как ИИ-модель, она набрала 81 %.",
        "Я не могу вернуть деньги после 30 дней.", "Не могу найти заказ 12.", "The documents do not mention the price.",
    ],
)  # fmt: skip
def test_a_sentence_that_says_something_else_too_is_a_claim(sentence):
    assert not declines(sentence)
