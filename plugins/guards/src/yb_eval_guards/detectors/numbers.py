"""Numbers with a check digit: INN, SNILS, OGRN, OGRNIP and payment cards.

A checksum is weak evidence where one random number in ten passes it (INN-10, Luhn): such a number is a finding at deny
strength only with a word or an issuer prefix beside it. Where one in a hundred passes (two check digits, or a year and a
kind that must be right as well) the number may stand alone, unless a word says that it is something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .. import checksums
from ..finding import Finding, Strength
from ..issuers import find_issuer
from ..views import View
from .base import report
from .context import Label, Labels, load_labels
from .digits import Digits, joined, standing, stretches
from .layouts import Part, layout_of, parts

__all__ = ["NumberDetector"]

_PHONE_PREFIXES = ("7", "8")
# The shapes that a number may have without a word; `layouts.parts` finds any other where the text has words for numbers.
_CARD_SHAPES = frozenset({"4-4-4-4", "4-4-4-4-1", "4-4-4-4-2", "4-4-4-4-3", "4-6-5", "4-6-4"})
_LOOSE_SHAPES = frozenset({"single", "broken"})
_SNILS_SHAPE = "3-3-3-2"
_SHAPES = _CARD_SHAPES | _LOOSE_SHAPES | {_SNILS_SHAPE}
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
) -> _Verdict | None:
    """Weigh a national number whose checksum holds. `alone`: it needs no word; `support`: what stands in for one."""
    if _labelled(number, label, type):
        return _Verdict(type, kind, ("checksum", "context"), 0.97, "deny")
    if number.shape and (support is None or number.shape not in _SHAPES):
        return None  # groups of any size say nothing without a word
    evidence = ("checksum", support) if support else ("checksum",)
    if not alone or label is not None or number.glued or number.continues:
        return _Verdict(type, kind, evidence, 0.2 if label else 0.3, "warn")
    return _Verdict(type, kind, evidence, 0.75 if support is None else 0.85, "deny")


def _inn10(number: Digits, label: Label | None) -> _Verdict | None:
    if label is None and _looks_like_clock(number.digits):
        return None
    return _national(number, label, type="inn", kind="inn-10", alone=False, support=None)


def _inn12(number: Digits, label: Label | None) -> _Verdict | None:
    alone = not number.shape and not _looks_like_clock(number.digits)
    return _national(number, label, type="inn", kind="inn-12", alone=alone, support=None)


def _snils(number: Digits, label: Label | None) -> _Verdict | None:
    if number.shape == _SNILS_SHAPE:
        return _national(number, label, type="snils", kind="snils", alone=True, support="format")
    alone = not number.shape and not number.digits.startswith(_PHONE_PREFIXES)
    return _national(number, label, type="snils", kind="snils", alone=alone, support=None)


def _ogrn(number: Digits, label: Label | None) -> _Verdict | None:
    dated = _year_holds(number.digits)
    return _national(
        number,
        label,
        type="ogrn",
        kind="ogrn",
        alone=dated and not number.shape,
        support="structure" if dated else None,
    )


def _ogrnip(number: Digits, label: Label | None) -> _Verdict | None:
    dated = _year_holds(number.digits)
    return _national(
        number,
        label,
        type="ogrnip",
        kind="ogrnip",
        alone=dated and not number.shape,
        support="structure" if dated else None,
    )


_ISSUED = ("checksum", "issuer")
_FORMATTED = (*_ISSUED, "format")
# A card of a known issuer beside a word for one, and nothing else: no other reading is as sure.
_SURE = 0.98


def _pan(number: Digits, label: Label | None) -> _Verdict | None:
    digits = number.digits
    issuer = find_issuer(digits)
    if issuer is None:
        if number.shape or (label is None and _looks_like_clock(digits)):
            return None
        return _Verdict("pan", "unknown-issuer", ("checksum",), 0.2, "warn")
    formatted = number.shape in _CARD_SHAPES
    evidence = _FORMATTED if formatted else _ISSUED
    if number.shape and not formatted and number.shape not in _LOOSE_SHAPES and not _labelled(number, label, "pan"):
        return None  # groups of any size say nothing without a word
    if _labelled(number, label, "pan"):
        return _Verdict("pan", issuer.brand, (*evidence, "context"), _SURE, "deny")
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


def _passing(digits: str) -> list[_Weigh]:
    """Return how to weigh 10 to 19 digits for which a checksum holds: most hold none, and the words about them need not be
    read."""
    passing = []
    for holds, weigh in _BY_LENGTH[len(digits)]:
        if holds(digits):
            passing.append(weigh)
    return passing if passing and digits.count(digits[0]) != len(digits) else []


class NumberDetector:
    """Finds INN, SNILS, OGRN, OGRNIP and card numbers, written together or in groups."""

    types = frozenset({"inn", "snils", "ogrn", "ogrnip", "pan"})

    def __init__(self, *, runs: int, groups: int, labels: int, table: Labels | None = None) -> None:
        """`runs`, `groups`, `labels`: the feature bits that announce digit runs, digit groups and label words."""
        self._groups, self._labels = groups, labels
        self.announced_by = runs | groups | labels
        self._table = load_labels() if table is None else table

    def find(self, view: View, features: int) -> list[Finding]:
        """Return the numbers whose checksum holds, each with the best reading of what it is."""
        text = view.text
        grouped, labelled = bool(features & (self._groups | self._labels)), bool(features & self._labels)
        found: list[Finding] = []
        for place, end in stretches(text):
            stretch = text[place:end]
            digits = joined(stretch)
            sure: Part | None = None
            for part in parts(layout_of(stretch), grouped, labelled):
                if sure is not None and sure.start <= part.start and part.end <= sure.end:
                    continue  # the first groups of a number that is sure are no number of their own
                passing = _passing(digits[part.first : part.last])
                if not passing:
                    continue
                number = standing(text, place, part, digits)
                if number is None:
                    continue
                for finding in self._weighed(view, number, passing):
                    found.append(finding)
                    if finding.confidence == _SURE:
                        sure = part
        return found

    def _weighed(self, view: View, number: Digits, passing: list[_Weigh]) -> list[Finding]:
        """Return what the words around a number say it is."""
        label = self._table.around(view.text, number.start, number.end, len(number.digits))
        found: list[Finding] = []
        for weigh in passing:
            verdict = weigh(number, label)
            if verdict is None:
                continue
            type, kind, evidence, confidence, strength = verdict
            found.append(
                report(
                    view,
                    number.start,
                    number.end,
                    type=type,
                    kind=kind,
                    value=number.digits,
                    evidence=evidence,
                    confidence=confidence,
                    strength=strength,
                )
            )
        return found
