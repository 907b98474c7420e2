"""Our own patterns of personal data. Where a number's form says little, a word beside it must say what it is."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator

from yb_eval_decision.detection import checks
from yb_eval_decision.detection.finding import Finding
from yb_eval_decision.detection.hints import hints
from yb_eval_decision.detection.patterns import Accept, Rule
from yb_eval_decision.detection.view import View

#: How far before a datum a word may stand that says what it is.
REACH = 40
SURE, LIKELY, POSSIBLE = 0.95, 0.8, 0.6

_NOT_DIGITS = re.compile("[^0-9]+")


def found(view: View, kind: str, start: int, end: int, confidence: float) -> Finding:
    """The finding of a datum of the view, with what is known of it. None is decisive yet: see `detectors.decided`."""
    return Finding(kind, start, end, confidence, False, hints(kind, view.text[start:end]))


def digits_of(view: View, start: int, end: int) -> str:
    return _NOT_DIGITS.sub("", view.text[start:end])


def said(view: View, start: int, words: tuple[str, ...], size: int = REACH) -> bool:
    """Whether one of `words` stands within `size` characters before `start`, in the same line."""
    before = view.before(start, size)
    before = before[max(before.rfind("\n"), before.rfind(";")) + 1 :]
    return any(word in before for word in words)


def labelled(kind: str, confidence: float = SURE, holds: Callable[[str], bool] = lambda datum: True) -> Accept:
    """For patterns that hold the label themselves: the datum must stand apart and satisfy `holds`."""

    def accept(view: View, start: int, end: int) -> Iterator[Finding]:
        if view.apart(start, end) and holds(view.text[start:end]):
            yield found(view, kind, start, end, confidence)

    return accept


def _number(kind: str, holds: Callable[[str], bool], words: tuple[str, ...], alone: float | None) -> Accept:
    """For numbers with a check: sure beside one of `words`, else `alone` (`None`: not taken)."""

    def accept(view: View, start: int, end: int) -> Iterator[Finding]:
        if not view.apart(start, end) or _goes_on(view, start, end) or not holds(digits_of(view, start, end)):
            return
        confidence = SURE if said(view, start, words) else alone
        if confidence is not None:
            yield found(view, kind, start, end, confidence)

    return accept


def _goes_on(view: View, start: int, end: int) -> bool:
    """Whether a dot, a comma, a slash or a hyphen ties the digits to more digits."""
    before, after = view.text[max(0, start - 2) : start], view.text[end : end + 2]
    return (before[:1].isdigit() and before[-1:] in "-./,") or (after[:1] in "-./" and after[1:].isdigit())


_FILES = (
    "png",
    "jpg",
    "jpeg",
    "gif",
    "svg",
    "webp",
    "css",
    "js",
    "mjs",
    "py",
    "html",
    "htm",
    "json",
    "md",
    "txt",
    "scss",
)


def _email(view: View, start: int, end: int) -> Iterator[Finding]:
    name, _, domain = view.text[start:end].lower().rpartition("@")
    if not view.apart(start, end) or ".." in name or name[0] in ".-" or name[-1] == ".":
        return
    if domain.rpartition(".")[2] in _FILES:
        return  # icon@2x.png
    if "://" in view.before(start, 80).rpartition(" ")[2]:
        return  # the password and host of a connection string
    yield found(view, "EMAIL_ADDRESS", start, end, SURE)


_PHONE_WORDS = (
    "phone", "tel", "mobile", "cell", "call", "fax", "whatsapp", "sms", "тел", "моб", "звон", "позвон", "факс", "связи", "сотов",
)  # fmt: skip
#: Country codes whose numbers have one length, the code included.
_FIXED = {"1": 11, "7": 11}


def _international(view: View, start: int, end: int) -> Iterator[Finding]:
    """`+` and 8 to 15 digits (ITU-T E.164); 11 where the code is 1 or 7."""
    size = _FIXED.get(view.text[start + 1])
    places = [place for place in range(start + 1, end) if view.text[place].isdigit()]
    if size is not None:
        places = places[:size]
    last = places[-1] + 1 if places else end
    digits = "".join(view.text[place] for place in places)
    if not (len(digits) == size if size else 8 <= len(digits) <= 15) or not view.apart(start, last):
        return
    if (digits[0] == "7" and digits[1] not in "34789") or (digits[0] == "1" and digits[1] in "01"):
        return
    yield found(view, "PHONE_NUMBER", start, last, LIKELY if size else POSSIBLE)


def _national(view: View, start: int, end: int) -> Iterator[Finding]:
    """A Russian number with 8, or one of North America: written as one, or called one."""
    text = view.text[start:end]
    if not view.apart(start, end) or _goes_on(view, start, end) or view.text[start - 1 : start] == "+":
        return
    separators = {sign for sign in text if sign in ".- "}
    formatted = "(" in text or (len(separators) == 1 and separators != {" "}) or len(separators) > 1
    if formatted or said(view, start, _PHONE_WORDS):
        yield found(view, "PHONE_NUMBER", start, end, LIKELY if formatted else POSSIBLE)


_CARD_WORDS = ("card", "visa", "mastercard", "amex", "карт", "мир", "pan")
_CARD_SHAPE = re.compile(
    r"[0-9]{13,19}|[0-9]{4}([ -])[0-9]{4}\1[0-9]{4}\1[0-9]{1,4}(?:\1[0-9]{1,3})?|[0-9]{4}([ -])[0-9]{6}\2[0-9]{4,5}"
)
_GROUP = re.compile("[0-9]+")


def _card(view: View, start: int, end: int) -> Iterator[Finding]:
    """The first card in a chain of groups of digits, wherever in it: a date may stand before."""
    for group in _GROUP.finditer(view.text, start, end):
        shape = _CARD_SHAPE.match(view.text, group.start())
        # A short group after four of four is the date or the security code.
        for last in (shape.end(), shape.start() + 19) if shape else ():
            digits = digits_of(view, group.start(), last)
            if (
                not 13 <= len(digits) <= 19
                or not view.apart(group.start(), last)
                or _goes_on(view, group.start(), last)
            ):
                continue
            if checks.luhn(digits) and checks.card_issuer(digits):
                sure = last - group.start() != len(digits) or said(view, group.start(), _CARD_WORDS)
                yield found(view, "CREDIT_CARD", group.start(), last, SURE if sure else LIKELY)
                return


_IBAN_START = re.compile("[A-Z]{2}[0-9]{2}")
_IBAN_GROUPS = re.compile("[A-Z0-9]{15,33}|(?:[A-Z0-9]{4} ){3,8}[A-Z0-9]{1,4}")


def _iban(view: View, start: int, end: int) -> Iterator[Finding]:
    """The first IBAN in a chain of groups of letters and digits, wherever in it: written together or in fours."""
    for begin in _IBAN_START.finditer(view.text, start, end):
        first = begin.start()
        size = checks.IBAN_LENGTHS.get(view.text[first : first + 2])
        groups = _IBAN_GROUPS.match(view.text, first) if size else None
        if size is None or groups is None:
            continue
        last = first + size + (size - 1) // 4 * (" " in groups.group())
        number = view.text[first:last].replace(" ", "")
        if view.apart(first, last) and len(number) == size and checks.iban(number):
            yield found(view, "IBAN_CODE", first, last, SURE)
            return


_VERSION_WORDS = re.compile(
    r"(?:\bv|version|ver\.?|release|build|update|upgrade|python|firmware|верси[а-я]{0,3}|релиз[а-я]{0,2})[\"' :=]{0,4}\Z"
)
_ADDRESS_WORDS = (
    "ip",
    "address",
    "host",
    "from",
    "server",
    "client",
    "login",
    "ping",
    "dns",
    "://",
    "адрес",
    "сервер",
    "хост",
)


def _ipv4(view: View, start: int, end: int) -> Iterator[Finding]:
    octets = view.text[start:end].split(".")
    before, after = view.text[max(0, start - 2) : start], view.text[end : end + 2]
    if not view.apart(start, end) or any(int(one) > 255 or (len(one) > 1 and one[0] == "0") for one in octets):
        return
    if before.endswith(("-", ".", "~", "^", "==", ">=", "<=", "!=")) or (
        after[:1] in ("-", ".") and after[1:].isalnum()
    ):
        return  # a part of a longer version, or of a package's name
    if _VERSION_WORDS.search(view.before(start, 24)) or octets[0] in ("0", "127", "255"):
        return
    port = after[:1] in ":/" and after[1:].isdigit()
    if not port and max(map(int, octets)) < 32 and not said(view, start, _ADDRESS_WORDS):
        return  # small numbers in a row are a version or a chapter unless something says address
    yield found(view, "IP_ADDRESS", start, end, LIKELY)


def _ipv6(view: View, start: int, end: int) -> Iterator[Finding]:
    text = view.text[start:end]
    groups = [group for group in text.split(":") if group]
    if (
        not view.apart(start, end)
        or len(groups) < 3
        or view.text[start - 1 : start] == ":"
        or view.text[end : end + 1] == ":"
    ):
        return
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return
    if not address.is_loopback:
        yield found(view, "IP_ADDRESS", start, end, SURE)


def _is_date(text: str) -> bool:
    numbers = [int(number) for number in _GROUP.findall(text)]
    years = [number for number in numbers if 1880 <= number <= 2100]
    small = [number for number in numbers if 1 <= number <= 31]
    return bool(years or len(numbers) == 3) and len(small) >= len(numbers) - 1 and bool(small)


_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|янв|фев|мар|апр|мая|май|июн|июл|авг|сен|окт|ноя|дек"
_DATE = (
    rf"[0-9]{{1,4}}[./-][0-9]{{1,2}}[./-][0-9]{{1,4}}"
    rf"|[0-9]{{1,2}}(?:st|nd|rd|th)? (?:{_MONTHS})[a-zа-я]{{0,7}}\.?,? [0-9]{{4}}"
    rf"|(?:{_MONTHS})[a-zа-я]{{0,7}}\.? [0-9]{{1,2}}(?:st|nd|rd|th)?,? [0-9]{{4}}"
)
_GAP = "[^0-9a-zа-я\n]{0,12}"

# No pattern begins in the middle of a number or a word: a long run of digits is one place to look at, not a million.
_EDGE = "(?:^|[^0-9A-Za-z_])"
_CPF, _SNILS, _INN = ("cpf",), ("снилс", "snils"), ("инн", "inn")
_SSN = ("ssn", "social security")
_BORN = (
    r"date of birth|birth ?date|birthday|dob|d\.o\.b\.?|born(?: on| in)?|"
    r"дата рождения|родил(?:ся|ась)|д\. ?р\."
)

RULES = (
    Rule(r"[A-Za-zА-я0-9._%+-]{1,64}@(?:[A-Za-zА-я0-9](?:[A-Za-zА-я0-9-]{0,62})\.){1,6}[A-Za-zА-я]{2,24}", _email),
    Rule(r"\+[1-9][0-9 ().-]{6,22}[0-9]", _international),
    Rule(_EDGE + r"(8[ -]?\(?[34789][0-9]{2}\)?[ -]?[0-9]{3}[ -]?[0-9]{2}[ -]?[0-9]{2})", _national),
    Rule(_EDGE + r"(\(?[2-9][0-9]{2}\)?[ .-]?[2-9][0-9]{2}[ .-]?[0-9]{4})", _national),
    Rule(_EDGE + r"([2-6][0-9](?:[ -]?[0-9]){11,17})", _card),
    Rule(_EDGE + r"([A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30})", _iban),
    Rule(_EDGE + r"([0-9]{3}-[0-9]{2}-[0-9]{4})", _number("US_SSN", checks.us_ssn, _SSN, 0.75)),
    Rule(rf"(?:ssn|social security(?: number| no)?){_GAP}([0-9]{{9}})", labelled("US_SSN", holds=checks.us_ssn), lower=True),
    Rule(rf"passport(?: number| no)?{_GAP}([a-z]?[0-9]{{8,9}})", labelled("US_PASSPORT", LIKELY), lower=True),
    Rule(r"паспорт[а-я]{0,3}[^0-9\n]{0,40}([0-9]{2} ?[0-9]{2}[ ,-]{0,2}(?:№|номер|n)? ?[0-9]{6})",
         labelled("RU_PASSPORT"), lower=True),
    Rule(rf"(?:{_BORN}){_GAP}({_DATE})", labelled("DATE_OF_BIRTH", holds=_is_date), lower=True),
    Rule(_EDGE + r"([0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2})", _number("BR_CPF", checks.br_cpf, _CPF, SURE)),
    Rule(_EDGE + r"([0-9]{11})", _number("BR_CPF", checks.br_cpf, _CPF, None)),
    Rule(_EDGE + r"([0-9]{3}-[0-9]{3}-[0-9]{3}[ -][0-9]{2})", _number("RU_SNILS", checks.ru_snils, _SNILS, SURE)),
    Rule(_EDGE + r"([0-9]{11})", _number("RU_SNILS", checks.ru_snils, _SNILS, None)),
    Rule(_EDGE + r"([0-9]{12})", _number("RU_INN", checks.ru_inn, _INN, POSSIBLE)),
    Rule(_EDGE + r"([0-9]{10})", _number("RU_INN", checks.ru_inn, _INN, None)),
    Rule(_EDGE + r"([0-9]{1,3}(?:\.[0-9]{1,3}){3})", _ipv4),
    Rule(r"(?:^|[^0-9A-Za-z_:])((?:[0-9A-Fa-f]{1,4}|:)(?::[0-9A-Fa-f]{0,4}){2,7})", _ipv6),
)  # fmt: skip

#: Types that need no judgement when a check and its form or label bear them out.
DECISIVE = frozenset({"CREDIT_CARD", "US_SSN", "RU_SNILS", "RU_PASSPORT", "BR_CPF"})
