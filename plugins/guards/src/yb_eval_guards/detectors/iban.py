"""International bank account numbers (ISO 13616)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from string import ascii_uppercase
from typing import NamedTuple

from .. import checksums
from ..finding import Finding
from ..views import View
from .base import report

__all__ = ["IbanDetector", "IbanForm", "iban_forms"]

_START = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?=[ \-.\n]?[A-Za-z0-9])")
_REST = re.compile(r"(?:[ \-.\n]?[A-Za-z0-9]){11,30}")
_PART = re.compile(r"([0-9]+)!([nac])")
_LONGEST = 34


class IbanForm(NamedTuple):
    """What a country's IBANs look like: how many characters they have in all, and whether all but the code are digits."""

    length: int
    digits: bool


@cache
def iban_forms() -> dict[str, IbanForm]:
    """Return the form of the IBAN for each country code that python-stdnum's registry knows."""
    from stdnum import numdb  # imported late: loading it costs 30 ms

    registry = numdb.get("iban")
    forms = {}
    for pair in product(ascii_uppercase, repeat=2):
        country = "".join(pair)
        properties = registry.info(country)[0][1]
        if "bban" in properties:
            sizes, kinds = zip(*_PART.findall(properties["bban"]), strict=True)
            forms[country] = IbanForm(4 + sum(map(int, sizes)), set(kinds) == {"n"})
    return forms


class IbanDetector:
    """Finds IBANs written together or in groups, in either case."""

    types = frozenset({"iban"})

    def __init__(self, *, feature: int) -> None:
        self.announced_by = feature
        self._lengths = {country: form.length for country, form in iban_forms().items()}

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield the IBANs whose check digits, country and national structure hold."""
        text = view.text
        for match in _START.finditer(text):
            length = self._lengths.get(match.group()[:2].upper())
            if length is None:
                continue
            start = match.start()
            end = start + length
            value = text[start:end]
            if len(value) < length or not (value.isascii() and value.isalnum()):
                columns = _columns(text, match, length)
                if columns is None:
                    continue
                end = columns[-1] + 1
                value = "".join(text[at] for at in columns)
            if text[end : end + 1].isalnum():
                continue
            value = value.upper()
            if checksums.iban_valid(value):
                yield report(
                    view,
                    start,
                    end,
                    type="iban",
                    kind=f"iban-{value[:2].lower()}",
                    value=value,
                    evidence=("checksum", "structure"),
                    confidence=0.97,
                )


def _columns(text: str, match: re.Match[str], length: int) -> list[int] | None:
    """Return where the characters of an IBAN in groups stand, or None where there are too few."""
    rest = _REST.match(text, match.end(), match.end() + 2 * _LONGEST)
    columns = [at for at in range(match.start(), rest.end() if rest else match.end()) if text[at].isalnum()]
    return columns[:length] if len(columns) >= length else None
