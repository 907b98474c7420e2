"""A message is taken apart into the prose that asks and what is pasted with it, within bounded work."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_routing.pipeline import Pipeline, reference_policy
from yb_eval_routing.pipeline.segments import ASK_CHARACTERS, READ_CHARACTERS, Segments, split

PIPELINE = Pipeline(reference_policy())


def test_fenced_code_is_no_prose() -> None:
    segments = split("Why?\n```python\nprove = theorem(lemma)\n```\nThanks")
    assert segments.prose.split() == ["Why?", "Thanks"]
    assert segments.code_lines == 1


def test_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert split("look\n```\nint x;\nint y;").code_lines == 2


def test_tilde_inside_backticks_does_not_close_the_fence() -> None:
    assert split("```\n~~~\nprove\n```\nask").prose.split() == ["ask"]


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-02T08:14:01Z INFO started",
        "2026-03-02t08:14:01z info started",
        "[12:00:01] worker up",
        "Mar  2 08:14:01 host sshd[1]: closed",
        "ERROR: disk full",
        '10.0.0.7 - - [12/May/2026:03:10:11 +0000] "GET / HTTP/1.1" 200 5',
        "    at com.shop.Cart.total(Cart.java:12)",
        "Traceback (most recent call last):",
        '  File "app.py", line 3, in <module>',
        "java.lang.NullPointerException: null",
        "npm ERR! code ERESOLVE",
    ],
)
def test_log_lines_are_recognised_without_a_fence(line: str) -> None:
    assert split(f"what is this\n{line}\n").log_lines == 1


@pytest.mark.parametrize(
    "line",
    [
        "def total(items):",
        "for item in items:",
        "SELECT name FROM users",
        "#include <stdio.h>",
        "const x = [1, 2];",
        '  "name": "web",',
        "<div class='a'>",
        "import numpy as np",
        "}",
    ],
)
def test_code_lines_are_recognised_without_a_fence(line: str) -> None:
    assert split(f"what is this\n{line}\n").code_lines == 1


@pytest.mark.parametrize(
    "line",
    [
        "Let me know if you can come on Friday",
        "for all of us (and the kids), thanks",
        "import duties on wine, please explain",
        "Error handling is what I want to learn",
        "Select a good name for my dog",
        "- сделать отчёт;",
        "x = 3y + 2, solve for y",
        "sort these: 5,3,8,1,9",
        "Return the book to the library, then call me: it is urgent",
    ],
)
def test_sentences_stay_prose(line: str) -> None:
    assert split(f"hello\n{line}\n") == Segments(prose=f"hello\n{line}\n", list_items=int(line.startswith("-")))


def test_tables_and_quotations_are_counted() -> None:
    segments = split("sum it\n| a | b |\n|---|---|\n| 1 | 2 |\n\nx,1,2\ny,3,4\n> old text with a theorem\n")
    assert (segments.table_rows, segments.quoted_lines) == (5, 1)
    assert segments.prose.split() == ["sum", "it"]


def test_inline_code_is_not_searched_for_words() -> None:
    segments = split("what does `prove()` do")
    assert "prove" not in segments.ask
    assert segments.code_lines == 1


def test_addresses_and_paths_are_not_searched_for_words() -> None:
    ask = split(
        "open https://example.com/proof/theorem and /srv/architecture/x or mail proof@example.com, and/or call"
    ).ask
    assert not {"proof", "theorem", "architecture"} & set(ask.replace("/", " ").split())
    assert "and/or" in ask


def test_question_after_a_long_fence_is_still_read() -> None:
    message = "```\n" + "x = 1\n" * 20_000 + "```\nProve the theorem about primes."
    assert "theorem" in split(message).ask
    assert PIPELINE.route({"prompt": message}).tier == "reasoning"


def test_fence_open_at_the_cut_stays_open_when_the_unread_middle_does_not_close_it() -> None:
    assert "theorem" not in split("```\n" + "theorem\n" * 20_000).ask


@pytest.mark.parametrize("size", [READ_CHARACTERS, 4 * READ_CHARACTERS, 1_000_000])
def test_what_is_read_does_not_grow_with_the_message(size: int) -> None:
    segments = split("word " * (size // 5))
    assert len(segments.ask) <= 2 * ASK_CHARACTERS + 1
    assert len(segments.prose) <= 2 * READ_CHARACTERS + 1


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        " ",
        "\n",
        "a\n",
        "`",
        "`a",
        "```\n",
        "|",
        "=;",
        "<a ",
        "SELECT ",
        "if (",
        "a.",
        "1.",
        "\t",
        "/",
        "@",
        "a/",
        "\\",
        "\ufdfa",
        "a\u0301",
        "证",
        "ا",
    ],
)
def test_work_is_linear_for_hostile_input(unit: str) -> None:
    def seconds(size: int) -> float:
        prompt = unit * (size // len(unit))
        best = float("inf")
        for _ in range(3):
            started = time.process_time()
            PIPELINE.route({"prompt": prompt})
            best = min(best, time.process_time() - started)
        return best

    small, large = seconds(READ_CHARACTERS // 4), seconds(READ_CHARACTERS * 2)
    # Eight times the text: linear work takes 8 times as long, quadratic work 64 times. Too fast to tell is fine.
    assert large < 0.05 or large < 25 * small


@given(st.text())
def test_any_text_is_taken_apart_without_losing_lines(text: str) -> None:
    segments = split(text)
    pasted = segments.code_lines + segments.log_lines + segments.table_rows + segments.quoted_lines
    assert pasted + segments.prose.count("\n") + 1 >= text.count("\n") + 1 - text.count("```") - text.count("~~~")
