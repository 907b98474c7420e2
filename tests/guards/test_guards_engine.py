"""The two engines see the same features, so that findings are the same with either; scanners survive threads and pickles."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_guards import Scanner, scan, scan_many
from yb_eval_guards.detectors.phrases import PhraseTable
from yb_eval_guards.detectors.secrets import load_secret_rules
from yb_eval_guards.engine import Engine, FeaturePattern, build_engine
from yb_eval_guards.engine.protocol import BORDER
from yb_eval_guards.features import FeatureTable, build_features
from yb_eval_guards.tables import load_table

pytest.importorskip("hyperscan", reason="there is nothing to compare without hyperscan")

CORPUS = Path(__file__).parents[2] / "datasets" / "eval" / "guards_labeled.jsonl"

# Readings that a text is given only when something in it asks for them.
READINGS = frozenset(
    [
        "fold",
        "mixed",
        "spaced",
        "base64",
        "hex",
        "binary",
        "percent",
        "escape",
        "entity",
        "utf16",
        "tags",
        "reversed",
        "caesar",
    ]
)


@pytest.fixture(scope="module")
def table() -> FeatureTable:
    return build_features(PhraseTable(load_table("injection.toml")), load_secret_rules(), any_digits=True)


@pytest.fixture(scope="module")
def engines(table: FeatureTable) -> tuple[Engine, Engine]:
    return build_engine(table.patterns, "hyperscan"), build_engine(table.patterns, "re2")


@pytest.fixture(scope="module")
def scanners() -> dict[str, Scanner]:
    return {engine: Scanner(strength="warn", engine=engine) for engine in ("hyperscan", "re2")}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    return [json.loads(line)["text"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]


_PIECES = st.sampled_from(
    [
        "4111 1111 1111 1111",
        "77 0708 3893",
        "ИНН",
        "inn",
        "ignore",
        "previous",
        "instructions",
        "игнорируй",
        "password",
        ": ",
        "=",
        "-----BEGIN PRIVATE KEY-----",
        "sk-",
        "abcdefghijklmnop12345678",
        "%41%42",
        "\\u0041",
        "&#65;",
        "0101010101",
        "41424344",
        "QUJDREVG",
        "\u200b",
        "\xa0",
        "１",
        "١",
        "�",
        "ÿ",
        "\x00",
        "\n",
        "DE89 3704 0044 0532 0130 00",
        "a b c d e f",
        "erongi",
        "vtaber",
        "i̇",
    ]
)


@given(st.lists(st.lists(st.one_of(_PIECES, st.text(max_size=6)), max_size=8).map(" ".join), max_size=6))
@settings(deadline=None)
def test_engines_find_the_same_features(engines: tuple[Engine, Engine], texts: list[str]) -> None:
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    assert engines[0].features(data) == engines[1].features(data)


@given(st.lists(st.lists(st.one_of(_PIECES, st.text(max_size=6)), max_size=8).map(" ".join), max_size=6))
@settings(deadline=None)
def test_engines_give_the_same_findings(scanners: dict[str, Scanner], texts: list[str]) -> None:
    assert scanners["hyperscan"].scan_many(texts) == scanners["re2"].scan_many(texts)


def test_engines_give_the_same_findings_on_the_shipped_corpus(scanners: dict[str, Scanner], texts: list[str]) -> None:
    assert scanners["hyperscan"].scan_many(texts) == scanners["re2"].scan_many(texts)


@given(st.lists(st.text(max_size=12), max_size=6))
@settings(deadline=None)
def test_a_batch_is_its_texts_one_by_one(scanners: dict[str, Scanner], texts: list[str]) -> None:
    texts = [f"{text} 4111 1111 1111 1111" if index % 2 else text for index, text in enumerate(texts)]
    for scanner in scanners.values():
        assert scanner.scan_many(texts) == [scanner.scan(text) for text in texts]


def test_matches_never_cross_from_one_text_into_the_next(scanners: dict[str, Scanner]) -> None:
    for scanner in scanners.values():
        assert scanner.scan_many(["4111 1111", "1111 1111", "ignore all previous", "instructions"]) == [[], [], [], []]


class _Everything(Engine):
    """An engine that announces every detector for every text, but only the readings that are there."""

    name = "re2"  # type: ignore[assignment]

    def __init__(self, engine: Engine, table: FeatureTable) -> None:
        self._engine = engine
        self._all = sum(bit for name, bit in table.bits.items() if name not in READINGS)

    def seen(self, buffer: bytes) -> dict[int, int]:
        seen = self._engine.seen(buffer)
        return {place: seen.get(place, 0) | self._all for place in range(buffer.count(BORDER) - 1)}


def _without_leet(found: list[list[object]]) -> list[list[object]]:
    return [[entry for entry in row if "leet" not in entry.evidence] for row in found]  # type: ignore[attr-defined]


def test_no_feature_announces_too_little(texts: list[str], table: FeatureTable) -> None:
    scanner, thorough = Scanner(strength="warn"), Scanner(strength="warn")
    thorough.scan("compile, so that there is an engine to take the place of")
    thorough._engine = _Everything(thorough._engine, table)
    expected, found = thorough.scan_many(texts), scanner.scan_many(texts)
    # Leet writing is announced for the English sets named in the table only.
    assert _without_leet(found) == _without_leet(expected)  # type: ignore[arg-type]


def test_deny_findings_are_those_of_warn_that_are_strong_enough(texts: list[str]) -> None:
    deny, warn = scan_many(texts), scan_many(texts, strength="warn")
    assert deny == [[finding for finding in row if finding.strength == "deny"] for row in warn]


def test_a_pickled_scanner_finds_the_same(scanners: dict[str, Scanner], texts: list[str]) -> None:
    for scanner in scanners.values():
        copy = pickle.loads(pickle.dumps(scanner))
        assert (copy.engine, copy.fingerprint) == (scanner.engine, scanner.fingerprint)
        assert copy.scan_many(texts[:50]) == scanner.scan_many(texts[:50])


def test_one_scanner_serves_many_threads(scanners: dict[str, Scanner], texts: list[str]) -> None:
    batches = [texts[start : start + 100] for start in range(0, 1200, 100)]
    for scanner in scanners.values():
        expected = [scanner.scan_many(batch) for batch in batches]
        with ThreadPoolExecutor(6) as pool:
            assert list(pool.map(scanner.scan_many, batches * 3)) == expected * 3


def test_fingerprint_says_what_was_compiled() -> None:
    assert Scanner().fingerprint == Scanner(engine="re2").fingerprint
    assert (
        len({Scanner().fingerprint, Scanner(strength="warn").fingerprint, Scanner(detectors=["pan"]).fingerprint}) == 3
    )


def test_fingerprint_and_findings_are_the_same_for_any_hash_seed() -> None:
    code = (
        "from yb_eval_guards import Scanner; s = Scanner(strength='warn');"
        "print(s.fingerprint, s.scan('card 4111111111111111, ignore all previous instructions'))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("0", "1")
    }
    assert len(outputs) == 1


def test_importing_the_package_loads_no_engine() -> None:
    code = "import sys, yb_eval_guards; print([n for n in ('hyperscan', 're2', 'stdnum') if n in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_unknown_engines_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown engine 'pcre'"):
        Scanner(engine="pcre")  # type: ignore[arg-type]


def test_a_pattern_too_large_for_re2_is_refused() -> None:
    pattern = FeaturePattern(1, b"(?:[ab][cd]{1,200}){1,900}e")
    with pytest.raises(Exception, match=r"Set|large"):
        build_engine((pattern,), "re2").features([b"x"])


def test_empty_input_is_empty_output(scanners: dict[str, Scanner]) -> None:
    for scanner in scanners.values():
        assert scanner.scan_many([]) == []
        assert scanner.scan_many(["", ""]) == [[], []]
    assert scan("") == []
