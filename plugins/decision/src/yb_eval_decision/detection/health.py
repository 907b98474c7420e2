"""Our own patterns of health identifiers, and the words that say a text is about somebody's health."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from yb_eval_decision.detection import checks
from yb_eval_decision.detection.finding import Finding
from yb_eval_decision.detection.patterns import Rule
from yb_eval_decision.detection.personal import LIKELY, found, labelled
from yb_eval_decision.detection.view import CODEC, View

_DIAGNOSIS = ("icd", "diagnos", "мкб", "диагноз")


def _icd10(view: View, start: int, end: int) -> Iterator[Finding]:
    """The form alone is a vitamin, a room or a paper size: a word of diagnosis must stand before or after."""
    if not view.apart(start, end):
        return
    around = view.before(start, 40) + " " + view.after(end, 40)
    if any(word in around for word in _DIAGNOSIS):
        yield found(view, "ICD10_CODE", start, end, LIKELY if "." in view.text[start:end] else 0.6)


_JOIN = r"[^0-9a-zа-я\n]{0,8}(?:(?:number|no|id|n|номер|код)\b)?[^0-9a-zа-я\n]{0,6}"


def _digits(least: int) -> Any:
    return lambda datum: sum(sign.isdigit() for sign in datum) >= least


RULES = (
    Rule(rf"npi{_JOIN}([12][0-9]{{9}})", labelled("US_NPI", holds=checks.us_npi), lower=True),
    Rule(rf"dea{_JOIN}([a-z][a-z9][0-9]{{7}})", labelled("DEA_NUMBER", holds=checks.dea), lower=True),
    Rule(rf"(?:mrn|medical record|patient id|patient number|chart number|истори[яи] болезни|медицинск(?:ая|ой|ую) карт[аыу]|"
         rf"амбулаторн(?:ая|ой|ую) карт[аыу]|медкарт[аыу]){_JOIN}([a-z]{{0,4}}-?[0-9]{{4,12}})",
         labelled("MEDICAL_RECORD_NUMBER"), lower=True),
    Rule(r"(?:health plan|health insurance|insurance|member|subscriber|policy|medicare|medicaid|beneficiary)"
         r"(?: (?:id|number|no))[^0-9a-zа-я\n]{0,6}([a-z0-9-]{6,16})",
         labelled("HEALTH_PLAN_ID", LIKELY, _digits(4)), lower=True),
    Rule(rf"(?:полис[а-я]{{0,2}}(?: омс)?|омс|енп){_JOIN}([0-9]{{16}})", labelled("HEALTH_PLAN_ID"), lower=True),
    Rule(r"[A-TV-Z][0-9][0-9AB](?:\.[0-9A-Z]{1,4})?", _icd10),
)  # fmt: skip

#: Identifiers of a patient, the types of `personal.DECISIVE` apart: beside a word about health they need no judgement.
DECISIVE = frozenset({"MEDICAL_RECORD_NUMBER", "HEALTH_PLAN_ID"})

#: Beginnings of words.
_STEMS = (
    "diagnos",
    "prescri",
    "patient",
    "symptom",
    "treat",
    "therap",
    "medic",
    "hospital",
    "clinic",
    "surger",
    "cancer",
    "tumor",
    "tumour",
    "oncolog",
    "diabet",
    "hypertens",
    "asthma",
    "depress",
    "anxiety",
    "psychiatr",
    "pregnan",
    "allerg",
    "infect",
    "insulin",
    "chemo",
    "vaccin",
    "biops",
    "cardi",
    "cholesterol",
    "dosage",
    "antibiotic",
    "disease",
    "disorder",
    "epilep",
    "schizophren",
    "bipolar",
    "dementia",
    "alzheimer",
    "hepatit",
    "tubercul",
    "covid",
    "диагноз",
    "пациент",
    "симптом",
    "лечен",
    "лечащ",
    "терапи",
    "больниц",
    "клиник",
    "госпитал",
    "операци",
    "рак",
    "опухол",
    "онколог",
    "диабет",
    "гипертон",
    "астм",
    "депресс",
    "тревожн",
    "психиатр",
    "беременн",
    "аллерг",
    "инфекц",
    "инсулин",
    "химиотерап",
    "вакцин",
    "прививк",
    "биопси",
    "кардио",
    "холестерин",
    "дозировк",
    "антибиотик",
    "болезн",
    "заболеван",
    "эпилепс",
    "шизофрен",
    "деменци",
    "гепатит",
    "туберкул",
    "назначен",
    "анализ",
    "врач",
    "медицинск",
    "поликлиник",
    "рецепт",
)
#: Whole words and phrases.
_TERMS = (
    "mg", "hiv", "aids", "rx", "doctor", "physician", "nurse", "blood test", "blood pressure", "lab results", "icd-10", "mri",
    "ct scan", "мг", "вич", "спид", "мрт", "кт", "давление", "анализ крови", "температура",
)  # fmt: skip


@cache
def _pattern() -> Any:
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    stems = "|".join(_STEMS)
    terms = "|".join(sorted(_TERMS, key=len, reverse=True))
    letter = "a-zа-я0-9_"
    written = rf"(?:^|[^{letter}])(?:((?:{terms}))(?:[^{letter}]|$)|((?:{stems})[a-zа-я]{{0,16}}))"
    return re2.compile(written.encode(CODEC), options)


def health_terms(view: View) -> list[tuple[int, str]]:
    """The words about health, with where they stand, in text order. Small letters, ё as е."""
    spans = (match.span(1 if match.group(1) is not None else 2) for match in _pattern().finditer(view.lower))
    return [(start, view.lower[start:end].decode(CODEC)) for start, end in spans]


__all__ = ["DECISIVE", "RULES", "health_terms"]
