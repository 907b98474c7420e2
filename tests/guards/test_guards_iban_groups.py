"""IBANs in groups: of any size, once the first four characters after the check digits stand together."""

from __future__ import annotations

import re
from string import ascii_uppercase, digits

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stdnum import numdb

from yb_eval_guards import Scanner
from yb_eval_guards.checksums import iban_check, iban_valid
from yb_eval_guards.detectors.iban import iban_forms
from yb_eval_guards.engine._hyperscan import available
from yb_eval_guards.features import _ibans

# The examples of the IBAN registry.
IBANS = [
    "DE89370400440532013000", "GB82WEST12345698765432", "NO9386011117947", "BE68539007547034", "FR1420041010050500013M02606",
    "MT84MALT011000012345MTLCAST001S", "AD1200012030200359100100", "LC55HEMM000100010012001200023015",
]  # fmt: skip
SEPARATORS = st.sampled_from([" ", "-", ".", "\n", ""])


@st.composite
def in_groups(draw: st.DrawFn, iban: str) -> str:
    written, at = iban[:4] + draw(SEPARATORS) + iban[4:8], 8
    while at < len(iban):
        size = draw(st.integers(1, 9))
        written += draw(SEPARATORS) + iban[at : at + size]
        at += size
    return written


@pytest.fixture(scope="module")
def scanners() -> list[Scanner]:
    return [Scanner(engine=name) for name in ("hyperscan", "re2") if name == "re2" or available()]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(IBANS).flatmap(lambda iban: st.tuples(st.just(iban), in_groups(iban))),
    st.sampled_from(["", "to ", "(", "_", "д", "\n", "12 "]),
    st.sampled_from(["", " ", ".", ")", "_", "\n", ", 17"]),
    st.booleans(),
)
def test_an_iban_is_found_in_groups_of_any_size(
    scanners: list[Scanner], pair: tuple[str, str], before: str, after: str, small: bool
) -> None:
    iban, written = pair
    text = before + (written.lower() if small else written) + after
    for scanner in scanners:
        [finding] = scanner.scan(text)
        assert (finding.type, finding.value) == ("iban", iban)
        assert (finding.start, finding.end) == (len(before), len(before) + len(written))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(IBANS).flatmap(in_groups), st.sampled_from([("x", ""), ("1", ""), ("", "0"), ("", "z"), ("", "д")])
)
def test_letters_and_digits_that_go_on_are_no_iban(
    scanners: list[Scanner], written: str, beside: tuple[str, str]
) -> None:
    before, after = beside
    for scanner in scanners:
        assert "iban" not in {finding.type for finding in scanner.scan(before + written + after)}


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(IBANS), st.data())
def test_one_wrong_digit_is_no_iban(scanners: list[Scanner], iban: str, data: st.DataObject) -> None:
    places = [place for place, char in enumerate(iban) if char.isdigit() and place > 3]
    place = data.draw(st.sampled_from(places))
    wrong = iban[:place] + str((int(iban[place]) + data.draw(st.integers(1, 9))) % 10) + iban[place + 1 :]
    for scanner in scanners:
        assert "iban" not in {finding.type for finding in scanner.scan(data.draw(in_groups(wrong)))}


def test_an_iban_that_ends_with_the_text_is_found_and_one_cut_short_is_not(scanners: list[Scanner]) -> None:
    for scanner in scanners:
        for iban in IBANS:
            assert [finding.end for finding in scanner.scan(iban)] == [len(iban)]
            assert not any(finding.type == "iban" for cut in range(1, 9) for finding in scanner.scan(iban[:-cut]))


def test_the_check_digits_alone_make_no_iban_of_a_country_without_any(scanners: list[Scanner]) -> None:
    bban = "539007547034"
    for scanner in scanners:
        assert scanner.scan(f"ZZ{iban_check('ZZ', bban)}{bban}") == []


def test_signs_beside_the_code_do_not_hide_an_iban_and_other_writing_is_folded(scanners: list[Scanner]) -> None:
    written = "DE89 3704 0044 0532 0130 00"
    wide = "".join(chr(ord(char) + 0xFEE0) if char != " " else "\u3000" for char in written)
    for scanner in scanners:
        for text in (written, wide, written.replace(" ", "\u00a0"), written.replace(" ", "\u2011")):
            [finding] = scanner.scan(f"\u00ab{text}\u00bb")
            assert (finding.value, finding.start, finding.end) == ("DE89370400440532013000", 1, 1 + len(text))


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**10 - 1), st.integers(0, 96))
def test_a_belgian_iban_needs_its_national_check_and_no_bank_that_is_known(body: int, off: int) -> None:
    check = (body % 97 or 97) + off
    bban = f"{body:010d}{check - 97 if check > 97 else check:02d}"
    assert iban_valid(f"BE{iban_check('BE', bban)}{bban}") is (off == 0)


def _national(country: str) -> st.SearchStrategy[str]:
    """IBANs of the structure that the registry gives for a country; few pass the country's own checks as well."""
    structure = re.findall(r"([0-9]+)!([nac])", numdb.get("iban").info(country)[0][1]["bban"])
    letters = {"n": digits, "a": ascii_uppercase, "c": digits + ascii_uppercase}
    parts = [st.text(alphabet=letters[kind], min_size=int(size), max_size=int(size)) for size, kind in structure]
    return st.tuples(*parts).map("".join).map(lambda bban: country + iban_check(country, bban) + bban)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(iban_forms())).flatmap(_national))
def test_the_ibans_of_every_country_are_announced(scanners: list[Scanner], iban: str) -> None:
    form = iban_forms()[iban[:2]]
    assert len(iban) == form.length and (iban[2:].isdigit() or not form.digits)
    if iban_valid(iban):
        for scanner in scanners:
            assert [finding.value for finding in scanner.scan(f"pay {iban} now")] == [iban]
    else:
        pattern = re.compile(_ibans().encode())
        assert pattern.search(f" {iban} ".encode())


def test_a_hexadecimal_id_that_begins_like_an_iban_of_digits_alone_is_not_looked_at_again() -> None:
    pattern = re.compile(_ibans().encode())
    assert not pattern.search(b" span=be12abcdef012345 de44a00000000000000000 ")
    assert pattern.search(b" span=ad12345678abcdef0123 ")  # Andorra's have letters
