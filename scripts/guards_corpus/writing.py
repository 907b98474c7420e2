"""How numbers and phrases are written: groups, separators, other scripts' digits, hidden characters, encodings."""

from __future__ import annotations

import base64
import urllib.parse

SEPARATORS = {
    "space": " ",
    "double-space": "  ",
    "tab": "\t",
    "nbsp": "\u00a0",
    "narrow-nbsp": "\u202f",
    "thin-space": "\u2009",
    "figure-space": "\u2007",
    "hair-space": "\u200a",
    "ideographic-space": "\u3000",
    "hyphen-minus": "-",
    "hyphen": "\u2010",
    "nb-hyphen": "\u2011",
    "figure-dash": "\u2012",
    "en-dash": "\u2013",
    "em-dash": "\u2014",
    "minus": "\u2212",
    "small-hyphen": "\ufe63",
    "fullwidth-hyphen": "\uff0d",
    "dot": ".",
    "newline": "\n",
    "crlf": "\r\n",
    "zwsp": "\u200b",
    "zwnj": "\u200c",
    "zwj": "\u200d",
    "word-joiner": "\u2060",
    "bom": "\ufeff",
    "soft-hyphen": "\u00ad",
    "lrm": "\u200e",
    "rlm": "\u200f",
}
"""What may stand between the groups of one number."""

_ZEROS = {
    "fullwidth": 0xFF10,
    "arabic-indic": 0x0660,
    "extended-arabic-indic": 0x06F0,
    "devanagari": 0x0966,
    "math-bold": 0x1D7CE,
}
SCRIPTS = tuple(_ZEROS)
"""Digits of other scripts and styles that read as numbers."""

BIDI = {
    "lri-pdi": ("\u2066", "\u2069"),
    "rli-pdi": ("\u2067", "\u2069"),
    "lre-pdf": ("\u202a", "\u202c"),
    "lro-pdf": ("\u202d", "\u202c"),
    "marks": ("\u200e", "\u200e"),
}
"""Invisible direction marks around a number, as copied from a right-to-left page."""

GROUPS: dict[str, tuple[int, ...]] = {
    "inn10": (4, 6),
    "inn12": (4, 6, 2),
    "snils": (3, 3, 3, 2),
    "ogrn": (1, 2, 2, 7, 1),
    "ogrnip": (1, 2, 2, 9, 1),
}
"""The usual groups of a number; IBANs and most cards go by fours."""

_CARD_GROUPS: dict[int, tuple[int, ...]] = {14: (4, 6, 4), 15: (4, 6, 5)}

_HOMOGLYPHS = str.maketrans("aceiopsxyABCEHKMOPTX", "асеіорѕхуАВСЕНКМОРТХ")
_LATIN_IN_RUSSIAN = str.maketrans("асеорху", "aceopxy")
_LEET = str.maketrans("aeiost", "4310$7")


def groups(kind: str, number: str) -> list[str]:
    """The number cut into its usual groups."""
    fours = (4,) * ((len(number) + 3) // 4)
    sizes = _CARD_GROUPS.get(len(number), fours) if kind == "pan" else GROUPS.get(kind, fours)
    parts, at = [], 0
    for size in sizes:
        parts.append(number[at : at + size])
        at += size
    return [part for part in parts if part]


def joined(kind: str, number: str, separator: str) -> str:
    """The number's groups joined by the separator."""
    return separator.join(groups(kind, number))


def in_script(number: str, script: str) -> str:
    """The number with its digits in another script."""
    return "".join(chr(_ZEROS[script] + int(char)) if char.isdigit() else char for char in number)


def usual(kind: str, number: str) -> str:
    """The number the way people write it: SNILS with hyphens, cards and IBANs by fours, the rest plain."""
    if kind == "snils":
        return f"{number[:3]}-{number[3:6]}-{number[6:9]} {number[9:]}"
    return joined(kind, number, " ") if kind in ("pan", "iban") else number


def plain(_kind: str, number: str) -> str:
    """The number as its digits alone."""
    return number


def homoglyphs(phrase: str) -> str:
    """Latin letters replaced by Cyrillic ones that look the same."""
    return phrase.translate(_HOMOGLYPHS)


def latin_in_russian(phrase: str) -> str:
    """Cyrillic letters replaced by Latin ones that look the same."""
    return phrase.translate(_LATIN_IN_RUSSIAN)


def leet(phrase: str) -> str:
    """Letters replaced by digits and signs that look like them."""
    return phrase.translate(_LEET)


def spaced(phrase: str) -> str:
    """A space between all letters, three between words."""
    return "   ".join(" ".join(word) for word in phrase.split())


def fullwidth(phrase: str) -> str:
    """ASCII in its full-width forms."""
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in phrase)


def threaded(phrase: str, mark: str) -> str:
    """An invisible mark after every second letter."""
    return "".join(char + (mark if at % 2 else "") for at, char in enumerate(phrase))


def base64_of(text: str, depth: int = 1) -> str:
    """The text in base64, `depth` times."""
    for _ in range(depth):
        text = base64.b64encode(text.encode()).decode("ascii")
    return text


def percent_of(text: str) -> str:
    """Every byte of the text percent-encoded, so that no letter stays readable."""
    return "".join(f"%{byte:02X}" for byte in text.encode())


def query_of(text: str) -> str:
    """The text as a browser writes it into an address."""
    return urllib.parse.quote(text, safe="")


def hex_of(text: str) -> str:
    """The text's bytes in hex."""
    return text.encode().hex()


def unicode_escapes_of(text: str) -> str:
    """Every character as a four-digit escape, as in a JSON or Java source that was escaped once more."""
    return "".join(f"\\u{ord(char):04x}" for char in text)


def byte_escapes_of(text: str) -> str:
    """Every byte as a two-digit escape, as in a C or Python literal."""
    return "".join(f"\\x{byte:02x}" for byte in text.encode())
