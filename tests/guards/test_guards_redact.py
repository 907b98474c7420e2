"""Masking: the whole datum, nothing but the datum, once and for all."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yb_eval_guards import redact, scan
from yb_eval_guards.finding import Finding
from yb_eval_guards.overlaps import resolve

CORPUS = Path(__file__).parents[2] / "datasets" / "eval" / "guards_labeled.jsonl"
TEXTS = [json.loads(line)["text"] for line in CORPUS.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("card 4111 1111 1111 1111, ok", "card *******************, ok"),
        ("ИНН 7707083893/770701001", "ИНН **********/770701001"),
        ('{"password": "Tr0ub4dor&3"}', '{"password": "***********"}'),
        ("postgres://app:S3cr3tP4ss@db/x", "postgres://**************@db/x"),
        ("a 4111\u200b1111\u200b1111\u200b1111 b", "a " + "*" * 19 + " b"),
        ("nothing", "nothing"),
        ("", ""),
    ],
)
def test_only_the_datum_changes(text: str, masked: str) -> None:
    assert redact(text) == masked


def _outside(text: str, masked: str) -> bool:
    return len(text) == len(masked) and all(new in {old, "*"} for old, new in zip(text, masked, strict=True))


@pytest.mark.parametrize("strength", ["deny", "warn"])
def test_masking_twice_changes_nothing_on_the_corpus(strength: str) -> None:
    for text in TEXTS[::7]:
        masked = redact(text, strength=strength)  # type: ignore[arg-type]
        assert _outside(text, masked)
        assert scan(masked, strength=strength) == []  # type: ignore[arg-type]
        assert redact(masked, strength=strength) == masked  # type: ignore[arg-type]


@given(st.lists(st.one_of(st.sampled_from(TEXTS), st.text(max_size=20)), max_size=4).map(" ".join))
@settings(deadline=None, max_examples=80)
def test_masking_any_text_leaves_no_finding(text: str) -> None:
    masked = redact(text, strength="warn")
    assert _outside(text, masked)
    assert scan(masked, strength="warn") == []


def test_every_finding_is_masked_whole() -> None:
    for text in TEXTS[::11]:
        masked = redact(text)
        for finding in scan(text):
            assert set(masked[finding.start : finding.end]) == {"*"}


def test_an_encoded_datum_is_masked_where_it_stands_encoded() -> None:
    token = base64.b64encode(b"note: the card is 4111111111111111 thanks a lot, bye").decode()
    masked = redact(f"see {token} end")
    assert masked.startswith("see " + token[:16]) and masked.endswith(" end")
    assert "*" in masked and base64.b64decode(masked.split("*")[0][4:])[:4] == b"note"


@pytest.mark.parametrize("mask", ["", "**", "x", "0", " ", "-", "."])
def test_a_mask_that_could_become_part_of_a_datum_is_refused(mask: str) -> None:
    with pytest.raises(ValueError, match="mask must be one of"):
        redact("x", mask=mask)


def test_another_mask() -> None:
    assert redact("card 4111111111111111", mask="#") == "card " + "#" * 16


def _finding(start: int, end: int, confidence: float, strength: str = "deny") -> Finding:
    return Finding(
        type="pan",
        kind="visa",
        start=start,
        end=end,
        value="0" * (end - start),
        evidence=("checksum",),
        confidence=confidence,
        strength=strength,  # type: ignore[arg-type]
    )


def test_of_overlapping_findings_the_better_founded_stays() -> None:
    weak, strong, other = _finding(0, 10, 0.5), _finding(5, 12, 0.9), _finding(12, 15, 0.1)
    assert resolve([weak, strong, other]) == [strong, other]
    assert resolve([_finding(0, 10, 0.9, "warn"), _finding(5, 12, 0.5)]) == [_finding(5, 12, 0.5)]


@given(
    st.lists(
        st.builds(
            lambda start, size, confidence: _finding(start, start + size, confidence),
            st.integers(0, 40),
            st.integers(1, 8),
            st.sampled_from([0.5, 0.7, 0.9]),
        ),
        max_size=14,
    ),
    st.randoms(use_true_random=False),
)
def test_resolution_leaves_no_overlap_and_minds_no_order(findings: list[Finding], random: object) -> None:
    kept = resolve(findings)
    assert all(left.end <= right.start for left, right in pairwise(kept))
    shuffled = list(findings)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert resolve(shuffled) == kept
    for finding in findings:
        assert any(other.start < finding.end and finding.start < other.end for other in kept)
