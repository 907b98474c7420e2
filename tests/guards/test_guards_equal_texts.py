"""Equal texts are looked at once and answered each for itself."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_guards import Finding, Scanner
from yb_eval_guards.custom import parse_custom

CARD = "card 4111 1111 1111 1111"
TEXTS = [
    "",
    "nothing",
    CARD,
    "\0",
    f"\0{CARD}",
    "\ud800",
    f"\ud800 {CARD}",
    "ИНН 7707083893",
    "a" * 70,
    f"{'b' * 70} {CARD}",
]
RULES = parse_custom("[[detector]]\nname = 'ticket'\npattern = '\\bT-[0-9]{4}\\b'\n")


@pytest.fixture(scope="module", params=["hyperscan", "re2"])
def scanner(request: pytest.FixtureRequest) -> Scanner:
    if request.param == "hyperscan":
        pytest.importorskip("hyperscan")
    return Scanner(engine=request.param, custom=RULES)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*TEXTS, "T-1234", "see T-1234"]), max_size=12))
def test_each_of_equal_texts_has_its_findings(scanner: Scanner, texts: list[str]) -> None:
    alone = [scanner.scan(text) for text in texts]
    assert scanner.scan_many(texts) == alone
    assert scanner.scan_many(text for text in texts) == alone
    assert list(scanner.scan_each(texts)) == [(place, found) for place, found in enumerate(alone) if found]
    assert list(scanner.scan_each(tuple(texts))) == list(scanner.scan_each(texts))


def test_no_two_texts_share_a_list_of_findings(scanner: Scanner) -> None:
    texts = [CARD, "", CARD, "nothing", CARD, "", "nothing"]
    found = scanner.scan_many(texts)
    assert len({id(findings) for findings in found}) == len(texts)
    found[0].clear()
    found[1].append(found[2][0])
    assert [len(findings) for findings in found] == [0, 1, 1, 0, 1, 0, 0]
    assert [len(findings) for findings in scanner.scan_many(texts)] == [1, 0, 1, 0, 1, 0, 0]


def test_texts_that_only_look_equal_are_each_looked_at(scanner: Scanner) -> None:
    composed, decomposed = f"\u00e9 {CARD}", f"e\u0301 {CARD}"
    first, second, third = scanner.scan_many([composed, decomposed, composed])
    assert [finding.start for finding in (*first, *second, *third)] == [7, 8, 7]


def test_an_equal_text_is_scanned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scanner = Scanner()
    scanner.scan("")
    seen: list[int] = []
    batch = scanner._scan_batch

    def counted(texts: Sequence[str]) -> dict[int, list[Finding]]:
        seen.append(len(texts))
        return batch(texts)

    monkeypatch.setattr(scanner, "_scan_batch", counted)
    assert [len(found) for found in scanner.scan_many([CARD] * 40 + ["x"] * 40)] == [1] * 40 + [0] * 40
    assert seen == [2]


def test_equal_texts_far_apart_keep_their_places_across_slices(
    monkeypatch: pytest.MonkeyPatch, scanner: Scanner
) -> None:
    monkeypatch.setattr("yb_eval_guards.scanner._SLICE", 50)
    texts = [f"{index} {CARD}" if index % 3 else CARD for index in range(30)] + TEXTS * 3
    alone = [scanner.scan(text) for text in texts]
    assert scanner.scan_many(texts) == alone
    assert [place for place, _ in scanner.scan_each(texts)] == [place for place, found in enumerate(alone) if found]


def test_a_batch_larger_than_a_slice_is_its_texts_one_by_one(scanner: Scanner) -> None:
    long = "nothing to see here. " * 100_000
    texts = [long, CARD, long + CARD, "", long, CARD, "T-1234"]
    assert [[f.type for f in found] for found in scanner.scan_many(texts)] == [
        [],
        ["pan"],
        ["pan"],
        [],
        [],
        ["pan"],
        ["ticket"],
    ]


def test_threads_that_share_a_scanner_find_the_same(scanner: Scanner) -> None:
    texts = (TEXTS + [f"{index} {CARD}" for index in range(20)]) * 3
    expected = scanner.scan_many(texts)
    fresh = Scanner(engine=scanner.engine, custom=RULES)  # compiled by whichever thread comes first
    with ThreadPoolExecutor(6) as pool:
        assert all(found == expected for found in pool.map(fresh.scan_many, [texts] * 24))


@pytest.mark.parametrize(
    "settings_", [{}, {"strength": "warn"}, {"detectors": ["pan", "ticket"]}, {"detectors": ["inn"]}]
)
def test_a_scanner_can_be_pickled_after_it_has_scanned(settings_: dict[str, Any]) -> None:
    scanner = Scanner(custom=RULES, **settings_)
    texts = [*TEXTS, "T-1234", "1234567894 T-1234", CARD]
    expected = scanner.scan_many(texts)
    raw = pickle.dumps(scanner)
    assert b"4111" not in raw  # what was scanned stays behind
    assert pickle.loads(raw).scan_many(texts) == expected
