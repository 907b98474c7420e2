"""Check digits against python-stdnum where it has the format, and against published boundary cases where it has not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stdnum import iban as stdnum_iban
from stdnum import luhn as stdnum_luhn
from stdnum.ru import inn as stdnum_inn
from stdnum.ru import ogrn as stdnum_ogrn

from yb_eval_guards import checksums


def digits(size: int) -> st.SearchStrategy[str]:
    return st.text("0123456789", min_size=size, max_size=size)


@given(digits(10))
def test_inn10_agrees_with_stdnum_outside_region_zero(number: str) -> None:
    expected = stdnum_inn.is_valid(number) and not number.startswith("00") and len(set(number)) > 1
    assert checksums.inn10_valid(number) is expected


@given(digits(10))
def test_inn12_made_from_a_body_is_valid_for_us_and_for_stdnum(body: str) -> None:
    number = body + checksums.inn12_check(body)
    assert stdnum_inn.is_valid(number)
    assert checksums.inn12_valid(number) is (not number.startswith("00") and len(set(number)) > 1)


@given(digits(9))
def test_inn10_made_from_a_body_is_valid_for_stdnum(body: str) -> None:
    assert stdnum_inn.is_valid(body + checksums.inn10_check(body))


@given(digits(12))
def test_ogrn_made_from_a_body_agrees_with_stdnum(body: str) -> None:
    number = body + checksums.ogrn_check(body)
    assert checksums.ogrn_valid(number) is (number[0] in "15" and len(set(number)) > 1)
    if number[0] != "0":
        assert stdnum_ogrn.is_valid(number)


@given(digits(13).map(lambda tail: "3" + tail))
def test_ogrnip_takes_the_last_digit_of_a_remainder_above_nine(body: str) -> None:
    number = body + checksums.ogrnip_check(body)
    assert checksums.ogrnip_valid(number) is (len(set(number)) > 1)
    if int(body) % 13 < 10:
        assert stdnum_ogrn.is_valid(number)
    else:
        assert int(number[-1]) == int(body) % 13 - 10


@given(st.text("0123456789", min_size=2, max_size=24))
def test_luhn_agrees_with_stdnum_but_for_repeated_digits(number: str) -> None:
    assert checksums.luhn_valid(number) is (stdnum_luhn.is_valid(number) and len(set(number)) > 1)
    assert checksums.luhn_check(number) == stdnum_luhn.calc_check_digit(number)


@pytest.mark.parametrize("body", ["211713032", "032140845", "661532685", "279147310"])
def test_snils_sums_of_100_101_201_and_202_give_two_zeros(body: str) -> None:
    assert checksums.snils_check(body) == "00"
    assert checksums.snils_valid(body + "00")


def test_snils_below_the_first_checked_number_is_refused() -> None:
    assert not checksums.snils_valid("001001998" + checksums.snils_check("001001998"))
    assert checksums.snils_valid("001001999" + checksums.snils_check("001001999"))


@given(digits(11))
def test_snils_has_exactly_one_valid_ending(number: str) -> None:
    if int(number[:9]) > 1_001_998 and len(set(number)) > 1:
        assert checksums.snils_valid(number) is (number[9:] == checksums.snils_check(number[:9]))


@pytest.mark.parametrize("size", [10, 11, 12, 13, 15, 16])
@pytest.mark.parametrize("digit", "0123456789")
def test_repeated_digits_are_never_valid(size: int, digit: str) -> None:
    number = digit * size
    checks = (
        checksums.inn10_valid,
        checksums.inn12_valid,
        checksums.snils_valid,
        checksums.ogrn_valid,
        checksums.ogrnip_valid,
        checksums.luhn_valid,
    )
    assert not any(check(number) for check in checks)


@given(st.text(max_size=20))
def test_no_check_raises_on_any_text(text: str) -> None:
    checks = (
        checksums.inn10_valid,
        checksums.inn12_valid,
        checksums.snils_valid,
        checksums.ogrn_valid,
        checksums.ogrnip_valid,
        checksums.luhn_valid,
        checksums.iban_valid,
    )
    for check in checks:
        assert check(text) in {True, False}
    checksums.issuer(text)


@pytest.mark.parametrize("text", ["779826617\u2079", "77982661\u096d9", "7798 26617", "", "779826617a"])
def test_only_ascii_digits_count(text: str) -> None:
    assert not checksums.inn10_valid(text)
    with pytest.raises(ValueError, match="ASCII digits"):
        checksums.inn10_check(text[:9] + "\u0667")


@pytest.mark.parametrize(
    ("country", "bban"), [("DE", "370400440532013000"), ("GB", "WEST12345698765432"), ("NL", "ABNA0417164300")]
)
def test_iban_check_digits_satisfy_stdnum(country: str, bban: str) -> None:
    number = country + checksums.iban_check(country, bban) + bban
    assert checksums.iban_valid(number)
    assert stdnum_iban.is_valid(number)
    assert not checksums.iban_valid(number[:-1] + ("1" if number[-1] != "1" else "2"))


@pytest.mark.parametrize(
    ("pan", "brand"),
    [
        ("4111111111111111", "visa"),
        ("5555555555554444", "mastercard"),
        ("2221000000000009", "mastercard"),
        ("2720990000000007", "mastercard"),
        ("2721000000000004", None),
        ("2220990000000000", None),
        ("2200000000000004", "mir"),
        ("2204999999999999999", "mir"),
        ("2205000000000000", None),
        ("378282246310005", "amex"),
        ("6011111111111117", "discover"),
        ("6221260000000000", "discover"),
        ("6229260000000000", "unionpay"),
        ("3528000000000007", "jcb"),
        ("3589990000000000", "jcb"),
        ("30569309025904", "diners"),
        ("6200000000000000000", "unionpay"),
        ("500000000000", "maestro"),
        ("1234567890123456", None),
        ("41111111111111", None),
    ],
)
def test_issuer_by_prefix_and_length(pan: str, brand: str | None) -> None:
    assert checksums.issuer(pan) == brand
