"""Fillers of the running text: invented organisations, places, sums and references."""

from __future__ import annotations

import re

from .rows import Draw

_FILLERS = {
    "ru": {
        "org": ("ООО «Ромашка»", "АО «Пример»", "ООО «Вектор-Тест»", "ЗАО «Незабудка»", "ООО «Образец Плюс»"),
        "city": ("Тула", "Пермь", "Казань", "Омск", "Чита", "Псков"),
        "sum": ("12 450,00", "980,50", "3 200", "147 000", "56 300,75"),
        "date": ("12.03.2025", "01.11.2024", "27 мая 2025 г.", "9 января 2025 г."),
        "ref": ("ЗК-0417", "А-4821", "СД-118", "ТП-92"),
    },
    "en": {
        "org": ("Example Trading LLC", "Acme Test Ltd", "Sample Logistics", "Placeholder Foods", "Demo Works"),
        "city": ("Leeds", "Tartu", "Lyon", "Graz", "Porto", "Kazan"),
        "sum": ("1,250.00", "89.90", "3,200", "14,700.50", "563.75"),
        "date": ("12 March 2025", "2024-11-01", "May 27", "9 January 2025"),
        "ref": ("INV-0417", "A-4821", "SD-118", "OPS-92"),
    },
}
_KPP = ("779801001", "509801001", "169843001", "669850001")
_PLACE = re.compile(r"@@|@(org|city|sum|date|ref|kpp)@")


def fill(draw: Draw, lang: str, template: str, datum: str) -> str:
    """The template with `@@` replaced by the datum and every `@word@` by a drawn filler of the language."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return datum
        return draw.pick(_KPP if name == "kpp" else _FILLERS[lang][name])

    return _PLACE.sub(replace, template)
