"""Valid numbers of every kind, drawn so that they are nobody's, and the check that a text holds none.

The numbers are computed, so they pass their checks; to keep them away from real holders, tax offices end in 97 or 98
(no inspectorate that we know of), SNILS bodies lie above 700-000-000 (not issued yet) and register entries are dated
to the years 2041-2058. Card numbers come from the public issuer ranges, as those of any test-data library do, and
carry no name, date or code.
"""

from __future__ import annotations

import re
import unicodedata

from yb_eval_guards.checksums import (
    iban_check,
    iban_valid,
    inn10_check,
    inn10_valid,
    inn12_check,
    inn12_valid,
    issuer,
    luhn_check,
    luhn_valid,
    ogrn_check,
    ogrn_valid,
    ogrnip_check,
    ogrnip_valid,
    snils_check,
    snils_valid,
)

from .rows import Draw

CARDS: tuple[tuple[str, str, int], ...] = (
    ("visa", "4", 16),
    ("visa", "4", 13),
    ("visa", "4", 19),
    ("mastercard", "51", 16),
    ("mastercard", "54", 16),
    ("mastercard", "55", 16),
    ("mastercard", "2221", 16),
    ("mastercard", "2388", 16),
    ("mastercard", "2720", 16),
    ("mir", "2200", 16),
    ("mir", "2202", 16),
    ("mir", "2204", 16),
    ("mir", "2201", 19),
    ("mir", "2203", 18),
    ("amex", "34", 15),
    ("amex", "37", 15),
    ("discover", "6011", 16),
    ("discover", "6511", 16),
    ("discover", "644", 16),
    ("discover", "622500", 16),
    ("jcb", "3530", 16),
    ("jcb", "3589", 16),
    ("jcb", "2131", 15),
    ("jcb", "1800", 15),
    ("diners", "36", 14),
    ("diners", "38", 14),
    ("diners", "301", 14),
    ("unionpay", "6236", 19),
    ("unionpay", "6210", 16),
    ("maestro", "5018", 16),
    ("maestro", "6304", 12),
    ("maestro", "6763", 19),
)
"""Brand, prefix and length: every range and every length of the specification's list."""

TEST_CARDS = (
    "4111111111111111",
    "4012888888881881",
    "4222222222222",
    "5555555555554444",
    "5105105105105100",
    "2223003122003222",
    "2200000000000004",
    "378282246310005",
    "371449635398431",
    "6011111111111117",
    "3530111333300000",
    "30569309025904",
    "38520000023237",
    "6200000000000005",
)
"""Card numbers that payment gateways publish for their sandboxes."""

IBAN_SHAPES = (
    ("DE", "nnnnnnnnnnnnnnnnnn"),
    ("GB", "aaaannnnnnnnnnnnnn"),
    ("NL", "aaaannnnnnnnnn"),
    ("AT", "nnnnnnnnnnnnnnnn"),
    ("CH", "nnnnnnnnnnnnnnnnn"),
    ("LT", "nnnnnnnnnnnnnnnn"),
    ("LV", "aaaannnnnnnnnnnnn"),
    ("CZ", "nnnnnnnnnnnnnnnnnnnn"),
    ("KZ", "nnnnnnnnnnnnnnnn"),
    ("AE", "nnnnnnnnnnnnnnnnnnn"),
    ("TR", "nnnnn0nnnnnnnnnnnnnnnn"),
    ("GE", "aannnnnnnnnnnnnnnn"),
    ("PL", "nnnnnnnnnnnnnnnnnnnnnnnn"),
    ("SA", "nnnnnnnnnnnnnnnnnnnn"),
)
"""Country and the shape of its account part: n a digit, a an upper-case letter."""

_REGIONS = [f"{region:02d}" for region in range(1, 80)]
_OFFICES = ("97", "98")


def inn10(draw: Draw) -> str:
    """An organisation's INN."""
    body = draw.pick(_REGIONS) + draw.pick(_OFFICES) + draw.digits(5)
    return body + inn10_check(body)


def inn12(draw: Draw) -> str:
    """A person's INN."""
    body = draw.pick(_REGIONS) + draw.pick(_OFFICES) + draw.digits(6)
    return body + inn12_check(body)


def snils(draw: Draw) -> str:
    """A SNILS as 11 digits."""
    body = draw.pick("789") + draw.digits(8)
    return body + snils_check(body)


def snils_with_sum(draw: Draw, total: int) -> str:
    """A SNILS whose weighted sum is exactly `total`, 63 or more; at 100, 101, 201 and 202 the check is written 00."""
    while True:
        body, left = "7", total - 7 * 9
        for weight in range(8, 1, -1):
            digit = draw.below(min(9, left // weight) + 1)
            body, left = body + str(digit), left - digit * weight
        if left <= 9:
            body += str(left)
            return body + snils_check(body)


def ogrn(draw: Draw) -> str:
    """An organisation's register number."""
    body = draw.pick("15") + str(41 + draw.below(18)) + draw.pick(_REGIONS) + draw.digits(7)
    return body + ogrn_check(body)


def ogrnip(draw: Draw) -> str:
    """A sole trader's register number."""
    body = "3" + str(41 + draw.below(18)) + draw.pick(_REGIONS) + draw.digits(9)
    return body + ogrnip_check(body)


def card(draw: Draw, prefix: str, length: int) -> str:
    """A card number of `length` digits under `prefix`."""
    body = prefix + draw.digits(length - 1 - len(prefix))
    return body + luhn_check(body)


def pan(draw: Draw) -> str:
    """A card number of any brand."""
    _, prefix, length = draw.pick(CARDS)
    return card(draw, prefix, length)


def iban(draw: Draw) -> str:
    """An IBAN without spaces."""
    country, shape = draw.pick(IBAN_SHAPES)
    letters = {"n": "0123456789", "a": "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
    bban = "".join(draw.pick(letters.get(kind, kind)) for kind in shape)
    return country + iban_check(country, bban) + bban


MAKERS = {
    "inn10": inn10,
    "inn12": inn12,
    "snils": snils,
    "ogrn": ogrn,
    "ogrnip": ogrnip,
    "pan": pan,
    "iban": iban,
}
"""A maker by the kind of number."""

ROW_TYPE = {kind: "inn" if kind.startswith("inn") else kind for kind in MAKERS}
"""The row's type by the kind of number."""


def kinds_passed(digits: str) -> list[str]:
    """The kinds whose check a run of ASCII digits passes; a card needs an issuer's prefix and length as well."""
    passed = {
        "inn10": inn10_valid(digits),
        "inn12": inn12_valid(digits),
        "snils": snils_valid(digits),
        "ogrn": ogrn_valid(digits),
        "ogrnip": ogrnip_valid(digits),
        "pan": issuer(digits) is not None and luhn_valid(digits),
    }
    return [kind for kind, holds in passed.items() if holds]


_JOINED = re.compile(r"\d(?:[\s\-.]?\d)+")
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}")


def runs_in(text: str) -> set[str]:
    """Every run of digits of the text, and every stretch of neighbouring groups joined over single separators.

    A run within a longer one (a card inside an account number) is not a run of the text.
    """
    plain = "".join(char for char in unicodedata.normalize("NFKC", text) if unicodedata.category(char) != "Cf")
    runs = set()
    for stretch in _JOINED.findall(plain):
        groups = re.findall(r"\d+", stretch)
        runs |= {"".join(groups[i:j]) for i in range(len(groups)) for j in range(i + 1, len(groups) + 1)}
    return runs


def valid_in(text: str) -> list[str]:
    """The kinds of every number that `text` holds, IBANs included, in a fixed order."""
    found = [kind for run in sorted(runs_in(text)) for kind in kinds_passed(run)]
    ibans = (candidate.replace(" ", "") for candidate in _IBAN.findall(text))
    return found + ["iban" for candidate in ibans if iban_valid(candidate)]


def _fails_every_check(number: str) -> bool:
    passes_luhn = 12 <= len(number) <= 19 and luhn_valid(number)
    return not (kinds_passed(number) or passes_luhn or iban_valid(number))


def broken(draw: Draw, number: str) -> str:
    """`number` with one digit changed so that it passes no check of any kind.

    Not every change breaks a check (1.67 % of single digits leave an INN-10 valid), so each is tried again.
    """
    while True:
        at = draw.below(len(number))
        if number[at].isdigit():
            changed = number[:at] + draw.pick("0123456789".replace(number[at], "")) + number[at + 1 :]
            if _fails_every_check(changed):
                return changed


def swapped(draw: Draw, number: str) -> str:
    """`number` with two neighbours exchanged so that it passes no check of any kind."""
    while True:
        at = draw.below(len(number) - 1)
        pair = number[at : at + 2]
        changed = number[:at] + pair[::-1] + number[at + 2 :]
        if pair.isdigit() and _fails_every_check(changed):
            return changed
