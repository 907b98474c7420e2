"""Foldings that undo what hides a datum from a plain search, each of which keeps the way back to the original.

`fold` is what every detector may read: digits of all scripts, dashes, spaces and compatibility letters become their
ASCII forms, invisible characters go. The others are readings for phrases only, since they would ruin numbers or keys.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Container
from itertools import pairwise

from . import confusables
from .views import Offsets, View

__all__ = ["fold", "has_leet", "join_spaced", "unleet", "unmix"]

# Middle dot and bullet stand between card groups like a full stop does.
_AS_DOT = "\u00b7\u2022\u2027\u2219\u22c5\u30fb"
_AS_DASH = "\u2212\u02d7\u2043\u2796\u30fc"
_VANISHING = "\x00\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
_MARK = re.compile("[\u0300-\u036f]")


def _folded(char: str) -> str:
    """Return what one character becomes; the empty string when it vanishes.

    A superscript or circled digit is no digit of a number (`decimal` knows, `isdigit` does not), so it stays as it is.
    """
    if char in _VANISHING or "\u0300" <= char <= "\u036f":
        return ""
    if char in _AS_DOT:
        return "."
    if char in _AS_DASH:
        return "-"
    category = unicodedata.category(char)
    if category == "Cf" or "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef":
        return ""
    if category == "Pd":
        return "-"
    if category == "Zs":
        return " "
    if category in {"Zl", "Zp"}:
        return "\n"
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category in {"No", "Nl"}:
        return char
    plain = _MARK.sub("", unicodedata.normalize("NFKC", char))
    if plain == char or any(part.isdigit() for part in plain):
        return char
    return "".join(part if part.isascii() else _folded(part) for part in plain)


class _FoldTable(dict[int, str]):
    """A `str.translate` table that learns a character when it first meets it."""

    def __missing__(self, code: int) -> str:
        folded = self[code] = chr(code) if 0 < code < 0x80 else _folded(chr(code))
        return folded


_FOLD = _FoldTable()
# Cyrillic short i and yo written as a letter and a mark; any other mark is left out.
_COMPOSED = {"\u0438\u0306": "\u0439", "\u0418\u0306": "\u0419", "\u0435\u0308": "\u0451", "\u0415\u0308": "\u0401"}
_COMPOSABLE = re.compile("|".join(_COMPOSED))


def fold(view: View) -> View:
    """Return the view with digits, dashes, spaces and letters in ASCII form where they have one, invisibles removed.

    The same object comes back when nothing changes.
    """
    text = view.text
    if text.isascii() and "\x00" not in text:
        return view
    marked = _MARK.search(text) is not None
    composed = _COMPOSABLE.sub(lambda match: _COMPOSED[match.group()], text) if marked else text
    folded = composed.translate(_FOLD)
    if folded == text:
        return view
    if not marked and len(folded) == len(text) and all(len(_FOLD[ord(char)]) == 1 for char in set(text)):
        return view.same_offsets(folded, "normalised")
    return view.derive(folded, lambda: _fold_offsets(text), "normalised")


def _fold_offsets(text: str) -> Offsets:
    starts: list[int] = []
    ends: list[int] = []
    for index, char in enumerate(text):
        if "\u0300" <= char <= "\u036f":
            if ends and ends[-1] == index:
                ends[-1] = index + 1  # the mark belongs to the letter before it
            continue
        width = len(_FOLD[ord(char)])
        starts += [index] * width
        ends += [index + 1] * width
    return starts, ends


_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z]")
# Letters of one script that nothing in the other looks like: they tell which script a text is written in.
_ONLY_LATIN = re.compile("[b-dfgjlqrstvwzDFGJLQRSUVWZ]")
_ONLY_CYRILLIC = re.compile("[бгджзийлпфцчшщъыьэюяБГДЖИЙЛПФЦЧШЩЪЫЬЭЮЯ]")


def unmix(view: View) -> View:
    """Return the view with every word that mixes scripts written in one script.

    A word that could be either, and in a Latin text a word made of look-alikes only, follows the text around it.
    """
    latin_text = len(_ONLY_LATIN.findall(view.text)) >= len(_ONLY_CYRILLIC.findall(view.text))

    def read(match: re.Match[str]) -> str:
        word = match.group()
        if word.isascii():
            return word
        as_latin = word.translate(confusables.to_latin())
        if as_latin.isascii() and latin_text:
            return as_latin
        if not _LATIN.search(word):
            return word
        as_cyrillic = word.translate(confusables.to_cyrillic())
        if not _LATIN.search(as_cyrillic):
            return as_cyrillic
        return as_latin

    text = _WORD.sub(read, view.text)
    return view if text == view.text else view.same_offsets(text, "homoglyphs")


# A word of letters only is passed over once: it is entered at its start, and nothing of it is given back.
_LEET_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]*+[0-9@$!|+][A-Za-z0-9@$!|+]*")
_LEET = str.maketrans("0134578@$!|+", "oleastbasiit")
_LEET_I = str.maketrans("1", "i")


def has_leet(text: str) -> bool:
    """Tell whether there is anything that `unleet` might read as letters."""
    return _LEET_WORD.search(text) is not None


def unleet(view: View, starts: Container[str], *, size: int, one: str = "i") -> View:
    """Return the view with digits and signs inside words read as letters, where the word then may be a known one.

    A word may be known when its first `size` letters are in `starts`; `one` is what a 1 stands for, i or l.
    """

    def read(match: re.Match[str]) -> str:
        word = match.group()
        stem = word.rstrip("!|+")  # the exclamation mark after a word is one
        letters = (stem.translate(_LEET_I) if one == "i" else stem).translate(_LEET)
        return letters + word[len(stem) :] if letters[:size].lower() in starts else word

    text = _LEET_WORD.sub(read, view.text)
    return view if text == view.text else view.same_offsets(text, "leet")


_SPACED = re.compile(r"(?<![^\W_])(?:[^\W_](?:[._*|/~\-]|[ \t\n]{1,4})){3,}[^\W_](?![^\W_])")


def join_spaced(view: View) -> View:
    """Return the view with runs of single letters (`i g n o r e`, `i-g-n-o-r-e`) written together.

    Where the letters of one run stand at different distances the wider gaps are the spaces between words.
    """
    text = view.text
    pieces: list[str] = []
    starts: list[int] = []
    position = 0
    for match in _SPACED.finditer(text):
        letters = [index for index in range(match.start(), match.end()) if text[index].isalnum()]
        nearest = min(after - before for before, after in pairwise(letters))
        pieces.append(text[position : match.start()])
        starts += range(position, match.start())
        for before, index in zip([letters[0] - nearest, *letters], letters, strict=False):
            if index - before > nearest:
                pieces.append(" ")
                starts.append(index - 1)
            pieces.append(text[index])
            starts.append(index)
        position = match.end()
    if not pieces:
        return view
    pieces.append(text[position:])
    starts += range(position, len(text))
    return view.derive("".join(pieces), lambda: (starts, [index + 1 for index in starts]), "spaced")
