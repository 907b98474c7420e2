"""Words are found in every script, in their inflected forms, and never inside other words."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yb_eval_routing.pipeline.lexicon import Concept, Lexicon
from yb_eval_routing.pipeline.stemming import LANGUAGES, STEMMERS, stem
from yb_eval_routing.pipeline.text import estimated_tokens, is_unspaced, normalise, units, words


def mentions(language: str, terms: str, text: str) -> bool:
    lexicon = Lexicon([[Concept(language=language, terms=tuple(terms.split(" | ")))]])
    return lexicon.find(words(normalise(text))) == [[0]]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        ("api", "the capital of Peru"),
        ("api", "rapid therapist apiary"),
        ("api", "get_api_key"),
        ("try", "country poetry entry pastry"),
        ("try", "tried"),
        ("go", "good gopher ago"),
        ("код", "кодекс кодировка декодер"),
        ("ген", "генерал агент генеральный"),
        ("rust", "trust rusty crust"),
    ],
)
def test_nothing_is_found_inside_a_word(term: str, text: str) -> None:
    assert not mentions("any", term, text)


def test_stemmed_terms_are_not_found_inside_words_either() -> None:
    assert not mentions("en", "try", "country poetry entry")
    assert not mentions("en", "prove", "improve approved provenance")
    assert not mentions("ru", "код", "кодекс кодировка кодеин")


@pytest.mark.parametrize(
    ("language", "term", "forms"),
    [
        ("ru", "код", "код кода коду кодом коде коды кодов"),
        ("ru", "функция", "функция функции функцию функцией функций функциями"),
        ("ru", "отсортируй", "отсортируй отсортируйте"),
        ("ru", "пациент", "пациент пациента пациенту пациентом пациентов"),
        ("ru", "договор", "договор договора договору договором договоров"),
        ("ru", "счёт", "счет счета счёту счётом"),
        ("en", "prove", "prove proves proved proving PROVE"),
        ("en", "function", "function functions Functions"),
        ("de", "beweis", "beweis beweise beweises"),
        ("fr", "preuve", "preuve preuves"),
        ("es", "contrato", "contrato contratos"),
        ("tr", "olasılık", "olasılık olasılığı OLASILIK"),
        ("hi", "समीकरण", "समीकरण समीकरणों"),
        ("ar", "مريض", "مريض المريض للمريض مريضة"),
        ("ko", "코드", "코드 코드를 코드가 코드는 코드에서"),
        ("uk", "функці", "функція функції функцію функцією"),
    ],
)
def test_inflected_forms_are_found(language: str, term: str, forms: str) -> None:
    assert [form for form in forms.split() if not mentions(language, term, form)] == []


@pytest.mark.parametrize(
    ("language", "term", "text"),
    [
        ("zh", "证明", "请证明根号二是无理数"),
        ("ja", "証明", "この定理を証明してください"),
        ("th", "พิสูจน์", "ช่วยพิสูจน์ทฤษฎีบทนี้"),
        ("any", "api", "写一个API接口"),
        ("any", "api", "このAPIの使い方"),
        ("any", "python", "파이썬(Python)으로"),
    ],
)
def test_words_are_found_in_scripts_without_spaces(language: str, term: str, text: str) -> None:
    assert mentions(language, term, text)


@pytest.mark.parametrize(
    "text",
    [
        "ＰＲＯＯＦ",
        "pro\u200bof",
        "pro\u00adof",
        "PROOF!!!",
        "(proof)",
        "_proof_",
        "**proof**",
        "Proof\u2026",
        "pr\u2060oof",
    ],
)
def test_disguised_forms_of_a_word_are_the_word(text: str) -> None:
    assert mentions("en", "proof", text)


def test_terms_of_several_words_follow_each_other_in_any_form() -> None:
    assert mentions("en", "race condition", "two race conditions were found")
    assert mentions("en", "step by step", "explain step-by-step")
    assert not mentions("en", "race condition", "the condition of the race")
    assert not mentions("en", "race condition", "race")


def test_longer_term_hides_the_shorter_one_inside_it() -> None:
    lists = [
        [Concept(language="en", terms=("write",))],
        [Concept(language="en", terms=("who wrote", "extract the email"))],
    ]
    lists[0].append(Concept(language="en", terms=("email",)))
    assert Lexicon(lists).find(words("extract the email")) == [[], [0]]
    assert Lexicon(lists).find(words("extract the email and write an email")) == [[0, 1], [0]]


def test_cognates_of_two_languages_count_once() -> None:
    lists = [[Concept(language="en", terms=("architecture",)), Concept(language="fr", terms=("architecture",))]]
    assert Lexicon(lists).find(["architecture"]) == [[0]]
    shared = [[Concept(language="zh", terms=("分析",)), Concept(language="ja", terms=("分析",))]]
    assert Lexicon(shared).find(words("请分析数据")) == [[0]]
    assert Lexicon(shared).find(words("データを分析して")) == [[1]]


def test_terms_of_one_concept_count_once_however_often_they_appear() -> None:
    lists = [[Concept(language="en", terms=("prove", "proof")), Concept(language="en", terms=("theorem",))]]
    assert Lexicon(lists).find(words("proof proof prove proving proof")) == [[0]]


def test_stump_of_an_overstemmed_word_is_not_matched() -> None:
    assert stem("tr", "kimdir") == "k"
    assert mentions("tr", "kimdir", "Atatürk kimdir")
    assert not mentions("tr", "kimdir", "k k k")


def test_russian_yo_is_optional() -> None:
    assert normalise("ПОДСЧЁТ счёта") == normalise("подсчет счета")


def test_every_language_has_a_way_to_compare_words() -> None:
    for language in sorted(STEMMERS):
        assert stem(language, "abcd")
    assert len(LANGUAGES) == len(set(LANGUAGES))


def test_units_are_comparable_across_scripts() -> None:
    assert units(words("what is the capital")) == 4
    assert units(words(normalise("加拿大的首都是哪里"))) == 5
    assert units(words(normalise("เมืองหลวงของแคนาดา"))) in range(3, 7)
    assert units([]) == 0


def test_token_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    assert [estimated_tokens(text) for text in ("", "a", "abcd", "abcde", "код", "\ud800")] == [0, 1, 1, 2, 2, 1]


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)


@given(st.text())
def test_words_are_whole_pieces_of_the_text_in_order(text: str) -> None:
    normal = normalise(text)
    position = 0
    for word in words(normal):
        found = normal.find(word, position)
        assert found >= position
        position = found + len(word)
        assert word.strip() == word != ""


@given(st.text(alphabet=st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=30))
def test_a_run_of_han_is_one_unspaced_word(text: str) -> None:
    (run,) = words(normalise(text))
    assert is_unspaced(run)
    assert units([run]) == -(-len(unicodedata.normalize("NFKC", text)) // 2)
