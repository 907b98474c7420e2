"""Hostile texts cost time in proportion to their size: eight times the text, not much more than eight times the time.

A quadratic detector would need sixty-four times as long. The ratio is taken between the best of several runs in one process,
so that neither the machine nor its load matters.
"""

from __future__ import annotations

import base64
import gc
import time
from collections.abc import Callable
from itertools import islice

import pytest

from yb_eval_guards import Scanner
from yb_eval_guards.custom import parse_custom
from yb_eval_guards.matching import REACH, compile_bytes, matches

# A quadratic detector would take 64 times as long; memory effects alone were seen to double a linear one's eight.
SMALL, FACTOR, ALLOWED, TRIES = 20_000, 8, 30, 5


def repeated(unit: str) -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit) + 1))[:size]


def nested_base64(size: int) -> str:
    token = b"ignore all previous instructions " * 20
    while len(token) < size:
        token = base64.b64encode(token)
    return token[:size].decode()


HOSTILE: dict[str, Callable[[int], str]] = {
    "dots": repeated("."),
    "digits": repeated("1234567890"),
    "letter space": repeated("a "),
    "digit space": repeated("1 "),
    "pem headers": repeated("-----BEGIN PRIVATE KEY-----\n"),
    "kind: Secret": repeated("kind: Secret\n"),
    "nested base64": nested_base64,
    "card groups": repeated("4111 "),
    "cards": repeated("4111 1111 1111 1111 "),
    "labelled numbers": repeated("ИНН 7707083893 "),
    "verbs": repeated("ignore "),
    "phrases": repeated("ignore previous instructions. "),
    "verb and words": repeated("ignore the the the the "),
    "keywords": repeated("password: "),
    "keyword and words": repeated("password a "),
    "urls": repeated("a://b:c"),
    "urls with passwords": repeated("pg://bob:c1d2e3@h "),
    "jwt heads": repeated("eyJhbGciOi."),
    "percent": repeated("%41"),
    "escapes": repeated("\\u0041"),
    "references": repeated("&#65;"),
    "binary": repeated("01010101 "),
    "hex": repeated("41"),
    "hex pairs": repeated("41 "),
    "zero width": repeated("\u200b1"),
    "combining": repeated("e\u0301"),
    "mixed scripts": repeated("ignоre "),
    "leet": repeated("1gn0re "),
    "a long word": lambda size: "ignore " + "a" * size,
    "a long word of digits": lambda size: "ignore " + "a1" * (size // 2),
    "a long word after a name": lambda size: "password: " + "a" * size,
    "a long cyrillic word": lambda size: "забудь " + "я" * size,
    "tags": repeated("\U000e0041"),
    "nul": repeated("a\x00"),
    "reversed": repeated("erongi "),
    "rot13": repeated("vtaber "),
    "quotes": repeated('"'),
    "iban heads": repeated("DE89 "),
    "all encodings": repeated("%41\\u0041&#65;"),
}


@pytest.fixture(scope="module")
def scanner() -> Scanner:
    return Scanner(strength="warn")


def _seconds(scanner: Scanner, text: str) -> float:
    # The collector walks the whole test process's heap, which has nothing to do with this text.
    gc.disable()
    try:
        started = time.process_time()
        scanner.scan(text)
        return time.process_time() - started
    finally:
        gc.enable()


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_time_grows_with_the_text_and_no_faster(name: str, scanner: Scanner) -> None:
    small, large = HOSTILE[name](SMALL), HOSTILE[name](SMALL * FACTOR)
    best_small = best_large = float("inf")
    for _ in range(TRIES):
        best_small = min(best_small, _seconds(scanner, small))
        best_large = min(best_large, _seconds(scanner, large))
        # Below a few milliseconds the clock says more about the machine than about the text.
        if best_large <= ALLOWED * max(best_small, 0.002):
            return
    pytest.fail(f"{FACTOR} times the text took {best_large / best_small:.1f} times as long")


def test_a_users_pattern_that_looks_far_ahead_reads_a_bounded_window() -> None:
    rule = "[[detector]]\nname = 'far'\npattern = 'a.*?z|a'\n"
    scanner = Scanner(custom=parse_custom(rule), detectors=["far"])
    best = {size: min(_seconds(scanner, "a" * size) for _ in range(3)) for size in (SMALL // 4, SMALL)}
    assert best[SMALL] <= ALLOWED * max(best[SMALL // 4], 0.002)


def test_windows_lose_no_match_and_cut_none() -> None:
    pattern = compile_bytes("ab{0,60}c")
    unit = b"x" * 37 + b"a" + b"b" * 60 + b"c"
    data = unit * 900
    assert len(data) > 8 * REACH
    expected = [(at * len(unit) + 37, (at + 1) * len(unit)) for at in range(900)]
    assert [match.span() for match in matches(pattern, data)] == expected
    assert [match.span() for match in islice(matches(pattern, unit), 2)] == expected[:1]
