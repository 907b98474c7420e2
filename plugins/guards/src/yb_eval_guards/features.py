"""The features an engine looks for: everything that announces a datum, as one table of byte patterns.

Every exact detector says which features it wants; a text without them is never looked at again. A feature may announce
too much, never too little: each one must be found in every text its detector would report on.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

import attrs

from .bytepatterns import exact, loose
from .decoding import CAESAR_KEYS, caesar
from .detectors.assignments import keyword_triggers
from .detectors.context import HEX_LETTERS, load_labels
from .detectors.iban import iban_forms
from .detectors.phrases import PhraseTable
from .detectors.secrets import SecretRule
from .engine import FeaturePattern

__all__ = ["FeatureTable", "build_features"]

_SHORT = 4
_GAP = r"[ .\-\t\r\n]{1,3}"

# Bytes of characters that `normalise.fold` changes. Letters of living scripts and the punctuation of running text are
# not among them unless they touch a digit, for most texts of most languages would ask to be folded otherwise.
_FOLDED = (
    r"\xc2\xad|\xcc[\x80-\xbf]|\xcd[\x80-\xaf]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b-\x8f]|\xe2\x80[\xaa-\xae]"
    r"|\xe2\x81[\xa0-\xaf]|\xe2[\x84\x91-\x93][\x80-\xbf]|\xe3\x85\xa4|\xef\xbb\xbf|\xef\xbc[\x81-\xbf]"
    r"|\xef\xbd[\x80-\x9e]|\xef\xac[\x80-\x86]|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xf0\x9f\x84[\x80-\xbf]"
    r"|\xf3\xa0[\x80-\x87][\x80-\xbf]|\x00"
)
_NEAR_DIGIT = (
    r"\xc2[\xa0\xb7]|\xcb\x97|\xe1\x9a\x80|\xe2[\x80-\xbf][\x80-\xbf]|\xe3\x80[\x80-\xbf]|\xe3\x83[\xbb\xbc]"
    r"|\xef[\xb8\xb9][\x80-\xbf]"
)


def _foreign_digits() -> str:
    """Return the pattern of the decimal digits of all scripts but ASCII, as UTF-8."""
    last_bytes: dict[bytes, list[int]] = {}
    # The digits of a script stand side by side, ten of them: one character in ten tells. These planes have digits.
    for code in filter(lambda code: chr(code).isdecimal(), range(0x80, 0x20000, 10)):
        zero = code - unicodedata.decimal(chr(code))
        for digit in map(chr, range(zero, zero + 10)):
            raw = digit.encode()
            last_bytes.setdefault(raw[:-1], []).append(raw[-1])
    return "|".join(
        "".join(f"\\x{byte:02x}" for byte in prefix) + "[" + "".join(f"\\x{byte:02x}" for byte in ends) + "]"
        for prefix, ends in last_bytes.items()
    )


_OTHER_SCRIPT = r"(?:[\xce-\xd4][\x80-\xbf]|[\xc7-\xcb][\x80-\xbf])"
_ANY_LETTER = r"(?:[A-Za-z]|[\xd0\xd1][\x80-\xbf])"


@attrs.frozen(slots=True)
class FeatureTable:
    """Names, bits and patterns of all features."""

    bits: dict[str, int]
    patterns: tuple[FeaturePattern, ...]


# SNILS and INN-12; OGRN; OGRNIP and the issuers' prefixes 3..6; MIR and Mastercard's 2-series.
_RUNS = ("[0-9]{11,12}", "[15][0-3][0-9]{11}", "[3-6][0-9]{13,18}", "2[2-7][0-9]{14,17}", "(?:2131|1800)[0-9]{11}")
# What has no support but a checksum, which is enough to point at.
_ANY_RUNS = ("[0-9]{10}", "[0-9]{13,19}")


def _runs(of: Sequence[str]) -> str:
    """Return the pattern of these runs of digits, those among the letters of a hexadecimal id left out: where letters
    touch a run, some letter about it is none of a to f."""
    run = f"(?:{'|'.join(of)})"
    return (
        f"[^0-9A-Za-z]{run}[^0-9A-Za-z]"
        f"|[g-zG-Z](?:[0-9a-fA-F]*[a-fA-F])?{run}[^0-9]"
        f"|[^0-9]{run}(?:[a-fA-F][0-9a-fA-F]*)?[g-zG-Z]"
    )


def _ibans() -> str:
    """Return the pattern of what begins with the code of a country that has IBANs, in either case, and is as long as the
    shortest. The first four characters after the check digits stand together."""
    forms = iban_forms()
    more = min(form.length for form in forms.values()) - 8
    alternatives = []
    # Where a country's IBANs have no letters, hexadecimal ids that begin with its code are none.
    for digits, char in ((True, "[0-9]"), (False, "[A-Za-z0-9]")):
        countries = _either_cases(sorted(country for country, form in forms.items() if form.digits is digits))
        alternatives.append(f"(?:{countries})[0-9]{{2}}[ .\\-\\n]?{char}{{4}}(?:[ .\\-\\n]?{char}){{{more}}}")
    return f"[^A-Za-z0-9](?:{'|'.join(alternatives)})"


def _sign_of_iban() -> str:
    """Return the pattern of what begins like an IBAN. Few countries have a code of two hexadecimal digits, and most texts
    with such a beginning have it in an id."""
    hexadecimal = [country for country in iban_forms() if set(country.lower()) <= HEX_LETTERS]
    firsts, seconds = ("".join(sorted(set(letters))) for letters in zip(*hexadecimal, strict=True))
    code = f"(?:[{firsts}{firsts.lower()}][{seconds}{seconds.lower()}]|[a-fA-F][g-zG-Z]|[g-zG-Z][a-zA-Z])"
    return rf"[^A-Za-z0-9]{code}[0-9]{{2}}[ .\-\n]?[A-Za-z0-9]{{4}}"


def _either_cases(countries: Sequence[str]) -> str:
    seconds: dict[str, str] = {}
    for country in countries:
        seconds[country[0]] = seconds.get(country[0], "") + country[1] + country[1].lower()
    return "|".join(f"[{first}{first.lower()}][{second}]" for first, second in seconds.items())


_RUSSIAN_LETTER = r"(?:\xd0[\x81\x90-\xbf]|\xd1[\x80-\x8f\x91])"
_NO_RUSSIAN_LETTER = r"(?:[^\x80-\xbf]|[^\xd0\xd1][\x80-\xbf]|\xd0[\x80\x82-\x8f]|\xd1[\x90\x92-\xbf])"


def _label_patterns() -> list[str]:
    """Return the patterns of the words that make a number a finding, at a word's start or a camelCase hump.

    Most texts with such letters have them inside other words and inside hexadecimal ids."""
    patterns = []
    for word in load_labels().words("inn", "snils", "ogrn", "ogrnip", "pan"):
        if word.isascii():
            before = "[^A-Za-z0-9]" if HEX_LETTERS.issuperset(word) else "[^A-Za-z]"
            end = "[^a-z]" if len(word) <= _SHORT else ""
            first, rest = word[0].upper(), word[1:]
            patterns.append(f"(?:{before}{loose(word)}|[A-Za-z]{first}{loose(rest)}){end}")
        elif "\u0430" <= word[0] <= "\u0451":
            hump = exact(word[0].upper()) + loose(word[1:])
            patterns.append(f"(?:{_NO_RUSSIAN_LETTER}{loose(word)}|{_RUSSIAN_LETTER}{hump})")
        else:
            patterns.append(loose(word))
    return patterns


# Base64 of text, four characters for three bytes. Hashes and keys have bytes above 0x7f, so a few groups of ASCII text
# tell them apart; Cyrillic in UTF-8 has a lead byte 0xd0 or 0xd1 in every second place; digits are 0x30..0x39.
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _sextets(holds: Callable[[int], bool]) -> str:
    """Return the class of the base64 characters whose value `holds`, in both alphabets."""
    chars = [char for value, char in enumerate(_ALPHABET) if holds(value)]
    return "[" + "".join({"+": "+\\-", "/": "/_"}.get(char, char) for char in chars) + "]"


_ANY64 = _sextets(lambda value: True)
_TEXT64 = _sextets(lambda v: v < 32) + _sextets(lambda v: not v & 8) + _sextets(lambda v: not v & 2) + _ANY64
_DIGITS64 = "[MNO][DTjz][AEIMQUYcgk][w-z0-5]"
_LEAD64 = "0[I-LY-b]" + _sextets(lambda v: v & 3 == 3) + "[QR]"
_TAIL64 = "[g-v][Ndt9][CG]" + _ANY64
_UTF16_64 = f"[A-Za-f][AQgw][AB]{_ANY64}A[C-H]{_ANY64}A"


def _fixed() -> dict[str, list[str]]:
    """Return the patterns of the features that need no table."""
    return {
        "groups": [
            f"[0-9]{{4}}{_GAP}[0-9]{{4}}{_GAP}[0-9]{{4}}{_GAP}[0-9]{{4}}",
            f"[0-9]{{4}}{_GAP}[0-9]{{6}}{_GAP}[0-9]{{4}}",
            f"[0-9]{{3}}{_GAP}[0-9]{{3}}{_GAP}[0-9]{{3}}{_GAP}[0-9]{{2}}",
            f"[^0-9](?:[0-9]{_GAP}){{14}}[0-9]",
            r"[0-9]{2,14}-?\r?\n ?[0-9]{2,14}",
        ],
        "labels": _label_patterns(),
        "iban-word": [loose(word) for word in ("iban", "ибан")],
        "jwt": [r"eyJ[A-Za-z0-9_-]{8}"],
        "pem": [r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY"],
        "fold": [_FOLDED, _foreign_digits(), f"[0-9](?:{_NEAR_DIGIT})", f"(?:{_NEAR_DIGIT})[0-9]"],
        "mixed": [f"[A-Za-z]{_OTHER_SCRIPT}", f"{_OTHER_SCRIPT}[A-Za-z]"],
        "spaced": [rf"[^A-Za-z0-9\x80-\xfe](?:{_ANY_LETTER}[ ._*|/~\-\t\n]{{1,2}}){{4}}{_ANY_LETTER}"],
        "base64": [
            f"(?:{_TEXT64}){{4}}",
            f"(?:{_DIGITS64}){{3}}",
            f"(?:{_LEAD64}{_TAIL64}|{_TAIL64}{_LEAD64})",
            f"(?:{_UTF16_64}){{2}}",
        ],
        "hex": [
            r"(?:[2-7][0-9a-fA-F]|0[9aAdD]){8}",
            r"(?:[dD][01][89aAbB][0-9a-fA-F](?:20)?){4}",
            r"(?:(?:0x|\\x)?[2-7][0-9a-fA-F][ ,:;]{1,2}){7}",
            r"(?:[2-7][0-9a-fA-F]00){6}",
        ],
        "binary": [r"(?:[01]{8}[ ,]?){6}"],
        "percent": [r"%[0-9a-fA-F]{2}"],
        "escape": [r"\\u[0-9a-fA-F{]", r"%u[0-9a-fA-F]{4}", r"\\U[0-9a-fA-F]{8}", r"\\x[0-9a-fA-F]{2}"],
        "entity": [
            r"&#[0-9xX]",
            r"&(?:nbsp|shy|quot|lt|gt|amp|colon|lowbar|hyphen|dash|Tab|NewLine|num|sol|period|equals);",
        ],
        "utf16": [r"\xff\xc3\xbf\xc3\xbe", r"\xff\xc3\xbe\xc3\xbf"],
        "tags": [r"\xf3\xa0[\x80\x81][\x80-\xbf]"],
        "reversed": [
            loose(word[::-1]) for word in ("ignore", "disregard", "instruction", "password", "игнор", "инструкц")
        ],
        "caesar": [loose(word.translate(caesar(shift))) for word in CAESAR_KEYS for shift in range(1, 26)],
    }


# What is looked for in the first place, for it asks less of every byte; the few texts that have it are looked at again.
_SIGN_OF_RUNS, _SIGN_OF_ANY_RUNS = "[0-9]{11}", "[0-9]{10}"


def build_features(phrases: PhraseTable | None, secrets: tuple[SecretRule, ...], *, any_digits: bool) -> FeatureTable:
    """Return the feature table for these phrases, if any, and secrets; `any_digits` announces numbers without any support,
    too."""
    signs = {
        "digits": (_SIGN_OF_ANY_RUNS, _runs(_RUNS + _ANY_RUNS)) if any_digits else (_SIGN_OF_RUNS, _runs(_RUNS)),
        "iban": (_sign_of_iban(), _ibans()),
    }
    named: dict[str, list[str]] = _fixed()
    named |= {f"token:{rule.name}": [rule.trigger] for rule in secrets}
    named["keyword"] = keyword_triggers()
    if phrases is not None:
        named |= {f"set:{name}": [pattern] for name, pattern in phrases.triggers.items()}
        named |= {f"family:{family.name}": list(family.triggers) for family in phrases.families if family.triggers}
    bits = {name: 1 << index for index, name in enumerate([*signs, *named])}
    patterns = [
        FeaturePattern(bits[name], sign.encode("ascii"), exact.encode("ascii")) for name, (sign, exact) in signs.items()
    ]
    for name, entries in named.items():
        patterns += [FeaturePattern(bits[name], entry.encode("ascii")) for entry in entries]
    return FeatureTable(bits, tuple(patterns))
