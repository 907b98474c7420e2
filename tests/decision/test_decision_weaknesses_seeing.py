"""The known weaknesses of evaluation with decision models, by their numbers: what evals see and what they find in it (22 to 29).

Each weakness is tested with its kind: the other evals, formats, languages, one sample and many, sync and async.
"""

from __future__ import annotations

import json
import math
import runpy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from yb_eval import UsageError
from yb_eval.datasets import RowError
from yb_eval_decision import (
    MockBackend,
    Result,
    Sample,
    builtin_evals,
    evaluate,
    resolve_evals,
    split_sentences,
)
from yb_eval_decision.agent import ToolCallRisk
from yb_eval_decision.backends.base import Limits
from yb_eval_decision.quality import (
    CustomRubric,
    Faithfulness,
)
from yb_eval_decision.security import PHI, PII, SecretsExposure, detect_phi, detect_pii, detect_secrets
from yb_eval_decision.sentences import claims
from yb_eval_decision.tokens import estimate

kit = runpy.run_path(str(Path(__file__).with_name("decision_traces.py")), run_name="decision_traces")
TRACE, ASKING, BY_CODE, SECURITY, DETECTING, Drawn, made, item_of = (
    kit[name] for name in ("TRACE", "ASKING", "BY_CODE", "SECURITY", "DETECTING", "Drawn", "made", "item_of")
)
fakes = runpy.run_path(str(Path(__file__).with_name("decision_fakes.py")), run_name="decision_fakes")
ALL = sorted(builtin_evals())


def one(eval_: Any, sample: Any, answers: Any = None) -> Result:
    backend = MockBackend(fn=answers) if callable(answers) else MockBackend(answers)
    return evaluate(sample, [eval_], backend=backend).results[0]


# 22. An answer judged against another turn's question

TURNS = [
    {"role": "user", "content": "Сколько стоит доставка?"},
    {"role": "assistant", "content": "Доставка бесплатна."},
    {"role": "user", "content": "When does order 7 arrive?"},
    {"role": "assistant", "content": "It arrives on 2 May."},
]


@pytest.mark.parametrize("name", [name for name in ASKING if name not in ("pii", "phi", "secrets_exposure")])
def test_w22_every_eval_that_sees_a_request_sees_that_of_the_answered_turn(name: str) -> None:
    backend = MockBackend()
    evaluate({**TRACE, "messages": [*TURNS[:2], *TRACE["messages"][1:]]}, [made(name)], backend=backend)
    for call in backend.calls:
        if "request" in call["state"]:
            assert call["state"]["request"] == TRACE["messages"][1]["content"]
        if "earlier_turns" in call["state"]:
            assert call["state"]["earlier_turns"] == [
                {"user": "Сколько стоит доставка?", "answer": "Доставка бесплатна."}
            ]


@pytest.mark.parametrize(
    ("cut", "asked"), [(4, "When does order 7 arrive?"), (2, "Сколько стоит доставка?"), (3, "Сколько стоит доставка?")]
)
def test_w22_the_pair_is_that_of_the_last_answer_whatever_follows(cut: int, asked: str) -> None:
    s = Sample.of({"messages": TURNS[:cut]})
    assert s.input == asked
    anthropic = [{**message, "content": [{"type": "text", "text": message["content"]}]} for message in TURNS[:cut]]
    assert Sample.of({"messages": anthropic}).input == asked


# 23. Samples in other formats


def test_w23_message_objects_of_the_openai_sdk_keep_role_text_and_calls() -> None:
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletionMessage
    from openai.types.chat.chat_completion_message_function_tool_call import (
        ChatCompletionMessageFunctionToolCall,
        Function,
    )

    call = ChatCompletionMessageFunctionToolCall(
        id="c", type="function", function=Function(name="find", arguments='{"id": 7}')
    )
    messages = [
        {"role": "user", "content": "so?"}, ChatCompletionMessage(role="assistant", content=None, tool_calls=[call]),
        {"role": "tool", "tool_call_id": "c", "content": "found"}, ChatCompletionMessage(role="assistant", content="Yes."),
    ]  # fmt: skip
    s = Sample.of({"messages": messages})
    assert (s.user_messages, s.final_answer) == (["so?"], "Yes.")
    assert [(c.name, c.args, c.result) for c in s.tool_calls] == [("find", {"id": 7}, "found")]


def test_w23_blocks_of_the_anthropic_sdk_keep_their_calls() -> None:
    pytest.importorskip("anthropic")
    from anthropic.types import TextBlock, ToolUseBlock

    blocks = [
        TextBlock(type="text", text="I look."),
        ToolUseBlock(type="tool_use", id="c", name="find", input={"id": 7}),
    ]
    messages = [
        {"role": "user", "content": "so?"}, {"role": "assistant", "content": blocks},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "found"}]},
    ]  # fmt: skip
    s = Sample.of({"messages": messages})
    assert [(c.name, c.args, c.result) for c in s.tool_calls] == [("find", {"id": 7}, "found")]
    assert s.user_messages == ["so?"]


def test_w23_items_of_the_responses_api_are_messages_calls_and_results() -> None:
    items = [
        {"role": "developer", "content": "be brief"}, {"role": "user", "content": [{"type": "input_text", "text": "so?"}]},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "find", "arguments": '{"id": 7}'},
        {"type": "function_call_output", "call_id": "c", "output": "found"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes.", "annotations": []}]},
    ]  # fmt: skip
    s = Sample.of({"messages": items})
    assert (s.system_prompt, s.user_messages, s.final_answer) == ("be brief", ["so?"], "Yes.")
    assert [(c.name, c.args, c.result) for c in s.tool_calls] == [("find", {"id": 7}, "found")]


@pytest.mark.parametrize("context", [
    {"text": "about lamps", "score": 0.3}, {"content": "about lamps"}, {"page_content": "about lamps", "metadata": {"n": 1}}, "about lamps",
])  # fmt: skip
def test_w23_a_context_is_its_text_and_not_json(context: Any) -> None:
    assert Sample.of({"contexts": [context]}).contexts == ["about lamps"]


def test_w23_what_is_appended_later_changes_no_sample_and_a_sample_does_not_change() -> None:
    messages = list(TURNS[:2])
    s = Sample.of({"messages": messages})
    assert s.final_answer == "Доставка бесплатна."
    messages.extend(TURNS[2:])
    assert len(s.messages) == 2
    with pytest.raises(AttributeError, match="does not change"):
        s.output = "x"  # type: ignore[misc]
    s.messages.append("x")  # type: ignore[arg-type]
    assert len(s.messages) == 2


@pytest.mark.parametrize(
    ("typo", "meant"), [("finl_answer", "final_answer"), ("mesages", "messages"), ("tool_cals", "tool_calls")]
)
def test_w23_a_typo_is_an_error_and_never_none(typo: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=meant):
        getattr(Sample.of(TRACE), typo)

    class Own(fakes["Polite"]):  # type: ignore[misc, name-defined]
        def state(self, s: Sample) -> dict[str, Any]:
            return {"x": getattr(s, typo)}

    result = one(Own(), TRACE)
    assert result.status == "error"
    assert meant in result.reason


# 24. Sentences


@pytest.mark.parametrize(("text", "n"), [
    ("The answer is no. The lamp is lit in the hall.", 2), ("It belongs to Acme Inc. The lamp is lit in the hall.", 2),
    ("灯亮着。门开着。窗户关了。", 3), ("Лампа в зале горит. Дверь в зал открыта.", 2), ("лампа горит в зале. дверь в зал открыта.", 2),
    ("the lamp is lit. the door is open.", 2), ("It costs 3.5 euros at most. That is cheap.", 2), ("He met Dr. Brown of the hall today.", 1),
    ("See fig. 3 of the book for it.", 1), ("Это т. е. лампа, которая горит в зале.", 1), ("Is it lit? It is lit, I think!", 2),
])  # fmt: skip
def test_w24_sentences_end_where_they_end(text: str, n: int) -> None:
    found = split_sentences(text)
    assert len(found) == n, found
    assert "".join("".join(found).split()) == "".join(text.split())


@pytest.mark.parametrize("text", [
    "# Result\n\nHello! Here is what I found:\n\n- The lamp is lit.\n- The door is open.\n\nLet me know if you need more help.",
    "## Итог\n\nЗдравствуйте! Вот что я нашёл:\n\n- Лампа горит.\n- Дверь открыта.\n\nОбращайтесь, если будут вопросы.",
])  # fmt: skip
def test_w24_headings_greetings_and_intros_are_no_claims(text: str) -> None:
    assert len(claims(text)) == 2
    assert (
        len(one(Faithfulness(), {"output": text, "contexts": ["x"]}, lambda id, q, s: 0.9).evidence["per_claim"]) == 2
    )


# 25. One request


@pytest.mark.parametrize("size", [1, 30, 60])
def test_w25_all_evals_of_one_sample_make_one_request_however_long_its_texts(size: int) -> None:
    long = {
        **TRACE,
        "messages": [{**m, "content": m["content"] and f"{m['content']} " * size} for m in TRACE["messages"]],
    }
    backend = MockBackend(fn=Drawn(1))
    report = evaluate(long, [made(name) for name in ALL], backend=backend)
    assert all(result.measured for result in report if result.name != "plan_adherence"), report.table()
    assert report.usage.requests == len(backend.calls) == 1


@pytest.mark.parametrize("name", ASKING)
def test_w25_an_isolated_eval_sees_its_own_state_only_and_packing_adds_nothing_that_it_reads(name: str) -> None:
    alone, together, apart = (MockBackend(fn=Drawn(2)) for _ in range(3))
    evaluate(TRACE, [made(name)], backend=alone)
    evaluate(TRACE, [made(other) for other in ALL], backend=together)
    evaluate(TRACE, [made(other) for other in ALL], backend=apart, isolate=True)
    ((call,), (merged,)) = alone.calls, together.calls
    assert call in apart.calls
    for id, question in call["questions"].items():
        assert merged["questions"][id] == question
    for key, value in call["state"].items():
        assert merged["state"][key] == value


# 26. Samples larger than a model takes


@pytest.mark.parametrize("limit", [4_000, 8_000, 32_000])
def test_w26_no_request_passes_the_limit_and_no_eval_fails_for_it(limit: int) -> None:
    huge = "Step by step the lamp was lit. " * 4_000
    messages: list[Any] = [{"role": "user", "content": huge}]
    for index in range(30):
        call = {
            "id": f"c{index}",
            "type": "function",
            "function": {"name": "find", "arguments": json.dumps({"q": huge[:20_000]})},
        }
        messages += [
            {"role": "assistant", "content": "next", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{index}", "content": huge[:20_000]},
        ]
    messages.append({"role": "assistant", "content": "The lamp was lit in the hall."})
    sample = {"messages": messages, "contexts": [huge] * 3, "expected": "The lamp was lit."}
    backend = MockBackend(limits=Limits(request_tokens=limit), keep=10_000)
    names = [
        "step_progress",
        "tool_call_risk",
        "grounded",
        "faithfulness",
        "goal_completion",
        "indirect_injection",
        "excessive_agency",
    ]
    report = evaluate(sample, [made(name) for name in names], backend=backend)
    sizes = [estimate(dict(call["state"])) for call in backend.calls]
    assert max(sizes) <= limit
    told = {result.name: (result.status, result.reason) for result in report}
    if limit >= 32_000:
        assert all(status in ("measured", "abstained") for status, _ in told.values()), told
    else:  # what cannot be shown whole is an error that says the sizes, and never a pass
        assert all(status != "error" or "tokens" in reason for status, reason in told.values()), told


# 27. Arguments with typos


@pytest.mark.parametrize("name", ALL)
def test_w27_an_argument_that_does_not_exist_is_refused_with_the_nearest(name: str) -> None:
    with pytest.raises(UsageError, match="threshold"):
        made(name, treshold=0.5)
    with pytest.raises(UsageError, match="out of range"):
        made(name, threshold=1.5)
    with pytest.raises(UsageError, match="number"):
        made(name, threshold="high")


@pytest.mark.parametrize("name", [name for name in ALL if "surface" in builtin_evals()[name].parameters])
def test_w27_a_surface_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="tool_result"):
        made(name, surface="tool_results")
    with pytest.raises(UsageError, match="surface"):
        made(name, surfce="input")


# 28. What calibration stands on


def test_w28_the_threshold_that_decides_is_the_one_that_is_reported() -> None:
    assert ToolCallRisk().threshold == ToolCallRisk().approve_at == 0.85
    assert ToolCallRisk(threshold=0.7).approve_at == 0.7
    assert ToolCallRisk().describe()["parameters"]["threshold"]["default"] == 0.85


@pytest.mark.parametrize("kind", [PII, PHI, SecretsExposure])
def test_w28_the_score_of_data_follows_the_probability(kind: Any) -> None:
    text = "the diagnosis goes to anna.k@mail-of-anna.net, password: kW9-fjell-lamp"
    scores = [one(kind(detector="own"), {"output": text}, lambda id, q, s, p=p: 1.0 if "enough" in id else p).score
              for p in (0.05, 0.3, 0.5, 0.7, 0.95)]  # fmt: skip
    assert scores == pytest.approx([0.95, 0.7, 0.5, 0.3, 0.05])


@pytest.mark.parametrize(("eval_", "label"), [
    ("coherence", "maybe"), ("coherence", "good"), ("coherence", "True"), ("coherence", 7), ("coherence", None), ("coherence", []),
    ("tool_choice", "corect"), ("cohrence", True), ("coherence", math.inf), ("coherence", "0.9"),
])  # fmt: skip
def test_w28_a_label_that_nobody_knows_is_refused_and_is_no_failure(eval_: str, label: Any) -> None:
    from yb_eval_decision.dataset import RowLabels
    from yb_eval_decision.verdicts import options_of

    evals = {name: options_of(made(name)) for name in ("coherence", "tool_choice")}
    with pytest.raises(RowError):
        RowLabels(evals, frozenset(evals))({"id": "1", "sample": {"output": "x"}, "labels": {eval_: label}})
    RowLabels(evals, frozenset(evals))(
        {"id": "1", "sample": {"output": "x"}, "labels": {"coherence": True, "tool_choice": "correct"}}
    )


# 29. Detectors


@pytest.mark.parametrize("text", [
    "order 4831209375 was shipped", "version 1.2.3.4 is out", "model AB1234567 in blue", "build 10.0.19041.1 runs", "заказ 4831209375 отправлен",
    "версия 1.2.3.4 вышла", "ticket 2024-11-30 and 12:30", "IBAN GB82WEST12345698765431", "ISBN 978-3-16-148410-0",
])  # fmt: skip
def test_w29_a_number_is_not_taken_for_somebodys(text: str) -> None:
    found = [*detect_pii(text, detector="own"), *detect_phi(text, detector="own")]
    assert not found, found


@pytest.mark.parametrize(("text", "kind"), [
    ("IBAN GB82 WEST 1234 5698 7654 32", "IBAN_CODE"), ("call +44 20 7946 0958 now", "PHONE_NUMBER"), ("звоните +7 495 123-45-67", "PHONE_NUMBER"),
    ("host 2a02:6b8:0:1472:2741:56ff:fe1c:9e2b", "IP_ADDRESS"), ("write to anna.k@mail-of-anna.net", "EMAIL_ADDRESS"),
    ("phone: (415) 201-7788", "PHONE_NUMBER"), ("дата рождения: 04.07.1961", "DATE_OF_BIRTH"),
])  # fmt: skip
def test_w29_what_is_somebodys_is_found(text: str, kind: str) -> None:
    assert kind in {found.type for found in detect_pii(text, detector="own")}


RANDOM = "a8Fk2Lq9Zx7Vb3Nm5Rt1Yw6Ec4Uj0Hd8Sg2Pk9Wx3"


@pytest.mark.parametrize(("text", "kind"), [
    ("pass" "word: Hj7-kw2", "PASSWORD"), ("пароль: Hj7-kw2", "PASSWORD"), ("the pass" "word is: Hj7-kw2", "PASSWORD"),
    (f"gl" f"pat-{RANDOM[:20]}", "GITLAB_TOKEN"), (f"hf" f"_{RANDOM[:34]}", "HUGGING_FACE_TOKEN"), (f"npm" f"_{RANDOM[:36]}", "NPM_TOKEN"),
    (f"SG" f".{RANDOM[:22]}.{RANDOM[:40]}xyz", "SENDGRID_KEY"), (f"AccountKey={(RANDOM * 3)[:86]}==", "AZURE_STORAGE_KEY"),
])  # fmt: skip
def test_w29_secrets_of_other_vendors_and_short_passwords_are_found(text: str, kind: str) -> None:
    assert kind in {found.type for found in detect_secrets(text, detector="own")}


def test_w29_a_rubric_of_ones_own_needs_its_arguments_and_breaks_no_listing() -> None:
    """As in 30: whoever lists all evals must not stumble over the one that cannot be made without arguments."""
    from yb_eval_decision.commands.listing import describe_eval, list_evals

    with pytest.raises(UsageError, match="CustomRubric needs"):
        CustomRubric()
    run = CliRunner().invoke(list_evals, ["--json"])
    assert len(json.loads(run.output)) == 37
    for name in ALL:
        described = CliRunner().invoke(describe_eval, [name])
        assert described.exit_code == 0, name
        assert json.loads(described.output)["name"] == name
    assert len(resolve_evals("all")) == 36
