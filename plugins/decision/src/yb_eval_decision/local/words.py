"""What a run of letters, digits and marks is: content words by their canonical stems, numbers, names, denials.

Dates, times and amounts get one form (`14 March 2025` and `2025-03-14`, `2:30 pm` and `14:30`, `1.2 million` and `1,200,000`),
so that two texts agree on a number whatever way they write it.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

from yb_eval_decision.local.lexicon import (
    ABSOLUTES,
    CALENDAR,
    NEGATIONS,
    NUMBER_WORDS,
    ONLY_CAPITAL,
    POWERS,
    STOPWORDS,
    canonical,
)
from yb_eval_decision.local.text import stem

#: Longer runs are read each time: what is remembered stays small.
LONGEST = 48

# A run of letters and digits; in what stands between white space also the marks that end a clause.
_CHUNK = r"[^\W_]+(?:[.,:/\-–‑][^\W_]+)*|[$€£₽%]"
_PIECE = re.compile(rf"{_CHUNK}|[,;:]\Z|[()—]")
# Marks that are no token before or after a word; those that end a clause do so only at the very end.
_SILENT = ".,;:!?…\"'«»"
_CLAUSE_ENDS = frozenset(",;:()—")
_JOINER = re.compile(r"[.,:/\-–‑]")
_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:t(\d{2}):(\d{2}).*)?", re.DOTALL)
_DOTTED_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?(am|pm)?|(\d{1,2})(am|pm)")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_NUMBER_UNIT = re.compile(r"(\d+(?:[.,]\d+)?)-?([^\W\d_]+)")

#: Kind and value. Kinds: `word`, `Word` (with a capital), `number`, `name`, `part` (of a name), `letter`, `power`, `Power`
#: (of ten, where a number stands before it, else a word), `denial`, `absolute`, `by`, `stop`, and `end` of a clause.
Token = tuple[str, str]

CLAUSE_END: tuple[Token, ...] = (("end", ""),)


def long_tokens(run: str) -> tuple[Token, ...]:
    """The tokens of what stands between white space. `tokens` remembers them: for runs of at most `LONGEST` characters."""
    core = run.strip(_SILENT)
    if core.isalpha():
        return (_word(core), *CLAUSE_END) if run[-1] in ",;:" else (_word(core),)
    found: list[Token] = []
    for piece in _PIECE.findall(run):
        if piece in _CLAUSE_ENDS:
            found += CLAUSE_END
        else:
            found += _chunk(piece)
    return tuple(found)


tokens = lru_cache(maxsize=1 << 15)(long_tokens)


def _chunk(chunk: str) -> tuple[Token, ...]:
    """The tokens of a run of letters and digits."""
    lower = chunk.lower()
    if lower in "$€£₽%":
        return (_content(lower, "word"),)
    if not any(map(str.isdigit, lower)):
        return tuple(_word(part) for part in _JOINER.split(chunk) if part)
    if lower[0].isdecimal() and (found := _number(lower)):
        return found
    parts = _JOINER.split(lower)
    if all(part.isdigit() for part in parts) and "-" in lower.replace("–", "-"):
        return tuple(("number", _plain(part)) for part in parts)
    return (("name", lower), *(("part", canonical(part)) for part in parts if len(part) > 3 and part.isalpha()))


def _number(lower: str) -> tuple[Token, ...] | None:
    """The tokens of a chunk that begins with a digit, where it is a date, a time or an amount."""
    if lower.isdecimal():
        return (("number", _plain(lower)),)
    if found := _DATE.fullmatch(lower):
        year, month, day, hour, minute = found.groups()
        time = _clock(int(hour), minute) if hour and (hour, minute) != ("00", "00") else ()
        return (("number", year), ("number", f"m{int(month)}"), ("number", str(int(day))), *time)
    if found := _DOTTED_DATE.fullmatch(lower):
        day, month, year = found.groups()
        return (("number", year), ("number", f"m{int(month)}"), ("number", str(int(day))))
    if found := _TIME.fullmatch(lower):
        hour, minute, half, hour_alone, half_alone = found.groups()
        at = int(hour or hour_alone) % (12 if half or half_alone else 24)
        return _clock(at + (12 if (half or half_alone) == "pm" else 0), minute or "00")
    if _THOUSANDS.fullmatch(lower):
        return (("number", _plain(lower.replace(",", ""))),)
    if _NUMBER.fullmatch(lower):
        return (("number", _plain(lower.replace(",", "."))),)
    if found := _NUMBER_UNIT.fullmatch(lower):
        number, unit = found.groups()
        value = _plain(number.replace(",", "."))
        if unit in ("st", "nd", "rd", "th", "s", "й", "го", "е", "я", "му", "м", "х"):
            return (("number", value),)
        if unit == "k":
            return (("number", scaled(value, 3)),)
        return (("number", value), _word(unit))
    return None


def _word(part: str) -> Token:
    lower = part.lower()
    capital = part[0].isupper()
    if capital and len(part) == 1 and part != "I":
        return ("letter", f"letter-{lower}")
    if capital and lower in ONLY_CAPITAL:
        return ("number", CALENDAR[lower])
    return _LISTED.get(lower) or _of_date(lower) or _content(lower, "Word" if capital else "word")


def _of_date(lower: str) -> Token | None:
    """The number of a Russian month or weekday in any of its cases. `мая` and `марта` are listed: their stems mean more."""
    if "а" <= lower[0] <= "я" and len(lower) > 3:
        number = CALENDAR.get(stem(lower))
        if number is not None and number not in ("m3", "m5"):
            return ("number", number)
    return None


def _listed() -> dict[str, Token]:
    """The tokens of the words in the lists: what is in several of them is a number first, then a date, a denial, an absolute."""
    found: dict[str, Token] = {word: ("by" if word == "by" else "stop", word) for word in STOPWORDS}
    found.update({word: ("absolute", word) for word in ABSOLUTES})
    found.update({word: ("denial", word) for word in NEGATIONS})
    found.update({word: token for word in found if (token := _of_date(word))})
    found.update({word: ("number", number) for word, number in CALENDAR.items() if word not in ONLY_CAPITAL})
    found.update({word: ("number", number) for word, number in NUMBER_WORDS.items()})
    return found


_LISTED = _listed()


def _content(lower: str, kind: str) -> Token:
    value = canonical(lower)
    if value in POWERS:
        kind = "Power" if kind == "Word" else "power"
    return (kind, value)


def _clock(hour: int, minute: str) -> tuple[Token, ...]:
    return (("number", f"t{hour}:{minute}"),)


def _plain(number: str) -> str:
    """A decimal number without leading and trailing zeros."""
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if not number.startswith("0.") else number


def scaled(number: str, power: int) -> str:
    """A decimal number times a power of ten."""
    return _plain(format(Decimal(number).scaleb(power), "f")) if len(number) < 16 else number
