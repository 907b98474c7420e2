"""Sentences and claims: weakness 24 of jevals gone, nothing lost, linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_decision.sentences import claims, split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The answer is no. We ship on Monday.", ["The answer is no.", "We ship on Monday."]),
        ("It was made by Acme Inc. It sold well.", ["It was made by Acme Inc.", "It sold well."]),
        ("Acme Inc. announced it today.", ["Acme Inc. announced it today."]),
        ("See no. 5 of the list. It is long.", ["See no. 5 of the list.", "It is long."]),
        ("it works. then it fails.", ["it works.", "then it fails."]),
        ("the order has shipped. then it got lost.", ["the order has shipped.", "then it got lost."]),
        ("It came in 2020. it was late.", ["It came in 2020.", "it was late."]),
        ("He came at 5 p.m. The shop was shut.", ["He came at 5 p.m.", "The shop was shut."]),
        ("Use a tool, e.g. Git. It helps a lot.", ["Use a tool, e.g. Git.", "It helps a lot."]),
        ("Dr. Doe met Mr. Roe at St. Ives. They spoke.", ["Dr. Doe met Mr. Roe at St. Ives.", "They spoke."]),
        ("The U.S. Government pays. It pays late.", ["The U.S. Government pays.", "It pays late."]),
        ("He moved to the U.S. He likes it there.", ["He moved to the U.S.", "He likes it there."]),
        ("J. R. Doe signed the paper.", ["J. R. Doe signed the paper."]),
        ("Bring books, pens, etc. The school is open.", ["Bring books, pens, etc.", "The school is open."]),
    ],
)
def test_an_abbreviation_ends_a_sentence_only_where_a_new_one_begins(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Цена 100 руб. Доставка бесплатна.", ["Цена 100 руб.", "Доставка бесплатна."]),
        ("Цена 100 руб. за штуку без скидки.", ["Цена 100 руб. за штуку без скидки."]),
        ("Доставим в г. Тверь, ул. Мира, д. 5. Ждите нас.", ["Доставим в г. Тверь, ул. Мира, д. 5.", "Ждите нас."]),
        ("Это было в 2020 г. Потом всё изменилось.", ["Это было в 2020 г.", "Потом всё изменилось."]),
        ("Он приедет, т.е. вернётся домой.", ["Он приедет, т.е. вернётся домой."]),
        ("Купите хлеб, соль и т.д. Магазин открыт.", ["Купите хлеб, соль и т.д.", "Магазин открыт."]),
        ("заказ отправлен. затем он пропал.", ["заказ отправлен.", "затем он пропал."]),
        ("В XIX в. Город вырос вдвое.", ["В XIX в.", "Город вырос вдвое."]),
    ],
)
def test_russian_abbreviations(text, sentences):
    assert split_sentences(text, 1) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("订单已经发货。它明天到达！您满意吗？", ["订单已经发货。", "它明天到达！", "您满意吗？"]),
        ("「今日は雨です。傘が要ります。」と言った。", ["「今日は雨です。傘が要ります。」と言った。"]),
        ("مرحبا بكم جميعا؟ نعم بالتأكيد هنا.", ["مرحبا بكم جميعا؟", "نعم بالتأكيد هنا."]),
        ("यह एक वाक्य है। यह दूसरा वाक्य है।", ["यह एक वाक्य है।", "यह दूसरा वाक्य है।"]),
    ],
)
def test_marks_of_other_scripts_end_a_sentence(text, sentences):
    assert split_sentences(text) == sentences


@pytest.mark.parametrize(
    "text",
    [
        "It costs $3.50 or 4.20 euros today.",
        "See https://example.com/a.html?x=1.2 for the list.",
        "Open main.py and config.v2.yaml first.",
        "Well... maybe it is on the way.",
        "Version 1.2.3 is out now.",
        "“Really? Are you sure?” he asked.",
        'She said "It is late. We must go now." and left.',
        "The price (incl. tax. See below) is five.",
    ],
)
def test_a_mark_inside_does_not_end_a_sentence(text):
    assert split_sentences(text) == [text]


def test_paragraphs_lists_headings_and_rows_are_apart():
    text = "# Title\nIntro line:\n1. Open it. Then wait.\n2) Close it now.\n- last item here\n\nA paragraph that was wrapped at a\nmargin goes on."
    assert split_sentences(text) == [
        "# Title",
        "Intro line:",
        "1. Open it.",
        "Then wait.",
        "2) Close it now.",
        "- last item here",
        "A paragraph that was wrapped at a margin goes on.",
    ]


def test_lines_of_fields_are_apart_and_wrapped_lines_are_not():
    assert split_sentences("Order: 5512\nStatus: shipped\nTotal: $5") == ["Order: 5512", "Status: shipped", "Total: $5"]
    wrapped = "This paragraph was wrapped by somebody at a margin of\nsixty characters and goes on."
    assert split_sentences(wrapped) == [" ".join(wrapped.split())]


def test_a_short_piece_goes_with_its_neighbour_in_the_same_paragraph():
    assert split_sentences("No. The order has not shipped.") == ["No. The order has not shipped."]
    assert split_sentences("The order has not shipped. No.") == ["The order has not shipped. No."]
    assert split_sentences("No.\n\nThe order has not shipped.") == ["No.", "The order has not shipped."]
    assert split_sentences("He is ill. So is she.") == ["He is ill.", "So is she."]


def test_empty_text_has_no_sentence():
    assert split_sentences("") == split_sentences(" \n\t ") == claims("") == []


def test_text_without_a_break_is_one_sentence():
    assert split_sentences("yes") == ["yes"] == claims("yes")


def test_claims_leave_out_what_asserts_nothing():
    text = (
        "Hello Anna!\n\n## Your order\n\nGreat question! Your order shipped on **Monday**. Here are the steps:\n"
        "1. Open the app.\n2. Tap Track.\n\n```\nprint('no claim.')\n```\n\nShipping time\n\nIt takes three days. Is that fine?\n\n"
        "Let me know if you need anything else. Best regards, Support"
    )
    assert claims(text, 1) == ["Your order shipped on Monday.", "Open the app.", "Tap Track.", "It takes three days."]


def test_claims_leave_out_russian_greetings():
    text = "Здравствуйте, Анна! Ваш заказ отправлен. Спасибо за ожидание! Если у вас возникнут вопросы, пишите нам."
    assert claims(text) == ["Ваш заказ отправлен."]


@pytest.mark.parametrize(
    "text",
    [
        "Hi Anna, your order has shipped.",
        "Sure, the refund takes five days.",
        "Thanks to the update it is faster now.",
        "Конечно, возврат занимает пять дней.",
    ],
)
def test_a_greeting_before_a_claim_does_not_hide_it(text):
    assert claims(text) == [text]


def test_an_answer_of_greetings_only_claims_nothing():
    assert claims("Hello! How can I help you today?") == []


@given(st.text(alphabet=st.sampled_from(list("aA я.Б!?…。\n\t -*#`\"'«»()1230:|г。руб no Inc")), max_size=200))
def test_pieces_hold_all_that_is_no_space_in_order(text):
    pieces = split_sentences(text)
    assert "".join("".join(piece.split()) for piece in pieces) == "".join(text.split())
    assert all(piece.strip() for piece in pieces)


@given(st.text(max_size=300), st.integers(min_value=0, max_value=40))
def test_any_text_is_split_without_loss(text, min_chars):
    pieces = split_sentences(text, min_chars)
    assert "".join("".join(piece.split()) for piece in pieces) == "".join(text.split())
    assert all(piece.strip() for piece in pieces)
    assert all(claim.strip() for claim in claims(text, min_chars))


_WORD = st.sampled_from(
    ["order", "shipped", "заказ", "It", "costs", "5", "3.50", "Monday", "e.g.", "Dr.", "no", "2020"]
)


@given(st.lists(st.lists(_WORD, min_size=3, max_size=8), min_size=1, max_size=6))
def test_a_sentence_split_again_is_itself(words):
    text = " ".join(" ".join(["The", *sentence, "thing."]) for sentence in words)
    pieces = split_sentences(text)
    assert [again for piece in pieces for again in split_sentences(piece)] == pieces


@pytest.mark.parametrize(
    "unit", [".", ". ", "a. ", '"', "(", "(a", "“a", "1. \n", "- ", "no. No ", "```\n", "hello ", "«((“[", "г. 1 "]
)
def test_hostile_text_is_split_like_any_other(unit):
    # With work that grows as the square of the text this would not end for minutes.
    text = unit * (100_000 // len(unit))
    assert "".join("".join(piece.split()) for piece in split_sentences(text)) == "".join(text.split())
    assert all(claims(text))


def test_a_megabyte_of_dots_is_one_piece():
    assert split_sentences("." * 1_000_000) == ["." * 1_000_000]
    assert claims("." * 1_000_000) == []
