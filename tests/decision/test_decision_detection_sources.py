"""Who finds: an installed plugin through the hook, Presidio when it is asked for, our own patterns for the rest."""

import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from yb_eval import UsageError
from yb_eval.errors import PluginError
from yb_eval_decision.detection import detect_pii, detect_secrets, detectors, open_detection, presidio
from yb_eval_decision.detection.installed import Hooked, Installed, installed
from yb_eval_decision.security import PII, SecretsExposure

CARD = "4539 1488 0343 6467"


def hooked(answers, kinds=frozenset({"CREDIT_CARD"}), name="fake"):
    return Hooked(name, lambda text: answers, kinds)


@pytest.fixture
def offer(monkeypatch):
    def make(*found, broken=None):
        there = Installed(found, broken or {})
        monkeypatch.setattr(detectors, "installed", lambda: there)

    return make


def test_the_guards_answer_for_their_types_and_our_patterns_for_the_rest():
    assert [one.name for one in installed().detectors] == ["guards"]
    detection = open_detection("pii")
    assert detection.name == "guards+own"
    found = detection.find(f"card {CARD}, a.b@corp.ru")
    assert [one.type for one in found] == ["CREDIT_CARD", "EMAIL_ADDRESS"]
    assert found[0].confidence == 0.98  # the guards' own, not ours


def test_without_any_detector_our_own_patterns_find_it_all(offer):
    offer()
    assert open_detection("pii").name == "own"
    (found,) = detect_pii(f"card {CARD}")
    assert found.of(f"card {CARD}") == CARD


def test_a_detector_s_types_are_mapped_and_strange_ones_left_out(offer):
    text = "0123456789" * 3
    answers = [
        {"type": "pan", "kind": "visa", "start": 0, "end": 4, "confidence": 0.5},
        {"type": "planet", "start": 5, "end": 6, "confidence": 1},
        {"type": "secret", "kind": "new-vendor", "start": 10, "end": 14, "confidence": 0.95},
    ]
    offer(hooked(answers, frozenset({"CREDIT_CARD", "GENERIC_SECRET"})))
    assert [(one.type, one.start) for one in detect_pii(text)] == [("CREDIT_CARD", 0)]
    (secret,) = detect_secrets(text)
    assert secret.type == "GENERIC_SECRET" and not secret.decisive  # a key by its context is never decisive


def test_a_detector_that_looks_for_a_type_is_believed_when_it_finds_nothing(offer):
    offer(hooked([]))
    assert detect_pii(f"card {CARD}") == []
    offer(hooked([], frozenset({"RU_INN"})))
    assert len(detect_pii(f"card {CARD}")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        {"start": 0, "end": 99}, {"start": -1, "end": 2}, {"start": 2, "end": 2}, {"start": 0.0, "end": 2},
        {"start": True, "end": 2}, {"confidence": 1.5}, {"confidence": float("nan")},
    ],
)  # fmt: skip
def test_a_finding_that_is_none_is_an_error_that_names_the_detector(offer, answer):
    offer(hooked([{"type": "pan", "start": 0, "end": 2, "confidence": 0.5, **answer}]))
    with pytest.raises(PluginError, match="detector 'fake'"):
        detect_pii("some text")


def test_a_detector_that_raises_is_an_error_that_does_not_show_the_text(offer):
    def fail(text):
        raise ValueError(text)

    offer(Hooked("fake", fail, frozenset({"CREDIT_CARD"})))
    with pytest.raises(PluginError, match="detector 'fake' failed: ValueError") as caught:
        detect_pii("private words")
    assert "private" not in str(caught.value)


def test_a_broken_plugin_is_told_in_the_evidence(offer):
    from yb_eval_decision.sample import Sample

    offer(broken={"sad": "cannot be imported"})
    result = PII().pre(Sample.of("nothing here"))
    assert result.passed and result.evidence["broken_detectors"] == {"sad": "cannot be imported"}
    assert result.evidence["detector"] == "own"


def test_who_finds_is_part_of_an_eval_s_identity(offer):
    with_guards = PII().identity()
    assert len(with_guards["detection"]["guards"]) == 64
    assert PII(detector="own").identity()["detection"] == {"own": detectors.OWN_VERSION}
    offer()
    assert PII().identity() != with_guards


def test_presidio_is_never_replaced_in_silence(monkeypatch):
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    presidio._analyzer.cache_clear()
    with pytest.raises(UsageError, match=r'pip install "yb-eval-decision\[presidio\]"'):
        PII(detector="presidio")
    with pytest.raises(UsageError, match="presidio finds no secrets"):
        SecretsExposure(detector="presidio")


class Analyzer:
    """Stands for Presidio's: finds each `Anna` and each telephone of one form."""

    def analyze(self, text, language, score_threshold):
        assert language == "en" and len(text) <= 100_000
        start = text.find("Anna")
        while start >= 0:
            yield SimpleNamespace(entity_type="PERSON", start=start, end=start + 4, score=0.85)
            yield SimpleNamespace(entity_type="URL", start=start, end=start + 1, score=0.9)
            start = text.find("Anna", start + 1)


@pytest.fixture
def fake_presidio(monkeypatch):
    module = ModuleType("presidio_analyzer")
    module.AnalyzerEngine = Analyzer
    monkeypatch.setitem(sys.modules, "presidio_analyzer", module)
    presidio._analyzer.cache_clear()
    yield module
    presidio._analyzer.cache_clear()


def test_presidio_finds_names_and_our_patterns_what_it_does_not_look_for(fake_presidio):
    text = "Anna: СНИЛС 087-654-303 00, ssn 536-22-1234"
    found = detect_pii(text, detector="presidio")
    assert ("PERSON", "Anna") in [(one.type, one.of(text)) for one in found]
    assert "US_SSN" not in [one.type for one in found]  # Presidio looks for these, and said nothing
    assert PII(detector="presidio", entities=["PERSON"]).entities == ("PERSON",)


def test_presidio_reads_a_long_text_in_parts_and_finds_everything_once(fake_presidio):
    text = "x" * 98_998 + "Anna" + "y" * 120_000 + "Anna"
    found = detect_pii(text, detector="presidio")
    assert [(one.start, one.of(text)) for one in found] == [(98_998, "Anna"), (219_002, "Anna")]


def test_presidio_without_its_language_model_says_so(fake_presidio):
    def end():
        raise SystemExit(1)

    fake_presidio.AnalyzerEngine = end
    with pytest.raises(UsageError, match="language model"):
        PII(detector="presidio")


def test_an_eval_without_data_imports_neither_engines_nor_other_plugins():
    code = (
        "import sys\n"
        "from yb_eval_decision.security import Bias, PromptInjection\n"
        "Bias(), PromptInjection()\n"
        "loaded = {'re2', 'hyperscan', 'presidio_analyzer', 'yb_eval_guards', 'httpx', 'numpy', 'yaml'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
