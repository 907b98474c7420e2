"""Numbers that are something else - a time, a phone, a serial - and how each is met in text.

Every entry gives rows of two kinds: those where no check passes (`kind:decoy`) and those that pass one by chance
(`kind:chance`); both are clean, since a person sees at once what the number is.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from .rows import Draw


@attrs.frozen(slots=True)
class Lookalike:
    """A number maker and the texts it stands in: (language, shape, text with `@@`)."""

    name: str
    make: Callable[[Draw], str]
    texts: tuple[tuple[str, str, str], ...]


def _digits(prefix: str, length: int) -> Callable[[Draw], str]:
    return lambda draw: draw.pick(prefix.split()) + draw.digits(length)


def _grouped(prefix: str, *sizes: int, separators: str = "- ") -> Callable[[Draw], str]:
    def make(draw: Draw) -> str:
        separator = draw.pick(separators)
        return draw.pick(prefix.split()) + separator.join(draw.digits(size) for size in sizes)

    return make


LOOKALIKES = (
    Lookalike(
        "epoch-s",
        _digits("17", 8),
        (
            ("en", "json", '{"created_at": @@, "status": "done"}'),
            ("en", "log", 'ts=@@ level=info msg="cache warmed"'),
            ("ru", "log", "время=@@ событие=вход пользователь=оператор"),
            ("en", "chat", "what date is unix time @@ in Berlin?"),
        ),
    ),
    Lookalike(
        "epoch-ms",
        _digits("17", 11),
        (
            ("en", "json", '{"at_millis":@@}'),
            ("en", "log", "@@ DEBUG scheduler tick"),
            ("ru", "chat", "в выгрузке дата записана как @@, как перевести её в обычную?"),
            ("en", "url", "GET /metrics?from=@@&step=60 HTTP/1.1"),
        ),
    ),
    Lookalike(
        "epoch-us",
        _digits("17", 14),
        (
            ("en", "json", '{"startTimeUnixMicro": "@@", "name": "GET /"}'),
            ("en", "log", "span start=@@ dur=812us"),
        ),
    ),
    Lookalike(
        "phone-10",
        _digits("9", 9),
        (
            ("ru", "form", "Телефон без восьмёрки: @@\nУдобное время: после 18"),
            ("en", "chat", "call me at @@ after six"),
            ("ru", "csv", "телефон;город\n@@;Пермь"),
        ),
    ),
    Lookalike(
        "phone-11",
        _digits("89 79", 9),
        (
            ("ru", "chat", "мой телефон @@, перезвоните, пожалуйста"),
            ("ru", "email", "С уважением, отдел продаж\nтел. @@"),
            ("en", "json", '{"phone": "+@@", "verified": true}'),
        ),
    ),
    Lookalike(
        "phone-grouped",
        _grouped("+79 89", 2, 3, 2, 2),
        (
            ("ru", "chat", "Запишите номер: @@, спросить диспетчера"),
            ("en", "email", "Regards,\nFront desk\nPhone: @@"),
        ),
    ),
    Lookalike(
        "passport",
        _digits("45 46 60 92", 8),
        (
            ("ru", "form", "Паспорт (серия и номер): @@\nВыдан: отделом УВД"),
            ("ru", "chat", "паспорт @@, этого хватит для пропуска?"),
        ),
    ),
    Lookalike(
        "passport-grouped",
        lambda d: f"{d.pick(('45', '60'))}{d.digits(2)} {d.digits(6)}",
        (
            ("ru", "doc", "Документ, удостоверяющий личность: паспорт @@, выдан в 2014 году."),
            ("en", "form", "Document: passport @@\nCountry: RU"),
        ),
    ),
    Lookalike(
        "kpp",
        lambda d: f"7798{d.pick(('01', '43', '50'))}{d.digits(3)}",
        (
            ("ru", "form", "КПП: @@\nОКВЭД: 62.01"),
            ("en", "json", '{"kpp": "@@"}'),
        ),
    ),
    Lookalike(
        "bik",
        _digits("04", 7),
        (
            ("ru", "form", "БИК банка: @@\nГород: Тула"),
            ("en", "csv", "bank,bik\nExample Bank,@@"),
        ),
    ),
    Lookalike(
        "account",
        _digits("40702810 40817810 40802810", 12),
        (
            ("ru", "form", "Расчётный счёт: @@\nБанк: Пример-Банк"),
            ("ru", "chat", "деньги шли на счёт @@, но вернулись"),
            ("en", "xml", "<AcctNo>@@</AcctNo>"),
        ),
    ),
    Lookalike(
        "oms-policy",
        _digits("7754 5098", 12),
        (
            ("ru", "form", "Полис ОМС: @@\nПоликлиника: №4"),
            ("ru", "chat", "номер полиса @@, к какой поликлинике он привязан?"),
        ),
    ),
    Lookalike(
        "imei",
        _digits("35 86", 13),
        (
            ("en", "chat", "my phone was stolen, IMEI @@, can it be blocked?"),
            ("ru", "ticket", "Возврат телефона, IMEI @@, комплект полный."),
            ("en", "log", "device attach imei=@@ cell=812"),
        ),
    ),
    Lookalike(
        "order-id",
        _digits("10 20 31 77", 8),
        (
            ("en", "chat", "where is my order @@? it was due on Monday"),
            ("ru", "chat", "заказ @@ до сих пор не отправлен"),
            ("ru", "ticket", "Обращение по заявке @@: повторный звонок клиента."),
            ("en", "table", "| Order | State |\n|---|---|\n| @@ | packed |"),
        ),
    ),
    Lookalike(
        "order-id-12",
        _digits("10 24 90", 10),
        (
            ("en", "email", "Subject: order @@ has shipped\n\nThank you for shopping with us."),
            ("ru", "email", "Тема: заказ @@ передан в доставку\n\nСпасибо за покупку!"),
        ),
    ),
    Lookalike(
        "tracking",
        _digits("1014 8009", 10),
        (
            ("ru", "chat", "трек-номер @@ не обновляется неделю"),
            ("en", "chat", "the tracking number @@ shows nothing since Tuesday"),
        ),
    ),
    Lookalike(
        "barcode",
        _digits("46 40 59", 11),
        (
            ("ru", "csv", "штрихкод;товар\n@@;чай чёрный"),
            ("en", "json", '{"ean13": "@@", "name": "Green tea"}'),
        ),
    ),
    Lookalike(
        "upc",
        _digits("0 7", 11),
        (
            ("en", "csv", "upc,item\n@@,notebook"),
            ("en", "chat", "scan says UPC @@ but the label is for another product"),
        ),
    ),
    Lookalike(
        "isbn",
        _digits("9785 9780", 9),
        (
            ("ru", "doc", "Книга издана в 2019 году, ISBN @@, 320 страниц."),
            ("en", "chat", "find the paperback with ISBN @@"),
        ),
    ),
    Lookalike(
        "snowflake",
        _digits("11 12 13", 17),
        (
            ("en", "json", '{"message_id": "@@", "type": 0}'),
            ("en", "log", "event id=@@ shard=4 ok"),
        ),
    ),
    Lookalike(
        "datetime",
        lambda d: f"2025{d.below(12) + 1:02d}{d.below(28) + 1:02d}{d.below(24):02d}{d.digits(4)}",
        (
            ("en", "text", "backup-@@.tar.gz"),
            ("ru", "log", "создана копия базы @@, размер 4 ГБ"),
        ),
    ),
    Lookalike(
        "amount",
        lambda d: f"{d.below(9) + 1} {d.digits(3)} {d.digits(3)} {d.digits(3)}",
        (
            ("ru", "doc", "Объём инвестиций составил @@ рублей за десять лет."),
            ("en", "doc", "The programme cost @@ kronor over ten years."),
        ),
    ),
    Lookalike(
        "version",
        lambda d: f"{d.below(9) + 1}.{d.digits(4)}.{d.digits(5)}",
        (
            ("en", "log", "driver version @@ loaded"),
            ("ru", "ticket", "После обновления до @@ пропала печать."),
        ),
    ),
    Lookalike(
        "meter",
        _digits("00 01", 10),
        (
            ("ru", "form", "Заводской номер счётчика: @@\nПоказания: 04821"),
            ("en", "form", "Meter serial: @@\nReading: 04821"),
        ),
    ),
    Lookalike(
        "trace-id",
        _digits("88 91", 14),
        (
            ("en", "log", "trace @@ finished in 12 ms"),
            ("ru", "log", "трасса @@ завершена за 12 мс"),
        ),
    ),
    Lookalike(
        "oid",
        lambda d: f"1.3.6.1.4.1.{d.digits(5)}.{d.digits(4)}",
        (("en", "text", "snmpwalk -v2c -c public 192.0.2.7 @@"),),
    ),
    Lookalike(
        "ip",
        lambda d: f"203.0.113.{d.below(250) + 1}:{40000 + d.below(9999)}",
        (
            ("en", "log", "accepted connection from @@"),
            ("ru", "log", "подключение с адреса @@ принято"),
        ),
    ),
    Lookalike(
        "coordinates",
        lambda d: f"55.{d.digits(6)}, 37.{d.digits(6)}",
        (
            ("ru", "chat", "точка встречи: @@, там вход в парк"),
            ("en", "json", '{"point": [@@]}'),
        ),
    ),
)
"""Every lookalike of the specification's list that is a number in its own right."""

UNLABELLED = {
    "inn10": (
        ("ru", "chat", "посмотри вот это: @@"),
        ("en", "chat", "@@ - any idea what this is?"),
        ("ru", "csv", "ключ;значение\n17;@@"),
        ("en", "json", '{"id": @@, "parent": null}'),
        ("ru", "ticket", "Заявка @@ закрыта без ответа."),
        ("en", "log", "job @@ finished"),
        ("ru", "log", "задание @@ выполнено"),
        ("en", "table", "| Serial | Shelf |\n|---|---|\n| @@ | B4 |"),
    ),
    "ogrn": (
        ("ru", "chat", "что за число @@ в первой колонке?"),
        ("en", "log", "batch @@ accepted"),
        ("en", "json", '{"seq": @@}'),
        ("ru", "csv", "партия;штук\n@@;40"),
    ),
    "ogrnip": (
        ("ru", "chat", "@@ — это вообще что?"),
        ("en", "log", "object @@ stored"),
        ("en", "json", '{"seq": "@@"}'),
        ("ru", "csv", "серия;штук\n@@;12"),
    ),
}
"""A valid number with nothing that says what it is. One digit in ten such runs passes: clean at deny strength."""

INSIDE = (
    ("decimal", "en", "code", "learning_rate = 0.@pan@"),
    ("decimal", "ru", "log", "доля ошибок 0.@pan@ за сутки"),
    ("decimal", "en", "json", '{"score": 0.@pan@}'),
    ("decimal-tail", "en", "json", '{"ratio": @pan@.25}'),
    ("uuid-head", "en", "log", "request @uuid@ ok"),
    ("uuid-head", "ru", "json", '{"ид": "@uuid@"}'),
    ("hash", "en", "log", "digest @l8@@pan@@l16@ verified"),
    ("hash", "ru", "log", "контрольная сумма @pan@@l24@ совпала"),
    ("account", "ru", "form", "Счёт: 408@pan@1\nБанк: Пример-Банк"),
    ("account", "en", "xml", "<Account>4070@pan@</Account>"),
    ("long-run", "en", "text", "13360168@pan@@d15@"),
    ("long-run", "ru", "chat", "что зашифровано в строке @d9@@pan@@d9@?"),
    ("hex-dump", "en", "text", "0x@pan@ff: mov eax, ebx"),
    ("path", "en", "url", "https://cdn.example/img/@l7@@pan@@h9@.png"),
)
"""Longer things with a valid card number `@pan@` inside, or as the head of a UUID; `@l8@` and the like are drawn."""

NEVER_ISSUED = (
    ("ru", "ИНН @@ указан как заглушка", ("0000000000", "000000000000", "1111111111", "222222222222")),
    ("en", "the tax form was sent with INN @@", ("0000000000", "000000000000", "9999999999")),
    ("ru", "в поле СНИЛС стоит @@", ("000-000-000 00", "00000000000", "001-001-998 00", "000-000-001 00")),
    ("en", "SNILS @@ is a dummy from the old system", ("000-000-000 00", "001-001-998 00")),
    ("ru", "номер карты @@, видимо заглушка", ("0000 0000 0000 0000", "8888 8888 8888 8888")),
    ("en", "card @@ in the seed data", ("0000000000000000", "8888888888888888", "4444 4444 4444 4444")),
    ("ru", "ОГРН @@ не заполнен", ("0000000000000", "1111111111111")),
    ("ru", "ОГРНИП @@ не заполнен", ("000000000000000", "333333333333333")),
)
"""Language, text and numbers that are placeholders whatever their check says."""
