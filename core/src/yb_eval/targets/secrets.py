"""Keeping secrets out of everything that is written or shown.

A secret is the value of an environment variable whose name ends a word in KEY, TOKEN, SECRET, PASSWORD and the like
(`OPENAI_API_KEY`, `PGPASSWORD`), the password in a URL any variable holds, and each value of `YB_EVAL_HTTP_HEADERS`.
Values that could not be told from ordinary text (`MAX_TOKENS=4096`, `POSTGRES_PASSWORD=postgres`) are left alone: to
replace them everywhere would change what is measured and hide nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

import orjson

MASK = "***"
HTTP_HEADERS = "YB_EVAL_HTTP_HEADERS"

_WORD = r"(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|AUTHORIZATION)"
_NAME = re.compile(_WORD + r"(?:[^A-Z]|\Z)")
_USERINFO = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.-]{0,20}://)[^\s/?#@]{1,1024}@")
_SHORTEST = 6
_ORDINARY = frozenset(
    ["admin", "changeme", "default", "disabled", "enabled", "example", "password", "postgres", "secret", "token"]
)  # fmt: skip


def secret_name(name: str) -> bool:
    """Whether a variable, an option or a query parameter of this name is expected to hold a secret."""
    return _NAME.search(name.upper().replace("-", "_")) is not None


def _worth_hiding(value: str) -> bool:
    if len(value) < _SHORTEST or value.lower() in _ORDINARY:
        return False
    return not (value.isdigit() and len(value) < 8)


def environment_secrets(environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """The secret values of the environment (by default this process's)."""
    for name, value in (os.environ if environment is None else environment).items():
        if name == HTTP_HEADERS:
            yield from _header_values(value)
        elif secret_name(name):
            yield value.strip()
        if "://" in value and "@" in value:
            for found in _USERINFO.finditer(value):
                _, _, password = found.group(0)[len(found.group("scheme")) : -1].partition(":")
                yield unquote(password)


def _header_values(text: str) -> Iterator[str]:
    try:
        headers = orjson.loads(text)
    except orjson.JSONDecodeError:
        yield text
        return
    if isinstance(headers, dict):
        for value in headers.values():
            # `Bearer abc` is sent as a whole; servers echo the last word alone.
            yield from (str(value), *str(value).split()[-1:])


class Masker:
    """Replaces every known secret by `***`: in text, with its URL-quoted and JSON-escaped forms, and in JSON values."""

    __slots__ = ("_known", "_pattern", "longest")

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        forms: set[str] = set()
        for secret in secrets:
            if _worth_hiding(secret):
                forms |= {secret, quote(secret, safe=""), _escaped(secret)}
        # The longest first, so that a secret that contains another is replaced whole.
        self._known = tuple(sorted(forms, key=lambda form: (-len(form), form)))
        self._pattern = re.compile("|".join(map(re.escape, self._known))) if self._known else None
        self.longest = max(map(len, self._known), default=0)

    @classmethod
    def from_environment(cls, *more: str) -> Masker:
        """The secrets of the environment as it is now, and `more`."""
        return cls([*environment_secrets(), *more])

    def __bool__(self) -> bool:
        return self._pattern is not None

    def mask(self, text: str) -> str:
        """`text` as it may be shown or written: without secrets and without the user:password of any URL."""
        if "://" in text:
            text = _USERINFO.sub(rf"\g<scheme>{MASK}@", text)
        return self._replace(text)

    def mask_value(self, value: Any) -> Any:
        """A JSON value with the secrets in its strings and keys replaced; the same object where there are none."""
        if self._pattern is None:
            return value
        if isinstance(value, str):
            return self._replace(value)
        if isinstance(value, list | tuple):
            return [self.mask_value(item) for item in value]
        if isinstance(value, Mapping):
            return {self._replace(key): self.mask_value(item) for key, item in value.items()}
        return value

    def _replace(self, text: str) -> str:
        return text if self._pattern is None else self._pattern.sub(MASK, text)


def _escaped(secret: str) -> str:
    try:
        return orjson.dumps(secret)[1:-1].decode("utf-8")
    except orjson.JSONEncodeError:  # bytes that are not UTF-8 come out of os.environ as lone surrogates
        return secret


def mask(text: str) -> str:
    """`text` without the secrets of the environment and without the user:password of any URL."""
    return Masker.from_environment().mask(text)


def mask_command(arguments: Iterable[str]) -> list[str]:
    """A command's arguments as they may be shown: `--api-key X`, `--token=X` and `PASSWORD=X` lose their values."""
    masker = Masker.from_environment()
    shown: list[str] = []
    hide_next = False
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if hide_next and not argument.startswith("-"):
            shown.append(MASK)
        elif equals and secret_name(name):
            shown.append(f"{name}={MASK}")
        else:
            shown.append(masker.mask(argument))
        hide_next = argument.startswith("-") and not equals and secret_name(argument)
    return shown
