"""What of a text the local model can read at all: which languages it is in, and whether parts of it are encoded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from yb_eval_decision.local.lexicon import STOPWORDS
from yb_eval_decision.local.text import joined_apostrophes, normalise, stem

#: Words of a window that are of no language the model knows, and more of them than of one it does: it is in another language.
_LEAST = 2
#: From here on scripts write no spaces between words (Thai, Kana, Han): a run of letters is as many words as it may hold, each
#: of two letters.
_NO_SPACES, _LETTERS = "\u0e00", 2
#: Words that a window must hold before it can be unfamiliar, and the share of them that is known in one that is not.
_FEW, _FAMILIAR = 3, 0.2

# Function words that English and Russian do not have: of German, French, Spanish, Italian, Portuguese, Dutch, Polish, Turkish,
# Ukrainian.
_FOREIGN_WORDS = """
und der das ist nicht ein eine einen mit für auf sie ich wir zu den dem des im auch wie oder alle alles bitte dein
deine deinen du le les des une est vous nous je pour que qui dans sur avec ce et toutes tous ton tes el los las una
por para con del se su como todas todos tu tus il che di sono gli della tutte não em você seu sua het een van niet
voor met dat jest się bir ve bu için tüm і та що це від або ти є ви цей усі
"""
_FOREIGN = frozenset(stem(word) for word in _FOREIGN_WORDS.split())
_HOME = frozenset(stem(word) for word in STOPWORDS) - _FOREIGN
# Base64 or hex in one run, percent and backslash escapes in a row. Linear: each run is tried once from its beginning.
_ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/=_-])(?=[A-Za-z+/_-]{0,30}\d)[A-Za-z0-9+/_-]{32,}={0,2}"
    r"|(?:%[0-9a-fA-F]{2}){6,}|(?:\\[ux][0-9a-fA-F]{2,4}){4,}|(?:[01]{8} ){3,}"
)
# In the code page that holds both: what is no letter of the one, and of the other.
_LATIN = bytes(range(0x41, 0x5B)) + bytes(range(0x61, 0x7B))
_RUSSIAN = bytes(range(0xC0, 0x100)) + b"\xa8\xb8"
_NOT_LATIN = bytes(code for code in range(256) if code not in _LATIN)
_NOT_RUSSIAN = bytes(code for code in range(256) if code not in _RUSSIAN)


def foreign(window: Sequence[str]) -> bool:
    """Whether a window of stems is rather in another language than in English or Russian."""
    other = home = 0
    for token in window:
        if token in _HOME:
            home += 1
        elif token in _FOREIGN:
            other += 1
        elif not (token.isascii() or "а" <= token[0] <= "я"):
            other += 1 if token[0] < _NO_SPACES else max(1, len(token) // _LETTERS)
    return other >= _LEAST and other > home


def unfamiliar(window: Sequence[str], vocabulary: Collection[str]) -> bool:
    """Whether a window of stems holds words, and hardly any that the model has ever met: another language, a cipher, letters
    written as digits. What it does not find there says nothing."""
    words = [token for token in window if token[0].isalnum() and token != "0"]
    known = sum(word in vocabulary or word in _HOME for word in words)
    return len(words) >= _FEW and known < _FAMILIAR * len(words)


def encoded(text: str) -> bool:
    """Whether a part of `text` is encoded, so that nobody sees what it says."""
    return _ENCODED.search(text) is not None


def scripts(text: str) -> tuple[int, int]:
    """How many Latin and how many Russian letters stand in the first 4,000 characters of `text`."""
    part = text[:4000].encode("cp1251", "ignore")
    if text.isascii():
        return len(part.translate(None, _NOT_LATIN)), 0
    return len(part.translate(None, _NOT_LATIN)), len(part.translate(None, _NOT_RUSSIAN))


def plain_words(text: str) -> Iterable[str]:
    """The words of `text`, lower-case and whole."""
    return re.findall(r"[^\W\d_]+", joined_apostrophes(normalise(text)))
