"""Text as the classifier sees it: normalised, cut into words, and counted in units that hold across scripts.

Scripts written without spaces (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan) form runs of their own, so that
``API`` inside a Chinese sentence is a word although no space surrounds it.
"""

import re
import unicodedata

_HAN_KANA = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN_EXTENDED = "\U00020000-\U0003ffff"
_SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff"
_UNSPACED = _HAN_KANA + _HAN_EXTENDED + _SOUTH_EAST_ASIAN
# \w leaves out combining marks, without which Hindi, Tamil or vowelled Hebrew fall to pieces.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
_MARKS += (
    "\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a51\u0abc-\u0acd\u0b82\u0bbe-\u0bcd\u0c3e-\u0c4d\u0d3e-\u0d4d"
)

_WORD = re.compile(
    f"[{_HAN_KANA}{_HAN_EXTENDED}]+|[{_SOUTH_EAST_ASIAN}]+|[^\\W{_UNSPACED}]+(?:[{_MARKS}]+[^\\W{_UNSPACED}]*)*"
)
_ASCII_WORD = re.compile(r"[a-z0-9_]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_KANA = re.compile("[\u3041-\u30fa]")
_SEA_START = re.compile(f"[{_SOUTH_EAST_ASIAN}]")

_HAN_CHARACTERS_PER_WORD = 2
_SEA_CHARACTERS_PER_WORD = 4

# Removed: format characters that hide inside words, the Arabic tatweel and short vowels, the dot that casefold
# leaves of a Turkish capital I. Replaced: Russian yo, which writers use or omit at will, and Turkish dotless i, which
# does not survive capitals.
_FOLD = dict.fromkeys([0x00AD, 0x061C, 0x0640, 0x0670, 0x0307, 0xFEFF, *range(0x200B, 0x2010), *range(0x202A, 0x202F)])
_FOLD |= dict.fromkeys([*range(0x2060, 0x2065), *range(0x064B, 0x0660), *range(0xFE00, 0xFE10)])
_TRANSLATION = {**_FOLD, 0x0451: "\u0435", 0x0131: "i", 0x2011: "-"}


def normalise(text: str) -> str:
    """Return ``text`` in NFKC, case-folded, without invisible characters; ASCII text is only lower-cased.

    The result is a fixed point: normalising it again changes nothing.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_TRANSLATION)
    # Folding can leave a sequence that NFKC composes further (a mark now follows its base letter).
    return unicodedata.normalize("NFKC", folded).casefold().translate(_TRANSLATION)


def words(text: str) -> list[str]:
    """Return the words of a normalised text in order; a run of an unspaced script is one entry.

    An identifier such as ``get_api_key`` is one word, so that nothing is found inside it; underscores that only
    surround a word (Markdown emphasis) are dropped.
    """
    found: list[str] = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
    if "_" in text:
        return [stripped for word in found if (stripped := word.strip("_"))]
    return found


def is_unspaced(word: str) -> bool:
    """Say whether a word of :func:`words` is a run of a script that is written without spaces."""
    return word > "\u0dff" and _UNSPACED_START.match(word) is not None


def has_kana(text: str) -> bool:
    """Say whether a text holds Japanese syllable characters, which Chinese does not use."""
    return _KANA.search(text) is not None


def units(tokens: list[str]) -> int:
    """Return the length of a text in word units.

    A spaced word is one unit; two Han or kana characters, or four Thai, Lao, Khmer, Burmese or Tibetan characters,
    are one unit (rounded up per run), close to the mean word length of those scripts.
    """
    total = 0
    for word in tokens:
        if word <= "\u0dff" or not _UNSPACED_START.match(word):
            total += 1
        else:
            per_word = _SEA_CHARACTERS_PER_WORD if _SEA_START.match(word) else _HAN_CHARACTERS_PER_WORD
            total += -(-len(word) // per_word)
    return total


def estimated_tokens(text: str) -> int:
    """Return the number of model tokens a text is billed for: one per four UTF-8 bytes, rounded up.

    A fixed rule instead of a tokenizer, so that a price never depends on a model's vocabulary: about four characters
    of English, two of Cyrillic and one and a third of Han per token.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
