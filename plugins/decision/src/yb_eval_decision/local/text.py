"""Texts as the local model reads them: normalised, in words, stems and sentences.

Everything is linear in the length of the text. The same code runs in training and in use; a change here needs new weights.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

#: Longer words are cut: nothing a language has, and a stem per word is remembered.
_LONGEST_WORD = 40

# Not seen by a reader, often put between letters to hide a word: soft hyphen, joiners, directions, tags, variation selectors.
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
                        "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]")  # fmt: skip
# A word with letters of two scripts side by side. Tried from a word's beginning only, else it were quadratic in a long one.
_MIXED = re.compile(
    r"(?:(?<![^\W\d_])|(?![^\W\d_]))"
    r"[^\W\d_]*(?:[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z])[^\W\d_]*"
)
# Letters that look like Latin ones, after lower-casing (a small part of Unicode's confusables, UTS #39).
_LOOKALIKES = str.maketrans("авекмнорстухьіјѕԁһԛԝνοαερτυικ", "abekmhopctyxbijsdhqwvoaeptuik")
# These begin with a set of characters, and not with what must stand before one: so `re` skips what cannot match.
_APOSTROPHES = re.compile(r"['’ʼ`](?<=\w.)(?=\w)")
_SENTENCE = re.compile(r"[.!?…\n](?:(?<=\n)\n*|(?<!\n)[\"'»”)]*\s+)")
_WIDE_END = re.compile("[。！？]")

_EN_SUFFIXES = "ations ation ingly ments ment ness ings edly ing ies ied ers er ed es ly s e y"
_RU_ENDINGS = """
ируйте ируй ирует ируют ировать ировал ировала ировали ированн ирован ываться иваться аются яются ывать ивать ивал
ывал ываем ивается ывается овать овал овала овали евать уется ается яется ится ются утся атся ятся ться тся ешься
ишься иями ями ами ого его ому ему ыми ими ием иям иях ях ах их ых ов ев ей ий ый ой ая яя ое ее ие ые ам ям ом ем ым им
ую юю ия ии ию ья ье ьи ью йте ешь ете ите ишь ить ать ять еть уть ыть ила или ило ала али ало яла яли яло ела ели
ело ыла ыли ыло ула ули ет ут ют ит ил ал ял ел ыл ул ена ено ены ана ано аны ен ан ённый енный анный енная анная
енное анное енные анные енного анного а я о е и ы у ю ь й
"""


def _by_length(endings: str) -> tuple[tuple[int, frozenset[str]], ...]:
    """The endings of each length, the longest first."""
    sizes = sorted({len(ending) for ending in endings.split()}, reverse=True)
    return tuple((size, frozenset(ending for ending in endings.split() if len(ending) == size)) for size in sizes)


_EN_BY_LENGTH, _RU_BY_LENGTH = _by_length(_EN_SUFFIXES), _by_length(_RU_ENDINGS)


def normalise(text: str) -> str:
    """`text` lower-cased, in NFKC, without what a reader does not see; look-alike letters in words of mixed scripts are
    read as Latin ones, `ё` as `е`."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).lower()
    text = _MIXED.sub(lambda found: found.group().translate(_LOOKALIKES), text)
    return text.replace("ё", "е")


def unmasked(text: str) -> str:
    """`text` in NFKC without what a reader does not see, `ё` as `е`; capitals stay."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).replace("ё", "е").replace("Ё", "Е")


def joined_apostrophes(text: str) -> str:
    """`don't` as `dont`: one word, whatever sign stands for the apostrophe."""
    return _APOSTROPHES.sub("", text)


def sentences(text: str) -> list[str]:
    """The sentences and lines of `text` that hold anything. Cut at an end mark before white space, and at line ends."""
    if not text.isascii():
        text = _WIDE_END.sub("\\g<0>\n", text)  # white space follows no wide mark
    found, start = [], 0
    for end in _SENTENCE.finditer(text):
        found.append(text[start : end.start() + 1].strip())
        start = end.end()
    found.append(text[start:].strip())
    return [part for part in found if part]


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a lower-case English or Russian word: one ending is taken off. Meant to make forms of one word equal,
    not to be a word."""
    if len(word) > _LONGEST_WORD:
        word = word[:_LONGEST_WORD]
    if len(word) <= 3:
        return word
    if "а" <= word[0] <= "я":
        return _russian(word)
    return _english(word) if word.isascii() else word


def _english(word: str) -> str:
    for size, suffixes in _EN_BY_LENGTH:
        suffix = word[-size:]
        if suffix not in suffixes:
            continue
        if suffix == "s" and word.endswith(("ss", "us", "is")):
            continue
        left = word[:-size]
        if suffix in ("ies", "ied") and len(left) >= 2:
            return left + "i" if len(left) > 2 else left + "y"
        if suffix == "y" and len(left) >= 3:
            return left + "i"
        if len(left) >= (3 if suffix not in ("er", "ers", "e", "es", "ment", "ness") else 4):
            if suffix == "s":
                # "uses" and "use", "prices" and "price" meet without their last e.
                return _english(left) if len(left) > 4 and left.endswith("e") else _single(left)
            return _single(left)
    return _single(word)


def _single(left: str) -> str:
    return left[:-1] if len(left) > 4 and left[-1] == left[-2] else left


def _russian(word: str) -> str:
    if len(word) > 5 and word.endswith(("ся", "сь")):
        word = word[:-2]
    for size, endings in _RU_BY_LENGTH:
        if size <= len(word) - 3 and word[-size:] in endings:
            word = word[:-size]
            break
    # Short forms and past tenses keep a letter that their long forms and presents lose.
    return word[:-1] if len(word) > 5 and (word[-1] in "нл" or word[-1] == word[-2]) else word
