"""Check digits and forms of numbers. Each function takes digits (or the number as it is written, where it says so)."""

from __future__ import annotations

from collections.abc import Sequence

#: Countries of the IBAN registry and the length of their numbers (ISO 13616, SWIFT's registry of IBAN formats).
IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HN": 28, "HR": 21, "HU": 28,
    "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28,
    "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24,
    "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
    "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}  # fmt: skip

#: Each digit doubled, the digits of the double summed.
_DOUBLED = str.maketrans("0123456789", "0246813579")


def luhn(digits: str) -> bool:
    """The check of payment cards (ISO/IEC 7812-1)."""
    return sum(map(int, digits[-1::-2] + digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def card_issuer(digits: str) -> bool:
    """Whether a scheme issues numbers that begin and measure so: Visa, Mastercard, Mir, American Express, Diners, Discover,
    JCB, UnionPay, Maestro (ISO/IEC 7812 ranges that the schemes publish)."""
    size, two, four = len(digits), int(digits[:2]), int(digits[:4])
    if digits[0] == "4":
        return size in (13, 16, 19)
    if 51 <= two <= 55 or 2221 <= four <= 2720:
        return size == 16
    if 2200 <= four <= 2204:
        return 16 <= size <= 19
    if two in (34, 37):
        return size == 15
    if 300 <= int(digits[:3]) <= 305 or two in (36, 38, 39):
        return 14 <= size <= 19
    if 3528 <= four <= 3589 or two == 62 or two in (60, 64, 65):
        return 16 <= size <= 19
    return two in (50, 56, 57, 58, 61, 63, 67, 69) and 13 <= size <= 19


def iban(number: str) -> bool:
    """An IBAN in capitals without spaces: a known country, its length, and mod 97 (ISO 13616-1)."""
    if IBAN_LENGTHS.get(number[:2]) != len(number) or not number.isalnum():
        return False
    turned = number[4:] + number[:4]
    return int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


def us_ssn(digits: str) -> bool:
    """Nine digits that the Social Security Administration may have issued, its two published examples excluded."""
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    never = area in ("000", "666") or area[0] == "9" or group == "00" or serial == "0000"
    return not never and digits not in ("078051120", "219099999")


def br_cpf(digits: str) -> bool:
    """Eleven digits with the two check digits of Receita Federal; eleven equal ones are none."""
    if len(set(digits)) == 1:
        return False
    for size in (9, 10):
        total = sum(int(digit) * (size + 1 - place) for place, digit in enumerate(digits[:size]))
        if total * 10 % 11 % 10 != int(digits[size]):
            return False
    return True


def _weighed(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights)) % 11 % 10


def ru_inn(digits: str) -> bool:
    """Ten digits (a company) or twelve (a person) with the check digits of the order of the Russian tax service."""
    if len(digits) == 10:
        return _weighed(digits, (2, 4, 10, 3, 5, 9, 4, 6, 8)) == int(digits[9]) and len(set(digits)) > 1
    first, second = (7, 2, 4, 10, 3, 5, 9, 4, 6, 8), (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8)
    holds = _weighed(digits, first) == int(digits[10]) and _weighed(digits, second) == int(digits[11])
    return holds and len(set(digits)) > 1


def ru_snils(digits: str) -> bool:
    """Eleven digits, the last two a check sum, which numbers up to 001-001-998 do not have (Russian pension fund)."""
    if int(digits[:9]) <= 1_001_998:
        return False
    total = sum(int(digit) * (9 - place) for place, digit in enumerate(digits[:9]))
    return total % 101 % 100 == int(digits[9:])


def us_npi(digits: str) -> bool:
    """Ten digits that pass Luhn behind the prefix 80840 (CMS)."""
    return digits[0] in "12" and luhn("80840" + digits)


def dea(number: str) -> bool:
    """Two letters (or a letter and 9) and seven digits, the last a check digit (DEA)."""
    digits = [int(sign) for sign in number[2:]]
    return (digits[0] + digits[2] + digits[4] + 2 * (digits[1] + digits[3] + digits[5])) % 10 == digits[6]
