"""Words before a number are read from the nearest to the farthest, and say what they would say read forwards."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_guards import Scanner, scan
from yb_eval_guards.detectors import context
from yb_eval_guards.detectors.context import BEFORE_AGAINST, HEX_LETTERS, Label, Labels, load_labels
from yb_eval_guards.tables import load_table

LETTERS = st.text(alphabet="aZbcXДдЁёяЯ卡号é1٣²_- \n\u0301", max_size=48)
WORDS = st.sampled_from(
    ["card", "INN", "XMLInn", "innCode", "ИНН", "Инн", "номер", "number", "no", "id", "phone", "тел", "order", "cc", "12cc",
     "卡号", "КПП", "account", "7707083893", "x", "Снилс", "огрн", "pension", "visa", ": ", " ", "-", ", "]
)  # fmt: skip
WINDOWS = st.lists(st.one_of(WORDS, LETTERS.map(lambda text: text[:6])), max_size=9).map("".join)


def _places(words: str) -> list[tuple[int, int]]:
    return [match.span() for match in context._WORD.finditer(words)]


@settings(max_examples=1000, deadline=None)
@given(st.one_of(LETTERS, st.text(max_size=48), WINDOWS))
def test_words_read_backwards_are_the_words_read_forwards(text: str) -> None:
    size = len(text)
    backwards = [(size - match.end(), size - match.start()) for match in context._DROW.finditer(text[::-1])]
    assert backwards[::-1] == _places(text)


def _forwards(table: Labels, window: str, digits: int) -> Label | None:
    """What the text before a number says of it, told in the plainest way."""
    neutral = False
    for start, end in reversed(_places(window)):
        word = window[start:end].lower()
        inside_hex = start > 0 and window[start - 1].isdigit() and set(word) <= HEX_LETTERS
        label = None if inside_hex else table._of(word, digits)
        if label is None:
            continue
        if label is table.neutral:
            neutral = neutral or len(window) - end <= 3
            continue
        gap = window[end:]
        if label.detects or (len(gap) <= BEFORE_AGAINST and not any(char in "0123456789" for char in gap)):
            return label
        break
    return table.neutral if neutral else None


@settings(max_examples=1000, deadline=None)
@given(WINDOWS.map(lambda text: text[-context.BEFORE :]), st.integers(10, 19))
def test_the_text_before_a_number_says_the_same_either_way(window: str, digits: int) -> None:
    table = load_labels()
    expected = _forwards(table, window, digits)
    assert table._find_before(window, digits) is expected
    assert table._before(window, digits) is expected


@pytest.mark.parametrize("before", ["ИНН ", "order no ", "", "card 12, phone ", "номер "])
def test_the_same_words_are_asked_again_for_numbers_of_another_length(before: str) -> None:
    table = load_labels()
    text = before + "1" * 19
    for digits in (10, 11, 16, 10, 16, 11):
        assert table.around(text, len(before), len(before) + digits, digits) is _forwards(table, before, digits)


def test_no_digit_of_a_text_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Labels(load_table("labels.toml"))
    asked: list[str] = []
    before = table._before

    def remembered(window: str, digits: int) -> Label | None:
        asked.append(window)
        return before(window, digits)

    monkeypatch.setattr(table, "_before", remembered)
    text = "card 4111 1111 1111 1234 and INN 7707083893"
    label = table.around(text, text.index("7707"), len(text), 10)
    assert label is not None and label.name == "inn"
    assert asked and not set("123456789") & set("".join(asked))


@settings(max_examples=500, deadline=None)
@given(WINDOWS, st.text(alphabet="123456789", min_size=10, max_size=10))
def test_which_digits_stand_before_a_number_changes_no_label(before: str, number: str) -> None:
    table = load_labels()
    ones = before.translate({ord(digit): "1" for digit in "0123456789"})
    there = table.around(before + number, len(before), len(before) + 10, 10)
    assert there is table.around(ones + number, len(before), len(before) + 10, 10)
    if there is None or there.name == "neutral":
        assert _forwards(table, before[-context.BEFORE :], 10) is there


def test_what_is_remembered_has_a_bound() -> None:
    table = load_labels()
    assert table._before.cache_info().maxsize is not None
    assert table.of.cache_info().maxsize is not None


@pytest.mark.parametrize(
    "name", ["inn", "INN", "Inn", "xInn", "xINN", "XMLInn", "MYInn", "my_inn", "1inn", "xmlINNCode", "ЦКInn"]
)
@pytest.mark.parametrize("engine", ["hyperscan", "re2"])
def test_a_label_is_seen_wherever_a_name_has_it_as_a_word(name: str, engine: str) -> None:
    if engine == "hyperscan":
        pytest.importorskip("hyperscan")
    scanner = Scanner(engine=engine)  # type: ignore[arg-type]
    assert [finding.kind for finding in scanner.scan(f"{name}=7707083893")] == ["inn-10"]


@pytest.mark.parametrize("name", ["XINN", "finn", "Inna", "BEGINNING", "innа"])
def test_a_label_inside_another_word_says_nothing(name: str) -> None:
    assert scan(f"{name}=7707083893") == []
