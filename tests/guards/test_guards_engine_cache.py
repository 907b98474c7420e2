"""The compiled engine is kept in a folder, checked before it is used, and never needed."""

import hashlib
import pickle

import pytest

from yb_eval_guards import Scanner
from yb_eval_guards.engine import FeaturePattern, build_engine

pytest.importorskip("hyperscan")

PATTERNS = (FeaturePattern(1, b"card"), FeaturePattern(2, b"[0-9]{4}"))
TEXTS = [b"card 4111", b"nothing", b"2026", b"a card"]
FEATURES = [3, 0, 2, 1]


def features(folder, patterns=PATTERNS):
    return build_engine(patterns, "hyperscan", folder=folder).features(TEXTS)


@pytest.fixture
def kept(tmp_path):
    """The file of the engine of `PATTERNS`."""
    assert features(tmp_path) == FEATURES
    (file,) = tmp_path.iterdir()
    return file


@pytest.fixture
def compiled(monkeypatch):
    """Counts what is compiled from now on."""
    from yb_eval_guards.engine import _hyperscan

    seen = []
    real = _hyperscan._compiled
    monkeypatch.setattr(_hyperscan, "_compiled", lambda patterns: seen.append(patterns) or real(patterns))
    return seen


def test_what_was_compiled_once_is_loaded_the_next_time(kept, compiled):
    assert features(kept.parent) == FEATURES
    assert compiled == []


def test_other_patterns_are_another_file(kept, compiled):
    other = (FeaturePattern(4, b"card"), FeaturePattern(2, b"[0-9]{4}"))
    assert features(kept.parent, other) == [6, 0, 2, 4]
    assert compiled == [other]
    assert len(list(kept.parent.iterdir())) == 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: b"",
        lambda raw: raw[:20],
        lambda raw: raw[:-1],
        lambda raw: raw + b"\0",
        lambda raw: raw[:100] + bytes([raw[100] ^ 1]) + raw[101:],
        lambda raw: hashlib.sha256(b"no database").digest() + b"no database",
        lambda raw: hashlib.sha256(b"").digest(),
    ],
)
def test_a_file_that_is_not_what_it_says_is_compiled_anew_and_replaced(kept, compiled, spoil):
    whole = kept.read_bytes()
    kept.write_bytes(spoil(whole))
    assert features(kept.parent) == FEATURES
    assert compiled == [PATTERNS]
    assert features(kept.parent) == FEATURES
    assert compiled == [PATTERNS]


def test_a_folder_that_cannot_be_made_costs_nothing_but_time(tmp_path, compiled):
    file = tmp_path / "file"
    file.write_text("in the way", encoding="utf-8")
    assert features(file / "folder") == FEATURES
    assert compiled == [PATTERNS]
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_scanner_finds_the_same_with_and_without_and_says_so(tmp_path):
    text = "card 4111 1111 1111 1111"
    plain, keeping = Scanner(), Scanner(folder=tmp_path)
    assert keeping.scan(text) == plain.scan(text) != []
    again = pickle.loads(pickle.dumps(keeping))
    assert again.scan(text) == plain.scan(text)
    assert again.fingerprint == plain.fingerprint


def test_a_scanner_compiles_nothing_before_its_first_scan(compiled, tmp_path):
    scanner = Scanner(folder=tmp_path)
    assert scanner.fingerprint
    assert list(tmp_path.iterdir()) == []
    scanner.scan("x")
    assert (scanner.engine != "hyperscan") or list(tmp_path.iterdir())
