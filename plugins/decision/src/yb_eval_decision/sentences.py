"""Text as sentences, and the claims among them: by rules, without a model, in time linear in the text.

`split_sentences` loses nothing: its pieces together hold every character that is no space. `claims` leaves out what asserts
nothing: headings, greetings, questions, the line that announces a list, code.

What ends a sentence: the marks of CJK and other scripts always; `.` `!` `?` `…` before a space, unless an abbreviation, an
initial, a list's number or an ellipsis says otherwise, or the sentence stands inside quotation marks or brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from attrs import frozen

from yb_eval import UsageError
from yb_eval.errors import shorten

# Always an end, with or without a space after it.
_STRONG = "。！？｡।؟۔።։"
_END = re.compile(rf"[.!?…{_STRONG}]+[\"'”’»›)\]}}」』】*_`]*")
_QUOTES = "\"'”’»›」』"
# Nothing ends inside these, as long as they are of a size that one sentence may hold.
_INSIDE = re.compile(
    r"\"[^\"]{0,300}\"|“[^“”]{0,300}”|«[^«»]{0,300}»|„[^„“”]{0,300}[“”]|「[^「」]{0,300}」|\([^()]{0,200}\)|\[[^\[\]]{0,200}\]"
)
_OPENS = re.compile(r"[\"“«„「(\[]")
_OPENERS = "\"'“‘«‹„([{「『【*_`¿¡—–- "
_ITEM = re.compile(r"\s*(?:[-*+•–—·▪◦‣]|\(?\d{1,3}[.)]|\(?[^\W\d_][)])\s+(?=\S)")
_HEADING = re.compile(r"\s*#{1,6}\s")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ROW = re.compile(r"\s*\|")


def _words(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


# Before these nothing ends: something always follows.
_NEVER = _words(
    "mr mrs ms mx dr prof st mt gen col sgt capt lt gov sen rep rev hon messrs mme vs e.g i.e cf viz approx fig figs eq vol pp",
    "ext т.е т.к т.н т.о напр ср им ул пер просп пр-т пл наб кв корп рис табл гл проф акад доц гр тов тел г-н г-жа ст",
)
# Before these a sentence may end: it does when a capital follows, and not before a number or a small letter.
_SOMETIMES = _words(
    "inc ltd co corp llc plc gmbh jr sr etc al a.m p.m nos ave blvd rd dept est max min sec hr hrs lb lbs oz ft",
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun",
    "гг вв руб коп тыс млн млрд трлн т.д т.п др пр н.э сек час кг км шт ед чел сут мес долл р",
)
# A unit after a number, and something else (a town, "see") without one.
_UNITS = _words("г см м ч мин с в д п стр л т")
# Words of one or two letters that are words, and no abbreviation.
_SHORT = _words(
    "a i it is so me us go up on in ok do be to am an as at by he if my no of or we hi pm ad id",
    "я он мы вы да но и а не её ее их им на по из за то ту те та от до ли же бы",
)
# After an initial or a country's letters, only a word that starts a sentence shows that one ended.
_STARTERS = _words(
    "the this that these those it he she we they you i if but and in on at for there here when while however then so what a an",
    "our это этот эта эти он она они мы вы я если но и а в на для когда затем так там тут при по как наш наша",
)
_ROMAN = frozenset("ivxlcdm")


def split_sentences(text: str | None, min_chars: int = 12) -> list[str]:
    """The sentences of `text` in order, white space collapsed. None is empty; together they hold all that is no space.

    A piece of one word and fewer than `min_chars` characters ("No.") goes with the sentence after it, or else before
    it, in its paragraph; in scripts without spaces a character counts as three. A text that a sample does not have
    (`None`) has no sentence. Raises `UsageError` for what is no text.
    """
    if not isinstance(text, str):
        if text is None:
            return []
        raise UsageError(f"a text is expected, not {shorten(text)}")
    return [piece for block in _blocks(text) for piece in _merged(_pieces(block), min_chars)]


def claims(text: str, min_chars: int = 12) -> list[str]:
    """The sentences of `text` that assert something, without list markers and emphasis. Left out: headings, greetings and
    offers of help, questions, lines that announce a list, code, and pieces without a letter or digit."""
    found: list[str] = []
    blocks = list(_blocks(text))
    for index, block in enumerate(blocks):
        if block.code or _is_heading(block, blocks[index + 1] if index + 1 < len(blocks) else None):
            continue
        pieces = [_bare(piece) for piece in _pieces(block)]
        found += _merged([piece for piece in pieces if _asserts(piece)], min_chars)
    return found


@frozen(slots=True)
class _Block:
    """Lines that belong together: a paragraph, a list item, a heading, a table's row, a piece of code."""

    text: str
    item: bool = False
    heading: bool = False
    code: bool = False


def _blocks(text: str) -> Iterator[_Block]:
    lines: list[str] = []
    item = False
    fenced: list[str] | None = None
    for line in text.split("\n"):
        if fenced is None and (begin := line.lstrip())[:1].isalpha() and begin[1:2] != ")":
            # Neither a mark nor blank: what most lines are.
            if lines and _breaks(lines[-1], line):
                yield from _closed(lines, item)
                lines, item = [], False
            lines.append(line)
            continue
        if fenced is not None or _FENCE.match(line):
            if fenced is None:
                yield from _closed(lines, item)
                lines, item, fenced = [], False, [line]
                continue
            fenced.append(line)
            if _FENCE.match(line):
                yield _Block("\n".join(fenced).strip(), code=True)
                fenced = None
            continue
        blank = not line.strip()
        starts = bool(_ITEM.match(line))
        alone = bool(_HEADING.match(line) or _ROW.match(line))
        if blank or starts or alone or (lines and _breaks(lines[-1], line)):
            yield from _closed(lines, item)
            lines, item = [], False
        if blank:
            continue
        if alone:
            yield _Block(" ".join(line.split()), heading=bool(_HEADING.match(line)))
            continue
        lines.append(line)
        item = item or starts
    if fenced is not None:
        yield _Block("\n".join(fenced).strip(), code=True)
    yield from _closed(lines, item)


def _closed(lines: list[str], item: bool) -> Iterator[_Block]:
    if lines:
        yield _Block(" ".join(" ".join(lines).split()), item=item)


def _breaks(before: str, after: str) -> bool:
    """Does a new line begin something new? Lines wrapped at a margin are long, and go on in the next."""
    before = before.rstrip()
    last = before[-1:]
    if last in ":：":
        return True
    first = after.lstrip()[:1]
    return len(before) < 50 and (first.isupper() or not first.isalpha() or last in _STRONG)


def _pieces(block: _Block) -> list[str]:
    text = block.text
    if block.code or block.heading:
        return [text]
    inside = _inside(text)
    found: list[str] = []
    start = 0
    within = 0
    for match in _END.finditer(text):
        at = match.end()
        while within < len(inside) and inside[within][1] <= match.start():
            within += 1
        if within < len(inside) and inside[within][0] < match.start() and at < inside[within][1]:
            continue
        if at < len(text) and not _ends(text, start, match.start(), at):
            continue
        piece = text[start:at].strip()
        if piece:
            found.append(piece)
        start = at
    if rest := text[start:].strip():
        found.append(rest)
    return found


def _inside(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _INSIDE.finditer(text)] if _OPENS.search(text) else []


def _ends(text: str, start: int, dot: int, at: int) -> bool:
    """Does the sentence that began at `start` end with the mark at `dot`, which with its closing quotes reaches to `at`?"""
    if at == dot + 1 and text[dot] == ".":
        return text[at].isspace() and _dot_ends(text, start, dot, *_next(text, at))
    marks = text[dot : min(at, dot + 8)]
    quoted = any(mark in _QUOTES for mark in marks)
    if any(mark in _STRONG for mark in marks):
        return not (quoted and text[at] == "と")  # Japanese goes on after a quotation: 「…。」と言った
    if not text[at].isspace():
        return False
    word, first = _next(text, at)
    if first.islower() and quoted:
        return False  # "Really?" he asked
    if marks.startswith(("..", "…")):
        return not first.islower()
    if marks[0] != ".":
        return True
    return _dot_ends(text, start, dot, word, first)


def _next(text: str, at: int) -> tuple[str, str]:
    """The next word in small letters, and its first character: openers are passed over."""
    begin = at
    limit = min(len(text), at + 16)
    while begin < limit and text[begin] in _OPENERS:
        begin += 1
    end = begin
    limit = min(len(text), begin + 24)
    while end < limit and text[end].isalnum():
        end += 1
    return text[begin:end].lower(), text[begin : begin + 1]


def _before(text: str, start: int, dot: int) -> str:
    """The word that ends at `dot`, at most 24 characters of it."""
    begin = dot
    floor = max(start, dot - 24)
    while begin > floor and not text[begin - 1].isspace():
        begin -= 1
    return text[begin:dot]


def _dot_ends(text: str, start: int, dot: int, word: str, first: str) -> bool:
    raw = _before(text, start, dot).lstrip(_OPENERS)
    token = raw.lower()
    small = first.islower()
    if token.isdecimal() and dot - start <= len(token) + 1:
        return False  # the number of a list's item
    if token in _NEVER:
        return False
    if token == "no":
        return not first.isdigit()
    if token in _UNITS:
        return not small and not first.isdigit() and _numbered(text, start, dot - len(raw))
    if token in _SOMETIMES:
        return not small and not first.isdigit()
    parts = token.split(".")
    if len(parts) > 1 and all(0 < len(part) <= 2 and part.isalpha() for part in parts):
        return word in _STARTERS and not small
    if len(token) == 1 and raw.isupper() and raw != "I" and raw != "Я":
        return word in _STARTERS and not small
    if not small:
        return True
    if token.isdecimal():
        return len(token) > 2
    return len(token) > 2 or token in _SHORT or not token.isalpha()


def _numbered(text: str, start: int, at: int) -> bool:
    """Does a number, in figures or Roman ones, stand right before `at`?"""
    while at > start and text[at - 1].isspace():
        at -= 1
    before = _before(text, start, at).lower()
    return bool(before) and (before[-1].isdigit() or all(letter in _ROMAN for letter in before))


def _merged(pieces: list[str], min_chars: int) -> list[str]:
    found: list[str] = []
    held = ""
    for piece in pieces:
        piece = f"{held} {piece}" if held else piece
        held = ""
        if _is_short(piece, min_chars):
            held = piece
        else:
            found.append(piece)
    if held:
        if found:
            found[-1] = f"{found[-1]} {held}"
        else:
            found.append(held)
    return found


def _is_short(piece: str, min_chars: int) -> bool:
    if len(piece) >= min_chars or sum(any(map(str.isalnum, word)) for word in piece.split()) > 1:
        return False
    return sum(3 if letter >= "\u2e80" else 1 for letter in piece) < min_chars


# --- claims ---

_MARKER = re.compile(r"\s*(?:(?:[-*+•–—·▪◦‣>]|\(?\d{1,3}[.)]|\(?[^\W\d_][)])\s+)+")
_EMPHASIS = re.compile(r"\*\*|__|`")
_ADDRESS = r"(?:,?\ [\w.'’-]{1,30}){0,2}"
_POLITE = re.compile(
    rf"""(?:
      (?:hello|hi|hey|dear|greetings|good\ (?:morning|afternoon|evening|day)){_ADDRESS}
    | (?:sure|certainly|absolutely|of\ course|great|okay|ok|alright|understood|got\ it)(?:\ thing)?
    | (?:great|good)\ question
    | (?:i(?:'|’)?(?:m|\ am)\ )?(?:happy|glad)\ to\ (?:help|assist).{{0,40}}
    | you(?:'|’)?re\ welcome | no\ problem | my\ pleasure
    | (?:many\ )?thanks?(?:\ you)?(?:\ (?:so|very)\ much)?(?:\ for\ (?:your\ \w+|\w+ing(?:\ \w+){{0,3}}))?
    | (?:please\ )?(?:let\ me\ know|feel\ free\ to|don(?:'|’)?t\ hesitate\ to).{{0,90}}
    | (?:i\ )?hope\ (?:this|that|it)\ helps?
    | (?:best|kind|warm)?\ ?regards{_ADDRESS} | sincerely{_ADDRESS} | have\ a\ (?:great|nice|good|wonderful)\ \w+
    | (?:здравствуйте|привет|приветствую|доброе\ утро|добрый\ (?:день|вечер)|уважаем\w+){_ADDRESS}
    | (?:конечно|хорошо|разумеется|понятно|понял\w?|отлично|пожалуйста)
    | (?:большое\ )?спасибо(?:\ за\ (?:\w+\ ?){{1,3}})? | рад[аы]?\ (?:помочь|был[аи]?\ помочь) | обращайтесь.{{0,40}}
    | если(?:\ у\ вас)?\ (?:возникнут|появятся|останутся|есть|будут)
      (?:\ (?:ещё|еще|другие|дополнительные|какие-либо)){{0,3}}\ вопросы.{{0,60}}
    | надеюсь,?\ это\ поможет | хорошего\ \w+ | всего\ доброго | с\ уважением{_ADDRESS}
    )[\s!.,:;)…]*""",
    re.IGNORECASE | re.VERBOSE,
)
#: How what is polite in English begins: most sentences begin otherwise, and need not be held against the pattern.
_POLITE_STARTS = (
    "hello", "hi", "hey", "dear", "greet", "good", "sure", "certain", "absolut", "of c", "great", "ok", "alright",
    "underst", "got", "happy", "glad", "i", "you", "no", "my", "many", "thank", "please", "let", "feel", "don", "hope",
    "best", "kind", "warm", "regards", "sincer", "have",
)  # fmt: skip


def _bare(piece: str) -> str:
    """A piece without list marker and emphasis."""
    if not (piece[:1].isalpha() and piece[1:2] != ")"):
        marker = _MARKER.match(piece)
        piece = piece[marker.end() :] if marker else piece
    return _EMPHASIS.sub("", piece).strip() if any(map(piece.__contains__, "*_`")) else piece.strip()


def _asserts(piece: str) -> bool:
    if not any(map(str.isalnum, piece)):
        return False
    closed = piece.rstrip("\"'”’»)]*_ ")
    if closed.endswith((":", "：", "?", "？", "؟")):
        return False
    if len(piece) > 160 or (piece.isascii() and not piece.lower().startswith(_POLITE_STARTS)):
        return True
    return _POLITE.fullmatch(piece) is None


def _is_heading(block: _Block, following: _Block | None) -> bool:
    """A heading by its mark, or a short line of words without an end mark that stands over something else."""
    if block.heading:
        return True
    if block.item or following is None or following.code:
        return False
    text = _bare(block.text)
    ended = text.endswith((*".!?…:;", *_STRONG))
    return not ended and len(text.split()) <= 6 and not any(letter.isdigit() or letter in ":|" for letter in text)
