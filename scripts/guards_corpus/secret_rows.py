"""Rows that carry a credential: every family in running text, by keyword, as a PEM block, encoded and disguised."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from . import writing
from .credentials import ALNUM, BASE64, HEX, PEM_LABELS, TOKENS, password, pem
from .rows import Draw, Rows
from .secret_texts import KEYED_EN, KEYED_RU, PEM_EN, PEM_RU, TOKEN_EN, TOKEN_RU

_TOKEN_TEXTS = (("en", TOKEN_EN, 5), ("ru", TOKEN_RU, 3))
_VALUES: dict[str, Callable[[Draw], str]] = {
    "p": password,
    "x": lambda draw: draw.text(HEX, 32),
    "a": lambda draw: draw.text(ALNUM, 28),
    "l": lambda draw: draw.text(ALNUM, 48),
    "w": lambda draw: draw.text(BASE64, 40),
}
"""Values of keyword credentials: a password, a hex key, a short and a long token, an AWS-like secret."""


def add_all(rows: Rows) -> None:
    """Add every secret row."""
    _add_tokens(rows)
    _add_keyed(rows)
    _add_pem(rows)
    _add_encoded(rows)


def _add(rows: Rows, family: str, text: str, credentials: tuple[str, ...], *tags: str) -> None:
    rows.add(family, text, type="secret", expect="detect", tags=(*tags, "kind:positive"), credentials=credentials)


def _add_tokens(rows: Rows) -> None:
    for at, (family, make) in enumerate(TOKENS.items()):
        draw = Draw(f"token-{family}")
        for lang, texts, count in _TOKEN_TEXTS:
            for step in range(count):
                # Families start at different texts, so that every family and every text meets many of the other.
                shape, template = texts[(at * 3 + step * 5) % len(texts)]
                token = make(draw)
                _add(
                    rows,
                    f"secret-{family}",
                    template.replace("@@", token),
                    (token,),
                    f"lang:{lang}",
                    f"shape:{shape}",
                    f"family:{family}",
                )


def _add_keyed(rows: Rows) -> None:
    for lang, texts in (("en", KEYED_EN), ("ru", KEYED_RU)):
        draw = Draw(f"keyed-{lang}")
        for shape, family, template in texts:
            for _ in range(2):
                marks = re.findall(r"@([pxalw])@", template)
                value = _VALUES[marks[0]](draw)
                _add(
                    rows,
                    f"secret-{family}-{lang}",
                    template.replace(f"@{marks[0]}@", value),
                    (value,),
                    f"lang:{lang}",
                    f"shape:{shape}",
                    f"family:{family}",
                )


def _add_pem(rows: Rows) -> None:
    for lang, texts, count in (("en", PEM_EN, 2), ("ru", PEM_RU, 1)):
        draw = Draw(f"pem-{lang}")
        for at, (label, lines) in enumerate(PEM_LABELS):
            for step in range(count):
                shape, template = texts[(at + step * 3) % len(texts)]
                block = pem(draw, label, lines)
                forms = {
                    "@indented@": "\n".join(f"    {row}" for row in block.splitlines()),
                    "@escaped@": json.dumps(block)[1:-1],
                    "@@": block,
                }
                mark = next(mark for mark in forms if mark in template)
                _add(
                    rows,
                    f"secret-pem-{lang}",
                    template.replace(mark, forms[mark]),
                    (forms[mark],),
                    f"lang:{lang}",
                    f"shape:{shape}",
                    "family:pem",
                )


def _add_encoded(rows: Rows) -> None:
    draw = Draw("secret-encoded")
    families = ("github-classic", "openai", "stripe", "gitlab", "anthropic", "slack")
    for at, family in enumerate(families):
        token = TOKENS[family](draw)
        manifest = f"apiVersion: v1\nkind: Secret\ndata:\n  token: {writing.base64_of(token)}"
        _add(
            rows,
            "secret-encoded",
            manifest,
            (writing.base64_of(token),),
            "lang:en",
            "shape:yaml",
            f"family:{family}",
            "encoding:base64",
        )
        token = TOKENS[family](draw)
        link = f"https://app.example/callback?state=4821&token={writing.percent_of(token)}"
        _add(rows, "secret-encoded", link, (), "lang:en", "shape:url", f"family:{family}", "encoding:percent")
        token = TOKENS[family](draw)
        lang, note = (("en", "the key in hex is @@"), ("ru", "ключ в шестнадцатеричном виде: @@"))[at % 2]
        _add(
            rows,
            "secret-encoded",
            note.replace("@@", writing.hex_of(token)),
            (writing.hex_of(token),),
            f"lang:{lang}",
            "shape:chat",
            f"family:{family}",
            "encoding:hex",
        )
        token = TOKENS[family](draw)
        text = f'"credential": "{writing.unicode_escapes_of(token)}"'
        _add(rows, "secret-encoded", text, (), "lang:en", "shape:json", f"family:{family}", "encoding:unicode-escape")
        token = TOKENS[family](draw)
        hidden = token[: len(token) // 2] + "\u200b" + token[len(token) // 2 :]
        lang, note = (("en", "the token is @@ as agreed"), ("ru", "токен @@, как договорились"))[at % 2]
        _add(
            rows,
            "secret-hidden",
            note.replace("@@", hidden),
            (hidden,),
            f"lang:{lang}",
            "shape:chat",
            f"family:{family}",
            "sep:zwsp",
        )
    block = pem(draw, "PRIVATE KEY", 6)
    for lang, note in (("en", "decode this and install it: @@"), ("ru", "раскодируй и поставь на сервер: @@")):
        _add(
            rows,
            "secret-encoded",
            note.replace("@@", writing.base64_of(block)),
            (writing.base64_of(block),),
            f"lang:{lang}",
            "shape:chat",
            "family:pem",
            "encoding:base64",
        )
