"""Numbers with a check digit: INN, SNILS, OGRN, OGRNIP and payment cards.

A checksum is weak evidence where one random number in ten passes it (INN-10, Luhn): such a number is a finding at deny
strength only with a word or an issuer prefix beside it. Where one in a hundred passes (two check digits, or a year and a
kind that must be right as well) the number may stand alone, unless a word says that it is something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from .. import checksums
from ..finding import Finding, Strength
from ..issuers import find_issuer
from ..views import View
from .base import report
from .context import Label, Labels, load_labels
from .digits import Digits, contiguous, split

__all__ = ["NumberDetector"]

_PHONE_PREFIXES = ("7", "8")
_REGISTER_YEARS = range(2, 40)  # the registers began in 2002; a fixed end keeps the answer the same next year


class _Verdict(NamedTuple):
    """What one reading of a number is worth."""

    type: str
    kind: str
    evidence: tuple[str, ...]
    confidence: float
    strength: Strength


def _year_holds(digits: str) -> bool:
    return int(digits[1:3]) in _REGISTER_YEARS and digits[3:5] != "00"


def _looks_like_clock(digits: str) -> bool:
    """Tell whether the digits read as Unix seconds, milliseconds, microseconds or nanoseconds, or as yyyymmddhhmm...."""
    if len(digits) in {10, 13, 16, 19} and digits[:2] in {"15", "16", "17", "18"}:
        return True
    return (
        len(digits) in {12, 14, 17}
        and digits[:2] in {"19", "20"}
        and "01" <= digits[4:6] <= "12"
        and "01" <= digits[6:8] <= "31"
        and digits[8:10] < "24"
        and digits[10:12] < "60"
    )


def _labelled(number: Digits, label: Label | None, name: str) -> bool:
    return label is not None and label.detects and label.name == name


def _national(
    number: Digits, label: Label | None, *, type: str, kind: str, alone: bool, support: str | None
) -> _Verdict:
    """Weigh a national number whose checksum holds. `alone`: it needs no word; `support`: what stands in for one."""
    if _labelled(number, label, type):
        return _Verdict(type, kind, ("checksum", "context"), 0.97, "deny")
    evidence = ("checksum", support) if support else ("checksum",)
    if not alone or label is not None or number.glued or number.continues:
        return _Verdict(type, kind, evidence, 0.2 if label else 0.3, "warn")
    return _Verdict(type, kind, evidence, 0.75 if support is None else 0.85, "deny")


def _inn10(number: Digits, label: Label | None) -> _Verdict | None:
    if label is None and _looks_like_clock(number.digits):
        return None
    return _national(number, label, type="inn", kind="inn-10", alone=False, support=None)


def _inn12(number: Digits, label: Label | None) -> _Verdict:
    alone = not number.shape and not _looks_like_clock(number.digits)
    return _national(number, label, type="inn", kind="inn-12", alone=alone, support=None)


def _snils(number: Digits, label: Label | None) -> _Verdict:
    if number.shape == "3-3-3-2":
        return _national(number, label, type="snils", kind="snils", alone=True, support="format")
    alone = not number.shape and not number.digits.startswith(_PHONE_PREFIXES)
    return _national(number, label, type="snils", kind="snils", alone=alone, support=None)


def _ogrn(number: Digits, label: Label | None) -> _Verdict:
    dated = _year_holds(number.digits)
    return _national(
        number,
        label,
        type="ogrn",
        kind="ogrn",
        alone=dated and not number.shape,
        support="structure" if dated else None,
    )


def _ogrnip(number: Digits, label: Label | None) -> _Verdict:
    dated = _year_holds(number.digits)
    return _national(
        number,
        label,
        type="ogrnip",
        kind="ogrnip",
        alone=dated and not number.shape,
        support="structure" if dated else None,
    )


_CARD_SHAPES = frozenset({"4-4-4-4", "4-4-4-4-1", "4-4-4-4-2", "4-4-4-4-3", "4-6-5", "4-6-4"})

_LOOSE_SHAPES = frozenset({"single", "broken"})


def _pan(number: Digits, label: Label | None) -> _Verdict | None:
    digits = number.digits
    issuer = find_issuer(digits)
    if issuer is None:
        if label is None and _looks_like_clock(digits):
            return None
        return _Verdict("pan", "unknown-issuer", ("checksum",), 0.2, "warn")
    formatted = number.shape in _CARD_SHAPES
    evidence = ("checksum", "issuer", *(("format",) if formatted else ()))
    if number.shape and not formatted and number.shape not in _LOOSE_SHAPES and not _labelled(number, label, "pan"):
        return None  # groups of any size say nothing without a word
    if _labelled(number, label, "pan"):
        return _Verdict("pan", issuer.brand, (*evidence, "context"), 0.98, "deny")
    other_number = label is not None and not formatted
    if other_number or number.continues or (number.shape and number.glued) or not (issuer.narrow or formatted):
        return _Verdict("pan", issuer.brand, evidence, 0.4, "warn")
    return _Verdict("pan", issuer.brand, evidence, 0.93 if formatted else 0.88, "deny")


# For each length: which checksum holds for what, and how such a number is then weighed.
_Holds = Callable[[str], bool]
_Weigh = Callable[[Digits, Label | None], _Verdict | None]
_CARD: tuple[_Holds, _Weigh] = (checksums.luhn_holds, _pan)
_BY_LENGTH: dict[int, tuple[tuple[_Holds, _Weigh], ...]] = {
    10: ((checksums.inn10_holds, _inn10),),
    11: ((checksums.snils_holds, _snils),),
    12: ((checksums.inn12_holds, _inn12), _CARD),
    13: ((checksums.ogrn_holds, _ogrn), _CARD),
    15: ((checksums.ogrnip_holds, _ogrnip), _CARD),
} | dict.fromkeys((14, 16, 17, 18, 19), (_CARD,))


class _Passed(dict[str, list[_Weigh]]):
    """How to weigh the digits for which a checksum holds. A text's words are read for the few numbers among them only."""

    def __call__(self, digits: str) -> bool:
        passed = [weigh for holds, weigh in _BY_LENGTH[len(digits)] if holds(digits)]
        if not passed or digits.count(digits[0]) == len(digits):
            return False
        self[digits] = passed
        return True


class NumberDetector:
    """Finds INN, SNILS, OGRN, OGRNIP and card numbers, written together or in groups."""

    types = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan"})

    def __init__(self, *, runs: int, groups: int, labels: int, table: Labels | None = None) -> None:
        """`runs`, `groups`, `labels`: the feature bits that announce digit runs, digit groups and label words."""
        self._groups, self._labels = groups, labels
        self.announced_by = runs | groups | labels
        self._table = load_labels() if table is None else table

    def find(self, view: View, features: int) -> Iterator[Finding]:
        """Yield the numbers whose checksum holds, each with the best reading of what it is."""
        text, passed = view.text, _Passed()
        numbers = list(contiguous(text, passed))
        if features & (self._groups | self._labels):
            numbers += split(text, labelled=bool(features & self._labels), passes=passed)
        for number in numbers:
            label = self._table.around(text, number.start, number.end, len(number.digits))
            for weigh in passed[number.digits]:
                verdict = weigh(number, label)
                if verdict is not None and not (number.shape and verdict.evidence == ("checksum",)):
                    yield report(
                        view,
                        number.start,
                        number.end,
                        type=verdict.type,
                        kind=verdict.kind,
                        value=number.digits,
                        evidence=verdict.evidence,
                        confidence=verdict.confidence,
                        strength=verdict.strength,
                    )
