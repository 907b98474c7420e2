"""Check digits of the number formats the guards know: pure functions over strings of ASCII digits.

Nothing here strips separators or folds other scripts' digits: that is the work of `normalise`, once and with offsets.
Anything that is not exactly the right number of ASCII digits is simply not valid; no `..._valid` raises on hostile input.
All-zero and repeated-digit numbers pass several of these checks and are never issued, so they are never valid here.
`..._holds` is the check alone, for those who know already that they have the right number of digits, not all the same.

Sources: INN, the tax service's order on taxpayer numbers (weights as in python-stdnum `ru.inn`); SNILS, the pension
fund's rule (weights 9..1, modulo 101, 100 counts as 00); OGRN/OGRNIP, the register's rule (last digit of the remainder
by 11 and by 13); Luhn, ISO/IEC 7812-1 annex B; IBAN, ISO 13616 with the country structures of python-stdnum.
"""

from __future__ import annotations

from operator import mul

from .issuers import find_issuer

__all__ = [
    "iban_check",
    "iban_valid",
    "inn10_check",
    "inn10_holds",
    "inn10_valid",
    "inn12_check",
    "inn12_holds",
    "inn12_valid",
    "issuer",
    "luhn_check",
    "luhn_holds",
    "luhn_valid",
    "ogrn_check",
    "ogrn_holds",
    "ogrn_valid",
    "ogrnip_check",
    "ogrnip_holds",
    "ogrnip_valid",
    "snils_check",
    "snils_holds",
    "snils_valid",
]

# The check is defined for SNILS numbers above 001-001-998 only.
_SNILS_FIRST_CHECKED = 1_001_998
_SNILS_WEIGHTS = (9, 8, 7, 6, 5, 4, 3, 2, 1)
_INN10_WEIGHTS = (2, 4, 10, 3, 5, 9, 4, 6, 8)
_INN12_WEIGHTS = ((7, 2, 4, 10, 3, 5, 9, 4, 6, 8), (3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8))
_ZERO = ord("0")
# Tables for `bytes.translate`: the value of each ASCII digit, and the digit sum of its double.
_VALUES = bytes.maketrans(b"0123456789", bytes(range(10)))
_LUHN_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))


def _digits(text: str, length: int) -> bool:
    """Tell whether `text` is `length` ASCII digits that are not all the same one."""
    return len(text) == length and text.isdigit() and text.isascii() and text.count(text[0]) != length


def _body(text: str, length: int) -> str:
    if len(text) != length or not text.isascii() or not text.isdigit():
        raise ValueError(f"a body of {length} ASCII digits is needed")
    return text


def _weighted(digits: str, weights: tuple[int, ...]) -> int:
    return sum(map(mul, weights, digits.encode().translate(_VALUES)))


def _mod11(digits: str, weights: tuple[int, ...]) -> str:
    return str(_weighted(digits, weights) % 11 % 10)


def inn10_check(body: str) -> str:
    """Return the check digit of an organisation's INN for its first 9 digits. ValueError if `body` is not 9 digits."""
    return _mod11(_body(body, 9), _INN10_WEIGHTS)


def inn10_valid(digits: str) -> bool:
    """Tell whether `digits` is a valid organisation's INN: 10 digits, region not 00. A random run passes in 10 %."""
    return _digits(digits, 10) and inn10_holds(digits)


def inn10_holds(digits: str) -> bool:
    return digits[9] == _mod11(digits, _INN10_WEIGHTS) and not digits.startswith("00")


def inn12_check(body: str) -> str:
    """Return the two check digits of a person's INN for its first 10 digits. ValueError if `body` is not 10 digits."""
    first = _mod11(_body(body, 10), _INN12_WEIGHTS[0])
    return first + _mod11(body + first, _INN12_WEIGHTS[1])


def inn12_valid(digits: str) -> bool:
    """Tell whether `digits` is a valid person's INN: 12 digits, region not 00. A random run passes in 1 %."""
    return _digits(digits, 12) and inn12_holds(digits)


def inn12_holds(digits: str) -> bool:
    return (
        digits[10] == _mod11(digits, _INN12_WEIGHTS[0])
        and digits[11] == _mod11(digits, _INN12_WEIGHTS[1])
        and not digits.startswith("00")
    )


def snils_check(body: str) -> str:
    """Return the two check digits of a SNILS for its first 9 digits. ValueError if `body` is not 9 digits.

    The rule is defined for bodies above 001001998 only; `snils_valid` refuses the others.
    """
    return f"{_snils_number(_body(body, 9)):02d}"


def snils_valid(digits: str) -> bool:
    """Tell whether `digits` is a valid SNILS: 11 digits above 001-001-998. A random run passes in 1 %."""
    return _digits(digits, 11) and snils_holds(digits)


def snils_holds(digits: str) -> bool:
    return int(digits[9:]) == _snils_number(digits) and int(digits[:9]) > _SNILS_FIRST_CHECKED


def _snils_number(digits: str) -> int:
    return _weighted(digits, _SNILS_WEIGHTS) % 101 % 100


def ogrn_check(body: str) -> str:
    """Return the check digit of an OGRN for its first 12 digits. ValueError if `body` is not 12 digits."""
    return _register_digit(_body(body, 12), 11)


def ogrn_valid(digits: str) -> bool:
    """Tell whether `digits` is a valid OGRN: 13 digits, the first one 1 or 5 (a legal person's main record)."""
    return _digits(digits, 13) and ogrn_holds(digits)


def ogrn_holds(digits: str) -> bool:
    return digits[0] in "15" and digits[12] == _register_digit(digits[:12], 11)


def _register_digit(body: str, modulus: int) -> str:
    return str(int(body) % modulus % 10)


def ogrnip_check(body: str) -> str:
    """Return the check digit of an OGRNIP for its first 14 digits. ValueError if `body` is not 14 digits.

    The last digit of the remainder by 13: python-stdnum 2.2 compares the whole remainder and so refuses the valid
    numbers whose remainder is 10, 11 or 12, which is why this one is our own.
    """
    return _register_digit(_body(body, 14), 13)


def ogrnip_valid(digits: str) -> bool:
    """Tell whether `digits` is a valid OGRNIP: 15 digits, the first one 3 (a sole trader's main record)."""
    return _digits(digits, 15) and ogrnip_holds(digits)


def ogrnip_holds(digits: str) -> bool:
    return digits[0] == "3" and digits[14] == _register_digit(digits[:14], 13)


def _luhn_sum(digits: str) -> int:
    codes = digits.encode()
    plain = codes[-1::-2]
    return sum(plain) - _ZERO * len(plain) + sum(codes[-2::-2].translate(_LUHN_DOUBLED))


def luhn_check(body: str) -> str:
    """Return the Luhn check digit for `body`, any number of digits. ValueError if `body` is not all digits."""
    return str(-_luhn_sum(_body(body, len(body) or 1) + "0") % 10)


def luhn_valid(digits: str) -> bool:
    """Tell whether `digits` (two or more) passes Luhn. A random run passes in 10 %, whatever its length."""
    return len(digits) > 1 and _digits(digits, len(digits)) and luhn_holds(digits)


def luhn_holds(digits: str) -> bool:
    return _luhn_sum(digits) % 10 == 0


def iban_check(country: str, bban: str) -> str:
    """Return the two ISO 7064 mod 97-10 check digits for a country code and a BBAN (upper-case ASCII letters, digits)."""
    text = bban + country + "00"
    if len(country) != 2 or not text.isascii() or not text.isalnum() or text != text.upper():
        raise ValueError("a two-letter country code and a BBAN of upper-case ASCII letters and digits are needed")
    return f"{98 - int(''.join(str(int(char, 36)) for char in text)) % 97:02d}"


def iban_valid(iban: str) -> bool:
    """Tell whether `iban` (upper case, no separators) has a valid check, country, length and national structure."""
    if not (15 <= len(iban) <= 34 and iban.isascii() and iban.isalnum() and iban == iban.upper()):
        return False
    if not (iban[:2].isalpha() and iban[2:4].isdigit()) or iban[4:].count(iban[4]) == len(iban) - 4:
        return False
    if int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97 != 1:
        return False
    from stdnum import iban as stdnum_iban  # imported late: loading its tables costs 30 ms

    if iban.startswith("BE"):
        # python-stdnum refuses the banks that are not in its list, which changes; the national check is the same.
        return stdnum_iban.is_valid(iban, check_country=False) and int(iban[-2:]) == (int(iban[4:-2]) % 97 or 97)
    return bool(stdnum_iban.is_valid(iban))


def issuer(pan: str) -> str | None:
    """Return the brand whose prefix and length `pan` (ASCII digits) has, such as "mir", or None. Luhn is not looked at."""
    if not pan.isascii() or not pan.isdigit():
        return None
    found = find_issuer(pan)
    return None if found is None else found.brand
