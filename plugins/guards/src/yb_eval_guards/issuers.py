"""Card issuer ranges and lengths (ISO/IEC 7812 prefixes), as one ordered table.

Ranges: Visa 4; Mastercard 51-55 and 2221-2720; MIR 2200-2204; American Express 34, 37; Discover 6011, 644-649, 65 and
622126-622925; JCB 3528-3589, 2131, 1800; Diners Club 300-305, 36, 38; UnionPay 62; Maestro 50, 56-69.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

__all__ = ["ISSUERS", "IssuerRange", "find_issuer"]


@attrs.frozen(slots=True, kw_only=True)
class IssuerRange:
    """Prefixes `low`..`high` (same number of digits, inclusive) of one brand with the card lengths it may have.

    `narrow` says that the prefix by itself is evidence. Maestro spans a seventh of all numbers and the 13-digit and
    19-digit Visa forms share their prefix with article numbers and snowflake ids, so these need context as well.
    """

    brand: str
    low: str
    high: str
    lengths: frozenset[int]
    narrow: bool = True

    def holds(self, pan: str) -> bool:
        """Tell whether `pan` (ASCII digits) starts inside the range and has one of its lengths."""
        return len(pan) in self.lengths and self.low <= pan[: len(self.low)] <= self.high


def _range(brand: str, low: int, high: int, lengths: Iterable[int], *, narrow: bool = True) -> IssuerRange:
    return IssuerRange(brand=brand, low=str(low), high=str(high), lengths=frozenset(lengths), narrow=narrow)


# The first range that holds wins: Discover's share of 62 stands before UnionPay, and Maestro, which overlaps most, last.
ISSUERS: tuple[IssuerRange, ...] = (
    _range("visa", 4, 4, (16,)),
    _range("visa", 4, 4, (13, 19), narrow=False),
    _range("mastercard", 51, 55, (16,)),
    _range("mastercard", 2221, 2720, (16,)),
    _range("mir", 2200, 2204, range(16, 20)),
    _range("amex", 34, 34, (15,)),
    _range("amex", 37, 37, (15,)),
    _range("discover", 6011, 6011, range(16, 20)),
    _range("discover", 644, 649, range(16, 20)),
    _range("discover", 65, 65, range(16, 20)),
    _range("discover", 622126, 622925, (16,)),
    _range("jcb", 3528, 3589, range(16, 20)),
    _range("jcb", 2131, 2131, (15,)),
    _range("jcb", 1800, 1800, (15,)),
    _range("diners", 300, 305, (14,)),
    _range("diners", 36, 36, (14,)),
    _range("diners", 38, 38, (14,)),
    _range("unionpay", 62, 62, range(16, 20)),
    _range("maestro", 50, 50, range(12, 20), narrow=False),
    _range("maestro", 56, 69, range(12, 20), narrow=False),
)


def _overlaps(entry: IssuerRange, start: str) -> bool:
    """Tell whether some prefix of the range begins with the two digits `start`, or is begun by them."""
    size = min(2, len(entry.low))
    return entry.low[:size] <= start[:size] <= entry.high[:size]


# Two digits leave a few ranges to look at.
_BY_START = {
    start: tuple(entry for entry in ISSUERS if _overlaps(entry, start)) for start in (f"{at:02d}" for at in range(100))
}


def find_issuer(pan: str) -> IssuerRange | None:
    """Return the issuer range that holds `pan` (ASCII digits, no separators), or None."""
    for entry in _BY_START.get(pan[:2], ()):
        if entry.holds(pan):
            return entry
    return None
