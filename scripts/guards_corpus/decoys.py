"""Clean rows: broken numbers, lookalikes, numbers that pass a check by chance, and benign text."""

from __future__ import annotations

import re
from itertools import count

from yb_eval_guards.checksums import luhn_valid

from . import benign_en, benign_ru, numbers_en, numbers_ru, secret_decoys, writing
from .credentials import BASE64, HEX
from .fill import fill
from .lookalikes import INSIDE, LOOKALIKES, NEVER_ISSUED, UNLABELLED
from .numbers import MAKERS, broken, card, swapped, valid_in
from .rows import Draw, Rows

_TEXTS = {"ru": numbers_ru.BY_TYPE, "en": numbers_en.BY_TYPE}


def add_all(rows: Rows) -> None:
    """Add every clean row."""
    _add_broken(rows)
    _add_lookalikes(rows)
    _add_unlabelled(rows)
    _add_inside(rows)
    _add_never_issued(rows)
    _add_secret_decoys(rows)
    _add_benign(rows)


def _clean(rows: Rows, family: str, text: str, **tags: str) -> None:
    rows.add(family, text, type="clean", expect="clean", tags=[f"{key}:{value}" for key, value in tags.items()])


def _add_broken(rows: Rows) -> None:
    """The positives' own sentences around numbers whose check fails: only the checksum can tell them apart."""
    for lang, by_kind in _TEXTS.items():
        for kind, texts in by_kind.items():
            draw = Draw(f"broken-{lang}-{kind}")
            for shape, template in texts:
                for how, damage in (("digit", broken), ("swap", swapped)):
                    write = draw.pick((writing.usual, writing.plain))
                    numbers = (write(kind, damage(draw, MAKERS[kind](draw))) for _ in count())
                    tries = (fill(draw, lang, template, number) for number in numbers)
                    text = next(text for text in tries if not valid_in(text))
                    tags = {"decoy": f"broken-{kind}", "variant": how}
                    _clean(rows, f"broken-{kind}-{lang}", text, lang=lang, kind="decoy", shape=shape, **tags)


def _passes(text: str) -> bool:
    runs = re.findall(r"\d{12,19}", re.sub(r"(?<=\d)[ .-](?=\d)", "", text))
    return bool(valid_in(text)) or any(luhn_valid(run) for run in runs)


def _add_lookalikes(rows: Rows) -> None:
    """Two of each kind a text; some, like a 20-digit account, have no length that a check accepts, so no chance row."""
    for entry in LOOKALIKES:
        draw = Draw(f"lookalike-{entry.name}")
        for lang, shape, template in entry.texts:
            for kind in ("decoy", "decoy", "chance", "chance"):
                tries = (template.replace("@@", entry.make(draw)) for _ in range(1500))
                text = next((text for text in tries if _passes(text) == (kind == "chance")), None)
                if text is not None:
                    _clean(rows, f"{kind}-{entry.name}", text, lang=lang, kind=kind, shape=shape, decoy=entry.name)


def _add_unlabelled(rows: Rows) -> None:
    """Valid numbers with a one-digit check and nothing that says what they are."""
    for kind, texts in UNLABELLED.items():
        draw = Draw(f"unlabelled-{kind}")
        for lang, shape, template in texts:
            for _ in range(2):
                tries = (template.replace("@@", MAKERS[kind](draw)) for _ in count())
                text = next(text for text in tries if valid_in(text) == [kind])
                _clean(rows, f"chance-bare-{kind}", text, lang=lang, kind="chance", shape=shape, decoy=f"bare-{kind}")
    draw = Draw("several-numbers")
    for lang, words in (("en", "ids: @@"), ("ru", "номера заявок: @@")):
        for _ in range(4):
            lists = (", ".join(f"20{draw.digits(8)}" for _ in range(5)) for _ in count())
            text = next(words.replace("@@", numbers) for numbers in lists if "inn10" in valid_in(numbers))
            _clean(rows, "chance-several", text, lang=lang, kind="chance", shape="chat", decoy="several-numbers")


def _add_inside(rows: Rows) -> None:
    """A valid card number that is part of something longer: a decimal, a UUID, a hash, an account, a digit run."""
    draw = Draw("inside")
    for name, lang, shape, template in INSIDE:
        for prefix in ("4", "54"):
            pan = card(draw, prefix, 16)
            uuid = f"{pan[:8]}-{pan[8:12]}-{pan[12:]}-9bcd-@h12@"
            text = _draw_parts(draw, template.replace("@uuid@", uuid).replace("@pan@", pan))
            _clean(rows, f"chance-{name}", text, lang=lang, kind="chance", shape=shape, decoy=name)
    for lang, template in (("en", "queue position @@ of many"), ("ru", "порядковый номер @@ в очереди")):
        for prefix in ("1", "9", "88"):
            text = template.replace("@@", card(draw, prefix, 16))
            _clean(rows, "chance-luhn-16", text, lang=lang, kind="chance", shape="chat", decoy="luhn-without-issuer")


def _add_never_issued(rows: Rows) -> None:
    """All-zero and one-digit numbers pass several checks and are nobody's; low SNILS have no check at all."""
    for lang, template, numbers in NEVER_ISSUED:
        for number in numbers:
            text = template.replace("@@", number)
            _clean(rows, "decoy-never-issued", text, lang=lang, kind="decoy", shape="chat", decoy="never-issued")


_PART = re.compile(r"@([dhlb])(\d+)@")
_ALPHABETS = {"d": "0123456789", "h": HEX, "l": "abcdef", "b": BASE64}


def _draw_parts(draw: Draw, template: str) -> str:
    """`@h40@` becomes 40 drawn hex digits; d stands for digits, l for the letters of hex, b for base64."""
    return _PART.sub(lambda match: draw.text(_ALPHABETS[match[1]], int(match[2])), template)


def _uuid(draw: Draw) -> str:
    return _draw_parts(draw, "@h8@-@h4@-4@h3@-a@h3@-@h12@")


def _add_secret_decoys(rows: Rows) -> None:
    draw = Draw("secret-decoys")
    for lang, shape, name, template in secret_decoys.TEXTS:
        for _ in range(2 if "@u@" in template or _PART.search(template) else 1):
            text = _draw_parts(draw, template.replace("@u@", _uuid(draw)))
            family = f"decoy-secret-{name}"
            _clean(rows, family, text, lang=lang, kind="decoy", shape=shape, decoy=f"secret-{name}")


def _add_benign(rows: Rows) -> None:
    for lang, texts in (("en", benign_en.TEXTS), ("ru", benign_ru.TEXTS)):
        for shape, about, text in texts:
            spoken = lang
            if about == "foreign":
                spoken = next(code for start, code in benign_en.LANGS.items() if text.startswith(start))
            _clean(rows, f"benign-{about}-{spoken}", text, lang=spoken, kind="benign", shape=shape, about=about)
