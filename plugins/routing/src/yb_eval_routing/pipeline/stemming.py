"""How words are compared in each language: by stem, by beginning, by run of characters, or exactly."""

import importlib
import threading
from functools import lru_cache
from typing import Protocol

STEMMERS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nl": "dutch",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Languages whose words are compared by their Snowball stem."""
BEGINNING = frozenset({"ko", "uk", "be", "kk", "he"})
"""Languages without a stemmer whose words are compared by their beginning: particles and endings follow it."""
RUNS = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages written without spaces: a term is found anywhere in a run of their script."""
EXACT = frozenset({"any", "vi"})
"""Compared as written: names and keywords of any language (``any``), and languages that do not inflect."""

LANGUAGES = tuple(sorted({*STEMMERS, *BEGINNING, *RUNS, *EXACT}))
"""Every key that a word list may have."""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


_lock = threading.Lock()


@lru_cache(maxsize=len(STEMMERS))
def _stemmer(language: str) -> _Stemmer:
    # The class itself, not snowballstemmer.stemmer(): that one silently prefers a C library where one is installed,
    # whose algorithms may be of another version, and the same prompt would be routed differently on two machines.
    name = STEMMERS[language]
    module = importlib.import_module(f"snowballstemmer.{name}_stemmer")
    stemmer: _Stemmer = getattr(module, f"{name.capitalize()}Stemmer")()
    return stemmer


@lru_cache(maxsize=1 << 16)
def stem(language: str, word: str) -> str:
    """Return the Snowball stem of a normalised word. Safe to call from several threads."""
    with _lock:  # a stemmer keeps the word it works on
        return _stemmer(language).stemWord(word)
