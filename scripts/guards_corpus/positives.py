"""Rows that carry a valid number: in running text, in every way of writing it, encoded, and in awkward places."""

from __future__ import annotations

from collections.abc import Callable

from . import numbers_en, numbers_ru, writing
from .fill import fill
from .numbers import CARDS, MAKERS, ROW_TYPE, TEST_CARDS, card, iban, snils_with_sum, valid_in
from .rows import Draw, Rows

_TEXTS = {"ru": numbers_ru.BY_TYPE, "en": numbers_en.BY_TYPE}

_NAMES = {
    "inn10": ("ИНН организации", "company INN"),
    "inn12": ("ИНН физлица", "personal INN"),
    "snils": ("СНИЛС", "SNILS"),
    "ogrn": ("ОГРН", "OGRN"),
    "ogrnip": ("ОГРНИП", "OGRNIP"),
    "pan": ("номер карты", "card number"),
    "iban": ("счёт IBAN", "IBAN"),
}
"""The plainest name of each kind of number, Russian and English."""

_SENTENCES = {
    "ru": (
        "@name@ @@, проверьте",
        "пришло из чата: @name@ @@ (копирую как есть)",
        "в таблице стоит @name@: @@; это верно?",
    ),
    "en": (
        "@name@ @@, please check",
        "pasted from a chat: @name@ @@ (as it was)",
        "the sheet says @name@: @@; is that right?",
    ),
}
"""Plain sentences, so that a miss says something about the way of writing and not about the sentence."""

_EVERY_SEPARATOR = ("inn10", "inn12", "snils", "pan")
_SOME_SEPARATORS = ("space", "nbsp", "thin-space", "hyphen-minus", "zwsp", "newline", "soft-hyphen", "en-dash")

_MIXED = {
    "pan": ("{}-{} {}-{}", "{} {}-{} {}", "{}\u00a0{} {}\u00a0{}", "{}.{}-{}.{}"),
    "snils": (
        "{}-{}-{}-{}",
        "{} {} {}-{}",
        "{}-{}-{}\u00a0{}",
        "{}\u2011{}\u2011{} {}",
        "{}\u2013{}\u2013{} {}",
    ),
}
"""Groups with different separators in one number."""

_ENCODINGS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("base64", writing.base64_of),
    ("percent", writing.percent_of),
    ("query", writing.query_of),
    ("hex", writing.hex_of),
    ("unicode-escape", writing.unicode_escapes_of),
)


def add_all(rows: Rows) -> None:
    """Add every row with a valid number."""
    _add_running_text(rows)
    _add_cards(rows)
    _add_separators(rows)
    _add_scripts(rows)
    _add_encoded(rows)
    _add_bounds(rows)
    _add_places(rows)


def _add(rows: Rows, family: str, kind: str, text: str, *, lang: str, shape: str = "chat", **tags: str) -> None:
    every = {"lang": lang, "kind": "positive", "shape": shape, **tags}
    labels = [f"{key}:{value}" for key, value in every.items()]
    rows.add(family, text, type=ROW_TYPE[kind], expect="detect", tags=labels)


def _named(kind: str, lang: str, at: int) -> str:
    """A plain sentence about the kind of number, its place marked `@@`; `at` turns through the sentences."""
    return _SENTENCES[lang][at % 3].replace("@name@", _NAMES[kind][("ru", "en").index(lang)])


def drawn(draw: Draw, kind: str) -> str:
    """A valid number that passes no other kind's check, so that the row's type is the only right answer."""
    while True:
        number = MAKERS[kind](draw)
        if valid_in(number) == [kind]:
            return number


def _add_running_text(rows: Rows) -> None:
    """Each template three times: as people write the number, without separators, and in a mix of both."""
    for lang, by_kind in _TEXTS.items():
        for kind, texts in by_kind.items():
            draw = Draw(f"text-{lang}-{kind}")
            for shape, template in texts:
                # Eleven bare digits are a SNILS only if the text says so.
                named = kind != "snils" or "снилс" in template.lower() or "snils" in template.lower()
                for style in ("usual", "plain", "mixed"):
                    number = drawn(draw, kind)
                    plain = named and (style == "plain" or (style == "mixed" and draw.below(2) == 0))
                    written = number if plain else writing.usual(kind, number)
                    text = fill(draw, lang, template, written)
                    sep = "none" if written == number else "usual"
                    _add(rows, f"{kind}-text-{lang}", kind, text, lang=lang, shape=shape, format=kind, sep=sep)


def _add_cards(rows: Rows) -> None:
    """Every issuer range and length, named and unnamed; an unnamed one has its prefix as the evidence."""
    draw = Draw("cards")
    named = {"en": "charge card @@ for the annual plan", "ru": "спишите с карты @@ за годовой тариф"}
    unnamed = {"en": "@@ - this one please", "ru": "вот эта: @@, спасибо"}
    for at, (brand, prefix, length) in enumerate(CARDS):
        lang = ("en", "ru")[at % 2]
        for how, texts in (("named", named), ("unnamed", unnamed)):
            if how == "unnamed" and (brand == "maestro" or length == 13):
                continue  # too wide a range, or the length of a time stamp: the digits alone tell a person nothing
            number = card(draw, prefix, length)
            text = texts[lang].replace("@@", writing.usual("pan", number) if at % 3 else number)
            _add(rows, f"pan-{how}-{lang}", "pan", text, lang=lang, brand=brand, digits=str(length), variant=how)
    for at, number in enumerate(TEST_CARDS):
        lang = ("en", "ru")[at % 2]
        shape, template = draw.pick(_TEXTS[lang]["pan"])
        text = fill(draw, lang, template, number)
        _add(rows, f"pan-sandbox-{lang}", "pan", text, lang=lang, shape=shape, variant="sandbox")


def _add_separators(rows: Rows) -> None:
    for kind in MAKERS:
        draw = Draw(f"separators-{kind}")
        names = writing.SEPARATORS if kind in _EVERY_SEPARATOR else _SOME_SEPARATORS
        for at, name in enumerate(names):
            lang = ("ru", "en")[at % 2]
            written = writing.joined(kind, drawn(draw, kind), writing.SEPARATORS[name])
            text = _named(kind, lang, at).replace("@@", written)
            _add(rows, f"{kind}-separator", kind, text, lang=lang, format=kind, sep=name)
    draw = Draw("separators-mixed")
    for kind, patterns in _MIXED.items():
        for lang in ("ru", "en"):
            for at, pattern in enumerate(patterns):
                number = card(draw, "54", 16) if kind == "pan" else drawn(draw, kind)
                text = _named(kind, lang, at).replace("@@", pattern.format(*writing.groups(kind, number)))
                _add(rows, f"{kind}-separator", kind, text, lang=lang, format=kind, sep="mixed")


def _add_scripts(rows: Rows) -> None:
    for kind in _EVERY_SEPARATOR:
        draw = Draw(f"scripts-{kind}")
        for at, script in enumerate(writing.SCRIPTS):
            lang = ("ru", "en")[at % 2]
            for sep in ("none", "space"):
                number = drawn(draw, kind)
                written = writing.in_script(writing.joined(kind, number, " ") if sep == "space" else number, script)
                text = _named(kind, lang, at).replace("@@", written)
                _add(rows, f"{kind}-script", kind, text, lang=lang, format=kind, script=script, sep=sep)
        for at, (name, (opening, closing)) in enumerate(writing.BIDI.items()):
            lang = ("en", "ru")[at % 2]
            written = f"{opening}{writing.usual(kind, drawn(draw, kind))}{closing}"
            text = _named(kind, lang, at).replace("@@", written)
            _add(rows, f"{kind}-bidi", kind, text, lang=lang, format=kind, bidi=name)
        for at, name in enumerate(("zwsp", "soft-hyphen", "word-joiner")):
            written = writing.threaded(drawn(draw, kind), writing.SEPARATORS[name])
            text = _named(kind, "ru", at).replace("@@", written)
            _add(rows, f"{kind}-threaded", kind, text, lang="ru", format=kind, sep=name, variant="threaded")


def _add_encoded(rows: Rows) -> None:
    for kind in ("inn10", "snils", "pan", "iban"):
        draw = Draw(f"encoded-{kind}")
        for at, (name, encode) in enumerate(_ENCODINGS):
            lang = ("ru", "en")[at % 2]
            inner = encode(_named(kind, lang, at).replace("@@", writing.usual(kind, drawn(draw, kind))))
            text = (f"данные: {inner}", f"payload={inner}")[at % 2]
            _add(rows, f"{kind}-encoded", kind, text, lang=lang, format=kind, encoding=name)


def _add_bounds(rows: Rows) -> None:
    """SNILS whose sum is one of those that the check writes as 00, and their neighbours."""
    draw = Draw("snils-sums")
    for at, total in enumerate((99, 100, 101, 102, 200, 201, 202, 203)):
        for lang in ("ru", "en"):
            text = _named("snils", lang, at).replace("@@", writing.usual("snils", snils_with_sum(draw, total)))
            _add(rows, "snils-sum", "snils", text, lang=lang, sum=str(total))


def _add_places(rows: Rows) -> None:
    """Glued to words and signs, in brackets, two at once, next to another number."""
    draw = Draw("places")

    def number(kind: str) -> str:
        return drawn(draw, kind)

    def visa() -> str:
        return card(draw, "4", 16)

    places = (
        ("pan", "en", "glued", f"card{visa()}end"),
        ("pan", "en", "glued", f"pan_{visa()}_x"),
        ("pan", "en", "glued", f"card_no:{visa()};exp=0831"),
        ("pan", "zh", "glued", f"卡号{visa()}，谢谢"),
        ("inn10", "ru", "glued", f"ИНН{number('inn10')}КПП779801001"),
        ("inn10", "ru", "glued", f"ИНН:{number('inn10')},город:Тула"),
        ("inn10", "ru", "glued", f"ИНН№{number('inn10')}"),
        ("inn12", "ru", "glued", f"(ИНН{number('inn12')})"),
        ("inn10", "en", "glued", f"inn={number('inn10')};kpp=779801001"),
        ("snils", "ru", "glued", f"СНИЛС:{number('snils')};стаж:11"),
        ("pan", "en", "brackets", f"the card ({writing.usual('pan', visa())}) was declined"),
        ("pan", "en", "brackets", f"card [{visa()}]"),
        ("pan", "ru", "brackets", f"карта «{writing.usual('pan', visa())}» отклонена"),
        ("pan", "en", "end", f"my card is {visa()}."),
        ("pan", "ru", "end", f"карта {visa()}!"),
        ("inn12", "ru", "end", f"Запишите ИНН: {number('inn12')}."),
        ("pan", "en", "two", f"old card {visa()}, new card {card(draw, '55', 16)}"),
        ("pan", "en", "two", f"cards:\n{writing.usual('pan', visa())}\n{writing.usual('pan', card(draw, '2221', 16))}"),
        ("pan", "ru", "two", f"карты {visa()} {card(draw, '2200', 16)}"),
        ("inn10", "ru", "two", f"ИНН продавца {number('inn10')}, ИНН покупателя {number('inn10')}"),
        ("inn10", "ru", "with-others", f"тел. 8-800-000-00-00, заказ 20417, ИНН {number('inn10')}, дом 5"),
        ("snils", "ru", "with-others", f"полис 4821, СНИЛС {writing.usual('snils', number('snils'))}, палата 12"),
        ("ogrn", "ru", "with-others", f"ОГРН {number('ogrn')}, КПП 779801001, БИК 040000000"),
        ("iban", "en", "glued", f"IBAN:{iban(draw)}/ref INV-0417"),
        ("iban", "en", "lower-case", f"iban {iban(draw).lower()} for the deposit"),
        ("inn10", "ru", "spelled-label", f"идентификационный номер налогоплательщика {number('inn10')}"),
        ("pan", "ru", "spelled-label", f"плачу картой мир, её номер {card(draw, '2202', 16)}"),
        ("snils", "ru", "spelled-label", f"страховое свидетельство {writing.usual('snils', number('snils'))}"),
        ("inn12", "ru", "bare", f"{number('inn12')} - это мой, проверьте задолженность"),
        ("snils", "ru", "bare", f"{writing.usual('snils', number('snils'))}"),
        ("pan", "en", "bare", f"{writing.usual('pan', visa())}"),
        ("iban", "en", "bare", f"{writing.usual('iban', iban(draw))}"),
    )
    for kind, lang, variant, text in places:
        _add(rows, f"{kind}-place", kind, text, lang=lang, format=kind, variant=variant)
