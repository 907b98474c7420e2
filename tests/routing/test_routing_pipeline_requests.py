"""Requests are checked; the last user message decides, and a follow-up inherits what it follows."""

from typing import Any

import pytest

from yb_eval_routing.pipeline import Pipeline, RequestError, length_tier, reference_policy

POLICY = reference_policy()
PIPELINE = Pipeline(POLICY)
PROOF = "Prove that the square root of 3 is irrational."
CODE = "напиши функцию на питоне, которая сливает два отсортированных списка"


def tier(*contents: str, **metadata: Any) -> str:
    """Return the tier of a conversation of user messages with an answer between each two."""
    messages: list[dict[str, str]] = []
    for content in contents:
        messages += [
            {"role": "user", "content": content},
            {"role": "assistant", "content": "Certainly: a proof, a theorem."},
        ]
    return PIPELINE.route({"messages": messages[:-1], "metadata": metadata}).tier


def test_prompt_and_single_message_are_the_same_request() -> None:
    assert PIPELINE.route({"prompt": PROOF}) == PIPELINE.route({"messages": [{"role": "user", "content": PROOF}]})


@pytest.mark.parametrize(
    "new",
    ["thanks!", "what time is it in Seoul", "谢谢，今天天气怎么样", "спасибо!", "which city is bigger, Rome or Oslo"],
)
def test_old_turns_do_not_raise_a_new_message(new: str) -> None:
    assert tier(PROOF, "Design a distributed, fault tolerant architecture and prove it", new) == tier(new) == "simple"


@pytest.mark.parametrize(
    ("first", "follow_up"),
    [
        (PROOF, "what about the cube root?"),
        (PROOF, "why?"),
        (CODE, "а теперь на Rust"),
        (PROOF, "are you sure?"),
        ("证明根号2是无理数", "为什么？"),
    ],
)
def test_follow_ups_inherit_what_they_follow(first: str, follow_up: str) -> None:
    order = POLICY.tier_names
    assert order.index(tier(first, follow_up)) >= order.index(tier(first)) > 0


def test_follow_up_of_a_follow_up_reaches_back() -> None:
    assert tier(PROOF, "why?", "are you sure?") == tier(PROOF) == "reasoning"


def test_small_task_that_opens_like_a_follow_up_is_none() -> None:
    assert tier(CODE, "а теперь переведи слово «кошка» на испанский") == "simple"


def test_long_chain_of_follow_ups_is_followed_a_few_steps_only() -> None:
    assert tier(PROOF, *["why?"] * 50) == tier("why?")


def test_system_prompts_and_tool_results_do_not_speak_for_the_user() -> None:
    messages = [
        {"role": "system", "content": "Prove every theorem step by step."},
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None},
        {"role": "tool", "content": "theorem lemma proof contract patient"},
    ]
    assert PIPELINE.route({"messages": messages}).tier == "simple"


def test_parts_without_text_are_attachments() -> None:
    image = {"type": "image_url", "image_url": {"url": "x"}}
    parts = [{"type": "text", "text": "what are the key points"}, image, image]
    assert PIPELINE.route({"messages": [{"role": "user", "content": parts}]}).signals["attachments"] == 0.08


def test_metadata_tools_attachments_and_task_are_read() -> None:
    plain = PIPELINE.route({"prompt": "check the build"})
    busy = PIPELINE.route({"prompt": "check the build", "metadata": {"tools": ["a", "b", "c"], "attachments": 1}})
    assert busy.signals == {**plain.signals, "tools": 0.03, "attachments": 0.04}
    titled = PIPELINE.route({"prompt": PROOF, "metadata": {"task": "title"}})
    assert (titled.tier, titled.rule) == ("simple", "background-task")


def test_unknown_metadata_is_ignored() -> None:
    metadata = {"trace": {"a": [1]}, "task": ["title"], "user_tier": None, "x": float("nan")}
    assert PIPELINE.route({"prompt": PROOF, "metadata": metadata}) == PIPELINE.route({"prompt": PROOF})


def test_max_tokens_caps_the_price_of_the_answer() -> None:
    free, capped = (PIPELINE.route({"prompt": "hi", "metadata": m}).cost_usd for m in ({}, {"max_tokens": 1}))
    assert free - capped == 119 * POLICY.models[0].output_price * free.from_float(1.0).scaleb(-12)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, "request: holds neither prompt nor messages"),
        ({"prompt": "a", "messages": []}, "request: holds both prompt and messages"),
        ({"prompt": 5}, "request.prompt: is a number, not a string"),
        ({"messages": []}, "request.messages: holds no message of role 'user'"),
        ({"messages": "hi"}, "request.messages: is a string, not a list"),
        ({"messages": ["hi"]}, "request.messages[0]: is not an object with a role"),
        ({"messages": [{"content": "a"}]}, "request.messages[0]: is not an object with a role"),
        ({"messages": [{"role": "usr", "content": "a"}]}, "request.messages[0].role: is unknown; use one of assistant"),
        ({"messages": [{"role": "user", "content": 5}]}, "request.messages[0].content: is a number, neither"),
        (
            {"messages": [{"role": "user", "content": [5]}]},
            "request.messages[0].content[0]: is a number, not an object",
        ),
        ({"prompt": "a", "metadata": []}, "request.metadata: is a list, not an object"),
        ({"prompt": "a", "metadata": {"tools": "x"}}, "request.metadata.tools: is neither a list nor a count"),
        ({"prompt": "a", "metadata": {"attachments": -1}}, "request.metadata.attachments: is neither"),
        ({"prompt": "a", "metadata": {"max_tokens": 0}}, "request.metadata.max_tokens: is not a whole number"),
        ({"prompt": "a", "metadata": {"max_tokens": True}}, "request.metadata.max_tokens: is not a whole number"),
    ],
)
def test_bad_requests_are_refused_in_one_line(request_: dict[str, Any], expected: str) -> None:
    with pytest.raises(RequestError) as caught:
        PIPELINE.route(request_)
    assert caught.value.message.startswith(expected)
    assert "\n" not in caught.value.message


def test_errors_never_show_what_a_user_wrote() -> None:
    for bad in ({"messages": [{"content": "secret-4111"}]}, {"messages": "secret-4111"}, {"prompt": ["secret-4111"]}):
        with pytest.raises(RequestError) as caught:
            PIPELINE.route(bad)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("prompt", ["", "   ", "\n\n", "???", "🔥🔥🔥", "\u200b", "\ud800"])
def test_prompt_without_words_is_routed_to_the_first_tier(prompt: str) -> None:
    assert PIPELINE.route({"prompt": prompt}).tier == "simple"


def test_length_tier_knows_nothing_but_length() -> None:
    starts = [tier.start_tokens for tier in POLICY.tiers]
    for index, start in enumerate(starts):
        assert length_tier({"prompt": "x" * 4 * start}, POLICY) == POLICY.tier_names[index]
    assert length_tier({"prompt": PROOF}, POLICY) == length_tier({"prompt": "z" * len(PROOF)}, POLICY)
