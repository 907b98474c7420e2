"""What announces numbers: every number that would be reported, and no digits inside a hexadecimal id."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from yb_eval_guards import Finding, Scanner
from yb_eval_guards import checksums as check
from yb_eval_guards.detectors.numbers import NumberDetector
from yb_eval_guards.detectors.secrets import load_secret_rules
from yb_eval_guards.engine import Engine, FeaturePattern, build_engine
from yb_eval_guards.engine._hyperscan import available
from yb_eval_guards.features import build_features
from yb_eval_guards.issuers import ISSUERS
from yb_eval_guards.views import View, encode

ENGINES = ["hyperscan", "re2"]
CARD = "4111111111111111"


def _digits(size: int) -> st.SearchStrategy[str]:
    return st.text(alphabet="0123456789", min_size=size, max_size=size)


def _with_check(size: int, prefixes: list[str], checked: Callable[[str], str]) -> st.SearchStrategy[str]:
    bodies = st.tuples(st.sampled_from(prefixes), _digits(size)).map(lambda pair: (pair[0] + pair[1])[:size])
    return bodies.map(lambda body: body + checked(body))


NUMBERS = st.one_of(
    _with_check(9, ["7", "5", ""], check.inn10_check),
    _with_check(10, ["7", "5", ""], check.inn12_check),
    _with_check(9, ["1", "7", ""], check.snils_check),
    _with_check(12, ["102", "1277", "539", ""], check.ogrn_check),
    _with_check(14, ["304", "3", ""], check.ogrnip_check),
    *(
        _with_check(size, ["4", "51", "2221", "2720", "2200", "34", "37", "6011", "3528", "2131", "1800", "300", "36", "62", "50", ""],
                    check.luhn_check)
        for size in range(11, 19)
    ),
    _digits(16),
)  # fmt: skip
# What may touch a number: nothing, hexadecimal and other letters of either case, letters of other scripts, signs, halves
# of pairs, tokens longer than a detector looks.
BESIDE = st.sampled_from(
    ["", " ", "a", "f", "A", "F", "g", "G", "z", "Z", "x", "0x", "0X", "ab", "deadbeef", "DEADBEEF", "cafeg", "gcafe", "e1f",
     "g1f", "d1g", "12cc", "xa", "ax", "card", "end", "pan_", "_x", "-", "_", "#", ".", "0.", "+7-", "/", "д", "Д", "aд", "дa",
     "é", "中", "²", "\0", "\n", "\ud800", "abcdef" * 9, "abcdef" * 9 + "g", "g" + "abcdef" * 9, "q" * 60, "000ab" * 10]
)  # fmt: skip
TEXTS = st.lists(st.tuples(BESIDE, BESIDE, NUMBERS, BESIDE, BESIDE).map("".join), min_size=1, max_size=2).map("".join)


def _patterns(any_digits: bool) -> tuple[int, tuple[FeaturePattern, ...]]:
    table = build_features(None, load_secret_rules(), any_digits=any_digits)
    bit = table.bits["digits"]
    return bit, tuple(entry for entry in table.patterns if entry.bit == bit)


def _unlabelled(text: str) -> list[Finding]:
    """The runs that the number detector reports without a word's help, asked as if nothing but runs were announced."""
    found = NumberDetector(runs=1, groups=2, labels=4).find(View(text), 1)
    return [finding for finding in found if "context" not in finding.evidence]


@pytest.mark.parametrize("any_digits", [False, True], ids=["deny", "warn"])
def test_runs_are_announced_wherever_a_run_is_reported(any_digits: bool) -> None:
    _, [pattern] = _patterns(any_digits)
    assert pattern.exact is not None
    sign, exact = re.compile(pattern.pattern, re.DOTALL), re.compile(pattern.exact, re.DOTALL)

    times = 0

    @settings(max_examples=800, deadline=None)
    @given(TEXTS)
    def holds(text: str) -> None:
        nonlocal times
        if any(any_digits or finding.strength == "deny" for finding in _unlabelled(text)):
            bordered = b"\xff" + encode(text) + b"\xff"
            assert sign.search(bordered) and exact.search(bordered)
            times += 1

    holds()
    assert times > 20


def _every_kind() -> list[str]:
    """A number of every issuer, prefix end and length, and of every year of the registers, with true check digits."""
    cards = [
        body + check.luhn_check(body)
        for entry in ISSUERS
        for prefix in (entry.low, entry.high)
        for size in entry.lengths
        for body in [(prefix + "1029384756" * 2)[: size - 1]]
    ]
    years = [f"{year:02d}77" for year in range(100)]
    companies = [first + year + "1234567" for first in "15" for year in years]
    traders = [f"3{year}123456789" for year in years]
    return [
        *cards,
        *(body + check.ogrn_check(body) for body in companies),
        *(body + check.ogrnip_check(body) for body in traders),
    ]


@pytest.mark.parametrize("any_digits", [False, True], ids=["deny", "warn"])
def test_every_issuer_length_and_year_is_announced(any_digits: bool) -> None:
    _, [pattern] = _patterns(any_digits)
    exact = re.compile(pattern.exact or b"", re.DOTALL)
    reported = [
        number
        for number in _every_kind()
        if any(any_digits or finding.strength == "deny" for finding in _unlabelled(number))
    ]
    assert {len(number) for number in reported} >= {13, 14, 15, 16, 17, 18, 19}
    assert [number for number in reported if not exact.search(b"\xff" + number.encode() + b"\xff")] == []


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "hyperscan" and not available():
        pytest.skip("hyperscan is not here")
    return build_engine(_patterns(any_digits=True)[1], request.param)


@pytest.mark.parametrize(
    "text",
    ["a" + CARD, CARD + "f", f"deadbeef{CARD}cafe", f"DEADBEEF{CARD}", f"trace=ab12{CARD}", f"{CARD}e1b2", f"д a{CARD} g", "1" * 20],
)  # fmt: skip
def test_digits_among_hexadecimal_letters_announce_nothing(engine: Engine, text: str) -> None:
    assert engine.features([encode(text)]) == [0]
    assert Scanner(strength="warn").scan(text) == []


@pytest.mark.parametrize(
    "text",
    [CARD, f"card{CARD}end", f"a-{CARD}", f"xa{CARD}b", f"a{CARD}bx", f"д{CARD}д", f"pan_{CARD}_x", f"g1f{CARD}", f"G{CARD}",
     f"a{CARD} {CARD}", f"({CARD})", f"é{CARD}"],
)  # fmt: skip
def test_digits_in_any_other_place_are_announced(engine: Engine, text: str) -> None:
    assert engine.features([encode(text)]) == [_patterns(any_digits=True)[0]]
    assert [finding.value for finding in Scanner(strength="warn").scan(text)][-1:] == [CARD]


@pytest.fixture(scope="module", params=["deny", "warn"])
def scanners(request: pytest.FixtureRequest) -> list[Scanner]:
    names = [name for name in ENGINES if name == "re2" or available()]
    return [Scanner(strength=request.param, engine=name) for name in names]  # type: ignore[arg-type]


LABELS = st.sampled_from(["", "card ", "ИНН: ", "снилс=", "огрн", "XMLInn=", "order ", "тел. ", "iban "])
ENCODED = st.sampled_from(
    [lambda raw: raw.hex(), lambda raw: raw.hex().upper(), lambda raw: "".join(f"%{b:02X}" for b in raw)]
)
SCRIPTS = st.sampled_from(["0", "\uff10", "\u0660", "\u0966", "\U0001d7ce"])


@st.composite
def _any_writing(draw: st.DrawFn) -> str:
    zero = ord(draw(SCRIPTS))
    text = draw(TEXTS).translate({ord(str(digit)): chr(zero + digit) for digit in range(10)})
    text = draw(LABELS) + text
    return draw(ENCODED)(encode(text)) if draw(st.integers(0, 5)) == 5 else text


@settings(max_examples=400, deadline=None)
@given(st.lists(_any_writing(), max_size=5))
def test_glued_and_foreign_and_encoded_digits_are_found_alike_by_both_engines(
    scanners: list[Scanner], texts: list[str]
) -> None:
    alone = [[scanner.scan(text) for text in texts] for scanner in scanners]
    together = [scanner.scan_many(texts) for scanner in scanners]
    assert all(found == alone[0] for found in (*alone, *together))


@settings(max_examples=400, deadline=None)
@given(st.tuples(LABELS, TEXTS).map("".join))
def test_a_number_found_at_deny_strength_is_announced_by_itself(text: str) -> None:
    assume(text.isprintable())  # what has to be folded first is read in another view
    found = NumberDetector(runs=1, groups=2, labels=4).find(View(text), 7)
    expected = {(f.type, f.start, f.end) for f in found if f.strength == "deny"}
    scanned = Scanner(detectors=["inn", "snils", "ogrn", "ogrnip", "pan"]).scan(text)
    assert {(f.type, f.start, f.end) for f in scanned} <= expected
    assert bool(scanned) == bool(expected)
