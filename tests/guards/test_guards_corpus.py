"""The shipped guards corpus: what it promises, checked without the code that made it wherever that is possible."""

from __future__ import annotations

import base64
import importlib
import json
import re
import sys
import unicodedata
import urllib.parse
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban as stdnum_iban
from stdnum import luhn as stdnum_luhn
from stdnum.ru import inn as stdnum_inn
from stdnum.ru import ogrn as stdnum_ogrn

ROOT = Path(__file__).resolve().parents[2]
EVAL = ROOT / "datasets" / "eval"
CORPUS = EVAL / "guards_labeled.jsonl"
SCRIPT = ROOT / "scripts" / "gen_guards_corpus.py"

Row = dict[str, Any]


def rows() -> list[Row]:
    return [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]


ROWS = rows()


def tag(row: Row, key: str) -> str | None:
    return next((value.partition(":")[2] for value in row["tags"] if value.startswith(f"{key}:")), None)


def tagged(**wanted: str) -> list[Row]:
    return [row for row in ROWS if all(tag(row, key) == value for key, value in wanted.items())]


@pytest.fixture(scope="module")
def script() -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module of the scripts folder."""
    sys.path.insert(0, str(SCRIPT.parent))
    yield importlib.import_module
    sys.path.remove(str(SCRIPT.parent))


# --- independent checks -------------------------------------------------------------------------------------------


def snils_holds(digits: str) -> bool:
    """The pension fund's rule, written apart from the library's: positions count down from nine."""
    if len(digits) != 11 or int(digits[:9]) <= 1_001_998:
        return False
    total = sum(int(digits[at]) * (9 - at) for at in range(9))
    while total > 101:
        total %= 101
    return int(digits[9:]) == (0 if total in (100, 101) else total)


def ogrnip_holds(digits: str) -> bool:
    return len(digits) == 15 and digits[0] == "3" and str(int(digits[:14]) % 13)[-1] == digits[14]


CHECKS: dict[str, Callable[[str], bool]] = {
    "inn10": lambda digits: len(digits) == 10 and stdnum_inn.is_valid(digits),
    "inn12": lambda digits: len(digits) == 12 and stdnum_inn.is_valid(digits),
    "snils": snils_holds,
    "ogrn": lambda digits: len(digits) == 13 and digits[0] in "15" and stdnum_ogrn.is_valid(digits),
    "ogrnip": ogrnip_holds,
    "pan": lambda digits: 12 <= len(digits) <= 19 and stdnum_luhn.is_valid(digits),
}
OF_TYPE = {
    "inn": ("inn10", "inn12"),
    **{kind: (kind,) for kind in ("snils", "ogrn", "ogrnip", "pan")},
}


def decoded(row: Row) -> str:
    """The row's text, its encoded part replaced by what it stands for."""
    text: str = row["text"]
    match tag(row, "encoding"):
        case "base64":
            return base64.b64decode(text.split("=", 1)[1] if text.startswith("payload=") else text.split()[1]).decode()
        case "percent" | "query":
            return urllib.parse.unquote(text)
        case "hex":
            return bytes.fromhex(re.findall(r"[0-9a-f]{20,}", text)[0]).decode()
        case "unicode-escape":
            return re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), text)
        case _:
            return text


def numbers(text: str) -> set[str]:
    """All runs of digits, and all runs of neighbouring groups joined, with every separator taken out.

    Superscripts are footnote marks and no digits (`isdecimal` is false for them), so they end a run.
    """
    plain = "".join(
        str(unicodedata.decimal(char)) if char.isdecimal() else "x" if char.isdigit() else char
        for char in text
        if unicodedata.category(char) != "Cf"
    )
    plain = unicodedata.normalize("NFKC", plain)
    found = set()
    for run in re.findall(r"\d(?:[\s\-.\u2010-\u2015\u2212]*\d)*", plain):
        groups = re.findall(r"\d+", run)
        found |= {"".join(groups[i:j]) for i in range(len(groups)) for j in range(i + 1, len(groups) + 1)}
    return found


def windows(text: str) -> set[str]:
    """Every stretch of 10 to 19 digits inside the runs of a text, separators taken out."""
    return {run[i : i + size] for run in numbers(text) for size in range(10, 20) for i in range(len(run) - size + 1)}


# --- form ---------------------------------------------------------------------------------------------------------


def test_there_are_at_least_1500_rows_and_enough_of_each_label_for_the_bounds() -> None:
    labels = Counter(row["expect"] for row in ROWS)
    assert len(ROWS) >= 1500
    assert labels["detect"] >= 189, "a lower bound of 0.98 on precision needs 189 detections without a fault"
    assert labels["clean"] >= 700


@pytest.mark.parametrize("type_", ["inn", "snils", "ogrn", "ogrnip", "pan", "iban", "secret", "injection"])
def test_every_type_has_enough_positives_for_its_own_recall_bound(type_: str) -> None:
    assert sum(row["type"] == type_ for row in ROWS) >= 35


def test_ids_and_texts_are_unique() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert len({row["text"] for row in ROWS}) == len(ROWS)


def test_rows_have_exactly_the_documented_keys_and_labels() -> None:
    for row in ROWS:
        assert list(row) == ["id", "text", "type", "expect", "tags"], row["id"]
        assert (row["expect"] == "clean") == (row["type"] == "clean"), row["id"]
        assert row["text"].strip(), row["id"]


def test_tags_are_key_value_and_every_row_has_language_kind_and_shape() -> None:
    for row in ROWS:
        assert all(re.fullmatch(r"[a-z]+:[a-z0-9][a-z0-9-]*", value) for value in row["tags"]), row["id"]
        keys = [value.partition(":")[0] for value in row["tags"]]
        assert len(keys) == len(set(keys)), row["id"]
        assert {"lang", "kind", "shape"} <= set(keys), row["id"]


def test_the_kind_of_a_row_decides_its_label() -> None:
    expected = {"positive": "detect", "quoted": "clean", "decoy": "clean", "chance": "clean", "benign": "clean"}
    assert all(row["expect"] == expected[tag(row, "kind") or ""] for row in ROWS)


def test_only_rows_marked_as_long_exceed_four_kilobytes() -> None:
    long = {row["id"] for row in ROWS if len(row["text"].encode()) > 4096}
    assert 1 <= len(long) <= 10
    assert all(tag(row, "length") == "long" for row in ROWS if row["id"] in long)


def test_the_file_hides_no_character_and_ends_with_one_line_feed() -> None:
    data = CORPUS.read_bytes().decode("utf-8")
    assert data.endswith("}\n") and "\r" not in data
    hidden = {char for char in data if unicodedata.category(char)[0] in "CZ"} - {" ", "\n"}
    assert not hidden


# --- labels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", sorted(OF_TYPE))
def test_positive_numbers_pass_an_independent_check(type_: str) -> None:
    for row in ROWS:
        if row["type"] == type_:
            found = numbers(decoded(row))
            assert any(CHECKS[kind](number) for kind in OF_TYPE[type_] for number in found), row["id"]


def test_positive_ibans_pass_an_independent_check() -> None:
    for row in ROWS:
        if row["type"] == "iban":
            plain = unicodedata.normalize("NFKC", decoded(row)).upper()
            plain = re.sub(r"[\s\u00ad\u200b\u2010-\u2015-]", "", plain)
            candidates = re.findall(r"(?=([A-Z]{2}\d{2}[A-Z0-9]{11,30}))", plain)
            tries = (text[:size] for text in candidates for size in range(15, len(text) + 1))
            assert any(stdnum_iban.is_valid(text) for text in tries), row["id"]


@pytest.mark.parametrize("kind", sorted(CHECKS))
def test_broken_numbers_fail_an_independent_check(kind: str) -> None:
    broken = tagged(decoy=f"broken-{kind}")
    assert len(broken) >= 20
    for row in broken:
        found = numbers(row["text"])
        if kind == "pan":  # half of a card may pass Luhn; the number that stands there must not
            found = {max(found, key=len)}
        assert not any(CHECKS[kind](number) for number in found), row["id"]


def test_lookalikes_pass_no_check_and_chance_rows_pass_one() -> None:
    checks = tuple(CHECKS.values())
    for row in ROWS:
        name = tag(row, "decoy") or ""
        if tag(row, "kind") == "chance":
            assert any(check(number) for number in windows(row["text"]) for check in checks), row["id"]
        elif tag(row, "kind") == "decoy" and not name.startswith(("broken-", "never-issued", "secret-")):
            found = numbers(row["text"])
            assert not any(CHECKS[kind](number) for kind in ("inn10", "inn12", "snils") for number in found), row["id"]


def test_no_positive_number_is_zeros_or_one_digit_repeated() -> None:
    for row in ROWS:
        if row["type"] in OF_TYPE:
            kinds = OF_TYPE[row["type"]]
            valid = [number for number in numbers(decoded(row)) for kind in kinds if CHECKS[kind](number)]
            assert any(len(set(number)) > 1 for number in valid), row["id"]


def test_one_digit_inns_and_luhn_only_numbers_are_expected_only_with_evidence() -> None:
    word = re.compile(r"инн|inn|идентификационный номер налогоплательщика", re.IGNORECASE)
    bare = [row for row in ROWS if row["type"] == "inn" and not word.search(decoded(row))]
    assert all(tag(row, "format") == "inn12" for row in bare)
    assert len(tagged(decoy="bare-inn10", kind="chance")) >= 16


def test_quoted_attacks_are_a_class_of_their_own() -> None:
    quoted = tagged(kind="quoted")
    assert len(quoted) >= 10
    assert all(row["type"] == "clean" and tag(row, "shape") == "article" for row in quoted)
    assert len(tagged(about="attacks", kind="benign")) >= 8


def test_github_tokens_have_a_wrong_checksum() -> None:
    alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    tokens = [body for row in ROWS for body in re.findall(r"(?:gh[pousr]|npm)_([A-Za-z0-9]{36})", row["text"])]
    assert len(tokens) >= 16
    for body in tokens:
        value = 0
        for char in body[30:]:
            value = value * 62 + alphabet.index(char)
        assert value != zlib.crc32(body[:30].encode())


# --- coverage -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["inn10", "inn12", "snils", "pan"])
def test_every_way_of_writing_a_number_is_there(kind: str, script: Callable[[str], ModuleType]) -> None:
    writing = script("guards_corpus.writing")
    of_kind = tagged(format=kind)
    assert set(writing.SEPARATORS) <= {tag(row, "sep") for row in of_kind}
    assert set(writing.SCRIPTS) <= {tag(row, "script") for row in of_kind}
    assert set(writing.BIDI) <= {tag(row, "bidi") for row in of_kind}


def test_every_encoding_is_there_for_numbers_secrets_and_phrases() -> None:
    for type_, names in {
        "pan": {"base64", "percent", "query", "hex", "unicode-escape"},
        "secret": {"base64", "percent", "hex", "unicode-escape"},
        "injection": {"base64", "base64-twice", "percent", "query", "hex", "unicode-escape", "byte-escape"},
    }.items():
        assert names <= {tag(row, "encoding") for row in ROWS if row["type"] == type_}


_FAMILIES = """
    openai openai-project anthropic aws-access-key github-classic github-fine-grained gitlab slack stripe google-api
    google-oauth azure-client azure-storage huggingface npm pypi sendgrid twilio telegram yandex-api yandex-iam
    yandex-oauth yandex-static jwt pem database-url generic-password generic-key
"""

_DECOYS = """
    epoch-s epoch-ms phone-10 phone-11 passport imei account oms-policy order-id tracking version ip kpp bik uuid-head
    decimal hash long-run never-issued several-numbers bare-inn10 secret-hash secret-uuid secret-sk-word
    secret-documented secret-near-miss
    secret-placeholder secret-camel-case secret-key-name secret-not-jwt secret-public-key secret-prose
"""

BRANDS = {"visa", "mastercard", "mir", "amex", "discover", "jcb", "diners", "unionpay", "maestro"}
SHAPES_OF_TEXT = {"chat", "log", "json", "csv", "email", "code", "table", "form", "ticket", "doc", "yaml", "xml"}


def test_every_secret_family_is_there_in_both_languages() -> None:
    for family in _FAMILIES.split():
        assert {tag(row, "lang") for row in tagged(family=family)} >= {"en", "ru"}, family


def test_every_decoy_of_the_list_is_there() -> None:
    names = {tag(row, "decoy") for row in ROWS}
    assert names >= set(_DECOYS.split())


def test_every_issuer_is_there() -> None:
    assert {tag(row, "brand") for row in ROWS} >= BRANDS


def test_injection_phrases_come_in_six_languages() -> None:
    languages = Counter(tag(row, "lang") for row in ROWS if row["type"] == "injection")
    assert all(languages[lang] >= 8 for lang in ("en", "ru", "de", "fr", "es", "zh"))


def test_running_text_has_at_least_sixty_templates_a_language_and_many_shapes(
    script: Callable[[str], ModuleType],
) -> None:
    for lang in ("en", "ru"):
        texts = script(f"guards_corpus.numbers_{lang}").BY_TYPE.values()
        assert len({template for entries in texts for _, template in entries}) >= 60
        shapes = {tag(row, "shape") for row in tagged(lang=lang)}
        assert shapes >= SHAPES_OF_TEXT


def test_benign_russian_text_has_the_words_that_attacks_use() -> None:
    text = " ".join(row["text"].lower() for row in tagged(lang="ru", kind="benign"))
    assert all(word in text for word in ("игнорируй", "инструкци", "систем", "промпт", "забудь"))


# --- secrecy ------------------------------------------------------------------------------------------------------

SHAPES = (
    r"gh[pousr]_[A-Za-z0-9]{36}",
    r"github_pat_\w{60}",
    r"glpat-[\w-]{20}",
    r"xox[bp]-\d{8}",
    r"hooks\.slack\.com/services/T",
    r"[sr]k_(?:live|test)_\w{20}",
    r"(?:AKIA|ASIA)(?!IOSFODNN7EXAMPLE)[A-Z2-7]{16}",  # the documented sample id is on every allow-list
    r"AIza[\w-]{35}",
    r"SG\.[\w-]{22}\.",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-AgE",
    r"\bhf_[A-Za-z]{34}",
    r"sk-(?:ant|proj|svcacct|admin)-",
    r"T3BlbkFJ[\w-]{20}.*sk-",
    r"\bSK[0-9a-f]{32}",
    r"\d{8,10}:AA[\w-]{33}",
    r"AQVN[\w-]{30}",
    r"\by0_Ag",
    r"\bt1\.9eu",
    r"BEGIN [A-Z ]*PRIVATE KEY-----(?:\\n|\n)",
    r"AccountKey=[A-Za-z0-9+/]{80}",
)


@pytest.mark.parametrize("name", ["guards_labeled.jsonl", "guards-revision.json"])
def test_no_credential_shape_stands_in_the_raw_bytes(name: str) -> None:
    data = (EVAL / name).read_text(encoding="utf-8")
    found = {shape: len(re.findall(shape, data)) for shape in SHAPES}
    assert not {shape: count for shape, count in found.items() if count}


def test_the_credentials_are_plain_once_the_file_is_read_as_json() -> None:
    texts = "\n".join(row["text"] for row in ROWS)
    assert all(re.search(shape, texts) for shape in SHAPES if ".*" not in shape)


@given(label=st.text(max_size=12), kind=st.sampled_from(["inn10", "inn12", "snils", "ogrn", "ogrnip", "pan"]))
def test_a_made_number_is_valid_and_a_damaged_one_is_not(
    script: Callable[[str], ModuleType], label: str, kind: str
) -> None:
    made, draws = script("guards_corpus.numbers"), script("guards_corpus.rows")
    draw = draws.Draw(label)
    number = made.MAKERS[kind](draw)
    assert CHECKS[kind](number)
    assert number == made.MAKERS[kind](draws.Draw(label))
    for damage in (made.broken, made.swapped):
        changed = damage(draw, number)
        assert changed != number and len(changed) == len(number)
        assert not CHECKS[kind](changed)
